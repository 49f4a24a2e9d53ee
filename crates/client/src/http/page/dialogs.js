// @ts-check
// One dialog for every question.

import { $, make, setText } from "./dom.js";

/**
 * A field of a dialog. `choices` makes a list, and a boolean value a checkbox.
 * @typedef {{ name: string, label: string, value?: string | boolean, type?: string, choices?: [string, string][],
 *   hint?: string }} Field
 */

/**
 * Asks a question. Returns the values of the fields, or null if the person cancels.
 * @param {{ title: string, text?: string, content?: Node[], fields?: Field[], action?: string, isBad?: boolean }} question
 * @returns {Promise<Record<string, string | boolean> | null>}
 */
export function askUser({ title, text = "", content = [], fields = [], action, isBad = false }) {
  const dialog = $("dialog", HTMLDialogElement);
  const form = /** @type {HTMLFormElement} */ (dialog.querySelector("form"));
  const inputs = fields.map((field) => [field.name, inputOf(field)]);
  const lines = fields.map((field, i) => {
    const input = /** @type {HTMLInputElement} */ (inputs[i][1]);
    const label = input.type === "checkbox" ? [input, ` ${field.label}`] : [field.label, input];
    const hint = field.hint === undefined ? [] : [make("span", { className: "hint" }, field.hint)];
    return make("p", { className: "line" }, make("label", {}, ...label), ...hint);
  });
  const cancel = make("button", { value: "cancel", formNoValidate: true }, action === undefined ? "Close" : "Cancel");
  const buttons = make("p", { className: "buttons" }, cancel);
  if (action !== undefined) buttons.append(make("button", { value: "do", className: isBad ? "bad" : "main" }, action));
  setText($("dialog-title"), title);
  setText($("dialog-text"), text);
  $("dialog-body").replaceChildren(...content, ...lines, buttons);
  // Return in a field is the action, not the first button.
  form.onkeydown = (event) => {
    if (event.key !== "Enter" || !(event.target instanceof HTMLInputElement) || action === undefined) return;
    event.preventDefault();
    form.requestSubmit(/** @type {HTMLElement} */ (buttons.lastElementChild));
  };
  dialog.returnValue = "cancel";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      const values = inputs.map(([name, input]) => {
        const { type, checked, value } = /** @type {HTMLInputElement} */ (input);
        return [name, type === "checkbox" ? checked : value];
      });
      resolve(dialog.returnValue === "do" ? Object.fromEntries(values) : null);
    }, { once: true });
  });
}

/** @param {Field} field */
function inputOf({ name, value = "", type = "text", choices }) {
  if (choices !== undefined) {
    const options = choices.map(([key, label]) => new Option(label, key, false, key === value));
    return make("select", { name }, ...options);
  }
  if (typeof value === "boolean") return make("input", { name, type: "checkbox", checked: value });
  const numbers = type === "number" ? { min: "0", step: "any" } : {};
  return make("input", { name, type, value, autocomplete: "off", spellcheck: false, ...numbers });
}
