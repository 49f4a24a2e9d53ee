// The overview of a torrent: figures, the map of its pieces, and the graph of its rates.

import { $, duration, number, percent, progressOf, rate, ratio, setText, size, speed } from "./text.js";

// Distance of the cells of the map, and the gap between them, in pixels.
const CELL = 12;
const GAP = 2;
const MAX_ROWS = 14;

// Number of ranges of wrong pieces that are listed.
const MAX_RANGES = 10;

// Number of rates that the graph has room for at least.
const MIN_RATES = 30;

const GRAPH_WIDTH = 600;
const GRAPH_HEIGHT = 160;

// The cells of the map as they are drawn, for the pointer.
let map = null;

const bitsOf = (text) => {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return (piece) => ((bytes[piece >> 3] ?? 0) >> (7 - (piece & 7))) & 1;
};

function figuresOf(torrent) {
  const [part, whole] = progressOf(torrent);
  return [
    [torrent.activity === "verifying" ? "Verified" : "Done", `${percent(part, whole)} of ${size(whole)}`],
    ["Time left", duration(torrent.seconds_left) || "–"],
    ["Download", speed(torrent.down_bytes_per_second)],
    ["Upload", speed(torrent.up_bytes_per_second)],
    ["Received", size(torrent.downloaded_bytes)],
    ["Sent", `${size(torrent.uploaded_bytes)}, ratio ${ratio(torrent).toFixed(2)}`],
    ["Peers", `${number(torrent.peers)}, ${number(torrent.seeds)} with everything`],
    ["Wasted", size(torrent.wasted_bytes)],
  ];
}

function showFigures(torrent) {
  const list = $("figures");
  figuresOf(torrent).forEach(([name, value], i) => {
    if (list.children[i] === undefined) {
      const group = document.createElement("div");
      group.append(document.createElement("dt"), document.createElement("dd"));
      list.append(group);
    }
    setText(list.children[i].firstElementChild, name);
    setText(list.children[i].lastElementChild, value);
  });
}

// Counts the pieces of each cell.
function cellsOf(torrent, columns) {
  const [isPresent, isWrong] = [bitsOf(torrent.have), bitsOf(torrent.wrong)];
  const pieces = torrent.have === "" && torrent.wrong === "" ? 0 : torrent.pieces;
  const n = Math.min(pieces, columns * MAX_ROWS);
  const cells = [];
  const wrongRanges = [];
  const totals = { present: 0, wrong: 0 };
  for (let i = 0; i < n; i += 1) {
    const cell = { first: Math.floor((i * pieces) / n), end: Math.floor(((i + 1) * pieces) / n), present: 0, wrong: 0 };
    for (let piece = cell.first; piece < cell.end; piece += 1) {
      if (isPresent(piece)) cell.present += 1;
      else if (isWrong(piece)) {
        cell.wrong += 1;
        const last = wrongRanges.at(-1);
        if (last !== undefined && last[1] === piece - 1) last[1] = piece;
        else wrongRanges.push([piece, piece]);
      }
    }
    totals.present += cell.present;
    totals.wrong += cell.wrong;
    cells.push(cell);
  }
  return { cells, totals, wrongRanges, pieces };
}

const range = (first, last) => (first === last ? number(first) : `${number(first)} to ${number(last)}`);

function describe({ totals, wrongRanges, pieces }, torrent) {
  if (pieces === 0) return isKnown(torrent) ? "Pieces: shown as soon as the content is verified" : "Pieces: not known yet";
  let text = `Pieces: ${number(totals.present)} of ${number(pieces)} present`;
  if (torrent.trusted_pieces > 0) text += `, ${number(torrent.trusted_pieces)} trusted, not verified`;
  if (totals.wrong > 0) {
    const named = wrongRanges.slice(0, MAX_RANGES).map(([first, last]) => range(first, last));
    const more = wrongRanges.length > MAX_RANGES ? " and more" : "";
    text += `, ${number(totals.wrong)} wrong (${named.join(", ")}${more})`;
  }
  return text;
}

const isKnown = (torrent) => torrent.pieces > 0;

function drawMap(torrent) {
  const canvas = $("map");
  const width = canvas.parentElement.clientWidth;
  const columns = Math.max(1, Math.floor((width + GAP) / CELL));
  const state = cellsOf(torrent, columns);
  setText($("map-title"), describe(state, torrent));
  const rows = Math.ceil(state.cells.length / columns);
  const scale = devicePixelRatio;
  const [w, h] = [Math.min(columns, state.cells.length) * CELL, rows * CELL];
  canvas.hidden = rows === 0;
  if (rows === 0) return;
  [canvas.width, canvas.height] = [w * scale, h * scale];
  canvas.style.width = `${w}px`;
  canvas.style.height = `${h}px`;
  map = { ...state, columns };
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name);
  const colours = { present: colour("--present"), partly: colour("--partly"), missing: colour("--missing"), wrong: colour("--wrong") };
  state.cells.forEach((cell, i) => {
    const [x, y] = [(i % columns) * CELL, Math.floor(i / columns) * CELL];
    const side = CELL - GAP;
    const kind = cell.wrong > 0 ? "wrong"
      : cell.present === cell.end - cell.first ? "present"
      : cell.present > 0 ? "partly"
      : "missing";
    context.fillStyle = colours[kind];
    context.fillRect(x, y, side, side);
    // Wrong pieces have a cross, too: not everybody sees the difference of the colours.
    if (kind === "wrong") {
      context.strokeStyle = colour("--panel");
      context.lineWidth = 1.5;
      context.beginPath();
      context.moveTo(x + 2.5, y + 2.5);
      context.lineTo(x + side - 2.5, y + side - 2.5);
      context.moveTo(x + side - 2.5, y + 2.5);
      context.lineTo(x + 2.5, y + side - 2.5);
      context.stroke();
    }
  });
}

function hover(event) {
  if (map === null) return;
  const [column, row] = [Math.floor(event.offsetX / CELL), Math.floor(event.offsetY / CELL)];
  const cell = column < map.columns ? map.cells[row * map.columns + column] : undefined;
  if (cell === undefined) {
    setText($("map-hover"), "");
    return;
  }
  const n = cell.end - cell.first;
  const parts = [
    [cell.present, "present"],
    [cell.wrong, "wrong"],
    [n - cell.present - cell.wrong, "missing"],
  ].filter(([k]) => k > 0);
  const name = n === 1 ? `Piece ${number(cell.first)}` : `Pieces ${range(cell.first, cell.end - 1)}`;
  const states = n === 1 ? parts[0][1] : parts.map(([k, state]) => `${number(k)} ${state}`).join(", ");
  setText($("map-hover"), `${name}: ${states}`);
}

// A round number of bytes that is not below any rate.
function scaleOf(most) {
  let top = 1024;
  while (top < most) top *= 2;
  return top;
}

function path(rates, top, length) {
  const step = GRAPH_WIDTH / Math.max(length - 1, 1);
  const points = rates.map((value, i) => {
    const x = GRAPH_WIDTH - (rates.length - 1 - i) * step;
    return `${x.toFixed(1)} ${(GRAPH_HEIGHT - (value / top) * (GRAPH_HEIGHT - 4) - 2).toFixed(1)}`;
  });
  return points.length === 0 ? "" : `M${points.join("L")}`;
}

function shape(name, kind) {
  const svg = $("graph");
  let node = svg.querySelector(`.${kind}`);
  if (node === null) {
    node = document.createElementNS(svg.namespaceURI, name);
    node.setAttribute("class", kind);
    svg.append(node);
  }
  return node;
}

function drawGraph({ interval_seconds, down, up }) {
  // A history shorter than a minute grows from the right.
  const length = Math.max(MIN_RATES, down.length);
  const most = Math.max(0, ...down, ...up);
  const top = scaleOf(most);
  shape("path", "grid").setAttribute("d", [0.25, 0.5, 0.75].map((y) => `M0 ${y * GRAPH_HEIGHT}H${GRAPH_WIDTH}`).join(""));
  for (const [kind, rates] of [["down", down], ["up", up]]) {
    const line = path(rates, top, length);
    shape("path", `${kind}-area`).setAttribute("d", line && `${line}V${GRAPH_HEIGHT}H${line.slice(1).split(" ")[0]}Z`);
    shape("path", `${kind}-line`).setAttribute("d", line);
  }
  const span = duration(length * interval_seconds);
  const peak = most === 0 ? "no transfer" : `at most ${rate(most)}`;
  setText($("graph-title"), `Rates of the last ${span}: ${peak}`);
  setText($("graph-scale"), `The top of the graph is ${rate(top)}`);
}

// Shows the figures of another torrent, whose pieces and rates are not known yet.
export function resetOverview(torrent) {
  showFigures(torrent);
  map = null;
  setText($("map-hover"), "");
  $("charts").hidden = true;
}

export function showOverview(torrent) {
  $("charts").hidden = false;
  showFigures(torrent);
  drawMap(torrent);
  drawGraph(torrent.rate_history);
}

export function startOverview() {
  $("map").addEventListener("pointermove", hover);
  $("map").addEventListener("pointerdown", hover);
  $("map").addEventListener("pointerleave", () => setText($("map-hover"), ""));
}
