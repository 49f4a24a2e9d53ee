// @ts-check
// Cells of tables that show more than text.

import { setAttribute, setText } from "./dom.js";
import { percent } from "./format.js";

/**
 * Shows a bar with its percentage.
 * @param {HTMLElement} cell
 * @param {string} label
 * @param {number | null} part
 * @param {number} whole
 */
export function setBar(cell, label, part, whole) {
  if (whole === 0 || part === null) {
    setText(cell, "–");
    return;
  }
  if (!(cell.firstElementChild instanceof HTMLProgressElement)) {
    cell.replaceChildren(document.createElement("progress"), document.createElement("span"));
  }
  const [progress, span] = /** @type {[HTMLProgressElement, HTMLSpanElement]} */ (/** @type {unknown} */ (cell.children));
  if (progress.max !== whole) progress.max = whole;
  if (progress.value !== part) progress.value = part;
  setAttribute(progress, "aria-label", label);
  setText(span, percent(part, whole));
}

/**
 * Shows a state as a coloured mark with its name.
 * @param {HTMLElement} cell
 * @param {string} name
 * @param {string} kind
 */
export function setState(cell, name, kind) {
  const span = cell.firstElementChild ?? cell.appendChild(document.createElement("span"));
  if (span.className !== `state ${kind}`) span.className = `state ${kind}`;
  setText(span, name);
}
