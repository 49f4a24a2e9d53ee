// Figures and names as text.

export const $ = (id) => document.getElementById(id);

export const KIB = 1024;

export function size(bytes) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let unit = 0;
  while (bytes >= 1000 && unit + 1 < units.length) {
    bytes /= KIB;
    unit += 1;
  }
  return `${unit === 0 || bytes >= 100 ? Math.round(bytes) : bytes.toFixed(1)} ${units[unit]}`;
}

export const rate = (bytes) => `${size(bytes)}/s`;

// A rate in a table, where nothing is easier to skip than 0.
export const speed = (bytes) => (bytes === 0 ? "–" : rate(bytes));

export function duration(seconds) {
  if (seconds === null) return "";
  if (seconds < 120) return `${Math.ceil(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172800) return `${(seconds / 3600).toFixed(1)} h`;
  return `${(seconds / 86400).toFixed(1)} days`;
}

// Only the whole is 100 %.
export function percent(part, whole) {
  if (whole === 0 || part >= whole) return "100 %";
  return `${Math.min(99.9, (100 * part) / whole).toFixed(1)} %`;
}

// Sent bytes as a multiple of the content, as --seed-ratio counts them.
export const ratio = (torrent) => torrent.uploaded_bytes / Math.max(torrent.total_bytes, 1);

export const number = (n) => n.toLocaleString("en");

export const count = (n, noun) => `${number(n)} ${noun}${n === 1 ? "" : "s"}`;

// Names, clients and messages come from other people. Characters that control the order or place of text are replaced.
export const plain = (text) =>
  text.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, "\ufffd");

export const title = (torrent) => plain(torrent.name ?? torrent.torrent);

// Nodes are changed only where their text changes, so that clicks, focus and selections last. Text never becomes markup.
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// Shows a text, or hides its element if it is empty.
export function notice(id, text) {
  setText($(id), text);
  if ($(id).hidden !== (text === "")) $(id).hidden = text === "";
}

// Returns an object that this page stored in the browser, or {} if there is none. Other pages of the same host, and older
// versions of this page, store other values, and a browser can refuse the storage.
export function stored(key) {
  try {
    const value = JSON.parse(localStorage.getItem(key));
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}

export function store(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // The choice lasts as long as the page.
  }
}

// The state of a torrent: its name, the class of its colour, and its rank when torrents are sorted.
const STATES = {
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
  waiting: ["Waiting", "idle"],
  incomplete: ["Ended, incomplete", "warn"],
  complete: ["Complete", "good"],
};

export function stateOf(torrent) {
  const key =
    torrent.activity === "ended" ? (torrent.complete ? "complete" : "incomplete")
    : torrent.activity === "serving" && !torrent.complete ? "partial"
    : torrent.activity;
  const [name, kind] = STATES[key] ?? [key, "idle"];
  return { key, name, kind, rank: Object.keys(STATES).indexOf(key) };
}

export const stateNames = Object.entries(STATES).map(([key, [name]]) => [key, name]);

// How much of a torrent that is verified has been read, and of any other one how much is present.
export function progressOf(torrent) {
  return torrent.activity === "verifying"
    ? [torrent.verified_bytes, torrent.total_bytes]
    : [torrent.done_bytes, torrent.wanted_bytes];
}

export const isOver = (torrent) => torrent.activity === "ended" || torrent.activity === "failed";

// The reason in the answer to a request that failed: problem details (RFC 9457), or the text of a proxy.
export async function reasonOf(response) {
  const text = await response.text();
  let reason = text;
  try {
    reason = JSON.parse(text).detail ?? text;
  } catch {
    // The answer is no JSON.
  }
  return plain(reason).trim() || response.statusText;
}
