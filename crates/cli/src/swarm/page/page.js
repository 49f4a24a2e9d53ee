// What is shown comes as events from the program; what is asked for goes back with the token, which came in the part
// of the address that is never sent.

const $ = (id) => document.getElementById(id);

// Cells of the map of pieces.
const MAP_COLUMNS = 240;
const MAP_ROWS = 12;

const KIB = 1024;

if (location.hash.length > 1) {
  sessionStorage.setItem("token", location.hash.slice(1));
  history.replaceState(null, "", location.pathname);
}
const token = sessionStorage.getItem("token");

let chosen = null;
let detail = null;

function size(bytes) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let unit = 0;
  while (bytes >= 1000 && unit + 1 < units.length) {
    bytes /= KIB;
    unit += 1;
  }
  return `${unit === 0 || bytes >= 100 ? Math.round(bytes) : bytes.toFixed(1)} ${units[unit]}`;
}

function duration(seconds) {
  if (seconds === null) return "";
  if (seconds < 120) return `${Math.ceil(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172800) return `${(seconds / 3600).toFixed(1)} h`;
  return `${(seconds / 86400).toFixed(1)} days`;
}

// Anything short of all is short of 100.
function percent(part, whole) {
  if (whole === 0 || part >= whole) return "100 %";
  return `${Math.min(99.9, (100 * part) / whole).toFixed(1)} %`;
}

// Where it is: of what was asked for, or of the connection.
function problem(id, text) {
  $(id).textContent = text;
  $(id).hidden = text === "";
}

// Names come from strangers: they become text, and never markup.
function row(texts) {
  const tr = document.createElement("tr");
  for (const text of texts) {
    const td = document.createElement("td");
    td.append(text);
    tr.append(td);
  }
  return tr;
}

function bar(torrent) {
  if (torrent.wanted_bytes === 0) return "";
  const progress = document.createElement("progress");
  progress.max = torrent.wanted_bytes;
  progress.value = torrent.done_bytes;
  const span = document.createElement("span");
  span.append(progress, ` ${percent(torrent.done_bytes, torrent.wanted_bytes)}`);
  return span;
}

function showTorrents({ torrents, max_down, max_up }) {
  const sum = (of) => torrents.reduce((all, torrent) => all + of(torrent), 0);
  $("totals").textContent =
    `${torrents.length} torrent${torrents.length === 1 ? "" : "s"}, ` +
    `${size(sum((t) => t.down_bytes_per_second))}/s down, ${size(sum((t) => t.up_bytes_per_second))}/s up`;
  const rows = torrents.map((torrent) => {
    const tr = row([
      torrent.name ?? torrent.torrent,
      torrent.activity,
      bar(torrent),
      size(torrent.total_bytes),
      `${size(torrent.down_bytes_per_second)}/s`,
      `${size(torrent.up_bytes_per_second)}/s`,
      size(torrent.uploaded_bytes),
      String(torrent.peers),
      duration(torrent.seconds_left),
    ]);
    tr.dataset.number = torrent.number;
    tr.title = torrent.error ?? torrent.torrent;
    tr.tabIndex = 0;
    tr.ariaCurrent = String(torrent.number === chosen);
    return tr;
  });
  const body = $("torrents").tBodies[0];
  const focused = body.contains(document.activeElement) ? document.activeElement.dataset.number : null;
  body.replaceChildren(...rows);
  if (focused !== null) body.querySelector(`[data-number="${focused}"]`)?.focus();
  // What somebody is about to change stays as it is.
  if (!$("limits").matches(":focus-within, .changed")) {
    $("max-down").value = max_down === null ? "" : Math.ceil(max_down / KIB);
    $("max-up").value = max_up === null ? "" : Math.ceil(max_up / KIB);
  }
  if (chosen === null && torrents.length === 1) choose(0);
}

// Shows how much of each cell's pieces is there.
function drawMap(have, pieces) {
  const bytes = Uint8Array.from(atob(have), (c) => c.charCodeAt(0));
  const isThere = (piece) => (bytes[piece >> 3] >> (7 - (piece & 7))) & 1;
  const cells = Math.min(pieces, MAP_COLUMNS * MAP_ROWS);
  const columns = Math.min(cells, MAP_COLUMNS);
  const rows = Math.ceil(cells / Math.max(columns, 1));
  const canvas = $("map");
  [canvas.width, canvas.height] = [columns, rows];
  const style = getComputedStyle(document.documentElement);
  const context = canvas.getContext("2d");
  let total = 0;
  for (let cell = 0; cell < cells; cell += 1) {
    const first = Math.floor((cell * pieces) / cells);
    const end = Math.floor(((cell + 1) * pieces) / cells);
    let there = 0;
    for (let piece = first; piece < end; piece += 1) there += isThere(piece);
    total += there;
    const [x, y] = [cell % columns, Math.floor(cell / columns)];
    context.globalAlpha = 1;
    context.fillStyle = style.getPropertyValue("--missing");
    context.fillRect(x, y, 1, 1);
    context.globalAlpha = there / (end - first);
    context.fillStyle = style.getPropertyValue("--there");
    context.fillRect(x, y, 1, 1);
  }
  $("map-title").textContent = `pieces: ${total} of ${pieces}`;
}

function showDetail(torrent) {
  $("detail").hidden = false;
  $("detail-name").textContent = torrent.name ?? torrent.torrent;
  $("detail-content").textContent = torrent.content ?? "";
  $("detail-error").textContent = torrent.error ?? "";
  drawMap(torrent.have, torrent.have === "" ? 0 : torrent.pieces);
  const n = torrent.peer_list.length;
  $("peers-title").textContent = n < torrent.peers ? `peers: ${n} of ${torrent.peers}` : `peers: ${n}`;
  const rows = torrent.peer_list.map((peer) =>
    row([
      peer.address,
      peer.client,
      percent(peer.progress, 1),
      `${size(peer.down_bytes_per_second)}/s`,
      `${size(peer.up_bytes_per_second)}/s`,
      size(peer.downloaded_bytes),
      size(peer.uploaded_bytes),
      [peer.encrypted && "encrypted", peer.utp && "uTP", peer.web_seed && "web"].filter(Boolean).join(", "),
    ]),
  );
  $("peers").tBodies[0].replaceChildren(...rows);
}

function choose(number) {
  chosen = number;
  detail?.close();
  detail = new EventSource(`api/v1/torrents/${number}/events`);
  detail.onmessage = (event) => showDetail(JSON.parse(event.data));
  for (const tr of $("torrents").tBodies[0].rows) {
    tr.ariaCurrent = String(Number(tr.dataset.number) === chosen);
  }
}

async function ask(method, path, body) {
  const headers = { Authorization: `Bearer ${token}` };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  try {
    const response = await fetch(`api/v1/${path}`, { method, headers, body: body && JSON.stringify(body) });
    problem("refusal", response.ok ? "" : `It was refused: ${await response.text()}`);
  } catch (error) {
    problem("refusal", `It was not heard: ${error.message}`);
  }
}

$("torrents").addEventListener("click", (event) => {
  const tr = event.target.closest("tbody tr");
  if (tr) choose(Number(tr.dataset.number));
});

$("torrents").addEventListener("keydown", (event) => {
  const tr = event.target.closest("tbody tr");
  if (tr && event.key === "Enter") choose(Number(tr.dataset.number));
});

if (token !== null) {
  $("limits").hidden = false;
  $("actions").hidden = false;
}

$("actions").addEventListener("click", (event) => {
  const { action } = event.target.dataset;
  if (action) ask("POST", `torrents/${chosen}/${action}`);
});

for (const kind of ["input", "change"]) {
  $("limits").addEventListener(kind, () => $("limits").classList.add("changed"));
}

$("limits").addEventListener("submit", async (event) => {
  event.preventDefault();
  const limit = (id) => ($(id).value === "" ? null : Number($(id).value) * KIB);
  await ask("PUT", "limits", { max_down: limit("max-down"), max_up: limit("max-up") });
  $("limits").classList.remove("changed");
  document.activeElement.blur();
});

const torrents = new EventSource("api/v1/events");
torrents.onmessage = (event) => {
  problem("loss", "");
  showTorrents(JSON.parse(event.data));
};
torrents.onerror = () => problem("loss", "The program does not answer: it has ended, or the connection is lost.");
