// The files, peers and trackers of a torrent.

import { makeHead, setBar, setCells, setState, updateRows } from "./rows.js";
import { $, count, duration, number, percent, plain, setText, size, speed } from "./text.js";

// Number of files in an answer of the server.
const FILES_PER_PAGE = 500;

const PRIORITIES = ["skip", "low", "normal", "high"];

const FILES = [
  { label: "Path", wide: true },
  { label: "Size", number: true },
  { label: "Done", wide: true },
  { label: "Priority" },
];

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
];

const TRACKER_STATES = {
  unused: ["Not used yet", "idle"],
  updating: ["Asking", "busy"],
  working: ["Working", "good"],
  failed: ["Failed", "bad"],
};

const table = (id) => $(id).querySelector("table");

function showEmpty(id, isEmpty) {
  table(id).hidden = isEmpty;
  $(id).querySelector(".empty").hidden = !isEmpty;
}

// The position of the first file that is shown, and the files.
let first = 0;
let shown = [];

export const firstFile = () => first;

// Removes the lists of the torrent that was shown, whose numbers of files are of no use for another one.
export function resetLists() {
  first = 0;
  shown = [];
  for (const id of ["files", "peers", "trackers"]) {
    table(id).tBodies[0].replaceChildren();
    table(id).hidden = true;
  }
  for (const id of ["all-files", "file-pages"]) $(id).hidden = true;
  setText($("tab-peers"), "Peers");
}

function updateFile(tr, file, isChangeable) {
  const path = plain(file.path);
  setCells(tr, [path, size(file.length_bytes), null, isChangeable ? null : file.priority]);
  setBar(tr.cells[2], `${path}: done`, file.done_bytes, file.length_bytes);
  tr.classList.toggle("skipped", file.priority === "skip");
  if (!isChangeable) return;
  let select = tr.cells[3].querySelector("select");
  if (select === null) {
    select = document.createElement("select");
    for (const priority of PRIORITIES) select.append(new Option(priority, priority));
    tr.cells[3].replaceChildren(select);
  }
  select.ariaLabel = `Priority of ${path}`;
  // A choice that the program has not confirmed stays as the user left it.
  if (select.dataset.asked === file.priority || performance.now() > Number(select.dataset.until ?? 0)) {
    delete select.dataset.asked;
    if (document.activeElement !== select || select.value === select.dataset.was) select.value = file.priority;
    select.dataset.was = file.priority;
  }
}

export function showFiles({ total, changeable, files }, hasToken) {
  const isChangeable = changeable && hasToken;
  shown = files;
  showEmpty("files", total === 0);
  updateRows(table("files"), FILES, files, (file) => file.number, (tr, file) => updateFile(tr, file, isChangeable));
  $("all-files").hidden = !isChangeable || files.length < 2;
  $("file-pages").hidden = total <= FILES_PER_PAGE;
  setText($("file-range"), `Files ${number(first + 1)} to ${number(first + files.length)} of ${number(total)}`);
  $("previous-files").disabled = first === 0;
  $("next-files").disabled = first + files.length >= total;
}

export function showPeers(torrent) {
  const peers = torrent.peer_list;
  showEmpty("peers", peers.length === 0);
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
  setText($("tab-peers"), torrent.peers > 0 ? `Peers (${number(torrent.peers)})` : "Peers");
}

export function showTrackers({ trackers }) {
  showEmpty("trackers", trackers.length === 0);
  const of = (n) => (n === null ? "–" : number(n));
  updateRows(table("trackers"), TRACKERS, trackers, (_, position) => position, (tr, tracker) => {
    const [name, kind] = TRACKER_STATES[tracker.state] ?? [tracker.state, "idle"];
    setCells(tr, [
      plain(tracker.url),
      null,
      of(tracker.seeds),
      of(tracker.leeches),
      tracker.next_seconds === null ? "–" : `in ${duration(tracker.next_seconds)}`,
      plain(tracker.message) || "–",
    ]);
    setState(tr.cells[1], tracker.failures > 1 ? `${name} ${count(tracker.failures, "time")}` : name, kind);
  });
}

// Starts the lists. `setPriority` gets the positions of files and their priority, `onPage` is called for another page.
export function startLists(setPriority, onPage) {
  makeHead(table("files"), FILES);
  makeHead(table("peers"), PEERS);
  makeHead(table("trackers"), TRACKERS);
  for (const priority of PRIORITIES) $("all-priority").append(new Option(priority, priority));
  $("all-priority").value = "normal";
  table("files").addEventListener("change", (event) => {
    const select = event.target;
    select.dataset.asked = select.value;
    select.dataset.until = performance.now() + 5000;
    setPriority([Number(select.closest("tr").dataset.key)], select.value);
  });
  $("all-files").addEventListener("submit", (event) => {
    event.preventDefault();
    setPriority(shown.map((file) => file.number), $("all-priority").value);
  });
  const turn = (step) => {
    first = Math.max(0, first + step);
    onPage();
  };
  $("previous-files").addEventListener("click", () => turn(-FILES_PER_PAGE));
  $("next-files").addEventListener("click", () => turn(FILES_PER_PAGE));
}
