// @ts-check
// The sidebar: places with their counts, and what the program has: rates, space and ports.

import { $, hide, make, setAttribute, setText } from "./dom.js";
import { number, plain } from "./format.js";
import { EXTRA_STATES, GROUPS, STATES } from "./text.js";
import { countFacets } from "./torrents.js";

/** @typedef {import("./types.js").Store} Store */
/** @typedef {import("./types.js").Facet} Facet */

// Number of places of a group that are shown: a sidebar of hundreds of trackers helps less than the search.
const MAX_PLACES = 100;

// Minimum time between two counts, in milliseconds.
const COUNT_INTERVAL = 1000;

/**
 * Returns the places of a group, in the order of the sidebar. A place without torrents is left out, except for all of them,
 * the chosen one, and those that everybody looks for.
 * @param {string} group
 * @param {Map<string, number>} counts
 * @param {Facet} facet
 * @returns {{ value: string, name: string, kind: string }[]}
 */
export function placesOf(group, counts, facet) {
  const isUsed = (/** @type {string} */ value) => counts.has(value) || (facet.group === group && facet.value === value);
  if (group === "state") {
    const places = Object.entries(STATES).map(([value, [name, kind]]) => ({ value, name, kind }));
    const extra = Object.entries(EXTRA_STATES).map(([value, name]) => ({ value, name, kind: value.endsWith("error") ? "bad" : "idle" }));
    return [...extra, ...places].filter(({ value }) => value === "" || isUsed(value));
  }
  const values = [...new Set([...counts.keys(), ...(facet.group === group ? [facet.value] : [])])];
  // A group in which no torrent has a value says nothing.
  if (values.length === 1 && values[0] === "" && facet.group !== group) return [];
  values.sort((a, b) => Number(a === "") - Number(b === "") || a.localeCompare(b));
  return values.slice(0, MAX_PLACES).map((value) => ({ value, name: value === "" ? GROUPS[group].none : plain(value), kind: "" }));
}

/** @param {Store} store */
export function startSidebar(store) {
  const { state } = store;
  let counted = -Infinity;
  let countedFor = "";
  /** The count that waits. @type {number | undefined} */
  let later;

  /** @type {Map<string, HTMLElement>} */
  const lists = new Map();
  for (const [group, { title }] of Object.entries(GROUPS)) {
    const list = make("ul", {});
    const section = make("section", { "aria-label": title }, make("h2", {}, title), list);
    lists.set(group, list);
    $("places").append(section);
  }

  /** @param {string} group @param {Map<string, number>} counts */
  function showGroup(group, counts) {
    const list = /** @type {HTMLElement} */ (lists.get(group));
    const places = placesOf(group, counts, state.facet);
    hide(/** @type {HTMLElement} */ (list.parentElement), places.length === 0);
    const items = new Map(Array.from(list.children, (item) => [/** @type {HTMLElement} */ (item).dataset.value, item]));
    places.forEach(({ value, name, kind }, position) => {
      let item = items.get(value);
      items.delete(value);
      if (item === undefined) {
        const choose = make("button", { type: "button" }, make("span", { className: "place" }), make("span", { className: "places-count" }));
        choose.addEventListener("click", () => store.set({ facet: { group, value } }));
        item = make("li", {}, choose);
        /** @type {HTMLElement} */ (item).dataset.value = value;
      }
      if (list.children[position] !== item) list.insertBefore(item, list.children[position] ?? null);
      const choose = /** @type {HTMLElement} */ (item.firstElementChild);
      const [label, n] = choose.children;
      setText(label, name);
      if (choose.title !== name) choose.title = name;
      if (choose.className !== kind) choose.className = kind;
      setText(n, number(counts.get(value) ?? 0));
      setAttribute(choose, "aria-pressed", String(state.facet.group === group && state.facet.value === value));
    });
    for (const item of items.values()) item.remove();
  }

  function show() {
    const now = performance.now();
    const of = JSON.stringify([state.facet, state.torrents.size]);
    if (of === countedFor && now - counted < COUNT_INTERVAL) {
      later ??= setTimeout(() => {
        later = undefined;
        show();
      }, COUNT_INTERVAL);
      return;
    }
    [counted, countedFor] = [now, of];
    const counts = countFacets(state.torrents.values());
    for (const group of lists.keys()) showGroup(group, counts[group]);
  }

  // A phone shows the list first.
  // On desktops there is no control that opens it, so a window that becomes wide opens it.
  const isNarrow = matchMedia("(width < 48rem)");
  const showOrHide = () => $("sidebar").querySelector("details")?.toggleAttribute("open", !isNarrow.matches);
  isNarrow.addEventListener("change", showOrHide);
  showOrHide();
  store.subscribe(show);
}
