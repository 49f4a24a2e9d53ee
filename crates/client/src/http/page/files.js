// @ts-check
// The files of a torrent, with priorities.

import { $, button, field, hide, make, setText } from "./dom.js";
import { setBar } from "./cells.js";
import { number, plain, size } from "./format.js";
import { makeHead, setCells, updateRows } from "./rows.js";
import { TEXT } from "./text.js";

/** @typedef {import("./types.js").File} File */
/** @typedef {import("./types.js").FileAnswer} FileAnswer */

// Number of files in an answer of the server.
const FILES_PER_PAGE = 500;

const PRIORITIES = ["skip", "low", "normal", "high"];

const COLUMNS = [
  { label: "Path", wide: true },
  { label: "Size", number: true },
  { label: "Done", wide: true },
  { label: "Wrong pieces", number: true },
  { label: "Priority" },
];

/**
 * Returns the folders above files, each with its files.
 * @param {File[]} files
 * @returns {Map<string, File[]>}
 */
export function foldersOf(files) {
  const folders = new Map();
  for (const file of files) {
    for (let at = file.path.indexOf("/"); at >= 0; at = file.path.indexOf("/", at + 1)) {
      const folder = file.path.slice(0, at);
      if (!folders.has(folder)) folders.set(folder, []);
      folders.get(folder).push(file);
    }
  }
  return folders;
}

/**
 * Makes the list of files. `onPage` is called for another page, `setPriority` gets the positions of files.
 * @param {() => void} onPage
 * @param {(files: number[], priority: string) => void} setPriority
 */
export function makeFiles(onPage, setPriority) {
  const table = /** @type {HTMLTableElement} */ ($("files").querySelector("table"));
  const empty = /** @type {HTMLElement} */ ($("files").querySelector(".empty"));
  const folder = $("file-folder", HTMLSelectElement);
  const priority = $("all-priority", HTMLSelectElement);
  const wrong = field("only-wrong");
  /** The position of the first file that is shown. */
  let first = 0;
  /** @type {FileAnswer | null} */
  let answer = null;
  let mayChange = false;

  const needle = () => field("file-search").value.trim().toLowerCase();
  const isFound = (/** @type {File} */ { path, wrong_pieces }) =>
    path.toLowerCase().includes(needle())
    && (folder.value === "" || path.startsWith(`${folder.value}/`))
    && (wrong_pieces > 0 || !wrong.checked);

  /** @param {HTMLTableRowElement} tr @param {File} file @param {boolean} isChangeable */
  function updateFile(tr, file, isChangeable) {
    const path = plain(file.path);
    setCells(tr, [path, size(file.length_bytes), null, file.wrong_pieces === 0 ? "–" : number(file.wrong_pieces), isChangeable ? null : file.priority]);
    setBar(tr.cells[2], `${path}: done`, file.done_bytes, file.length_bytes);
    tr.classList.toggle("damaged", file.wrong_pieces > 0);
    tr.classList.toggle("skipped", file.priority === "skip");
    if (!isChangeable) return;
    let select = tr.cells[4].querySelector("select");
    if (select === null) {
      select = make("select", {}, ...PRIORITIES.map((name) => new Option(name, name)));
      tr.cells[4].replaceChildren(select);
    }
    select.ariaLabel = `Priority of ${path}`;
    // A choice that the program has not confirmed stays as the user left it.
    if (select.dataset.asked === file.priority || performance.now() > Number(select.dataset.until ?? 0)) {
      delete select.dataset.asked;
      if (document.activeElement !== select || select.value === select.dataset.was) select.value = file.priority;
      select.dataset.was = file.priority;
    }
  }

  function draw() {
    if (answer === null) return;
    const { total, changeable, files } = answer;
    const isChangeable = changeable && mayChange;
    const found = files.filter(isFound);
    updateRows(table, COLUMNS, found, (file) => file.number, (tr, file) => updateFile(tr, file, isChangeable));
    hide(table, found.length === 0);
    hide(empty, found.length > 0);
    setText(empty, total === 0 ? TEXT.noFiles : TEXT.noFileMatches);
    hide($("file-tools"), files.length < 2);
    hide($("all-files"), !isChangeable);
    hide($("file-pages"), total <= FILES_PER_PAGE);
    setText($("file-range"), `Files ${number(first + 1)} to ${number(first + files.length)} of ${number(total)}`);
    button("previous-files").disabled = first === 0;
    button("next-files").disabled = first + files.length >= total;
  }

  /** @param {FileAnswer} next @param {boolean} isChangeable */
  function show(next, isChangeable) {
    [answer, mayChange] = [next, isChangeable];
    const folders = [...foldersOf(next.files).keys()].sort();
    const names = ["", ...folders];
    if (names.join("\n") !== [...folder.options].map(({ value }) => value).join("\n")) {
      const { value } = folder;
      folder.replaceChildren(...names.map((name) => new Option(name === "" ? "all folders" : plain(name), name)));
      folder.value = names.includes(value) ? value : "";
    }
    hide(/** @type {HTMLElement} */ (folder.parentElement), folders.length === 0);
    draw();
  }

  /** Removes the files of the torrent that was shown, whose numbers are of no use for another one. */
  function reset() {
    first = 0;
    answer = null;
    folder.replaceChildren();
    field("file-search").value = "";
    wrong.checked = false;
    table.tBodies[0].replaceChildren();
    for (const node of [table, empty, $("file-tools"), $("file-pages")]) hide(node, true);
  }

  /** @param {number} step */
  const turn = (step) => {
    first = Math.max(0, first + step);
    onPage();
  };

  makeHead(table, COLUMNS);
  priority.append(...PRIORITIES.map((name) => new Option(name, name)));
  priority.value = "normal";
  table.addEventListener("change", ({ target }) => {
    if (!(target instanceof HTMLSelectElement)) return;
    target.dataset.asked = target.value;
    target.dataset.until = String(performance.now() + 5000);
    setPriority([Number(target.closest("tr")?.dataset.key)], target.value);
  });
  $("all-files").addEventListener("submit", (event) => {
    event.preventDefault();
    setPriority((answer?.files ?? []).filter(isFound).map((file) => file.number), priority.value);
  });
  for (const node of [field("file-search"), folder, wrong]) node.addEventListener("input", draw);
  button("previous-files").addEventListener("click", () => turn(-FILES_PER_PAGE));
  button("next-files").addEventListener("click", () => turn(FILES_PER_PAGE));
  /** Lists only the files with wrong pieces. */
  function showWrong() {
    wrong.checked = true;
    draw();
  }

  return { show, showWrong, reset, path: () => `files?offset=${first}` };
}
