// @ts-check
// The files of a torrent as a tree, with priorities.

import { $, button, field, hide, make, setAttribute, setText } from "./dom.js";
import { setBar } from "./cells.js";
import { number, plain, size } from "./format.js";
import { TEXT, folderLabel, wrongPieces } from "./text.js";
import { linesOf, treeOf } from "./tree.js";
import { makeRows } from "./virtual.js";

/** @typedef {import("./types.js").File} File */
/** @typedef {import("./types.js").Files} Files */
/** @typedef {import("./tree.js").Line} Line */

// Number of files in an answer of the server, which allows no more.
const FILES_PER_PAGE = 5000;

// Folders are open at first if there are at most this many files.
const MAX_OPEN = 100;

// From this number of files on, their figures are requested less often: every few milliseconds.
const MANY_FILES = 500;
const MANY_FILES_INTERVAL = 10_000;

// Time after which a choice that the program has not confirmed is given up, in milliseconds.
const PATIENCE = 5000;

export const PRIORITIES = ["skip", "low", "normal", "high"];

/**
 * Makes the tree of files. `onPage` is called for another page, `setPriority` gets the positions of files, and `rename` the path
 * of a file or folder below that of the content.
 * @param {() => void} onPage
 * @param {(files: number[], priority: string) => void} setPriority
 * @param {(path: string) => void} rename
 */
export function makeFiles(onPage, setPriority, rename) {
  const tree = $("tree");
  const empty = /** @type {HTMLElement} */ ($("files").querySelector(".empty"));
  const priority = $("all-priority", HTMLSelectElement);
  const wrong = field("only-wrong");
  const rows = makeRows({ scroller: $("detail"), body: tree, make: makeRow, update: updateRow });
  /** The position of the first file that is shown. */
  let first = 0;
  /** The torrent whose files are shown. @type {number | null} */
  let torrent = null;
  /** @type {Files | null} */
  let answer = null;
  let answered = -Infinity;
  let isChangeable = false;
  let isRenamable = false;
  /** The lines of the tree by their keys, in their order. @type {Map<string, Line>} */
  let lines = new Map();
  /** The line that the arrow keys moved to. @type {string | null} */
  let active = null;
  /** Folders that a person opened or closed: of all files, and of those that a search found. */
  const [chosen, found] = /** @type {Map<string, boolean>[]} */ ([new Map(), new Map()]);
  /** Priorities that the program has not confirmed, by the keys of lines. @type {Map<string, { value: string, until: number }>} */
  const asked = new Map();

  const needle = () => field("file-search").value.trim().toLowerCase();
  const isFiltered = () => needle() !== "" || wrong.checked;
  const isFound = (/** @type {File} */ { path, wrong_pieces }) =>
    path.toLowerCase().includes(needle()) && (wrong_pieces > 0 || !wrong.checked);
  const filesFound = () => (answer?.files ?? []).filter(isFound);
  const folders = () => (isFiltered() ? found : chosen);
  const isOpen = (/** @type {string} */ path) => folders().get(path) ?? (isFiltered() || (answer?.total ?? 0) <= MAX_OPEN);

  /** @param {string} key */
  function makeRow(key) {
    const row = make("div", { role: "treeitem" }, ...["twist", "name", "number", "done", "number", "priority", "rename"].map((name) => make("span", { className: name })));
    row.dataset.key = key;
    setAttribute(row.children[0], "aria-hidden", "true");
    return row;
  }

  /** @param {HTMLElement} cell @param {Line} line @param {string} value */
  function showPriority(cell, line, value) {
    if (!isChangeable) {
      setText(cell, value === "" ? TEXT.mixed : value);
      return;
    }
    let select = cell.querySelector("select");
    if (select === null) {
      const mixed = make("option", { value: "", text: TEXT.mixed, hidden: true, disabled: true });
      select = make("select", {}, ...PRIORITIES.map((name) => new Option(name, name)), mixed);
      cell.replaceChildren(select);
    }
    select.tabIndex = line.key === active ? 0 : -1;
    select.ariaLabel = `Priority of ${plain(pathOf(line))}`;
    const wish = asked.get(line.key);
    if (wish !== undefined && wish.value !== value && performance.now() < wish.until) {
      select.value = wish.value;
      return;
    }
    asked.delete(line.key);
    // A choice that a person is about to make stays.
    if (document.activeElement !== select || select.value === select.dataset.was) select.value = value;
    select.dataset.was = value;
  }

  /** @param {Line} line */
  const pathOf = ({ folder, file }) => folder?.path ?? file?.path ?? "";

  /**
   * Shows the name of a file or folder. The name of a file that can be read leads to its content.
   * @param {HTMLElement} cell @param {Line} line @param {string} name
   */
  function showName(cell, { folder, file, key }, name) {
    if (file === null || (file.priority === "skip" && file.done_bytes !== file.length_bytes)) {
      setText(cell, folderLabel(name, folder?.files.length ?? 1));
      return;
    }
    let link = cell.querySelector("a");
    if (link === null) {
      link = make("a", { target: "_blank" });
      cell.replaceChildren(link);
    }
    setAttribute(link, "href", `api/v1/torrents/${torrent}/files/${file.number}/content`);
    link.tabIndex = key === active ? 0 : -1;
    setText(link, name);
  }

  /** Shows the button that renames a file or folder. @param {HTMLElement} cell @param {Line} line */
  function showRename(cell, line) {
    if (!isRenamable) {
      cell.replaceChildren();
      return;
    }
    const act = cell.querySelector("button") ?? cell.appendChild(make("button", { type: "button", title: "Rename (F2)" }, "…"));
    act.tabIndex = line.key === active ? 0 : -1;
    act.ariaLabel = `Rename ${plain(pathOf(line))}`;
  }

  /** @param {HTMLElement} row @param {string} key */
  function updateRow(row, key) {
    const line = lines.get(key);
    const of = line?.folder ?? line?.file ?? null;
    if (line === undefined || of === null) return false;
    const [length, done, wrongs] = "files" in of ? [of.length, of.done, of.wrong] : [of.length_bytes, of.done_bytes, of.wrong_pieces];
    const isFolder = line.folder !== null;
    const name = plain(line.name);
    setAttribute(row, "aria-level", String(line.level));
    setAttribute(row, "aria-posinset", String(line.position));
    setAttribute(row, "aria-setsize", String(line.beside));
    setAttribute(row, "aria-expanded", isFolder ? String(line.isOpen) : null);
    row.tabIndex = key === active ? 0 : -1;
    // Deep folders must not push the names out of the window.
    row.style.setProperty("--level", String(Math.min(line.level - 1, 8)));
    row.classList.toggle("damaged", wrongs > 0);
    row.classList.toggle("skipped", of.priority === "skip");
    const [twist, title, bytes, bar, pieces, cell, more] = /** @type {HTMLElement[]} */ ([...row.children]);
    setText(twist, isFolder ? (line.isOpen ? "▾" : "▸") : "");
    showName(title, line, name);
    if (row.title !== name) row.title = name;
    setText(bytes, size(length));
    setBar(bar, `${name}: done`, done, length);
    setText(pieces, wrongPieces(wrongs));
    showPriority(cell, line, of.priority);
    showRename(more, line);
    return true;
  }

  function draw() {
    if (answer === null) return;
    const { total, files } = answer;
    const listed = linesOf(treeOf(filesFound()), isOpen);
    lines = new Map(listed.map((line) => [line.key, line]));
    if (active === null || !lines.has(active)) active = listed[0]?.key ?? null;
    for (const node of [tree, $("tree-head")]) hide(node, listed.length === 0);
    rows.measure();
    rows.set([...lines.keys()]);
    rows.show();
    hide(empty, listed.length > 0);
    setText(empty, total === 0 ? TEXT.noFiles : TEXT.noFileMatches);
    hide($("file-tools"), files.length < 2);
    hide($("all-files"), !isChangeable);
    hide($("file-pages"), total <= FILES_PER_PAGE);
    setText($("file-range"), `Files ${number(first + 1)} to ${number(first + files.length)} of ${number(total)}`);
    button("previous-files").disabled = first === 0;
    button("next-files").disabled = first + files.length >= total;
  }

  /** @param {number} of @param {Files} next @param {boolean} mayChange @param {boolean} mayRename */
  function show(of, next, mayChange, mayRename) {
    torrent = of;
    [answer, answered, isChangeable, isRenamable] = [next, performance.now(), next.changeable && mayChange, mayRename];
    draw();
  }

  /** Removes the files of the torrent that was shown, whose numbers are of no use for another one. */
  function reset() {
    first = 0;
    answer = null;
    active = null;
    lines = new Map();
    for (const kept of [chosen, found, asked]) kept.clear();
    field("file-search").value = "";
    wrong.checked = false;
    rows.set([]);
    rows.show();
    for (const node of [tree, $("tree-head"), empty, $("file-tools"), $("file-pages")]) hide(node, true);
  }

  /** @param {Line} line @param {boolean} isOpened */
  function open({ folder }, isOpened) {
    if (folder !== null) folders().set(folder.path, isOpened);
    draw();
  }

  /** Opens or closes all folders. @param {boolean} isOpened */
  function openAll(isOpened) {
    const waiting = [treeOf(filesFound())];
    for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
      folders().set(folder.path, isOpened);
      waiting.push(...folder.folders.values());
    }
    draw();
  }

  /** @param {string | null | undefined} key */
  function moveTo(key) {
    if (key === null || key === undefined || !lines.has(key)) return;
    active = key;
    rows.focus(key);
  }

  /** @param {Element | null} target */
  const lineAt = (target) => lines.get(/** @type {HTMLElement | null | undefined} */ (target?.closest("[role=treeitem]"))?.dataset.key ?? "");

  // The keys of trees in other programs (ARIA Authoring Practices, pattern "tree view").
  tree.addEventListener("keydown", (event) => {
    const target = /** @type {Element} */ (event.target);
    const line = lineAt(target);
    if (line === undefined || target.getAttribute("role") !== "treeitem" || event.ctrlKey || event.altKey || event.metaKey) return;
    const keys = [...lines.keys()];
    const at = keys.indexOf(line.key);
    const isFolder = line.folder !== null;
    /** @type {Record<string, () => void>} */
    const actions = {
      ArrowDown: () => moveTo(keys[at + 1]),
      ArrowUp: () => moveTo(keys[at - 1]),
      PageDown: () => moveTo(keys[Math.min(keys.length - 1, at + rows.page())]),
      PageUp: () => moveTo(keys[Math.max(0, at - rows.page())]),
      Home: () => moveTo(keys[0]),
      End: () => moveTo(keys.at(-1)),
      ArrowRight: () => (isFolder && !line.isOpen ? open(line, true) : isFolder && moveTo(keys[at + 1])),
      ArrowLeft: () => (isFolder && line.isOpen ? open(line, false) : moveTo(line.parent)),
      Enter: () => (isFolder ? open(line, !line.isOpen) : target.querySelector("a")?.click()),
      " ": () => isFolder && open(line, !line.isOpen),
      "*": () => openAll(true),
      F2: () => isRenamable && rename(pathOf(line)),
    };
    if (!Object.hasOwn(actions, event.key)) return;
    event.preventDefault();
    actions[event.key]();
  });
  tree.addEventListener("focusin", ({ target }) => {
    const line = lineAt(/** @type {Element} */ (target));
    if (line === undefined || line.key === active) return;
    active = line.key;
    rows.show();
  });
  tree.addEventListener("click", ({ target }) => {
    const line = lineAt(/** @type {Element} */ (target));
    if (line === undefined || /** @type {Element} */ (target).closest(".priority") !== null) return;
    if (/** @type {Element} */ (target).closest(".rename") === null) open(line, !line.isOpen);
    else if (isRenamable) rename(pathOf(line));
  });
  tree.addEventListener("change", ({ target }) => {
    const line = lineAt(/** @type {Element} */ (target));
    if (line === undefined || !(target instanceof HTMLSelectElement)) return;
    asked.set(line.key, { value: target.value, until: performance.now() + PATIENCE });
    setPriority((line.folder?.files ?? [line.file]).flatMap((file) => file?.number ?? []), target.value);
  });

  priority.append(...PRIORITIES.map((name) => new Option(name, name)));
  priority.value = "normal";
  $("all-files").addEventListener("submit", (event) => {
    event.preventDefault();
    setPriority(filesFound().map((file) => file.number), priority.value);
  });
  for (const node of [field("file-search"), wrong]) {
    node.addEventListener("input", () => {
      found.clear();
      draw();
    });
  }
  button("open-folders").addEventListener("click", () => openAll(true));
  button("close-folders").addEventListener("click", () => openAll(false));
  for (const target of [$("detail"), window]) target.addEventListener("scroll", rows.show, { passive: true });
  new ResizeObserver(draw).observe($("detail"));

  /** @param {number} step */
  const turn = (step) => {
    first = Math.max(0, first + step);
    onPage();
  };
  button("previous-files").addEventListener("click", () => turn(-FILES_PER_PAGE));
  button("next-files").addEventListener("click", () => turn(FILES_PER_PAGE));

  /** Lists only the files with wrong pieces. */
  function showWrong() {
    wrong.checked = true;
    found.clear();
    draw();
  }

  return {
    show,
    showWrong,
    reset,
    path: () => `files?offset=${first}&limit=${FILES_PER_PAGE}`,
    /** Whether the figures are old enough for another request. */
    isDue: () => (answer?.files.length ?? 0) <= MANY_FILES || performance.now() - answered > MANY_FILES_INTERVAL,
  };
}
