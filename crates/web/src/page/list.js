// @ts-check
// The list of torrents.

import { setBar, setState } from "./cells.js";
import { $, button, field, hide, make, setAttribute, setText } from "./dom.js";
import { duration, number, plain, size, speed, time } from "./format.js";
import { store as keep, stored } from "./prefs.js";
import { COLUMN_LABELS, TEXT, selected, shownOf } from "./text.js";
import { SORT_KEYS, matching, problemOf, progressOf, ratio, sortTorrents, stateOf, title } from "./torrents.js";
import { makeRows } from "./virtual.js";

/** @typedef {import("./types.js").Torrent} Torrent */
/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Store} Store */
/** @typedef {keyof typeof COLUMN_LABELS} ColumnKey */

// Minimum time between two changes of the order, in milliseconds: rows must not move away from under the pointer.
const ORDER_INTERVAL = 2000;

// Distance in pixels after which a press on a heading is a drag.
const DRAG = 8;

const MIN_WIDTH = 48;
const MAX_WIDTH = 900;

/**
 * A column: its width in pixels, whether it is shown at first, and what a cell shows. A cell whose figure is nothing is left
 * out of the cards of phones.
 * @typedef {{ width: number, isOff?: boolean, isNumber?: boolean, show: (cell: HTMLElement, torrent: Torrent) => void,
 *   isNothing?: (torrent: Torrent) => boolean }} Column
 */

/** @param {(torrent: Torrent) => string} text @returns {Column["show"]} */
const text = (text) => (cell, torrent) => setText(cell, text(torrent));

/** @type {Record<ColumnKey, Column>} */
const COLUMNS = {
  name: { width: 209, show: text(title) },
  state: {
    width: 138,
    show: (cell, torrent) => {
      const { name, kind } = stateOf(torrent);
      // A torrent whose tracker fails is not as well as it looks.
      setState(cell, name, kind === "good" && problemOf(torrent) !== "" ? "warn" : kind);
    },
  },
  problem: {
    width: 230,
    show: (cell, torrent) => {
      text(problemOf)(cell, torrent);
      // A reason can be longer than any column.
      cell.title = problemOf(torrent);
    },
    isNothing: (t) => problemOf(t) === "",
  },
  done: { width: 130, show: (cell, torrent) => setBar(cell, `${title(torrent)}: done`, ...progressOf(torrent)) },
  size: { width: 80, isNumber: true, show: text((t) => size(t.total_bytes)), isNothing: (t) => t.total_bytes === 0 },
  down: { width: 88, isNumber: true, show: text((t) => speed(t.down_bytes_per_second)), isNothing: (t) => t.down_bytes_per_second === 0 },
  up: { width: 88, isNumber: true, show: text((t) => speed(t.up_bytes_per_second)), isNothing: (t) => t.up_bytes_per_second === 0 },
  ratio: { width: 50, isNumber: true, show: text((t) => ratio(t).toFixed(2)), isNothing: (t) => t.uploaded_bytes === 0 },
  peers: { width: 54, isNumber: true, show: text((t) => number(t.peers)), isNothing: (t) => t.peers === 0 },
  left: { width: 60, isNumber: true, show: text((t) => duration(t.seconds_left) || "–"), isNothing: (t) => t.seconds_left === null },
  labels: { width: 120, isOff: true, show: text((t) => t.labels.map(plain).join(", ")), isNothing: (t) => t.labels.length === 0 },
  category: { width: 110, isOff: true, show: text((t) => plain(t.category ?? "")), isNothing: (t) => t.category === null },
  queue: {
    width: 64,
    isOff: true,
    isNumber: true,
    show: text((t) => (t.queue_position === null ? "–" : number(t.queue_position))),
    isNothing: (t) => t.queue_position === null,
  },
  added: { width: 160, isOff: true, show: text((t) => time(t.added_at)), isNothing: () => true },
};

const KEYS = /** @type {ColumnKey[]} */ (Object.keys(COLUMNS));

/** @typedef {{ order: ColumnKey[], widths: Record<string, number>, shown: Record<string, boolean>, isDense: boolean }} Layout */

/**
 * Returns the columns in a stored order. Those that it lacks follow.
 * @param {unknown} order
 * @returns {ColumnKey[]}
 */
export function columnsIn(order) {
  const known = (Array.isArray(order) ? order : []).filter((key) => typeof key === "string" && Object.hasOwn(COLUMNS, key));
  return [...new Set([...known, ...KEYS])];
}

/**
 * Returns columns with one of them in the place of another.
 * @param {ColumnKey[]} order
 * @param {ColumnKey} key
 * @param {ColumnKey} place
 */
export function moveColumn(order, key, place) {
  const moved = order.filter((other) => other !== key);
  moved.splice(order.indexOf(place), 0, key);
  return moved;
}

/**
 * Reads the layout that the browser kept, in which other pages of the same host may have written.
 * @returns {Layout}
 */
export function readLayout() {
  const { order, widths, shown, isDense } = stored("layout");
  const valuesOf = (/** @type {unknown} */ value) => Object.entries(typeof value === "object" && value !== null ? value : {});
  const isWidth = (/** @type {unknown} */ width) => typeof width === "number" && width >= MIN_WIDTH && width <= MAX_WIDTH;
  return {
    order: columnsIn(order),
    widths: Object.fromEntries(valuesOf(widths).filter(([, width]) => isWidth(width))),
    shown: Object.fromEntries(valuesOf(shown).filter(([, is]) => typeof is === "boolean")),
    isDense: isDense === true,
  };
}

/** @returns {import("./types.js").Sort} */
export function readSort() {
  const { key, isDescending } = stored("sort");
  return { key: typeof key === "string" && Object.hasOwn(SORT_KEYS, key) ? key : "number", isDescending: isDescending === true };
}

/**
 * Starts the list. `onOpen` gets the torrent that a person opens.
 * @param {Store} store
 * @param {(torrent: Torrent) => void} onOpen
 */
export function startList(store, onOpen) {
  const { state } = store;
  const table = $("torrents", HTMLTableElement);
  const [head, body] = [table.tHead?.rows[0], table.tBodies[0]];
  if (head === undefined) throw new Error("#torrents: no head");
  const scroller = $("rows");
  const all = /** @type {HTMLInputElement} */ (head.querySelector("input"));
  const layout = readLayout();
  /** @type {number[]} */
  let order = [];
  let ordered = -Infinity;
  let orderedBy = "";
  /** The change of the order that waits. @type {number | undefined} */
  let later;
  /** The row that the arrow keys moved to, and the one from which Shift selects. @type {number | null} */
  let active = null;
  /** @type {number | null} */
  let anchor = null;
  const rows = makeRows({ scroller, body, make: makeRow, update: showRow });

  const isShown = (/** @type {ColumnKey} */ key) => layout.shown[key] ?? !COLUMNS[key].isOff;

  /** Gives all rows the columns of the layout. */
  function layOut() {
    const widths = layout.order.filter(isShown).map((key) => `${layout.widths[key] ?? COLUMNS[key].width}px`);
    table.style.setProperty("--columns", `2.2rem ${widths.join(" ")} minmax(0, 1fr)`);
    for (const [i, key] of layout.order.entries()) {
      for (const row of [head, ...rows.elements()]) /** @type {HTMLTableRowElement} */ (row).cells[i + 1].hidden = !isShown(key);
    }
    document.body.classList.toggle("dense", layout.isDense);
    rows.measure();
    keep("layout", layout);
    show(true);
  }

  /** Moves a column to the place of another one. @param {ColumnKey} key @param {ColumnKey} place */
  function move(key, place) {
    const before = layout.order;
    layout.order = moveColumn(before, key, place);
    // Cells move with their content, and the heading keeps the focus.
    const focused = document.activeElement;
    for (const row of [head, ...rows.elements()]) {
      const [check, ...cells] = /** @type {HTMLTableRowElement} */ (row).cells;
      row?.replaceChildren(check, ...layout.order.map((one) => cells[before.indexOf(one)]));
    }
    if (focused instanceof HTMLElement && table.contains(focused)) focused.focus({ preventScroll: true });
    layOut();
  }

  /** Moves a column beside the next one that is shown. @param {ColumnKey} key @param {-1 | 1} step */
  function moveBy(key, step) {
    const shown = layout.order.filter(isShown);
    const place = shown[shown.indexOf(key) + step];
    if (place !== undefined) move(key, place);
  }

  /** @param {number} key */
  function makeRow(key) {
    const check = make("input", { type: "checkbox", tabIndex: -1 });
    const tr = make("tr", { role: "row" }, make("td", { role: "gridcell", className: "check" }, check));
    tr.dataset.key = String(key);
    for (const column of layout.order) {
      const td = make("td", { role: "gridcell", className: COLUMNS[column].isNumber ? "number" : "", hidden: !isShown(column) });
      td.dataset.column = column;
      td.dataset.label = COLUMN_LABELS[column];
      tr.append(td);
    }
    return tr;
  }

  /**
   * @param {HTMLTableRowElement} tr
   * @param {number} key
   * @param {number} position
   */
  function showRow(tr, key, position) {
    const torrent = state.torrents.get(key);
    if (torrent === undefined) return false;
    const isSelected = state.selected.has(torrent.number);
    setAttribute(tr, "aria-rowindex", String(position + 2));
    setAttribute(tr, "aria-selected", String(isSelected));
    const isChosen = torrent.number === state.chosen;
    if (tr.classList.contains("chosen") !== isChosen) tr.classList.toggle("chosen", isChosen);
    tr.tabIndex = torrent.number === active ? 0 : -1;
    const check = /** @type {HTMLInputElement} */ (tr.cells[0].firstElementChild);
    if (check.checked !== isSelected) check.checked = isSelected;
    if (shownAs.get(tr) === torrent) return true;
    shownAs.set(tr, torrent);
    setAttribute(check, "aria-label", `Select ${title(torrent)}`);
    const hint = problemOf(torrent) || title(torrent);
    if (tr.title !== hint) tr.title = hint;
    layout.order.forEach((key, i) => {
      const { show, isNothing } = COLUMNS[key];
      const cell = tr.cells[i + 1];
      show(cell, torrent);
      cell.classList.toggle("nothing", isNothing?.(torrent) ?? false);
    });
    return true;
  }

  /** The torrents as rows show them: an unchanged torrent has the same object. @type {WeakMap<HTMLTableRowElement, Torrent>} */
  const shownAs = new WeakMap();

  function isBusy() {
    const selection = document.getSelection();
    return (selection?.type === "Range" && table.contains(selection.anchorNode)) || body.matches(":active");
  }

  /** @param {boolean} isForced */
  function setOrder(isForced) {
    const by = JSON.stringify([state.facet, state.search, state.sort, state.torrents.size]);
    const now = performance.now();
    if (!isForced && by === orderedBy && (isBusy() || now - ordered < ORDER_INTERVAL)) {
      later ??= setTimeout(() => {
        later = undefined;
        show();
      }, ORDER_INTERVAL);
      return;
    }
    [ordered, orderedBy] = [now, by];
    const listed = [...state.torrents.values()].filter(matching(state.facet, state.search));
    order = sortTorrents(listed, state.sort);
    if (active === null || !order.includes(active)) active = order[0] ?? null;
  }

  function showCounts() {
    const [n, total] = [order.length, state.torrents.size];
    setText($("shown"), n === total ? "" : shownOf(n, total));
    const isEmpty = n === 0 && state.connection.kind !== "connecting";
    hide($("no-torrents"), !isEmpty);
    const none = state.acceptsTorrents && state.session.change ? TEXT.noTorrentsAdd : TEXT.noTorrents;
    setText($("no-torrents"), total === 0 ? none : TEXT.noMatch);
    setAttribute(table, "aria-rowcount", String(n + 1));
    rows.set(order);
  }

  function showSelection() {
    const n = state.selected.size;
    setText($("selected"), selected(n));
    const listed = order.filter((key) => state.selected.has(key)).length;
    all.checked = listed > 0 && listed === order.length;
    all.indeterminate = listed > 0 && listed < order.length;
    all.disabled = order.length === 0;
  }

  function showSort() {
    const { key, isDescending } = state.sort;
    for (const th of /** @type {HTMLTableRowElement} */ (head).cells) {
      const isSorted = th.dataset.key === key;
      setAttribute(th, "aria-sort", isSorted ? (isDescending ? "descending" : "ascending") : null);
    }
    $("sort", HTMLSelectElement).value = key;
    setText($("sort-direction"), isDescending ? "↓" : "↑");
    setAttribute($("sort-direction"), "aria-label", isDescending ? "Descending" : "Ascending");
  }

  function show(isForced = false) {
    setOrder(isForced);
    showCounts();
    rows.show();
    showSelection();
    showSort();
  }

  /** @param {string} key @param {boolean} isDescending */
  function setSort(key, isDescending) {
    const sort = { key, isDescending };
    keep("sort", sort);
    store.set({ sort });
  }

  /** Selects the torrents from the anchor to this one. @param {number} key */
  function extend(key) {
    const [from, to] = [order.indexOf(anchor ?? key), order.indexOf(key)].sort((a, b) => a - b);
    store.set({ selected: new Set(order.slice(Math.max(from, 0), to + 1)) });
  }

  /** @param {number} key */
  function toggle(key) {
    const selected = new Set(state.selected);
    if (!selected.delete(key)) selected.add(key);
    anchor = key;
    store.set({ selected });
  }

  /** Selects a torrent, and opens it. @param {number} key */
  function choose(key) {
    anchor = key;
    active = key;
    store.set({ selected: new Set([key]) });
    const torrent = state.torrents.get(key);
    if (torrent !== undefined) onOpen(torrent);
  }

  /** Moves the focus to a row. @param {number} position */
  function moveTo(position) {
    active = order[Math.max(0, Math.min(order.length - 1, position))];
    rows.focus(active, /** @type {HTMLTableRowElement} */ (head).offsetHeight);
  }

  /** @param {KeyboardEvent} event */
  function onKey(event) {
    const at = active === null ? -1 : order.indexOf(active);
    const page = rows.page();
    /** @type {Record<string, number>} */
    const targets = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: order.length - 1 };
    if (event.key in targets && order.length > 0) {
      event.preventDefault();
      if (event.shiftKey && anchor === null) anchor = active;
      moveTo(targets[event.key]);
      if (active === null) return;
      if (event.shiftKey) extend(active);
      else if (!event.ctrlKey && !event.metaKey) {
        anchor = active;
        store.set({ selected: new Set([active]) });
      }
    } else if (event.key === "Enter" && active !== null) {
      event.preventDefault();
      choose(active);
    } else if (event.key === "a" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      store.set({ selected: new Set(order) });
    }
  }

  /** @param {Event} event */
  function keyOf(event) {
    const tr = event.target instanceof Element ? event.target.closest("tr") : null;
    return tr?.dataset.key === undefined ? null : Number(tr.dataset.key);
  }

  /** @param {MouseEvent} event */
  function onClick(event) {
    const key = keyOf(event);
    // A selection of text is no choice.
    if (key === null || (document.getSelection()?.type === "Range" && !event.shiftKey)) return;
    active = key;
    if (event.shiftKey) extend(key);
    else if (event.ctrlKey || event.metaKey || (event.target instanceof Element && event.target.closest(".check") !== null)) toggle(key);
    else choose(key);
  }

  /** Lets a heading be dragged to the place of another one. @param {HTMLElement} th @param {HTMLElement} handle @param {ColumnKey} key */
  function startDrag(th, handle, key) {
    /** Whether the click that follows ends a drag. */
    let isDragged = false;
    handle.addEventListener("pointerdown", (event) => {
      isDragged = false;
      if (event.button !== 0) return;
      handle.setPointerCapture(event.pointerId);
      /** @type {HTMLElement | undefined} */
      let place;
      const drag = (/** @type {PointerEvent} */ moved) => {
        isDragged ||= Math.abs(moved.clientX - event.clientX) > DRAG;
        if (!isDragged) return;
        place?.classList.remove("drop");
        place = [...th.parentElement?.children ?? []].map((cell) => /** @type {HTMLElement} */ (cell)).find((cell) => {
          const { left, right } = cell.getBoundingClientRect();
          return cell.dataset.key !== undefined && !cell.hidden && left <= moved.clientX && moved.clientX < right;
        });
        place?.classList.add("drop");
      };
      handle.addEventListener("pointermove", drag);
      handle.addEventListener("lostpointercapture", () => {
        handle.removeEventListener("pointermove", drag);
        place?.classList.remove("drop");
        const to = /** @type {ColumnKey | undefined} */ (place?.dataset.key);
        if (to !== undefined && to !== key) move(key, to);
      }, { once: true });
    });
    return () => isDragged;
  }

  /** Makes the head, whose cells sort, move, and change the width of their column. */
  function makeHead() {
    for (const key of layout.order) {
      const sort = make("button", { type: "button", title: TEXT.heading }, COLUMN_LABELS[key]);
      const grip = make("span", { className: "grip", "aria-hidden": "true" });
      const th = make("th", { role: "columnheader", scope: "col", className: COLUMNS[key].isNumber ? "number" : "" }, sort, grip);
      th.dataset.key = key;
      const isDragged = startDrag(th, sort, key);
      sort.addEventListener("click", () => {
        if (!isDragged()) setSort(key, state.sort.key === key && !state.sort.isDescending);
      });
      const setWidth = (/** @type {number} */ width) => {
        layout.widths[key] = Math.round(Math.max(MIN_WIDTH, Math.min(MAX_WIDTH, width)));
        layOut();
      };
      sort.addEventListener("keydown", (event) => {
        const step = event.altKey ? /** @type {Record<string, -1 | 1>} */ ({ ArrowLeft: -1, ArrowRight: 1 })[event.key] : undefined;
        if (step === undefined) return;
        event.preventDefault();
        if (event.shiftKey) moveBy(key, step);
        else setWidth(th.offsetWidth + 16 * step);
      });
      grip.addEventListener("pointerdown", (event) => {
        event.preventDefault();
        grip.setPointerCapture(event.pointerId);
        const [from, width] = [event.clientX, th.offsetWidth];
        const move = (/** @type {PointerEvent} */ moved) => setWidth(width + moved.clientX - from);
        grip.addEventListener("pointermove", move);
        grip.addEventListener("lostpointercapture", () => grip.removeEventListener("pointermove", move), { once: true });
      });
      /** @type {HTMLTableRowElement} */ (head).append(th);
    }
  }

  function makeChoices() {
    $("sort").append(new Option(TEXT.givenOrder, "number"));
    for (const key of KEYS) {
      $("sort").append(new Option(`By ${COLUMN_LABELS[key].toLowerCase()}`, key));
      const box = make("input", { type: "checkbox", checked: isShown(key), disabled: key === "name" });
      box.addEventListener("change", () => {
        layout.shown[key] = box.checked;
        layOut();
      });
      $("column-choices").append(make("label", {}, box, ` ${COLUMN_LABELS[key]}`));
    }
    field("dense").checked = layout.isDense;
    field("dense").addEventListener("change", () => {
      layout.isDense = field("dense").checked;
      layOut();
    });
  }

  makeHead();
  makeChoices();
  store.set({ sort: readSort() });
  const sort = $("sort", HTMLSelectElement);
  sort.addEventListener("change", () => setSort(sort.value, state.sort.isDescending));
  button("sort-direction").addEventListener("click", () => setSort(state.sort.key, !state.sort.isDescending));
  field("search").addEventListener("input", () => store.set({ search: field("search").value }));
  all.addEventListener("change", () => store.set({ selected: new Set(all.checked ? order : []) }));
  body.addEventListener("click", onClick);
  // Shift selects rows, and no text.
  body.addEventListener("mousedown", (event) => {
    if (event.shiftKey) event.preventDefault();
  });
  body.addEventListener("keydown", onKey);
  // A context menu acts on the selection, which has the torrent below the pointer.
  body.addEventListener("contextmenu", (event) => {
    const key = keyOf(event);
    if (key !== null && !state.selected.has(key)) store.set({ selected: new Set([key]) });
  });
  for (const target of [scroller, window]) target.addEventListener("scroll", rows.show, { passive: true });
  addEventListener("resize", layOut);
  new ResizeObserver(rows.show).observe(scroller);
  layOut();
  store.subscribe(() => show());
}
