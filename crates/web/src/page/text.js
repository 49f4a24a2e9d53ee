// @ts-check
// The strings of the page that are not in page.html.

import { count, duration, number, rate } from "./format.js";

/**
 * The states of a torrent: name and class of the colour, in the order in which torrents are sorted.
 * @type {Record<string, [string, string]>}
 */
export const STATES = {
  failed: ["Failed", "bad"],
  confirming: ["Question in terminal", "warn"],
  metadata: ["Fetching metadata", "busy"],
  verifying: ["Verifying", "busy"],
  downloading: ["Downloading", "down"],
  moving: ["Moving", "busy"],
  partial: ["Seeding, incomplete", "warn"],
  serving: ["Seeding", "good"],
  absent: ["Content missing", "warn"],
  paused: ["Paused", "idle"],
  queued: ["Queued", "idle"],
  waiting: ["Waiting", "idle"],
  incomplete: ["Ended, incomplete", "warn"],
  complete: ["Complete", "good"],
};

/** @type {Record<string, [string, string]>} */
export const TRACKER_STATES = {
  unused: ["Not used yet", "idle"],
  updating: ["Asking", "busy"],
  working: ["Working", "good"],
  failed: ["Failed", "bad"],
};

/** The columns of the list. */
export const COLUMN_LABELS = {
  name: "Name",
  state: "State",
  problem: "Problem",
  done: "Done",
  size: "Size",
  down: "Down",
  up: "Up",
  ratio: "Ratio",
  peers: "Peers",
  left: "Left",
  labels: "Labels",
  category: "Category",
  queue: "Queue",
  added: "Added",
};

/** @type {Record<string, { title: string, none: string }>} */
export const GROUPS = {
  state: { title: "State", none: "All" },
  label: { title: "Labels", none: "Without label" },
  category: { title: "Categories", none: "Without category" },
  folder: { title: "Folders", none: "Folder not known" },
  tracker: { title: "Trackers", none: "No tracker asked" },
};

/** Places of the sidebar that are no state of a torrent. @type {Record<string, string>} */
export const EXTRA_STATES = { "": "All", active: "Active", error: "With an error", "tracker-error": "Tracker fails" };

export const TEXT = {
  heading: "Sort. Drag, or press Alt and Shift with the left or right arrow key, to move the column. Alt with these keys changes the width.",
  givenOrder: "Given order",
  connecting: "Connecting …",
  noTorrents: "No torrents yet.",
  noTorrentsAdd: "No torrents yet. Add .torrent files, magnet links, info-hashes or URLs with “Add torrents”, or drop files on the page.",
  noMatch: "No torrent matches the search and the place chosen in the sidebar.",
  readOnly: "Read only: log in to change something",
  logIn: "Log in to see the torrents",
  tokenHint: "Open the address that hashlane printed in the terminal, including the part after #. Or paste that address, or the token. hashlane daemon keeps its token in the file http-token of its state folder.",
  wrongToken: "The token is wrong, or of an earlier start of the program. Open the address that is in the terminal now.",
  wrongPassword: "The user name or the password is wrong.",
  sessionEnded: "The session has ended, or is of an earlier start of the program. Log in again, or open the address that is in the terminal now.",
  removed: "The chosen torrent was removed, or the program was started again without it.",
  unknownTorrent: "The torrent in the address is not in this program.",
  lost: "The connection was lost, or the program was killed. Trying again.",
  full: "Too many pages are open: the program serves 32 at once. Close some, and reload this one.",
  verifyHint: "Reads all content again, and marks wrong pieces on the map.",
  noFiles: "No files are known yet.",
  noFileMatches: "No file matches.",
  mixed: "mixed",
  noIncoming: "none yet",
  noPeers: "No peer is connected.",
  noTrackers: "The torrent has no trackers.",
  notConnected: "The torrent is not connected: its trackers are shown while it runs.",
  copied: "Copied.",
  notCopied: "The browser refuses to copy. Select the text, and copy it by hand.",
  noMagnet: "The info-hash is not known yet.",
  ownLimits: "The limits of all torrents together apply too. The goal is reached with the first of its limits. An inherited limit is that of the category, the labels or the program.",
  titleHint: "Without a title, the name in the metadata is shown.",
  foundHint: "Otherwise the content is moved. Nothing that exists there is replaced.",
  anyFolder: "An absolute path.",
  tiersHint: "One URL per line. A blank line starts a tier, which is asked when all trackers before it fail. A URL that is shown with *** keeps its secret.",
  nothingReplaced: "Nothing that exists there is replaced.",
  programFolder: "the program's folder",
  categoryGoal: "Torrents of the category are served until the first of these limits. An inherited limit is that of the labels or the program.",
  anyPort: "0 is any free port.",
  untilEnd: "The port and the address last until the program ends.",
  noCategories: "There are no categories yet. The button “Categories, labels …” makes them.",
  categoryKeepsContent: "The content stays where it is. The goal is that of the category, unless the torrent has its own.",
};

/** @param {string} reason */
export const requestRefused = (reason) => `The request was refused: ${reason}`;

/** @param {string} reason */
export const requestLost = (reason) => `The request did not arrive: ${reason}`;

/** @param {string} reason */
export const loginRefused = (reason) => `The login was refused: ${reason}`;

/** @param {string} reason */
export const pageRefused = (reason) => `The program refuses this page: ${reason}`;

/** The result of reading the configuration again. @param {string[]} restart the options that need a restart */
export const reloaded = (restart) =>
  restart.length === 0 ? "The configuration was read again." : `The configuration was read again. These options need a restart: ${restart.join(", ")}.`;

/** @param {Date} since */
export const figuresOf = (since) => ` The figures are those of ${since.toLocaleTimeString()}.`;

/**
 * The totals of the header.
 * @param {{ torrents: number, down: number, up: number, failed: number, trackers: number }} totals
 */
export const totals = ({ torrents, down, up }) => `${count(torrents, "torrent")}, ↓ ${rate(down)}, ↑ ${rate(up)}`;

/** @param {number} n */
export const failedTorrents = (n) => `${count(n, "torrent")} with an error`;

/** @param {number} n */
export const failedTrackers = (n) => `${count(n, "torrent")} with a failing tracker`;

/**
 * @param {number} shown
 * @param {number} all
 */
export const shownOf = (shown, all) => `${number(shown)} of ${count(all, "torrent")}`;

/** @param {number} n */
export const selected = (n) => (n === 0 ? "" : `${number(n)} selected`);

/**
 * @param {number} peers
 * @param {number} seeds
 */
export const peersAndSeeds = (peers, seeds) => `${count(peers, "peer")}, ${count(seeds, "seed")}`;

/**
 * A folder in the tree of files.
 * @param {string} name
 * @param {number} files
 */
export const folderLabel = (name, files) => `${name} (${count(files, "file")})`;

/** @param {number} pieces */
export const wrongPieces = (pieces) => (pieces === 0 ? "" : `${number(pieces)} wrong`);

/**
 * The result or the problem of a torrent, in a sentence.
 * @param {string} state
 * @param {{ error: string, trusted: number, pieces: number }} torrent
 */
export function verdict(state, { error, trusted, pieces }) {
  const verified = trusted === 0
    ? "Complete and verified"
    : `Complete, but ${number(trusted)} of ${count(pieces, "piece")} trusted, not verified`;
  /** @type {Record<string, string>} */
  const sentences = {
    failed: `Failed: ${error}. When the reason is gone, a daemon starts the torrent again by “Resume” or “Verify now”.`,
    absent: `Waiting for the content: ${error}`,
    waiting: error === "" ? "" : `Waiting: ${error}`,
    confirming: "Some pieces on the disk are wrong. Answer the question in the terminal to continue.",
    partial: "Incomplete: only the pieces that are present and right are served. See the map of pieces.",
    serving: trusted === 0
      ? `${verified}: all wanted content is present and right. Serving to peers.`
      : `${verified}. Serving to peers.`,
    incomplete: "Ended. Some content is missing or wrong; see the map of pieces.",
    complete: `${verified}. The torrent has ended; its content stays where it is.`,
  };
  const sentence = sentences[state] ?? "";
  return sentence.includes(error) ? sentence : `${sentence} ${error}`.trim();
}

/**
 * The final state of the program.
 * @param {number} all
 * @param {number} complete
 * @param {boolean} isTrusted
 */
export function ended(all, complete, isTrusted) {
  const result = isTrusted ? "complete, in part trusted, not verified" : "complete and verified";
  const counted = all === 1
    ? `The torrent is ${complete === 1 ? result : "not complete"}.`
    : `${number(complete)} of ${count(all, "torrent")} are ${result}.`;
  return `Hashlane has ended. ${counted} This page shows the final state.`;
}

/** @param {number} seconds */
export const lastRates = (seconds) => `Rates of the last ${duration(seconds)}`;
