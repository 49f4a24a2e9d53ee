// @ts-check
// Answers of the program.

import { plain } from "./format.js";

/**
 * Returns the reason in the answer to a request that failed: problem details (RFC 9457), or the text of a proxy.
 * @param {Response} response
 */
export async function reasonOf(response) {
  const text = await response.text();
  let reason = text;
  try {
    const { detail } = JSON.parse(text);
    if (typeof detail === "string") reason = detail;
  } catch {
    // The answer is no JSON.
  }
  return plain(reason.trim()) || response.statusText;
}

/**
 * Requests something. Returns the answer, or null if the program refuses it.
 * @param {string} path
 * @returns {Promise<any>}
 */
export async function read(path) {
  const response = await fetch(`api/v1/${path}`);
  return response.ok ? response.json() : null;
}
