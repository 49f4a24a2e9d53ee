// The list of torrents: sorted, filtered, and updated in place.

import { makeHead, setBar, setCells, setState, updateRows } from "./rows.js";
import { $, count, duration, number, plain, progressOf, ratio, setText, size, speed, stateNames, stateOf, store, stored, title } from "./text.js";

// Minimum time between two changes of the order, in milliseconds: rows must not move away from under the pointer.
const ORDER_INTERVAL = 2000;

const share = (torrent) => {
  const [part, whole] = progressOf(torrent);
  return whole === 0 ? 0 : part / whole;
};

const COLUMNS = [
  { label: "Name", key: "name", of: (t) => title(t).toLowerCase(), wide: true },
  { label: "State", key: "state", of: (t) => stateOf(t).rank },
  { label: "Done", key: "done", of: share, wide: true },
  { label: "Size", key: "size", of: (t) => t.total_bytes, number: true },
  { label: "Down", key: "down", of: (t) => t.down_bytes_per_second, number: true },
  { label: "Up", key: "up", of: (t) => t.up_bytes_per_second, number: true },
  { label: "Ratio", key: "ratio", of: ratio, number: true },
  { label: "Peers", key: "peers", of: (t) => t.peers, number: true },
  { label: "Left", key: "left", of: (t) => t.seconds_left ?? Infinity, number: true },
];

const { key: storedKey, isDescending } = stored("sort");
const sort = {
  key: COLUMNS.some(({ key }) => key === storedKey) ? storedKey : "number",
  isDescending: isDescending === true,
};
let torrents = [];
let chosen = null;
let order = [];
let ordered = 0;

function compare(a, b) {
  const of = COLUMNS.find(({ key }) => key === sort.key)?.of ?? ((torrent) => torrent.number);
  const [left, right] = [of(a), of(b)];
  const result = left < right ? -1 : left > right ? 1 : 0;
  return (sort.isDescending ? -result : result) || a.number - b.number;
}

function isShown(torrent) {
  const [text, state] = [$("filter").value.trim().toLowerCase(), $("state-filter").value];
  const fits = title(torrent).toLowerCase().includes(text) || torrent.torrent.toLowerCase().includes(text);
  return fits && (state === "" || stateOf(torrent).key === state);
}

function isBusy() {
  const selection = document.getSelection();
  const isSelecting = selection.type === "Range" && $("torrents").contains(selection.anchorNode);
  return isSelecting || $("torrents").matches(":active");
}

function setOrder(isForced) {
  const now = performance.now();
  if (!isForced && (isBusy() || (order.length === torrents.length && now - ordered < ORDER_INTERVAL))) return;
  ordered = now;
  order = torrents.toSorted(compare).map((torrent) => torrent.number);
}

function showSort() {
  for (const th of $("torrents").tHead.rows[0].cells) {
    const direction = sort.isDescending ? "descending" : "ascending";
    if (th.dataset.key === sort.key) th.setAttribute("aria-sort", direction);
    else th.removeAttribute("aria-sort");
  }
  $("sort").value = sort.key;
  setText($("sort-direction"), sort.isDescending ? "↓" : "↑");
  $("sort-direction").ariaLabel = sort.isDescending ? "Descending" : "Ascending";
}

function setSort(key, isDescending) {
  Object.assign(sort, { key, isDescending });
  store("sort", sort);
  showSort();
  show(true);
}

function updateRow(tr, torrent) {
  const name = title(torrent);
  if (tr.cells[0].firstElementChild === null) {
    const button = document.createElement("button");
    button.type = "button";
    tr.cells[0].append(button);
  }
  const button = tr.cells[0].firstElementChild;
  setText(button, name);
  const current = String(torrent.number === chosen);
  if (button.getAttribute("aria-pressed") !== current) button.setAttribute("aria-pressed", current);
  tr.classList.toggle("chosen", torrent.number === chosen);
  const hint = plain(torrent.error ?? name);
  if (tr.title !== hint) tr.title = hint;
  const { name: state, kind } = stateOf(torrent);
  setState(tr.cells[1], state, kind);
  setBar(tr.cells[2], `${name}: done`, ...progressOf(torrent));
  setCells(tr, [
    null,
    null,
    null,
    size(torrent.total_bytes),
    speed(torrent.down_bytes_per_second),
    speed(torrent.up_bytes_per_second),
    ratio(torrent).toFixed(2),
    number(torrent.peers),
    duration(torrent.seconds_left) || "–",
  ]);
}

// Shows the list. A changed order, filter or choice takes effect at once if `isForced`.
function show(isForced = false) {
  setOrder(isForced);
  const byNumber = new Map(torrents.map((torrent) => [torrent.number, torrent]));
  const shown = order.map((n) => byNumber.get(n)).filter((torrent) => torrent && isShown(torrent));
  updateRows($("torrents"), COLUMNS, shown, (torrent) => torrent.number, updateRow);
  setText($("shown"), shown.length === torrents.length ? "" : `${number(shown.length)} of ${count(torrents.length, "torrent")}`);
}

export function showTorrents(all) {
  torrents = all;
  show();
}

export function showChosen(number) {
  chosen = number;
  show(true);
}

// Starts the list. `onChoose` gets the number of the torrent that the user chooses.
export function startTorrents(onChoose) {
  const choose = (key) => setSort(key, sort.key === key && !sort.isDescending);
  makeHead($("torrents"), COLUMNS, choose);
  $("sort").append(new Option("Given order", "number"));
  for (const { label, key } of COLUMNS) $("sort").append(new Option(`By ${label.toLowerCase()}`, key));
  for (const [key, name] of stateNames) $("state-filter").append(new Option(name, key));
  showSort();
  $("sort").addEventListener("change", () => setSort($("sort").value, sort.isDescending));
  $("sort-direction").addEventListener("click", () => setSort(sort.key, !sort.isDescending));
  for (const id of ["filter", "state-filter"]) $(id).addEventListener("input", () => show(true));
  $("tools").addEventListener("submit", (event) => event.preventDefault());
  $("torrents").addEventListener("click", (event) => {
    const tr = event.target.closest("tbody tr");
    // A selection of text is no choice.
    if (tr && document.getSelection().type !== "Range") onChoose(Number(tr.dataset.key));
  });
}
