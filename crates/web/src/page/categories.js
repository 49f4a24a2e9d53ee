// @ts-check
// Categories: their dialog, and the choice of one for torrents.

import { read } from "./answers.js";
import { $, hide, make } from "./dom.js";
import { closeButton, showDialog } from "./dialogs.js";
import { count, plain } from "./format.js";
import { GOALS, categoryField, changedLimits, shown } from "./targets.js";
import { TEXT } from "./text.js";

/** @typedef {import("./types.js").Category} Category */

/** The choice of no category. Those of categories start with another character. */
export const NO_CATEGORY = "-";

/** Returns the category of a choice. @param {string} choice */
export const categoryOf = (choice) => (choice.startsWith("=") ? choice.slice(1) : null);

/** Asks the program for its categories. @returns {Promise<Category[]>} */
async function askCategories() {
  const groups = await read("groups");
  return groups?.categories ?? [];
}

/** Returns the choices of a list of categories. @returns {Promise<[string, string][]>} */
export async function categoryChoices() {
  const categories = await askCategories();
  return [[NO_CATEGORY, "none"], ...categories.map(({ name }) => /** @type {[string, string]} */ ([`=${name}`, plain(name)]))];
}

/**
 * Returns a limit of a category: undefined if it is inherited.
 * @param {Category} category
 * @param {typeof GOALS[number]} name
 */
const goalOf = ({ goal }, name) => (name === "seed_ratio" ? goal.ratio : name === "seed_seconds" ? goal.seconds : goal.idle_seconds);

/** Says what a category gives its torrents. @param {Category} category */
export function summaryOf(category) {
  const { folder, torrents, configured } = category;
  const names = { seed_ratio: "ratio", seed_seconds: "serving", idle_seconds: "without an upload" };
  const goals = GOALS.flatMap((name) => {
    const target = goalOf(category, name);
    if (target === undefined || target === "inherited") return [];
    return [`${names[name]}: ${shown(name, typeof target === "number" ? target : null)}`];
  });
  return [count(torrents, "torrent"), folder !== null && `folder ${plain(folder)}`, ...goals, configured && "of the configuration"].filter(Boolean).join(", ");
}

/**
 * Returns the request that makes a category or changes it, or null if nothing changes.
 * @param {Category | null} category
 * @param {import("./dialogs.js").Field[]} fields
 * @param {import("./dialogs.js").Answers} answers
 */
export function categoryChange(category, fields, answers) {
  const folder = String(answers.folder).trim();
  const changes = { ...(folder !== (category?.folder ?? "") && { folder: folder === "" ? null : folder }), ...changedLimits(fields, answers) };
  if (category !== null && Object.keys(changes).length === 0) return null;
  return { action: "set_category", name: category?.name ?? String(answers.name).trim(), ...changes };
}

/**
 * Starts the button, which is that of a daemon.
 * @param {import("./types.js").Store} store
 * @param {import("./actions.js").Actions} actions
 */
export function startCategories({ state, subscribe }, { ask }) {
  /** Makes a category, or changes it. @param {Category | null} category */
  async function edit(category) {
    const fields = [
      ...(category === null ? [{ name: "name", label: "Name", value: "", required: true }] : []),
      { name: "folder", label: "Folder of new torrents", value: category?.folder ?? "", placeholder: TEXT.programFolder },
      ...GOALS.map((name) => categoryField(name, category === null ? undefined : goalOf(category, name))),
    ];
    const title = category === null ? "New category" : `Category ${plain(category.name)}`;
    const { pressed, answers } = await showDialog({ title, text: TEXT.categoryGoal, fields, action: category === null ? "Make" : "Change" });
    const change = pressed === "do" ? categoryChange(category, fields, answers) : null;
    if (change !== null) await ask("POST", "groups", change);
  }

  /** @param {Category} category */
  async function remove({ name, torrents }) {
    const text = torrents === 0 ? "" : `${count(torrents, "torrent")} will have no category. The content stays.`;
    const { pressed } = await showDialog({ title: `Remove the category ${plain(name)}?`, text, action: "Remove", isBad: true });
    if (pressed === "do") await ask("POST", "groups", { action: "remove_categories", names: [name] });
  }

  /** @param {Category} category @param {number} position */
  function lineOf(category, position) {
    const name = plain(category.name);
    const buttons = category.configured ? [] : [
      closeButton(`change ${position}`, "Change …", `Change … ${name}`),
      closeButton(`remove ${position}`, "Remove …", `Remove … ${name}`),
    ];
    return make("li", {}, make("strong", {}, name), make("span", { className: "hint" }, summaryOf(category)), ...buttons);
  }

  async function manage() {
    for (;;) {
      const categories = await askCategories();
      const list = make("ul", { className: "categories" }, ...categories.map(lineOf));
      const { pressed } = await showDialog({
        title: "Categories",
        text: categories.length === 0 ? "There are no categories yet." : "",
        content: [list, make("p", {}, closeButton("new", "New category …"))],
      });
      const [action, position] = pressed.split(" ");
      if (action === "new") await edit(null);
      else if (action === "change") await edit(categories[Number(position)]);
      else if (action === "remove") await remove(categories[Number(position)]);
      else return;
    }
  }

  $("categories").addEventListener("click", manage);
  subscribe(() => hide($("categories"), !state.isDaemon || !state.session.change || state.connection.kind === "ended"));
}
