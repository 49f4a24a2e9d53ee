// @ts-check
// The map of pieces.

import { $, setText } from "./dom.js";
import { number, percent } from "./format.js";

/** @typedef {import("./types.js").TorrentDetail} TorrentDetail */

/**
 * A cell of the map: the pieces from `first` to before `end`. `known` counts those whose state is known, which are all except
 * during a verification.
 * @typedef {{ first: number, end: number, known: number, present: number, wrong: number }} Cell
 */

// Distance of the cells of the map, and the gap between them, in pixels.
const CELL = 12;
const GAP = 2;
const MAX_ROWS = 14;

// Number of ranges of wrong pieces that are listed.
const MAX_RANGES = 10;

/** The cells of the map as they are drawn, for the pointer. @type {{ cells: Cell[], columns: number } | null} */
let map = null;

/**
 * Returns a function that reads a bit field, the first bit in the highest bit of the first byte.
 * @param {string} text
 * @returns {(piece: number) => boolean}
 */
export function bitsOf(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return (piece) => (((bytes[piece >> 3] ?? 0) >> (7 - (piece & 7))) & 1) === 1;
}

/**
 * Counts the pieces of each cell.
 * @param {TorrentDetail} torrent
 * @param {number} maxCells
 */
export function cellsOf(torrent, maxCells) {
  const [isPresent, isWrong, isChecked] = [torrent.have, torrent.wrong, torrent.checked].map(bitsOf);
  // While a torrent is verified, or waits for that, only the pieces that the verification has judged are known.
  const isVerifying = torrent.activity === "verifying";
  const pieces = torrent.have === "" && torrent.wrong === "" && !isVerifying ? 0 : torrent.pieces;
  const n = Math.min(pieces, maxCells);
  /** @type {Cell[]} */
  const cells = [];
  /** @type {[number, number][]} */
  const wrongRanges = [];
  const totals = { known: 0, present: 0, wrong: 0 };
  for (let i = 0; i < n; i += 1) {
    const cell = { first: Math.floor((i * pieces) / n), end: Math.floor(((i + 1) * pieces) / n), known: 0, present: 0, wrong: 0 };
    for (let piece = cell.first; piece < cell.end; piece += 1) {
      if (!isVerifying || isChecked(piece)) cell.known += 1;
      if (isPresent(piece)) cell.present += 1;
      else if (isWrong(piece)) {
        cell.wrong += 1;
        const last = wrongRanges.at(-1);
        if (last !== undefined && last[1] === piece - 1) last[1] = piece;
        else wrongRanges.push([piece, piece]);
      }
    }
    totals.known += cell.known;
    totals.present += cell.present;
    totals.wrong += cell.wrong;
    cells.push(cell);
  }
  return { cells, totals, wrongRanges, pieces, isVerifying };
}

/** @param {number} first @param {number} last */
const range = (first, last) => (first === last ? number(first) : `${number(first)} to ${number(last)}`);

/** @param {ReturnType<typeof cellsOf>} cells @param {TorrentDetail} torrent */
export function describe({ totals, wrongRanges, pieces, isVerifying }, torrent) {
  if (pieces === 0) return torrent.pieces > 0 ? "Pieces: shown as soon as the content is verified" : "Pieces: not known yet";
  const missing = totals.known - totals.present - totals.wrong;
  let text = isVerifying
    ? `Pieces: ${percent(torrent.verified_bytes, torrent.total_bytes)} verified, ${number(totals.present)} present`
    : `Pieces: ${number(totals.present)} of ${number(pieces)} present`;
  if (torrent.trusted_pieces > 0) text += `, ${number(torrent.trusted_pieces)} trusted, not verified`;
  if (totals.wrong > 0) {
    const named = wrongRanges.slice(0, MAX_RANGES).map(([first, last]) => range(first, last));
    const more = wrongRanges.length > MAX_RANGES ? " and more" : "";
    text += `, ${number(totals.wrong)} wrong (${named.join(", ")}${more})`;
  }
  if (isVerifying && missing > 0) text += `, ${number(missing)} missing`;
  return text;
}

/** @param {Cell} cell */
export function kindOf(cell) {
  if (cell.wrong > 0) return "wrong";
  if (cell.known === 0) return "unknown";
  if (cell.present === cell.end - cell.first) return "present";
  return cell.present > 0 ? "partly" : "missing";
}

/** @param {TorrentDetail} torrent */
export function drawMap(torrent) {
  const canvas = $("map", HTMLCanvasElement);
  const width = /** @type {HTMLElement} */ (canvas.parentElement).clientWidth;
  const columns = Math.max(1, Math.floor((width + GAP) / CELL));
  const state = cellsOf(torrent, columns * MAX_ROWS);
  setText($("map-title"), describe(state, torrent));
  const rows = Math.ceil(state.cells.length / columns);
  const scale = devicePixelRatio;
  const [w, h] = [Math.min(columns, state.cells.length) * CELL, rows * CELL];
  canvas.hidden = rows === 0;
  map = { cells: state.cells, columns };
  if (rows === 0) return state;
  [canvas.width, canvas.height] = [w * scale, h * scale];
  canvas.style.width = `${w}px`;
  canvas.style.height = `${h}px`;
  const context = canvas.getContext("2d");
  if (context === null) return state;
  context.scale(scale, scale);
  const style = getComputedStyle(document.documentElement);
  state.cells.forEach((cell, i) => {
    const [x, y] = [(i % columns) * CELL, Math.floor(i / columns) * CELL];
    const side = CELL - GAP;
    const kind = kindOf(cell);
    context.fillStyle = style.getPropertyValue(`--${kind}`);
    context.fillRect(x, y, side, side);
    // Wrong pieces have a cross, too: not everybody sees the difference of the colours.
    if (kind === "wrong") {
      context.strokeStyle = style.getPropertyValue("--panel");
      context.lineWidth = 1.5;
      context.beginPath();
      context.moveTo(x + 2.5, y + 2.5);
      context.lineTo(x + side - 2.5, y + side - 2.5);
      context.moveTo(x + side - 2.5, y + 2.5);
      context.lineTo(x + 2.5, y + side - 2.5);
      context.stroke();
    }
  });
  return state;
}

/** @param {PointerEvent} event */
function hover(event) {
  if (map === null) return;
  const [column, row] = [Math.floor(event.offsetX / CELL), Math.floor(event.offsetY / CELL)];
  const cell = column < map.columns ? map.cells[row * map.columns + column] : undefined;
  if (cell === undefined) {
    setText($("map-hover"), "");
    return;
  }
  const n = cell.end - cell.first;
  const parts = /** @type {[number, string][]} */ ([
    [cell.present, "present"],
    [cell.wrong, "wrong"],
    [cell.known - cell.present - cell.wrong, "missing"],
    [n - cell.known, "not verified yet"],
  ]).filter(([k]) => k > 0);
  const name = n === 1 ? `Piece ${number(cell.first)}` : `Pieces ${range(cell.first, cell.end - 1)}`;
  const states = n === 1 ? parts[0][1] : parts.map(([k, state]) => `${number(k)} ${state}`).join(", ");
  setText($("map-hover"), `${name}: ${states}`);
}

export function forgetMap() {
  map = null;
  setText($("map-hover"), "");
}

export function startMap() {
  const canvas = $("map");
  canvas.addEventListener("pointermove", hover);
  canvas.addEventListener("pointerdown", hover);
  canvas.addEventListener("pointerleave", () => setText($("map-hover"), ""));
}
