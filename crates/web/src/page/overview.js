// @ts-check
// The overview and the information about a torrent.

import { $, button, hide, make, setText } from "./dom.js";
import { duration, number, percent, plain, size, speed, time } from "./format.js";
import { copy } from "./commands.js";
import { drawGraph } from "./graph.js";
import { drawMap, forgetMap, startMap } from "./map.js";
import { peersAndSeeds } from "./text.js";
import { magnetOf, progressOf, ratio } from "./torrents.js";

/** @typedef {import("./types.js").Torrent} Torrent */
/** @typedef {import("./types.js").TorrentDetail} TorrentDetail */

/** @param {Torrent} torrent @returns {[string, string][]} */
function figuresOf(torrent) {
  const [part, whole] = progressOf(torrent);
  return [
    [torrent.activity === "verifying" ? "Verified" : "Done", `${percent(part, whole)} of ${size(whole)}`],
    ["Time left", duration(torrent.seconds_left) || "–"],
    ["Download", speed(torrent.down_bytes_per_second)],
    ["Upload", speed(torrent.up_bytes_per_second)],
    ["Received", size(torrent.downloaded_bytes)],
    ["Sent", `${size(torrent.uploaded_bytes)}, ratio ${ratio(torrent).toFixed(2)}`],
    ["Connected", peersAndSeeds(torrent.peers, torrent.seeds)],
    ["Discarded", size(torrent.wasted_bytes)],
  ];
}

/** @param {number | null} bytes */
const limit = (bytes) => (bytes === null ? "no limit" : speed(bytes));

/** @param {Torrent} torrent */
function goalOf({ serve, seed_ratio, seed_seconds, idle_seconds }) {
  if (!serve) return "not served after the download";
  const goals = [
    seed_ratio !== null && `ratio ${seed_ratio}`,
    seed_seconds !== null && duration(seed_seconds),
    idle_seconds !== null && `${duration(idle_seconds)} without an upload`,
  ].filter(Boolean);
  return goals.length === 0 ? "served without end" : `served until ${goals.join(" or ")}`;
}

/** @param {Torrent} torrent @param {TorrentDetail | null} detail @returns {[string, string][]} */
function factsOf(torrent, detail) {
  /** @type {[string, string][]} */
  const facts = [
    ["Info-hash, version 1", torrent.info_hash_v1 ?? ""],
    ["Info-hash, version 2", torrent.info_hash_v2 ?? ""],
    ["Magnet link", magnetOf(torrent)],
    ["Content", plain(torrent.content ?? "")],
    ["Moves to", plain(torrent.move_to ?? "")],
    ["Added as", plain(torrent.torrent)],
    ["Files", torrent.files === 0 ? "" : number(torrent.files)],
    ["Pieces", torrent.pieces === 0 ? "" : `${number(torrent.pieces)} of ${size(torrent.piece_length)}`],
    ["Comment", plain(detail?.comment ?? "")],
    ["Created", detail === null || detail.created_at === null ? "" : time(detail.created_at)],
    ["Created by", plain(detail?.created_by ?? "")],
    ["Private", torrent.private ? "yes: finds peers only by its trackers" : "no"],
    ["Labels", torrent.labels.map(plain).join(", ")],
    ["Category", plain(torrent.category ?? "")],
    ["Queue", torrent.queue_position === null ? "" : torrent.forced ? "runs without a place" : `position ${number(torrent.queue_position)}`],
    ["Order", torrent.sequential ? "pieces are requested in order" : ""],
    ["Limits", `download ${limit(torrent.max_down)}, upload ${limit(torrent.max_up)}`],
    ["Goal", goalOf(torrent)],
    ["Added", time(torrent.added_at)],
    ["Complete since", torrent.completed_at === null ? "" : time(torrent.completed_at)],
    ["Last transfer", torrent.active_at === null ? "" : time(torrent.active_at)],
    ["Downloading", torrent.downloading_seconds === 0 ? "" : duration(torrent.downloading_seconds)],
    ["Serving", torrent.serving_seconds === 0 ? "" : duration(torrent.serving_seconds)],
  ];
  return facts.filter(([, value]) => value !== "");
}

/**
 * Shows names with their values.
 * @param {HTMLElement} list
 * @param {[string, string][]} pairs
 */
function showPairs(list, pairs) {
  pairs.forEach(([name, value], i) => {
    if (list.children[i] === undefined) list.append(make("div", {}, make("dt", {}), make("dd", {})));
    const [dt, dd] = list.children[i].children;
    setText(dt, name);
    setText(dd, value);
  });
  while (list.children.length > pairs.length) list.lastElementChild?.remove();
}

/**
 * Shows the figures of a torrent, or the information about it.
 * @param {Torrent} torrent
 * @param {TorrentDetail | null} detail
 * @param {string} tab
 */
export function showFigures(torrent, detail, tab) {
  if (tab === "overview") showPairs($("figures"), figuresOf(torrent));
  if (tab !== "info") return;
  showPairs($("facts"), factsOf(torrent, detail));
  const link = magnetOf(torrent);
  hide($("copy-magnet"), link === "");
  button("copy-magnet").dataset.link = link;
}

/**
 * Shows the pieces and rates of a torrent, or nothing while they are not known.
 * @param {TorrentDetail | null} detail
 * @param {boolean} mayChange
 */
export function showCharts(detail, mayChange) {
  hide($("charts"), detail === null);
  if (detail === null) {
    forgetMap();
    return;
  }
  const { totals, isVerifying } = drawMap(detail);
  hide($("legend-unknown"), !isVerifying);
  hide($("repair"), totals.wrong === 0 || isVerifying);
  hide($("repair-verify"), !mayChange || !detail.download);
  drawGraph(detail.rate_history);
}

export function startOverview() {
  startMap();
  $("copy-magnet").addEventListener("click", () => copy(button("copy-magnet").dataset.link ?? ""));
}
