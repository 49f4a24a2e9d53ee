// @ts-check
// The graph of rates.

import { $, setText } from "./dom.js";
import { duration, rate } from "./format.js";
import { lastRates } from "./text.js";

/** @typedef {import("./types.js").RateHistory} RateHistory */

// Number of rates that the graph has room for at least.
const MIN_RATES = 30;

const WIDTH = 600;
const HEIGHT = 160;

/**
 * A round number of bytes that is not below any rate.
 * @param {number} most
 */
export function scaleOf(most) {
  let top = 1024;
  while (top < most) top *= 2;
  return top;
}

/**
 * @param {number[]} rates
 * @param {number} top
 * @param {number} length
 */
function path(rates, top, length) {
  const step = WIDTH / Math.max(length - 1, 1);
  const points = rates.map((value, i) => {
    const x = WIDTH - (rates.length - 1 - i) * step;
    return `${x.toFixed(1)} ${(HEIGHT - (value / top) * (HEIGHT - 4) - 2).toFixed(1)}`;
  });
  return points.length === 0 ? "" : `M${points.join("L")}`;
}

/** @param {string} kind @param {string} d */
function draw(kind, d) {
  const svg = $("graph", SVGSVGElement);
  let node = svg.querySelector(`.${kind}`);
  if (node === null) {
    node = document.createElementNS(svg.namespaceURI, "path");
    node.setAttribute("class", kind);
    svg.append(node);
  }
  node.setAttribute("d", d);
}

/** @param {RateHistory} history */
export function drawGraph({ interval_seconds, down, up }) {
  // A history shorter than a minute grows from the right.
  const length = Math.max(MIN_RATES, down.length);
  const most = Math.max(0, ...down, ...up);
  const top = scaleOf(most);
  draw("grid", [0.25, 0.5, 0.75].map((y) => `M0 ${y * HEIGHT}H${WIDTH}`).join(""));
  for (const [kind, rates] of /** @type {[string, number[]][]} */ ([["down", down], ["up", up]])) {
    const line = path(rates, top, length);
    draw(`${kind}-area`, line && `${line}V${HEIGHT}H${line.slice(1).split(" ")[0]}Z`);
    draw(`${kind}-line`, line);
  }
  const span = length * interval_seconds;
  setText($("graph-title"), `${lastRates(span)}: ${most === 0 ? "no transfer" : `at most ${rate(most)}`}`);
  setText($("graph-top"), rate(top));
  setText($("graph-start"), `${duration(span)} ago`);
}
