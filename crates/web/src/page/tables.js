// @ts-check
// The peers and trackers of a torrent.

import { askUser } from "./dialogs.js";
import { $, field, hide, make, setText } from "./dom.js";
import { setState } from "./cells.js";
import { count, duration, number, percent, plain, size, speed } from "./format.js";
import { makeHead, setCells, updateRows } from "./rows.js";
import { TEXT, TRACKER_STATES } from "./text.js";
import { textOfTiers, tiersOf } from "./torrents.js";

/** @typedef {import("./types.js").Tracker} Tracker */
/** @typedef {import("./types.js").Torrent} Torrent */

const PEERS = [
  { label: "Address", wide: true },
  { label: "Client" },
  { label: "Has", number: true },
  { label: "Down", number: true },
  { label: "Up", number: true },
  { label: "Received", number: true },
  { label: "Sent", number: true },
  { label: "Connection" },
];

const TRACKERS = [
  { label: "Tracker", wide: true },
  { label: "State" },
  { label: "Seeds", number: true },
  { label: "Leeches", number: true },
  { label: "Next" },
  { label: "Message", wide: true },
  { label: "Change" },
];

/** @param {string} id */
const table = (id) => /** @type {HTMLTableElement} */ ($(id).querySelector("table"));

/** @param {string} id @param {string} text why the table is empty, or "" */
function showEmpty(id, text) {
  const empty = /** @type {HTMLElement} */ ($(id).querySelector(".empty"));
  hide(table(id), text !== "");
  hide(empty, text === "");
  setText(empty, text);
}

/** Removes the peers and trackers of the torrent that was shown. */
export function resetPeers() {
  for (const id of ["peers", "trackers"]) {
    table(id).tBodies[0].replaceChildren();
    hide(table(id), true);
  }
}

/** @param {import("./types.js").TorrentDetail} torrent */
export function showPeers({ peer_list: peers }) {
  showEmpty("peers", peers.length === 0 ? TEXT.noPeers : "");
  updateRows(table("peers"), PEERS, peers, (peer) => peer.address, (tr, peer) => {
    const traits = [
      peer.outgoing ? "outgoing" : "incoming",
      peer.encrypted && "encrypted",
      peer.utp ? "uTP" : "TCP",
      peer.web_seed && "web seed",
    ];
    setCells(tr, [
      peer.address,
      plain(peer.client) || "–",
      percent(peer.progress, 1),
      speed(peer.down_bytes_per_second),
      speed(peer.up_bytes_per_second),
      size(peer.downloaded_bytes),
      size(peer.uploaded_bytes),
      traits.filter(Boolean).join(", "),
    ]);
  });
}

/**
 * The trackers as they are shown, for the editor of all of them.
 * @type {Tracker[]}
 */
let shownTrackers = [];

/**
 * Shows trackers. `change` and `remove` get the URL of one; without them, nothing can be changed.
 * @param {{ total: number, trackers: Tracker[] }} answer
 * @param {Torrent} torrent
 * @param {{ change: (url: string) => void, remove: (url: string) => void } | null} changes
 */
export function showTrackers({ total, trackers }, torrent, changes) {
  shownTrackers = trackers;
  const isConnected = ["downloading", "serving", "moving"].includes(torrent.activity);
  // What is not shown would be lost.
  hide($("edit-trackers"), changes === null || total > trackers.length || (total === 0 && !isConnected));
  showEmpty("trackers", trackers.length > 0 ? "" : isConnected ? TEXT.noTrackers : TEXT.notConnected);
  const of = (/** @type {number | null} */ n) => (n === null ? "–" : number(n));
  updateRows(table("trackers"), TRACKERS, trackers, (tracker, position) => `${position} ${tracker.url}`, (tr, tracker) => {
    const [name, kind] = TRACKER_STATES[tracker.state] ?? [tracker.state, "idle"];
    setCells(tr, [
      plain(tracker.url),
      null,
      of(tracker.seeds),
      of(tracker.leeches),
      tracker.next_seconds === null ? "–" : `in ${duration(tracker.next_seconds)}`,
      plain(tracker.message) || "–",
    ]);
    if (changes !== null && tr.cells[6].firstChild === null) {
      for (const [label, act] of /** @type {const} */ ([["Change …", changes.change], ["Remove", changes.remove]])) {
        const button = make("button", { type: "button", "aria-label": `${label} ${plain(tracker.url)}` }, label);
        tr.cells[6].append(button);
        button.addEventListener("click", () => act(tracker.url));
      }
    }
    setState(tr.cells[1], tracker.failures > 1 ? `${name} ${count(tracker.failures, "time")}` : name, kind);
  });
  for (const { cells } of table("trackers").rows) hide(cells[6], changes === null);
}

/**
 * Starts the tables, and the forms that add a tracker or a peer. `onChange` is called after a request.
 * @param {import("./types.js").Store} store
 * @param {import("./actions.js").Actions} actions
 * @param {() => void} onChange
 */
export function startTables({ state }, { ask }, onChange) {
  makeHead(table("peers"), PEERS);
  makeHead(table("trackers"), TRACKERS);
  $("edit-trackers").addEventListener("click", async () => {
    const before = textOfTiers(shownTrackers);
    const path = `torrents/${state.chosen}`;
    const values = await askUser({
      title: "Trackers",
      fields: [{ name: "trackers", label: "URLs", value: before, rows: 8, hint: TEXT.tiersHint }],
      action: "Set trackers",
    });
    if (values === null || values.trackers === before) return;
    await ask("POST", path, { action: "set_trackers", trackers: tiersOf(String(values.trackers)) });
    onChange();
  });
  for (const [form, input, action, name] of [
    ["add-tracker", "tracker-url", "add_tracker", "url"],
    ["add-peer", "peer-address", "add_peer", "address"],
  ]) {
    $(form).addEventListener("submit", async (event) => {
      event.preventDefault();
      const answer = ask("POST", `torrents/${state.chosen}`, { action, [name]: field(input).value.trim() });
      field(input).value = "";
      await answer;
      onChange();
    });
  }
}
