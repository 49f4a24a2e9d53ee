// One stream of server-sent events brings the state of all torrents, with the detail of the chosen one. Commands go back
// as requests with the token, which came in the fragment of the address: browsers never send that.

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
let source = null;

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

// Only the whole is 100 %.
function percent(part, whole) {
  if (whole === 0 || part >= whole) return "100 %";
  return `${Math.min(99.9, (100 * part) / whole).toFixed(1)} %`;
}

// Shows an error, or hides it if the text is empty.
function problem(id, text) {
  setText($(id), text);
  $(id).hidden = text === "";
}

// Nodes are changed only where their text changes, so that clicks, focus and selections last. Names come from other
// people: they become text, and never markup.
function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// Gives a table as many rows as there are items, and updates them in place.
function updateRows(body, items, columns, update) {
  while (body.rows.length > items.length) body.deleteRow(-1);
  while (body.rows.length < items.length) {
    const tr = body.insertRow();
    for (let column = 0; column < columns; column += 1) tr.insertCell();
  }
  items.forEach((item, i) => update(body.rows[i], item));
}

function setCells(tr, texts) {
  texts.forEach((text, i) => {
    if (text !== null) setText(tr.cells[i], text);
  });
}

// A torrent that is verified shows how much of it has been read, any other one how much is present.
function setBar(cell, torrent) {
  const isVerifying = torrent.activity === "verifying";
  const part = isVerifying ? torrent.verified_bytes : torrent.done_bytes;
  const whole = isVerifying ? torrent.total_bytes : torrent.wanted_bytes;
  if (whole === 0) {
    setText(cell, "");
    return;
  }
  if (cell.firstElementChild === null) {
    cell.append(document.createElement("progress"), document.createElement("span"));
  }
  const [progress, span] = cell.children;
  [progress.max, progress.value] = [whole, part];
  setText(span, ` ${percent(part, whole)}`);
}

function showTorrents({ torrents, max_down, max_up }) {
  const sum = (of) => torrents.reduce((all, torrent) => all + of(torrent), 0);
  setText(
    $("totals"),
    `${torrents.length} torrent${torrents.length === 1 ? "" : "s"}, ` +
      `${size(sum((t) => t.down_bytes_per_second))}/s down, ${size(sum((t) => t.up_bytes_per_second))}/s up`,
  );
  updateRows($("torrents").tBodies[0], torrents, 9, (tr, torrent) => {
    tr.dataset.number = torrent.number;
    tr.title = torrent.error ?? torrent.torrent;
    tr.tabIndex = 0;
    tr.ariaCurrent = String(torrent.number === chosen);
    setCells(tr, [
      torrent.name ?? torrent.torrent,
      torrent.activity,
      null,
      size(torrent.total_bytes),
      `${size(torrent.down_bytes_per_second)}/s`,
      `${size(torrent.up_bytes_per_second)}/s`,
      size(torrent.uploaded_bytes),
      String(torrent.peers),
      duration(torrent.seconds_left),
    ]);
    setBar(tr.cells[2], torrent);
  });
  // A limit that is being edited stays as it is.
  if (!$("limits").matches(":focus-within, .changed")) {
    $("max-down").value = max_down === null ? "" : Math.ceil(max_down / KIB);
    $("max-up").value = max_up === null ? "" : Math.ceil(max_up / KIB);
  }
  if (chosen === null && torrents.length === 1) choose(0);
}

// Shows which share of each cell's pieces is present.
function drawMap(have, pieces) {
  const bytes = Uint8Array.from(atob(have), (c) => c.charCodeAt(0));
  const isPresent = (piece) => (bytes[piece >> 3] >> (7 - (piece & 7))) & 1;
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
    let present = 0;
    for (let piece = first; piece < end; piece += 1) present += isPresent(piece);
    total += present;
    const [x, y] = [cell % columns, Math.floor(cell / columns)];
    context.globalAlpha = 1;
    context.fillStyle = style.getPropertyValue("--missing");
    context.fillRect(x, y, 1, 1);
    context.globalAlpha = present / (end - first);
    context.fillStyle = style.getPropertyValue("--there");
    context.fillRect(x, y, 1, 1);
  }
  setText($("map-title"), `pieces: ${total} of ${pieces}`);
}

function showDetail(torrent) {
  $("detail").hidden = false;
  setText($("detail-name"), torrent.name ?? torrent.torrent);
  setText($("detail-content"), torrent.content ?? "");
  setText($("detail-error"), torrent.error ?? "");
  drawMap(torrent.have, torrent.have === "" ? 0 : torrent.pieces);
  const n = torrent.peer_list.length;
  setText($("peers-title"), n < torrent.peers ? `peers: ${n} of ${torrent.peers}` : `peers: ${n}`);
  updateRows($("peers").tBodies[0], torrent.peer_list, 8, (tr, peer) => {
    setCells(tr, [
      peer.address,
      peer.client,
      percent(peer.progress, 1),
      `${size(peer.down_bytes_per_second)}/s`,
      `${size(peer.up_bytes_per_second)}/s`,
      size(peer.downloaded_bytes),
      size(peer.uploaded_bytes),
      [peer.encrypted && "encrypted", peer.utp && "uTP", peer.web_seed && "web"].filter(Boolean).join(", "),
    ]);
  });
}

// Opens the stream of the page, in place of the one before: browsers allow six connections to a server, for all tabs.
function listen() {
  source?.close();
  source = new EventSource(chosen === null ? "api/v1/events" : `api/v1/events?torrent=${chosen}`);
  source.onmessage = (event) => {
    problem("loss", "");
    const state = JSON.parse(event.data);
    showTorrents(state);
    if (state.detail) showDetail(state.detail);
  };
  source.onerror = () =>
    problem("loss", "The program does not answer: it has ended, or the connection is lost.");
}

function choose(number) {
  chosen = number;
  listen();
  for (const tr of $("torrents").tBodies[0].rows) {
    tr.ariaCurrent = String(Number(tr.dataset.number) === chosen);
  }
}

async function ask(method, path, body) {
  const headers = { Authorization: `Bearer ${token}` };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  try {
    const response = await fetch(`api/v1/${path}`, { method, headers, body: body && JSON.stringify(body) });
    problem("refusal", response.ok ? "" : `The request was refused: ${await response.text()}`);
  } catch (error) {
    problem("refusal", `The request did not arrive: ${error.message}`);
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

listen();
