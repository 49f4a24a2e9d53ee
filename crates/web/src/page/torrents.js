// @ts-check
// What the page says about torrents: states, places in the sidebar, order. Without elements, so that tests need no browser.

import { plain } from "./format.js";
import { STATES } from "./text.js";

/** @typedef {import("./types.js").Torrent} Torrent */
/** @typedef {import("./types.js").Facet} Facet */
/** @typedef {import("./types.js").Sort} Sort */

/** @param {Torrent} torrent */
export const title = (torrent) => plain(torrent.name ?? torrent.torrent);

/** @param {Torrent} torrent */
export const isOver = (torrent) => torrent.activity === "ended" || torrent.activity === "failed";

/** Whether a torrent is kept across restarts, in the queue of a daemon. @param {Torrent} torrent */
export const isKept = (torrent) => torrent.queue_position !== null;

const STATE_KEYS = Object.keys(STATES);

/**
 * Returns the key of a state in `STATES`.
 * @param {Torrent} torrent
 */
export function stateKey(torrent) {
  if (torrent.activity === "ended") return torrent.complete ? "complete" : "incomplete";
  if (torrent.activity === "serving" && !torrent.complete) return "partial";
  return torrent.activity;
}

/** @param {Torrent} torrent */
export function stateOf(torrent) {
  const key = stateKey(torrent);
  const [name, kind] = STATES[key] ?? [key, "idle"];
  return { key, name, kind };
}

/**
 * Returns how much of a torrent that is verified has been read, and of any other one how much is present.
 * @param {Torrent} torrent
 * @returns {[number, number]}
 */
export const progressOf = (torrent) => torrent.activity === "verifying"
  ? [torrent.verified_bytes, torrent.total_bytes]
  : [torrent.done_bytes, torrent.wanted_bytes];

/**
 * Sent bytes as a multiple of the received bytes, or of the selected files if fewer bytes were received, as --seed-ratio counts them.
 * @param {Torrent} torrent
 */
export const ratio = (torrent) => torrent.uploaded_bytes / Math.max(torrent.downloaded_bytes, torrent.wanted_bytes, 1);

/** @param {Torrent} torrent */
const failedTracker = (torrent) => (isOver(torrent) ? undefined : torrent.announces.find(({ error }) => error !== null));

/** @param {Torrent} torrent */
export const hasFailedTracker = (torrent) => failedTracker(torrent) !== undefined;

/**
 * Returns why a torrent needs a person: it failed, its content is missing, or a tracker refuses it.
 * @param {Torrent} torrent
 */
export function problemOf(torrent) {
  if (torrent.error !== null) return plain(torrent.error);
  const failed = failedTracker(torrent);
  return failed === undefined ? "" : plain(`${failed.tracker}: ${failed.error}`);
}

/**
 * Returns the folder of the content.
 * @param {Torrent} torrent
 */
export const folderOf = (torrent) => torrent.content?.replace(/[/\\][^/\\]*$/, "") ?? "";

/**
 * Returns the name of the content in its folder, with which the paths of renames start: "" if it has none, or if it must keep it.
 * @param {Torrent} torrent
 */
export function contentOf({ content, folder }) {
  const parent = `${folder?.replace(/\/$/, "")}/`;
  return content !== null && folder !== null && content.startsWith(parent) ? content.slice(parent.length) : "";
}

/**
 * Returns a path of the list of files, or a new one for it, with the name of the content, as renames have it.
 * @param {Torrent} torrent
 * @param {string} path
 */
export const pathIn = (torrent, path) => (torrent.is_folder ? `${contentOf(torrent)}/${path}` : path);

/** Returns the URLs of trackers for an editor: one per line, with a blank line between tiers. @param {import("./types.js").Tracker[]} trackers */
export const textOfTiers = (trackers) =>
  trackers.map(({ url, tier }, i) => (i > 0 && trackers[i - 1].tier !== tier ? `\n${url}` : url)).join("\n");

/** The reverse of `textOfTiers`: the URLs of each tier. @param {string} text */
export const tiersOf = (text) =>
  text.split(/\n\s*\n/).map((tier) => tier.split("\n").map((url) => url.trim()).filter((url) => url !== "")).filter((tier) => tier.length > 0);

/** @type {Record<string, (torrent: Torrent) => string[]>} */
const VALUES = {
  state: (torrent) => {
    const values = ["", stateKey(torrent)];
    if (torrent.down_bytes_per_second + torrent.up_bytes_per_second > 0) values.push("active");
    if (torrent.error !== null) values.push("error");
    if (hasFailedTracker(torrent)) values.push("tracker-error");
    return values;
  },
  label: (torrent) => (torrent.labels.length === 0 ? [""] : torrent.labels),
  category: (torrent) => [torrent.category ?? ""],
  folder: (torrent) => [folderOf(torrent)],
  tracker: (torrent) => {
    const hosts = torrent.announces.map(({ tracker }) => tracker);
    return hosts.length === 0 ? [""] : [...new Set(hosts)];
  },
};

/** The values of torrents by group: an unchanged torrent has the same object. @type {WeakMap<Torrent, [string, string[]][]>} */
const known = new WeakMap();

/** @param {Torrent} torrent */
function valuesOf(torrent) {
  let values = known.get(torrent);
  if (values === undefined) known.set(torrent, values = Object.entries(VALUES).map(([group, of]) => [group, of(torrent)]));
  return values;
}

/**
 * Counts the torrents of each place in the sidebar.
 * @param {Iterable<Torrent>} torrents
 * @returns {Record<string, Map<string, number>>}
 */
export function countFacets(torrents) {
  /** @type {Record<string, Map<string, number>>} */
  const counts = Object.fromEntries(Object.keys(VALUES).map((group) => [group, new Map()]));
  for (const torrent of torrents) {
    for (const [group, values] of valuesOf(torrent)) {
      const counted = counts[group];
      for (const value of values) counted.set(value, (counted.get(value) ?? 0) + 1);
    }
  }
  return counts;
}

/**
 * Returns a function that says whether a torrent belongs to a place of the sidebar, and has the words of a search.
 * @param {Facet} facet
 * @param {string} search
 * @returns {(torrent: Torrent) => boolean}
 */
export function matching({ group, value }, search) {
  const words = search.toLowerCase().split(/\s+/).filter((word) => word !== "");
  return (torrent) => {
    if (!VALUES[group](torrent).includes(value)) return false;
    if (words.length === 0) return true;
    const text = [title(torrent), torrent.torrent, torrent.info_hash ?? "", ...torrent.labels].join("\n").toLowerCase();
    return words.every((word) => text.includes(word));
  };
}

/** @param {Torrent} torrent */
function share(torrent) {
  const [part, whole] = progressOf(torrent);
  return whole === 0 ? 0 : part / whole;
}

/**
 * The values by which torrents are sorted.
 * @type {Record<string, (torrent: Torrent) => number | string>}
 */
export const SORT_KEYS = {
  number: (t) => t.number,
  name: (t) => title(t).toLowerCase(),
  state: (t) => STATE_KEYS.indexOf(stateKey(t)),
  done: share,
  size: (t) => t.total_bytes,
  down: (t) => t.down_bytes_per_second,
  up: (t) => t.up_bytes_per_second,
  ratio,
  peers: (t) => t.peers,
  left: (t) => t.seconds_left ?? Infinity,
  problem: (t) => problemOf(t),
  labels: (t) => t.labels.join("\n").toLowerCase(),
  category: (t) => t.category ?? "",
  queue: (t) => t.queue_position ?? Infinity,
  added: (t) => t.added_at,
};

/**
 * Returns the numbers of torrents in their order.
 * @param {Torrent[]} torrents
 * @param {Sort} sort
 */
export function sortTorrents(torrents, { key, isDescending }) {
  const of = SORT_KEYS[key] ?? SORT_KEYS.number;
  const keyed = torrents.map((torrent) => ({ number: torrent.number, value: of(torrent) }));
  const sign = isDescending ? -1 : 1;
  keyed.sort((a, b) => (a.value < b.value ? -sign : a.value > b.value ? sign : a.number - b.number));
  return keyed.map((one) => one.number);
}

/**
 * Returns the magnet link of a torrent, or "" while its info-hashes are unknown.
 * @param {Torrent} torrent
 */
export function magnetOf(torrent) {
  const topics = [
    torrent.info_hash_v1 !== null && `xt=urn:btih:${torrent.info_hash_v1}`,
    torrent.info_hash_v2 !== null && `xt=urn:btmh:1220${torrent.info_hash_v2}`,
  ].filter(Boolean);
  if (topics.length === 0) return "";
  return `magnet:?${[...topics, `dn=${encodeURIComponent(torrent.name ?? torrent.torrent)}`].join("&")}`;
}

/**
 * Returns the name by which the address and requests know a torrent.
 * @param {Torrent} torrent
 */
export const idOf = (torrent) => torrent.info_hash ?? String(torrent.number);

/**
 * Returns the torrent of a name in the address. One that has not ended comes first, as in the API.
 * @param {Iterable<Torrent>} torrents
 * @param {string} id
 */
export function findTorrent(torrents, id) {
  /** @type {Torrent | undefined} */
  let found;
  for (const torrent of torrents) {
    if (![torrent.info_hash_v1, torrent.info_hash_v2, String(torrent.number)].includes(id)) continue;
    if (found === undefined || isOver(found)) found = torrent;
  }
  return found;
}
