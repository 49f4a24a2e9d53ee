// @ts-check
// Buttons and the context menu of the selected torrents (ARIA Authoring Practices, pattern "menu").

import { $, button, hide, make, setText } from "./dom.js";
import { targetsOf } from "./commands.js";

/** @typedef {import("./types.js").Store} Store */
/** @typedef {import("./types.js").Torrent} Torrent */
/** @typedef {import("./commands.js").Command} Command */

/**
 * Returns the torrents on which commands act: the selected ones.
 * @param {import("./types.js").State} state
 */
export const selectedOf = (state) =>
  [...state.selected].flatMap((number) => state.torrents.get(number) ?? []);

/**
 * Returns the torrent in the pane, as a list.
 * @param {import("./types.js").State} state
 */
export const chosenOf = (state) => (state.chosen === null ? [] : [state.torrents.get(state.chosen) ?? []].flat());

/**
 * Starts the menu and the buttons. `isBusy` returns whether a dialog is open.
 * @param {Store} store
 * @param {Command[]} commands
 */
export function startMenu(store, commands) {
  const { state } = store;
  const menu = $("menu");
  /** The element that had the focus before the menu. @type {Element | null} */
  let before = null;

  /** @param {boolean} [keepsFocus] */
  function close(keepsFocus = false) {
    if (menu.hidden) return;
    menu.hidden = true;
    if (!keepsFocus && before instanceof HTMLElement) before.focus({ preventScroll: true });
  }

  /**
   * @param {Torrent[]} torrents
   * @param {number} x
   * @param {number} y
   */
  function open(torrents, x, y) {
    before = document.activeElement;
    menu.replaceChildren();
    for (const command of commands) {
      const targets = targetsOf(command, state, torrents);
      if (targets.length === 0) continue;
      const key = command.key === undefined ? [] : [make("kbd", {}, command.key)];
      const item = make("button", { type: "button", role: "menuitem", tabIndex: -1 }, make("span", {}, command.label), ...key);
      item.dataset.command = command.id;
      item.addEventListener("click", () => {
        close();
        command.run(targets);
      });
      menu.append(item);
    }
    if (menu.children.length === 0) return;
    menu.hidden = false;
    menu.style.left = `${Math.max(4, Math.min(x, innerWidth - menu.offsetWidth - 4))}px`;
    menu.style.top = `${Math.max(4, Math.min(y, innerHeight - menu.offsetHeight - 4))}px`;
    /** @type {HTMLElement} */ (menu.firstElementChild).focus();
  }

  menu.addEventListener("keydown", (event) => {
    const items = /** @type {HTMLElement[]} */ ([...menu.children]);
    const at = items.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
    event.stopPropagation();
    if (event.key === "Escape" || event.key === "Tab") close();
    else if (next !== undefined) items[(next + items.length) % items.length].focus();
    else return;
    event.preventDefault();
  });
  addEventListener("pointerdown", (event) => {
    if (event.target instanceof Node && !menu.contains(event.target)) close(true);
  });
  addEventListener("blur", () => close(true));
  $("torrents", HTMLTableElement).tBodies[0].addEventListener("contextmenu", (event) => {
    const selection = selectedOf(state);
    if (selection.length === 0 || event.shiftKey) return;
    event.preventDefault();
    // The menu key of a keyboard has no pointer.
    const row = event.target instanceof Element ? event.target.closest("tr")?.getBoundingClientRect() : undefined;
    const isKey = event.clientX === 0 && event.clientY === 0;
    open(selection, isKey ? (row?.left ?? 0) + 40 : event.clientX, isKey ? (row?.bottom ?? 0) : event.clientY);
  });

  /** @param {string} id @param {() => Torrent[]} torrents */
  function startMore(id, torrents) {
    button(id).addEventListener("click", () => {
      const { left, bottom } = button(id).getBoundingClientRect();
      open(torrents(), left, bottom + 4);
    });
  }
  startMore("more", () => selectedOf(state));
  startMore("chosen-more", () => chosenOf(state));

  const shown = commands.filter(({ id }) => ["resume", "pause", "verify", "remove"].includes(id));
  for (const command of shown) {
    const act = make("button", { type: "button" }, command.label);
    act.dataset.command = command.id;
    act.addEventListener("click", () => command.run(targetsOf(command, state, selectedOf(state))));
    $("more").before(act);
  }
  const [resume, pause] = ["resume", "pause"].map((id) => /** @type {Command} */ (commands.find((command) => command.id === id)));
  const toggle = () => (targetsOf(resume, state, chosenOf(state)).length > 0 ? resume : pause);
  $("pause").addEventListener("click", () => toggle().run(targetsOf(toggle(), state, chosenOf(state))));

  store.subscribe(() => {
    const selection = selectedOf(state);
    for (const act of $("commands").querySelectorAll("button")) {
      const command = shown.find(({ id }) => id === act.dataset.command);
      act.disabled = command === undefined ? selection.length === 0 : targetsOf(command, state, selection).length === 0;
    }
    hide($("commands"), !state.session.change || state.connection.kind === "ended");
    document.body.classList.toggle("selecting", selection.length > 0);
    const chosen = chosenOf(state);
    hide($("pause"), targetsOf(toggle(), state, chosen).length === 0);
    setText($("pause"), toggle().label);
  });
}
