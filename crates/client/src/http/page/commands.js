// @ts-check
// What a person can do with torrents. Buttons, the context menu and the keyboard take their commands from this list.

import { notice } from "./dom.js";
import { KIB, count, plain, size } from "./format.js";
import { askUser } from "./dialogs.js";
import { TEXT } from "./text.js";
import { isOver, magnetOf, stateOf, title } from "./torrents.js";

/** @typedef {import("./types.js").Store} Store */
/** @typedef {import("./types.js").Torrent} Torrent */
/** @typedef {import("./actions.js").Actions} Actions */

/**
 * A command: its name, its key, and the torrents it applies to.
 * @typedef {{ id: string, label: string, key?: string, isReading?: boolean, fits: (torrent: Torrent) => boolean,
 *   run: (torrents: Torrent[]) => unknown }} Command
 */

const isRunning = (/** @type {Torrent} */ torrent) => !isOver(torrent);

/** Names the torrents of a question. @param {Torrent[]} torrents */
const named = (torrents) => (torrents.length === 1 ? title(torrents[0]) : count(torrents.length, "torrent"));

/** Copies a text. Browsers refuse that on pages without TLS on other machines. @param {string} text */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    notice("added", TEXT.copied);
  } catch {
    askUser({ title: "Copy", text: TEXT.notCopied, fields: [{ name: "text", label: "", value: text }] });
  }
}

/** The value that all torrents have, or undefined. @template T @param {Torrent[]} torrents @param {(torrent: Torrent) => T} of */
function common(torrents, of) {
  const value = of(torrents[0]);
  return torrents.every((torrent) => of(torrent) === value) ? value : undefined;
}

/** A limit in bytes per second as KiB/s, or as nothing. @param {number | null | undefined} bytes */
export const kibOf = (bytes) => (bytes === null || bytes === undefined ? "" : String(Math.ceil(bytes / KIB)));

/** The reverse of `kibOf`: 0 and nothing are no limit. @param {string | boolean} text */
export const bytesOf = (text) => (Number(text) > 0 ? Math.ceil(Number(text) * KIB) : null);

/**
 * Makes the commands of a store.
 * @param {Store} store
 * @param {Actions} actions
 * @returns {Command[]}
 */
export function makeCommands(store, { batch }) {
  const is = (/** @type {string} */ key) => (/** @type {Torrent} */ torrent) => stateOf(torrent).key === key;

  /** @param {Torrent[]} torrents */
  async function remove(torrents) {
    const bytes = torrents.reduce((sum, torrent) => sum + torrent.done_bytes, 0);
    const isLoss = torrents.some((torrent) => torrent.download && !torrent.complete && isRunning(torrent));
    const values = await askUser({
      title: `Remove ${named(torrents)}?`,
      text: isLoss ? "A download that is not complete counts as failed." : "",
      fields: [{
        name: "content",
        label: "Content",
        choices: [["keep", "Keep the content on the disk"], ["delete", `Delete the content: ${size(bytes)}`]],
        hint: "A file stays if another torrent has it, or if it is not known to belong to the torrent.",
      }],
      action: "Remove",
      isBad: true,
    });
    if (values !== null) await batch(torrents, { action: "remove", content: values.content });
  }

  /** @param {Torrent[]} torrents */
  async function stop(torrents) {
    const isLoss = torrents.some((torrent) => torrent.download && !torrent.complete);
    const running = [...store.state.torrents.values()].filter(isRunning).length;
    const lines = [
      isLoss
        ? "The download is not complete and will count as failed. What has arrived stays on the disk, and the next download continues from it."
        : "The torrent will no longer be served. Its content stays where it is.",
      running === torrents.length ? "No other torrent is active: hashlane get and seed end then, too." : "",
    ];
    const values = await askUser({ title: `Stop ${named(torrents)}?`, text: lines.filter(Boolean).join(" "), action: "Stop", isBad: true });
    if (values !== null) await batch(torrents, { action: "end" });
  }

  /** @param {Torrent[]} torrents */
  async function move(torrents) {
    const response = await fetch("api/v1/config");
    /** @type {string[]} */
    const folders = response.ok ? (await response.json()).folders : [];
    if (folders.length === 0) {
      askUser({ title: "Move", text: "This program permits requests no folder. See --dir and --remote-folder of hashlane daemon." });
      return;
    }
    const values = await askUser({
      title: `Move ${named(torrents)}`,
      fields: [{ name: "folder", label: "Folder", value: folders[0], hint: `One of these, or below: ${folders.map(plain).join(", ")}. Nothing that exists there is replaced.` }],
      action: "Move",
    });
    if (values !== null) await batch(torrents, { action: "relocate", folder: values.folder });
  }

  /** @param {Torrent[]} torrents */
  async function label(torrents) {
    const before = common(torrents, (torrent) => torrent.labels.join(", "));
    const values = await askUser({
      title: `Labels of ${named(torrents)}`,
      text: before === undefined ? "The torrents have different labels. These replace all of them." : "",
      fields: [{ name: "labels", label: "Labels, separated by commas", value: before ?? "" }],
      action: "Set labels",
    });
    if (values === null) return;
    const labels = String(values.labels).split(",").map((label) => label.trim()).filter((label) => label !== "");
    await batch(torrents, { action: "set", labels: [...new Set(labels)] });
  }

  /** @param {Torrent[]} torrents */
  async function limit(torrents) {
    const values = await askUser({
      title: `Limits of ${named(torrents)}`,
      text: "The limits of all torrents together apply too. Nothing is no limit.",
      fields: [
        { name: "down", label: "Download in KiB/s", type: "number", value: kibOf(common(torrents, (t) => t.max_down)) },
        { name: "up", label: "Upload in KiB/s", type: "number", value: kibOf(common(torrents, (t) => t.max_up)) },
      ],
      action: "Set limits",
    });
    if (values === null) return;
    await batch(torrents, { action: "set", max_down: bytesOf(values.down), max_up: bytesOf(values.up) });
  }

  /** @param {Torrent[]} torrents */
  function copyMagnets(torrents) {
    const links = torrents.map(magnetOf).filter((link) => link !== "");
    if (links.length === 0) notice("refusal", TEXT.noMagnet);
    else copy(links.join("\n"));
  }

  // A daemon starts a torrent that failed again.
  const hasFailed = is("failed");
  const send = (/** @type {string} */ action) => (/** @type {Torrent[]} */ torrents) => batch(torrents, { action });
  return [
    { id: "resume", label: "Resume", key: "Space", fits: (torrent) => hasFailed(torrent) || isRunning(torrent) && torrent.paused, run: send("resume") },
    { id: "pause", label: "Pause", key: "Space", fits: (torrent) => isRunning(torrent) && !torrent.paused, run: send("pause") },
    { id: "verify", label: "Verify now", key: "V", fits: (torrent) => hasFailed(torrent) || isRunning(torrent) && !is("metadata")(torrent), run: send("verify") },
    { id: "reannounce", label: "Ask trackers now", fits: isRunning, run: send("reannounce") },
    { id: "labels", label: "Labels …", fits: () => true, run: label },
    { id: "move", label: "Move …", fits: isRunning, run: move },
    { id: "limits", label: "Limits …", fits: isRunning, run: limit },
    { id: "magnet", label: "Copy magnet links", isReading: true, fits: () => true, run: copyMagnets },
    { id: "stop", label: "Stop …", fits: isRunning, run: stop },
    { id: "remove", label: "Remove …", key: "Delete", fits: () => true, run: remove },
  ];
}

/**
 * Returns the torrents of a selection that a command applies to.
 * @param {Command} command
 * @param {import("./types.js").State} state
 * @param {Torrent[]} torrents
 */
export function targetsOf(command, state, torrents) {
  const mayRun = command.isReading || (state.session.change && state.connection.kind !== "ended");
  return mayRun ? torrents.filter(command.fits) : [];
}
