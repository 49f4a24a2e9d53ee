// @ts-check
// Elements of the page.

/**
 * Returns the element with an ID.
 * @template {Element} [T=HTMLElement]
 * @param {string} id
 * @param {new () => T} [type]
 * @returns {T}
 */
export function $(id, type) {
  const node = document.getElementById(id);
  if (node === null || (type !== undefined && !(node instanceof type))) throw new Error(`#${id}: not in the page`);
  return /** @type {any} */ (node);
}

/** @param {string} id */
export const field = (id) => $(id, HTMLInputElement);

/** @param {string} id */
export const button = (id) => $(id, HTMLButtonElement);

/**
 * Nodes are changed only where their text changes, so that clicks, focus and selections last. Text never becomes markup.
 * @param {Node} node
 * @param {string} text
 */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * @param {Element} node
 * @param {string} name
 * @param {string | null} value
 */
export function setAttribute(node, name, value) {
  if (value === null) node.removeAttribute(name);
  else if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

/**
 * @param {HTMLElement} node
 * @param {boolean} isHidden
 */
export function hide(node, isHidden) {
  if (node.hidden !== isHidden) node.hidden = isHidden;
}

/**
 * Makes an element. Values are properties, and those with a hyphen or the name `role` attributes.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name
 * @param {Record<string, unknown>} values
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function make(name, values, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(values)) {
    if (key.includes("-") || key === "role" || key === "for") node.setAttribute(key, String(value));
    else Object.assign(node, { [key]: value });
  }
  node.append(...children);
  return node;
}

/**
 * Shows a text, or hides its element if it is empty.
 * @param {string} id
 * @param {string} text
 */
export function notice(id, text) {
  setText($(id), text);
  hide($(id), text === "");
}
