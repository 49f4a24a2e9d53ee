// @ts-check
// Limits that are a number, none, or inherited: how dialogs ask for them, and how requests have them. Without elements, so that
// tests need no browser.

import { KIB, duration, number, rate } from "./format.js";

/** @typedef {import("./dialogs.js").Field} Field */
/** @typedef {import("./types.js").Target} Target */

/**
 * A limit: its label, the unit in a dialog with what one of it is in a request, the smallest number of a dialog, the value of no
 * limit in a request, the name of its option, and how a value is shown.
 * @typedef {{ label: string, unit: string, factor: number, least: string, step: string, never: null | "never", option: string,
 *   show: (value: number) => string }} Limit
 */

/** @param {string} label @param {string} option @returns {Limit} */
const rateOf = (label, option) => ({ label, option, unit: "KiB/s", factor: KIB, least: "0.001", step: "any", never: null, show: rate });

/** @param {string} label @param {string} option @returns {Limit} */
const countOf = (label, option) => ({ label, option, unit: "", factor: 1, least: "1", step: "1", never: null, show: number });

/** @param {string} label @param {string} option @returns {Limit} */
const timeOf = (label, option) => ({ label, option, unit: "minutes", factor: 60, least: "0", step: "any", never: "never", show: duration });

/** The limits, by their names in requests. @satisfies {Record<string, Limit>} */
export const LIMITS = {
  max_down: rateOf("Download rate", "max-down"),
  max_up: rateOf("Upload rate", "max-up"),
  alt_max_down: rateOf("Alternative download rate", "alt-max-down"),
  alt_max_up: rateOf("Alternative upload rate", "alt-max-up"),
  max_active_downloads: countOf("Number of active downloads", "max-active-downloads"),
  max_active_uploads: countOf("Number of active uploads", "max-active-uploads"),
  seed_ratio: { label: "Ratio of sent to received bytes", option: "seed-ratio", unit: "", factor: 1, least: "0", step: "any", never: "never", show: String },
  seed_seconds: timeOf("Time of serving", "seed-time"),
  idle_seconds: timeOf("Time without an upload", "idle-time"),
};

/** @typedef {keyof typeof LIMITS} LimitName */

/** The limits of a category. */
export const GOALS = /** @type {const} */ (["seed_ratio", "seed_seconds", "idle_seconds"]);

/** The limits of a torrent. Only a daemon has the last one. */
export const OWN_LIMITS = /** @type {const} */ (["max_down", "max_up", ...GOALS]);

/** Shows a limit. @param {LimitName} name @param {number | null} value */
export const shown = (name, value) => (value === null ? "no limit" : LIMITS[name].show(value));

/** A value as a dialog has it. @param {LimitName} name @param {number} value */
export const textOf = (name, value) => String(Number((value / LIMITS[name].factor).toFixed(4)));

/**
 * Returns what a request has for the answer of a dialog: a word, or a number in the unit of the dialog.
 * @param {LimitName} name
 * @param {string} answer
 * @returns {Target}
 */
export function targetOf(name, answer) {
  const { factor, never, least } = LIMITS[name];
  if (answer === "never") return never;
  if (answer === "inherited") return answer;
  const value = Number(answer) * factor;
  // A ratio has no unit, and the others are whole numbers.
  if (name === "seed_ratio") return value;
  return Math.max(Math.round(value), least === "0" ? 0 : 1);
}

/**
 * Returns the field of a limit: a list of words, and a number for the word "at".
 * @param {LimitName} name
 * @param {[string, string][]} words
 * @param {string} word
 * @param {number | null | undefined} value
 * @returns {Field}
 */
function fieldOf(name, words, word, value) {
  const { label, unit, least, step } = LIMITS[name];
  const amount = value === null || value === undefined ? "" : textOf(name, value);
  return { name, label, choices: [...words, ["never", "no limit"], ["at", "this limit"]], value: word, amount: { unit, least, step, value: amount } };
}

/** Whether torrents inherit a limit. @param {LimitName} name */
const isInherited = (name) => GOALS.some((goal) => goal === name);

/**
 * Returns the field for a limit of torrents that have this value: undefined if they have different ones.
 * @param {LimitName} name
 * @param {number | null | undefined} value
 */
export function ownField(name, value) {
  /** @type {[string, string][]} */
  const words = [["", value === undefined ? "unchanged" : `unchanged: ${shown(name, value)}`]];
  if (isInherited(name)) words.push(["inherited", "inherited"]);
  return fieldOf(name, words, "", value);
}

/**
 * Returns the field for a limit of a torrent that is added.
 * @param {LimitName} name
 */
export const newField = (name) =>
  isInherited(name) ? fieldOf(name, [["inherited", "inherited"]], "inherited", null) : fieldOf(name, [], "never", null);

/**
 * Returns the field for a limit that a category has, or inherits without one.
 * @param {LimitName} name
 * @param {Target | undefined} target
 */
export function categoryField(name, target) {
  const word = typeof target === "number" ? "at" : target ?? "inherited";
  return fieldOf(name, [["inherited", "inherited"]], word, typeof target === "number" ? target : null);
}

/**
 * Returns the field for a limit of all torrents together.
 * @param {LimitName} name
 * @param {import("./types.js").Limit} limit
 */
export function settingField(name, { value, configured, requested }) {
  const word = !requested ? "inherited" : value === null ? "never" : "at";
  return fieldOf(name, [["inherited", `as configured: ${shown(name, configured)}`]], word, value);
}

/**
 * Returns the answers of a dialog that differ from what its fields had, as a request has them.
 * @param {Field[]} fields
 * @param {Record<string, string | boolean>} answers
 * @returns {Record<string, Target>}
 */
export function changedLimits(fields, answers) {
  const changed = fields.filter(({ name, value, amount }) => name in LIMITS && answers[name] !== (value === "at" ? amount?.value : value));
  return Object.fromEntries(changed.map(({ name }) => [name, targetOf(/** @type {LimitName} */ (name), String(answers[name]))]));
}
