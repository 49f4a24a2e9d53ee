// @ts-check
// Figures and names as text.

export const KIB = 1024;

/** @param {number} bytes */
export function size(bytes) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let unit = 0;
  while (bytes >= 1000 && unit + 1 < units.length) {
    bytes /= KIB;
    unit += 1;
  }
  return `${unit === 0 || bytes >= 100 ? Math.round(bytes) : bytes.toFixed(1)} ${units[unit]}`;
}

/** @param {number} bytes */
export const rate = (bytes) => `${size(bytes)}/s`;

/**
 * A rate in a table, where nothing is easier to skip than 0.
 * @param {number} bytes
 */
export const speed = (bytes) => (bytes === 0 ? "–" : rate(bytes));

/** @param {number | null} seconds */
export function duration(seconds) {
  if (seconds === null) return "";
  if (seconds < 120) return `${Math.ceil(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172800) return `${(seconds / 3600).toFixed(1)} h`;
  return `${(seconds / 86400).toFixed(1)} days`;
}

/**
 * Only the whole is 100 %.
 * @param {number} part
 * @param {number} whole
 */
export function percent(part, whole) {
  if (whole === 0 || part >= whole) return "100 %";
  return `${Math.min(99.9, (100 * part) / whole).toFixed(1)} %`;
}

const grouped = new Intl.NumberFormat("en");

/** @param {number} n */
export const number = (n) => grouped.format(n);

/**
 * @param {number} n
 * @param {string} noun
 */
export const count = (n, noun) => `${number(n)} ${noun}${n === 1 ? "" : "s"}`;

/**
 * A time in seconds since 1970.
 * @param {number | null} seconds
 */
export const time = (seconds) => (seconds === null ? "–" : new Date(seconds * 1000).toLocaleString());

/** A text as a field of one line has it. @param {string} text */
export const oneLine = (text) => text.replace(/[\r\n]/g, "");

const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/**
 * Names, clients and messages come from other people. Characters that control the order or place of text are replaced.
 * @param {string} text
 */
export const plain = (text) => text.replace(CONTROLS, "\ufffd");
