// @ts-check
// The state of the page. Streams and requests write it, and each part of the page shows it: data flows in one direction.

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Torrent} Torrent */
/** @typedef {import("./types.js").Changes} Changes */

/** @type {() => State} */
export const emptyState = () => ({
  session: { read: true, change: false, csrf_token: null, token_login: false, password_login: false },
  connection: { kind: "connecting", reason: "", since: null },
  torrents: new Map(),
  limits: { max_down: null, max_up: null },
  acceptsTorrents: false,
  isDaemon: false,
  facet: { group: "state", value: "" },
  search: "",
  sort: { key: "number", isDescending: false },
  selected: new Set(),
  chosen: null,
  detail: null,
  tab: "overview",
});

/**
 * Makes a store. Its listeners are called once after all changes of a task, in the order in which they subscribed.
 * @param {State} state
 * @returns {import("./types.js").Store}
 */
export function makeStore(state) {
  /** @type {((state: State) => void)[]} */
  const listeners = [];
  let isPlanned = false;
  const notify = () => {
    isPlanned = false;
    for (const listener of listeners) listener(state);
  };
  return {
    state,
    set(changes) {
      Object.assign(state, changes);
      if (isPlanned) return;
      isPlanned = true;
      queueMicrotask(notify);
    },
    subscribe(listener) {
      listeners.push(listener);
    },
  };
}

/**
 * Returns what an event changes. Torrents that did not change keep their objects.
 * @param {State} state
 * @param {Changes} event
 * @returns {Partial<State>}
 */
export function changesOf(state, event) {
  const { full, changed, removed, max_down = null, max_up = null, accepts_torrents, detail } = event;
  const torrents = full ? new Map() : state.torrents;
  let isNew = full;
  for (const fields of changed) {
    isNew ||= !torrents.has(fields.number);
    torrents.set(fields.number, /** @type {Torrent} */ ({ ...torrents.get(fields.number), ...fields }));
  }
  for (const number of removed) torrents.delete(number);
  /** @type {Partial<State>} */
  const changes = { torrents };
  // New torrents follow the others, except after a disconnection.
  if (isNew) changes.torrents = new Map([...torrents].sort(([a], [b]) => a - b));
  const isGone = (/** @type {number} */ number) => !torrents.has(number);
  if ([...state.selected].some(isGone)) changes.selected = new Set([...state.selected].filter((n) => !isGone(n)));
  if (accepts_torrents !== undefined) Object.assign(changes, { limits: { max_down, max_up }, acceptsTorrents: accepts_torrents });
  if (detail !== undefined && detail.number === state.chosen) changes.detail = detail;
  return changes;
}
