// @ts-check
// Keys that work everywhere outside fields and dialogs.

import { field, make } from "./dom.js";
import { askUser } from "./dialogs.js";
import { targetsOf } from "./commands.js";
import { selectedOf } from "./menu.js";

/** @typedef {import("./commands.js").Command} Command */

/** @type {[string, string][]} */
const KEYS = [
  ["↑ ↓", "Move in the list; with Shift, select more"],
  ["Enter", "Open the torrent"],
  ["Ctrl A", "Select all torrents of the list"],
  ["Space", "Pause or resume the selected torrents"],
  ["V", "Verify the selected torrents now"],
  ["Delete", "Remove the selected torrents"],
  ["Menu key, Shift F10", "Open the menu of the selected torrents"],
  ["Escape", "Select nothing"],
  ["Alt ← →", "On a heading of the list: change the width; with Shift, move the column"],
  ["F2", "On a file or folder of a daemon's torrent: rename it"],
  ["/", "Search"],
  ["?", "Show these keys"],
];

export function showKeys() {
  const rows = KEYS.map(([key, text]) => make("div", {}, make("dt", {}, make("kbd", {}, key)), make("dd", {}, text)));
  askUser({ title: "Keys", content: [make("dl", { className: "keys" }, ...rows)] });
}

/**
 * @param {import("./types.js").Store} store
 * @param {Command[]} commands
 */
export function startKeyboard(store, commands) {
  const { state } = store;
  /** Runs the first of some commands that applies to a selected torrent. @param {string[]} ids */
  function run(...ids) {
    for (const id of ids) {
      const command = /** @type {Command} */ (commands.find((one) => one.id === id));
      const targets = targetsOf(command, state, selectedOf(state));
      if (targets.length > 0) return command.run(targets);
    }
    return undefined;
  }
  /** @type {Record<string, () => unknown>} */
  const actions = {
    " ": () => run("pause", "resume"),
    v: () => run("verify"),
    Delete: () => run("remove"),
    Escape: () => store.set({ selected: new Set() }),
    "/": () => field("search").focus(),
    "?": showKeys,
  };
  addEventListener("keydown", (event) => {
    const { target } = event;
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || !(target instanceof Element)) return;
    if (target.closest("dialog, textarea, select, input:not([type=checkbox])") !== null) return;
    // A button and a checkbox take the space themselves.
    if (event.key === " " && target.closest("button, input, summary, a") !== null) return;
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  });
}
