// @ts-check
// One stream of server-sent events brings the changes of all torrents, with the detail of the chosen one. Browsers allow six
// connections to a server, for all tabs.

import { reasonOf } from "./answers.js";
import { askSession } from "./session.js";
import { changesOf } from "./store.js";

/** @typedef {import("./types.js").Store} Store */

/**
 * Makes the stream of a store. It opens again with another detail when the chosen torrent changes.
 * @param {Store} store
 */
export function makeStream(store) {
  const { state } = store;
  /** @type {EventSource | null} */
  let source = null;
  /** The name of the event that was applied last. @type {string | null} */
  let last = null;
  /** @type {number | null} */
  let shown = null;

  /** @param {import("./types.js").Connection["kind"]} kind */
  const connection = (kind, reason = "", since = state.connection.since) => store.set({ connection: { kind, reason, since } });

  function close() {
    source?.close();
    source = null;
  }

  /** Opens the stream, in place of the one before. */
  function open() {
    close();
    shown = state.chosen;
    const query = new URLSearchParams();
    if (shown !== null) query.set("torrent", String(shown));
    if (last !== null) query.set("since", last);
    const opened = new EventSource(`api/v1/events?${query}`);
    source = opened;
    opened.onmessage = (event) => {
      last = event.lastEventId;
      store.set(changesOf(state, JSON.parse(event.data)));
      connection("open", "", new Date());
    };
    opened.addEventListener("end", (event) => {
      store.set({ ...changesOf(state, JSON.parse(event.data)), acceptsTorrents: false });
      connection("ended", "", new Date());
      close();
    });
    opened.onerror = () => {
      if (opened !== source) return;
      if (opened.readyState === EventSource.CLOSED) explain(opened);
      else connection("lost");
    };
  }

  /**
   * The browser does not say why it was refused a stream. A program that was started again can have fewer torrents.
   * @param {EventSource} refused
   */
  async function explain(refused) {
    try {
      const response = await fetch("api/v1/torrents");
      if (refused !== source) return;
      if (response.status === 401) {
        await askSession(store);
        return;
      }
      if (!response.ok) {
        connection("refused", await reasonOf(response));
        return;
      }
      const { torrents, max_down, max_up, accepts_torrents } = await response.json();
      if (refused !== source) return;
      last = null;
      if (torrents.every((/** @type {{ number: number }} */ torrent) => torrent.number !== shown)) {
        store.set(changesOf(state, { full: true, changed: torrents, removed: [], max_down, max_up, accepts_torrents }));
        open();
        return;
      }
      connection("full");
    } catch {
      connection("lost");
    }
  }

  store.subscribe(() => {
    if (source !== null && state.chosen !== shown) open();
    if (!state.session.read && source !== null) close();
  });
  return { open, isOpen: () => source !== null };
}
