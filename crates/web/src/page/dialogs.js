// @ts-check
// One dialog for every question.

import { $, hide, make, setText } from "./dom.js";

/**
 * A field of a dialog. `choices` makes a list, a boolean value a checkbox, and `rows` several lines. `amount` adds a number to the
 * choice "at".
 * @typedef {{ name: string, label: string, value?: string | boolean, type?: string, choices?: [string, string][],
 *   amount?: Amount, hint?: string, required?: boolean, placeholder?: string, min?: string, max?: string, step?: string, rows?: number }} Field
 */

/**
 * The number of a field: its unit, the smallest number, the steps between numbers, and the number at first.
 * @typedef {{ unit: string, least: string, step: string, value: string }} Amount
 */

/** @typedef {Record<string, string | boolean>} Answers */

/**
 * @typedef {{ title: string, text?: string, content?: Node[], fields?: Field[], extra?: Node[], action?: string,
 *   isBad?: boolean }} Question
 */

/**
 * Asks a question. Returns the values of the fields, or null if the person cancels. That of a field with an amount is its
 * choice, or the number for the choice "at".
 * @param {Question} question
 */
export async function askUser(question) {
  const { pressed, answers } = await showDialog(question);
  return pressed === "do" ? answers : null;
}

/**
 * Shows a dialog until it is closed. Returns the values of its fields, and that of the button: "do" for the action.
 * @param {Question} question
 * @returns {Promise<{ pressed: string, answers: Answers }>}
 */
export function showDialog({ title, text = "", content = [], fields = [], extra = [], action, isBad = false }) {
  const dialog = $("dialog", HTMLDialogElement);
  const form = /** @type {HTMLFormElement} */ (dialog.querySelector("form"));
  const parts = fields.map(partOf);
  const cancel = make("button", { value: "cancel", formNoValidate: true }, action === undefined ? "Close" : "Cancel");
  const buttons = make("p", { className: "buttons" }, cancel);
  if (action !== undefined) buttons.append(make("button", { value: "do", className: isBad ? "bad" : "main" }, action));
  setText($("dialog-title"), title);
  setText($("dialog-text"), text);
  $("dialog-body").replaceChildren(...content, ...parts.map(({ line }) => line), ...extra, buttons);
  actByEnter(form, action === undefined ? null : /** @type {HTMLElement} */ (buttons.lastElementChild));
  dialog.returnValue = "cancel";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve({ pressed: dialog.returnValue, answers: answersOf(parts) }), { once: true });
  });
}

/**
 * Makes Return in a field press a button. Browsers press the first one, which cancels.
 * @param {HTMLFormElement} form
 * @param {HTMLElement | null} act
 */
export function actByEnter(form, act) {
  form.onkeydown = (event) => {
    const { key, target } = event;
    // Return in a field for files opens the choice of files.
    if (key !== "Enter" || !(target instanceof HTMLInputElement) || target.type === "file" || act === null) return;
    event.preventDefault();
    form.requestSubmit(act);
  };
}

/** A button in the content of a dialog, which closes it. @param {string} value @param {string} label @param {string} [name] */
export const closeButton = (value, label, name = label) => make("button", { value, formNoValidate: true, "aria-label": name }, label);

/** A field as it is shown, and how its value is read. @typedef {{ name: string, line: HTMLElement, read: () => string | boolean }} Part */

/** Returns the values of fields. @param {Part[]} parts @returns {Answers} */
export const answersOf = (parts) => Object.fromEntries(parts.map(({ name, read }) => [name, read()]));

/** Makes the elements of a field. @param {Field} field @returns {Part} */
export function partOf(field) {
  const { name, label, hint, amount } = field;
  const input = inputOf(field);
  const hints = hint === undefined ? [] : [make("span", { className: "hint" }, hint)];
  if (input instanceof HTMLSelectElement && amount !== undefined) {
    const { unit, least, step, value } = amount;
    const number = make("input", { name: `${name}-amount`, type: "number", min: least, step, value, required: true, autocomplete: "off", "aria-label": unit === "" ? label : `${label} in ${unit}` });
    const box = make("span", { className: "amount" }, number, make("span", { "aria-hidden": "true" }, unit));
    const showAmount = () => {
      number.disabled = input.value !== "at";
      hide(box, number.disabled);
    };
    input.addEventListener("change", showAmount);
    showAmount();
    const line = make("p", { className: "line" }, make("label", {}, label, input), box, ...hints);
    return { name, line, read: () => (input.value === "at" ? number.value : input.value) };
  }
  const isBox = input instanceof HTMLInputElement && input.type === "checkbox";
  const line = make("p", { className: "line" }, make("label", {}, ...(isBox ? [input, ` ${label}`] : [label, input])), ...hints);
  return { name, line, read: () => (isBox ? input.checked : input.value) };
}

/** @param {Field} field */
function inputOf({ name, value = "", type = "text", choices, required = false, placeholder = "", min = "0", max = "", step = "any", rows }) {
  if (choices !== undefined) {
    const options = choices.map(([key, label]) => new Option(label, key, false, key === value));
    return make("select", { name }, ...options);
  }
  if (rows !== undefined) return make("textarea", { name, rows, value: String(value), spellcheck: false });
  if (typeof value === "boolean") return make("input", { name, type: "checkbox", checked: value });
  const numbers = type === "number" ? { min, max, step } : {};
  return make("input", { name, type, value, required, placeholder, autocomplete: "off", spellcheck: false, ...numbers });
}
