// @ts-check
// The header, the notices below it, and the title of the window.

import { $, field, hide, notice, setText } from "./dom.js";
import { count, number, percent, rate, size } from "./format.js";
import { bytesOf, kibOf } from "./commands.js";
import { scaleOf } from "./graph.js";
import { TEXT, ended, failedTorrents, failedTrackers, figuresOf, pageRefused, totals } from "./text.js";
import * as model from "./torrents.js";

/** @typedef {import("./types.js").Store} Store */
/** @typedef {import("./types.js").State} State */

// Number of rates of the sparkline, and the seconds between two of them.
const RATES = 60;
const RATE_SECONDS = 2;

// Interval at which statistics are requested, in milliseconds.
const STATISTICS_INTERVAL = 15_000;

/** Adds up what the header shows. @param {State} state */
function sumUp({ torrents }) {
  const sums = { torrents: torrents.size, down: 0, up: 0, failed: 0, trackers: 0, active: 0, part: 0, whole: 0, complete: 0, trusted: 0 };
  for (const torrent of torrents.values()) {
    sums.down += torrent.down_bytes_per_second;
    sums.up += torrent.up_bytes_per_second;
    if (torrent.error !== null) sums.failed += 1;
    if (model.hasFailedTracker(torrent)) sums.trackers += 1;
    if (torrent.complete) sums.complete += 1;
    if (torrent.trusted_pieces > 0) sums.trusted += 1;
    if (model.isOver(torrent) || torrent.complete) continue;
    const [part, whole] = model.progressOf(torrent);
    sums.active += 1;
    sums.part += part;
    sums.whole += whole;
  }
  return sums;
}

/** The title shows the progress of all torrents together. @param {ReturnType<typeof sumUp>} sums */
function titleOf({ torrents, active, part, whole, down, up, failed, complete }) {
  if (active > 0) return `${whole === 0 ? "…" : percent(part, whole)}${down > 0 ? ` ↓ ${rate(down)}` : ""}`;
  if (failed > 0) return `✗ ${number(failed)} failed`;
  return `${complete === torrents ? "✓ complete" : "incomplete"}${up > 0 ? ` ↑ ${rate(up)}` : ""}`;
}

/** The state of the connection in plain words. @param {State} state */
export function lossOf({ connection: { kind, reason, since } }) {
  const figures = since === null ? "" : figuresOf(since);
  if (kind === "lost") return TEXT.lost + figures;
  if (kind === "full") return TEXT.full + figures;
  if (kind === "refused") return pageRefused(reason) + figures;
  return "";
}

/**
 * @param {Store} store
 * @param {import("./actions.js").Actions} actions
 */
export function startHeader(store, actions) {
  const { state } = store;
  /** The rates of all torrents together since the page was opened, the oldest first. @type {[number, number][]} */
  const rates = [];

  function drawSparkline() {
    const top = scaleOf(Math.max(...rates.flat()));
    const line = (/** @type {0 | 1} */ i) => rates.map((pair, n) => `${(n + RATES - rates.length) * 2} ${30 - (pair[i] / top) * 28}`).join("L");
    for (const [i, id] of /** @type {[0 | 1, string][]} */ ([[0, "spark-down"], [1, "spark-up"]])) $(id, SVGPathElement).setAttribute("d", `M${line(i)}`);
    setText($("spark-top"), rate(top));
    hide($("spark-most"), false);
  }

  const limits = $("limits", HTMLDetailsElement);
  const form = /** @type {HTMLFormElement} */ (limits.querySelector("form"));
  for (const kind of ["input", "change"]) form.addEventListener(kind, () => limits.classList.add("changed"));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    await actions.ask("PATCH", "config", { max_down: bytesOf(field("max-down").value), max_up: bytesOf(field("max-up").value) });
    limits.classList.remove("changed");
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
  });
  for (const [id, value] of [["failed-torrents", "error"], ["failed-trackers", "tracker-error"]]) {
    $(id).addEventListener("click", () => store.set({ facet: { group: "state", value } }));
  }

  async function showStatistics() {
    if (!state.session.read || document.hidden) return;
    try {
      const ask = async (/** @type {string} */ path) => {
        const response = await fetch(`api/v1/${path}`);
        return response.ok ? response.json() : null;
      };
      const [statistics, config] = await Promise.all([ask("statistics"), ask("config")]);
      if (statistics === null || config === null) return;
      const { all_downloaded_bytes: down, all_uploaded_bytes: up, listening, incoming_connections, dht_nodes } = statistics;
      setText($("exchanged"), `↓ ${size(down)}, ↑ ${size(up)}${down > 0 ? `, ratio ${(up / down).toFixed(2)}` : ""}`);
      setText($("ports"), listening.join(", ") || "none");
      setText($("incoming"), incoming_connections ? "yes" : TEXT.noIncoming);
      setText($("dht"), dht_nodes === null ? "off" : count(dht_nodes, "node"));
      const space = config.folders.length === 0 ? null : await ask(`free-space?folder=${encodeURIComponent(config.folders[0])}`);
      setText($("space"), space === null ? "–" : `${size(space.free_bytes)} of ${size(space.total_bytes)}`);
    } catch {
      // The stream reports a lost connection.
    }
  }
  setInterval(showStatistics, STATISTICS_INTERVAL);

  let isAsked = false;
  setInterval(() => {
    if (state.connection.kind !== "open") return;
    const { down, up } = sumUp(state);
    rates.push([down, up]);
    if (rates.length > RATES) rates.shift();
    drawSparkline();
  }, RATE_SECONDS * 1000);

  store.subscribe(() => {
    const sums = sumUp(state);
    const isKnown = state.connection.kind !== "connecting";
    setText($("totals"), !state.session.read ? "" : isKnown ? totals(sums) : TEXT.connecting);
    notice("failed-torrents", sums.failed === 0 ? "" : failedTorrents(sums.failed));
    notice("failed-trackers", sums.trackers === 0 ? "" : failedTrackers(sums.trackers));
    // A limit that is being edited stays as it is.
    if (!limits.matches(":focus-within, .changed")) {
      field("max-down").value = kibOf(state.limits.max_down);
      field("max-up").value = kibOf(state.limits.max_up);
    }
    const isEnded = state.connection.kind === "ended";
    // A daemon has these limits among its settings.
    hide(limits, !state.session.change || isEnded || state.isDaemon);
    notice("loss", lossOf(state));
    notice("end", isEnded ? ended(sums.torrents, sums.complete, sums.trusted > 0) : "");
    $("end").className = `notice ${sums.complete === sums.torrents ? "good" : "warn"}`;
    const title = isKnown ? `${titleOf(sums)} – Hashlane` : "Hashlane";
    if (document.title !== title) document.title = title;
    if (isKnown && !isAsked) {
      isAsked = true;
      showStatistics();
    }
  });
}
