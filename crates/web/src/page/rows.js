// @ts-check
// Tables of the pane, whose rows are updated in place.

import { make, setText } from "./dom.js";

/** @typedef {{ label: string, wide?: boolean, number?: boolean }} Column */

/**
 * Creates the cells of a header.
 * @param {HTMLTableElement} table
 * @param {Column[]} columns
 */
export function makeHead(table, columns) {
  table.setAttribute("role", "table");
  const tr = /** @type {HTMLTableSectionElement} */ (table.tHead).rows[0];
  tr.setAttribute("role", "row");
  for (const { label, number } of columns) {
    tr.append(make("th", { scope: "col", role: "columnheader", className: number ? "number" : "" }, label));
  }
}

/**
 * @param {Column[]} columns
 * @param {string} key
 */
function makeRow(columns, key) {
  const tr = make("tr", { role: "row" });
  tr.dataset.key = key;
  for (const { label, number, wide } of columns) {
    const td = make("td", { role: "cell", className: number ? "number" : wide ? "wide" : "" });
    td.dataset.label = label;
    tr.append(td);
  }
  return tr;
}

/**
 * Gives a table the rows of the items, by their keys, in their order. Rows that stay keep their elements, their place if the
 * order is the same, and the focus.
 * @template T
 * @param {HTMLTableElement} table
 * @param {Column[]} columns
 * @param {T[]} items
 * @param {(item: T, position: number) => string | number} keyOf
 * @param {(tr: HTMLTableRowElement, item: T) => void} update
 */
export function updateRows(table, columns, items, keyOf, update) {
  const body = table.tBodies[0];
  const rows = new Map(Array.from(body.rows, (tr) => [tr.dataset.key, tr]));
  const focused = document.activeElement;
  let next = /** @type {Element | null} */ (body.firstElementChild);
  for (const [position, item] of items.entries()) {
    const key = String(keyOf(item, position));
    const tr = rows.get(key) ?? makeRow(columns, key);
    rows.delete(key);
    if (tr === next) next = next.nextElementSibling;
    else body.insertBefore(tr, next);
    update(tr, item);
  }
  for (const tr of rows.values()) tr.remove();
  if (focused instanceof HTMLElement && document.activeElement !== focused && body.contains(focused)) {
    focused.focus({ preventScroll: true });
  }
}

/**
 * @param {HTMLTableRowElement} tr
 * @param {(string | null)[]} texts
 */
export function setCells(tr, texts) {
  texts.forEach((text, i) => {
    if (text !== null) setText(tr.cells[i], text);
  });
}
