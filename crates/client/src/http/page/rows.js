// Tables whose rows are updated in place.

import { percent, setText } from "./text.js";

// Creates the cells of a header. Each column is `{ label, narrow?, key? }`: a column with a key can be sorted by.
export function makeHead(table, columns, onSort) {
  table.setAttribute("role", "table");
  const tr = table.tHead.rows[0];
  tr.setAttribute("role", "row");
  for (const { label, key, number } of columns) {
    const th = document.createElement("th");
    th.scope = "col";
    th.setAttribute("role", "columnheader");
    th.classList.toggle("number", number === true);
    if (key === undefined || onSort === undefined) {
      th.textContent = label;
    } else {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = label;
      button.addEventListener("click", () => onSort(key));
      th.dataset.key = key;
      th.append(button);
    }
    tr.append(th);
  }
}

function makeRow(columns, key) {
  const tr = document.createElement("tr");
  tr.setAttribute("role", "row");
  tr.dataset.key = key;
  for (const { label, number, wide } of columns) {
    const td = tr.insertCell();
    td.setAttribute("role", "cell");
    td.dataset.label = label;
    td.classList.toggle("number", number === true);
    td.classList.toggle("wide", wide === true);
  }
  return tr;
}

// Gives a table the rows of the items, by their keys, in their order. Rows that stay keep their elements, their place if
// the order is the same, and the focus.
export function updateRows(table, columns, items, keyOf, update) {
  const body = table.tBodies[0];
  const rows = new Map(Array.from(body.rows, (tr) => [tr.dataset.key, tr]));
  const focused = document.activeElement;
  let next = body.firstElementChild;
  for (const [position, item] of items.entries()) {
    const key = String(keyOf(item, position));
    const tr = rows.get(key) ?? makeRow(columns, key);
    rows.delete(key);
    if (tr === next) {
      next = next.nextElementSibling;
    } else {
      body.insertBefore(tr, next);
    }
    update(tr, item);
  }
  for (const tr of rows.values()) tr.remove();
  if (document.activeElement !== focused && body.contains(focused)) focused.focus({ preventScroll: true });
}

export function setCells(tr, texts) {
  texts.forEach((text, i) => {
    if (text !== null) setText(tr.cells[i], text);
  });
}

// Shows a bar with its percentage.
export function setBar(cell, label, part, whole) {
  if (whole === 0 || part === null) {
    setText(cell, "–");
    return;
  }
  if (cell.firstElementChild === null) {
    cell.textContent = "";
    cell.append(document.createElement("progress"), document.createElement("span"));
  }
  const [progress, span] = cell.children;
  if (progress.max !== whole) progress.max = whole;
  if (progress.value !== part) progress.value = part;
  if (progress.ariaLabel !== label) progress.ariaLabel = label;
  setText(span, percent(part, whole));
}

// Shows a state as a coloured mark with its name.
export function setState(cell, name, kind) {
  if (cell.firstElementChild === null) {
    const span = document.createElement("span");
    cell.append(span);
  }
  const span = cell.firstElementChild;
  const classes = `state ${kind}`;
  if (span.className !== classes) span.className = classes;
  setText(span, name);
}
