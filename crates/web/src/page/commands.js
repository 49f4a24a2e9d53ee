// @ts-check
// What a person can do with torrents. Buttons, the context menu and the keyboard take their commands from this list.

import { read } from "./answers.js";
import { NO_CATEGORY, categoryChoices, categoryOf } from "./groups.js";
import { askUser } from "./dialogs.js";
import { notice } from "./dom.js";
import { KIB, count, oneLine, plain, size } from "./format.js";
import { OWN_LIMITS, changedLimits, ownField } from "./targets.js";
import { TEXT } from "./text.js";
import { contentOf, isKept, isOver, magnetOf, stateOf, title } from "./torrents.js";

/** @typedef {import("./types.js").Store} Store */
/** @typedef {import("./types.js").Torrent} Torrent */
/** @typedef {import("./actions.js").Actions} Actions */

/**
 * A command: its name, its key, the torrents it applies to, and whether it applies to one torrent alone.
 * @typedef {{ id: string, label: string, key?: string, isReading?: boolean, isSingle?: boolean, fits: (torrent: Torrent) => boolean,
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
    // The socket of a daemon permits all folders, and names none.
    /** @type {string[]} */
    const folders = (await read("config"))?.folders ?? [];
    const hint = folders.length === 0 ? TEXT.anyFolder : `One of these, or below: ${folders.map(plain).join(", ")}.`;
    const found = { name: "found", label: "The content is there already: use it, and verify it", value: false, hint: TEXT.foundHint };
    const values = await askUser({
      title: `Move ${named(torrents)}`,
      text: torrents.every(isKept) ? "" : TEXT.nothingReplaced,
      fields: [{ name: "folder", label: "Folder", value: folders[0] ?? "", hint, required: true }, ...(torrents.every(isKept) ? [found] : [])],
      action: "Move",
    });
    if (values !== null) await batch(torrents, { action: values.found === true ? "place" : "relocate", folder: values.folder });
  }

  /** @param {Torrent[]} torrents */
  async function moveInQueue(torrents) {
    const value = String(common(torrents, (torrent) => torrent.queue_position) ?? 0);
    const values = await askUser({
      title: `Queue: position of ${named(torrents)}`,
      fields: [{ name: "position", label: "Position, from 0", type: "number", step: "1", value, required: true }],
      action: "Move",
    });
    if (values !== null) await batch(torrents, { action: "queue", to: Number(values.position) });
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
    // Only a daemon knows the time without an upload.
    const names = OWN_LIMITS.filter((name) => name !== "idle_seconds" || torrents.every(isKept));
    const fields = names.map((name) => ownField(name, common(torrents, (torrent) => torrent[name])));
    const values = await askUser({
      title: `Limits of ${named(torrents)}`,
      text: TEXT.ownLimits,
      fields,
      action: "Set limits",
    });
    if (values === null) return;
    const changes = changedLimits(fields, values);
    if (Object.keys(changes).length > 0) await batch(torrents, { action: "set", ...changes });
  }

  /** @param {Torrent[]} torrents */
  async function categorize(torrents) {
    const before = common(torrents, (torrent) => torrent.category);
    const choices = await categoryChoices();
    if (before === undefined) choices.unshift(["", "unchanged"]);
    const value = before === undefined ? "" : before === null ? NO_CATEGORY : `=${before}`;
    const values = await askUser({
      title: `Category of ${named(torrents)}`,
      text: choices.length === 1 ? TEXT.noCategories : "",
      fields: [{ name: "category", label: "Category", choices, value, hint: TEXT.categoryKeepsContent }],
      action: "Set category",
    });
    if (values === null || values.category === value) return;
    await batch(torrents, { action: "set", category: categoryOf(String(values.category)) });
  }

  /** @param {Torrent[]} torrents */
  async function rename([torrent]) {
    const content = contentOf(torrent);
    const values = await askUser({
      title: `Rename ${title(torrent)}`,
      fields: [
        { name: "title", label: "Title in lists", value: torrent.name ?? "", hint: TEXT.titleHint },
        ...(content === "" ? [] : [{ name: "content", label: "File or folder on the disk", value: content, hint: TEXT.nothingReplaced }]),
      ],
      action: "Rename",
    });
    if (values === null) return;
    const [name, to] = [String(values.title), String(values.content ?? "")];
    if (name !== oneLine(torrent.name ?? "")) await batch([torrent], { action: "set", title: name.trim() === "" ? null : name.trim() });
    if (to !== "" && to !== oneLine(content)) await batch([torrent], { action: "rename", from: content, to });
  }

  /** @param {Torrent[]} torrents */
  function copyMagnets(torrents) {
    const links = torrents.map(magnetOf).filter((link) => link !== "");
    if (links.length === 0) notice("refusal", TEXT.noMagnet);
    else copy(links.join("\n"));
  }

  // A daemon starts a torrent that failed again.
  const hasFailed = is("failed");
  const send = (/** @type {string} */ action, fields = {}) => (/** @type {Torrent[]} */ torrents) => batch(torrents, { action, ...fields });
  const mayWait = (/** @type {Torrent} */ torrent) => isKept(torrent) && (hasFailed(torrent) || isRunning(torrent));
  /** @param {string} to @param {string} label @returns {Command} */
  const queue = (to, label) => ({ id: `queue-${to}`, label, fits: isKept, run: send("queue", { to }) });
  return [
    { id: "resume", label: "Resume", key: "Space", fits: (torrent) => hasFailed(torrent) || isRunning(torrent) && torrent.paused, run: send("resume") },
    { id: "resume-now", label: "Resume now", fits: (torrent) => mayWait(torrent) && (hasFailed(torrent) || torrent.paused || !torrent.forced), run: send("resume", { now: true }) },
    { id: "resume-queued", label: "Run in its turn", fits: (torrent) => mayWait(torrent) && torrent.forced && !torrent.paused, run: send("resume") },
    { id: "pause", label: "Pause", key: "Space", fits: (torrent) => isRunning(torrent) && !torrent.paused, run: send("pause") },
    { id: "verify", label: "Verify now", key: "V", fits: (torrent) => hasFailed(torrent) || isRunning(torrent) && !is("metadata")(torrent), run: send("verify") },
    { id: "reannounce", label: "Ask trackers now", fits: isRunning, run: send("reannounce") },
    queue("top", "Queue: to the top"),
    queue("up", "Queue: up"),
    queue("down", "Queue: down"),
    queue("bottom", "Queue: to the bottom"),
    { id: "queue-position", label: "Queue: position …", fits: isKept, run: moveInQueue },
    { id: "labels", label: "Labels …", fits: () => true, run: label },
    { id: "category", label: "Category …", fits: isKept, run: categorize },
    { id: "rename", label: "Rename …", isSingle: true, fits: isKept, run: rename },
    { id: "move", label: "Move …", fits: (torrent) => isRunning(torrent) || mayWait(torrent), run: move },
    { id: "limits", label: "Limits …", fits: isRunning, run: limit },
    { id: "sequential", label: "Download in order", fits: (torrent) => isRunning(torrent) && torrent.download && !torrent.sequential, run: send("set", { sequential: true }) },
    { id: "any-order", label: "Download in any order", fits: (torrent) => isRunning(torrent) && torrent.sequential, run: send("set", { sequential: false }) },
    { id: "super-seeding", label: "Super-seeding on", fits: (torrent) => isRunning(torrent) && torrent.complete && !torrent.super_seeding, run: send("set", { super_seeding: true }) },
    { id: "plain-seeding", label: "Super-seeding off", fits: (torrent) => isRunning(torrent) && torrent.super_seeding, run: send("set", { super_seeding: false }) },
    { id: "magnet", label: "Copy magnet links", isReading: true, fits: () => true, run: copyMagnets },
    // A daemon serves torrents until they are paused or removed.
    { id: "stop", label: "Stop …", fits: (torrent) => isRunning(torrent) && !isKept(torrent), run: stop },
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
  return mayRun && (!command.isSingle || torrents.length === 1) ? torrents.filter(command.fits) : [];
}
