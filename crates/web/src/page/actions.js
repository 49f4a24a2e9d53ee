// @ts-check
// Requests that change something.

import { reasonOf } from "./answers.js";
import { notice } from "./dom.js";
import { count, plain } from "./format.js";
import { askSession } from "./session.js";
import { TEXT, requestLost, requestRefused } from "./text.js";
import { title } from "./torrents.js";

/** @typedef {import("./types.js").Store} Store */
/** @typedef {import("./types.js").Torrent} Torrent */

// Number of torrents whose problem a message lists.
const MAX_PROBLEMS = 5;

/**
 * A change of torrents, as a batch takes it.
 * @typedef {{ action: string } & Record<string, unknown>} Change
 */

/**
 * Makes the requests of a store.
 * @param {Store} store
 */
export function makeActions(store) {
  /**
   * Sends a request with the token of the session. Returns the answer, or the problem.
   * @param {string} method
   * @param {string} path
   * @param {string} [type]
   * @param {BodyInit} [body]
   * @returns {Promise<{ problem: string, answer: any }>}
   */
  async function send(method, path, type, body) {
    const { csrf_token } = store.state.session;
    /** @type {Record<string, string>} */
    const headers = {};
    if (csrf_token !== null) headers["X-CSRF-Token"] = csrf_token;
    if (type !== undefined) headers["Content-Type"] = type;
    try {
      const response = await fetch(`api/v1/${path}`, { method, headers, body });
      if (response.ok) {
        const text = await response.text();
        return { problem: "", answer: text === "" ? null : JSON.parse(text) };
      }
      if (response.status === 401) {
        await askSession(store);
        return { problem: TEXT.sessionEnded, answer: null };
      }
      return { problem: requestRefused(await reasonOf(response)), answer: null };
    } catch (error) {
      return { problem: requestLost(String(error)), answer: null };
    }
  }

  /**
   * Sends a request, and shows its problem.
   * @param {string} method
   * @param {string} path
   * @param {object} [body]
   */
  async function ask(method, path, body) {
    const type = body === undefined ? undefined : "application/json";
    const { problem, answer } = await send(method, path, type, body && JSON.stringify(body));
    notice("refusal", problem);
    return answer;
  }

  /**
   * Changes torrents by one request, and shows what was refused.
   * @param {Torrent[]} torrents
   * @param {Change} change
   */
  async function batch(torrents, change) {
    if (torrents.length === 0) return;
    const numbers = torrents.map(({ number }) => number);
    const answer = await ask("POST", "batch", { torrents: numbers, change });
    if (answer === null) return;
    /** @type {{ torrent: string, error: string | null }[]} */
    const results = answer.results;
    const problems = results.flatMap(({ torrent, error }) => {
      const named = torrents.find(({ number }) => String(number) === torrent);
      return error === null || named === undefined ? [] : [`${title(named)}: ${plain(error)}`];
    });
    const more = problems.length - MAX_PROBLEMS;
    if (more > 0) problems.splice(MAX_PROBLEMS, more, `and ${count(more, "other torrent")}`);
    notice("refusal", problems.join("\n"));
  }

  return { send, ask, batch };
}

/** @typedef {ReturnType<typeof makeActions>} Actions */
