// @ts-check
// The address of the page: `#/torrent/HASH/TAB` names the torrent in the pane. It survives a reload, and the browser's way
// back leads to the torrent before, or to the list.

import { notice } from "./dom.js";
import { TEXT } from "./text.js";
import { findTorrent, idOf } from "./torrents.js";

/** @typedef {import("./types.js").Store} Store */
/** @typedef {import("./types.js").Torrent} Torrent */

export const TABS = ["overview", "info", "files", "peers", "trackers"];

/**
 * Returns whether a fragment is that of a torrent, or empty. Another one is a token.
 * @param {string} hash
 */
export const isRoute = (hash) => hash.length < 2 || hash.startsWith("#/");

/**
 * Reads the fragment of an address.
 * @param {string} hash
 * @returns {{ id: string, tab: string } | null}
 */
export function readRoute(hash) {
  const [, kind, id, tab] = hash.replace(/^#/, "").split("/");
  if (kind !== "torrent" || id === undefined || id === "") return null;
  return { id, tab: TABS.includes(tab) ? tab : TABS[0] };
}

/**
 * Keeps the address and the chosen torrent of a store the same.
 * @param {Store} store
 */
export function startRoute(store) {
  const { state } = store;
  /** The address whose torrent has not arrived yet. */
  let isWaiting = readRoute(location.hash) !== null;

  /** Takes the torrent and the tab from the address. */
  function follow() {
    // The session takes a token from the address.
    if (!isRoute(location.hash)) return;
    const route = readRoute(location.hash);
    const torrent = route === null ? undefined : findTorrent(state.torrents.values(), route.id);
    if (route !== null && torrent === undefined) {
      // Before the first event, nothing is known.
      isWaiting = state.connection.kind === "connecting";
      if (isWaiting) return;
      notice("refusal", TEXT.unknownTorrent);
    }
    isWaiting = false;
    const chosen = torrent?.number ?? null;
    const isOther = chosen !== state.chosen;
    store.set({ chosen, tab: route?.tab ?? state.tab, ...(isOther && { detail: null }) });
    if (isOther && chosen !== null && state.selected.size <= 1) store.set({ selected: new Set([chosen]) });
  }

  /**
   * Opens a torrent or a tab, or none.
   * @param {Torrent | null} torrent
   * @param {string} [tab]
   * @param {boolean} [isReplaced] whether the way back skips the address before
   */
  function go(torrent, tab = state.tab, isReplaced = false) {
    const hash = torrent === null ? location.pathname : `#/torrent/${idOf(torrent)}/${tab}`;
    if (location.hash === hash) return;
    if (isReplaced) history.replaceState(null, "", hash);
    else history.pushState(null, "", hash);
    follow();
  }

  addEventListener("popstate", follow);
  addEventListener("hashchange", follow);
  store.subscribe(() => {
    if (isWaiting) follow();
    if (state.chosen !== null && !state.torrents.has(state.chosen)) {
      go(null, undefined, true);
      notice("refusal", TEXT.removed);
    }
    // The only torrent needs no choice.
    if (state.chosen === null && !isWaiting && state.torrents.size === 1 && !matchMedia("(width < 48rem)").matches) {
      go([...state.torrents.values()][0], undefined, true);
    }
  });
  return { go };
}

/** @typedef {ReturnType<typeof startRoute>} Route */
