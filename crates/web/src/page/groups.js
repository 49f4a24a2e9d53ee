// @ts-check
// Categories and labels: their dialog, and the choice of a category for torrents.

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

/** Asks the program for its categories and labels. @returns {Promise<import("./types.js").Groups>} */
const askGroups = async () => (await read("groups")) ?? { categories: [], labels: [] };

/** Returns the choices of a list of categories. @returns {Promise<[string, string][]>} */
export async function categoryChoices() {
  const { categories } = await askGroups();
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
    if (target === undefined) return [];
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
export function startGroups({ state, subscribe }, { ask }) {
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

  /** The number of torrents with a label. @param {string} label */
  const labelled = (label) => [...state.torrents.values()].filter(({ labels }) => labels.includes(label)).length;

  async function addLabel() {
    const fields = [{ name: "label", label: "Label", value: "", required: true }];
    const { pressed, answers } = await showDialog({ title: "New label", fields, action: "Make" });
    if (pressed === "do") await ask("POST", "groups", { action: "add_labels", labels: [String(answers.label).trim()] });
  }

  /** @param {string} label */
  async function removeLabel(label) {
    const torrents = labelled(label);
    const text = torrents === 0 ? "" : `${count(torrents, "torrent")} will lose the label.`;
    const { pressed } = await showDialog({ title: `Remove the label ${plain(label)}?`, text, action: "Remove", isBad: true });
    if (pressed === "do") await ask("POST", "groups", { action: "remove_labels", labels: [label] });
  }

  /** @param {string} name @param {string} hint @param {Node[]} buttons */
  const lineOf = (name, hint, buttons) => make("li", {}, make("strong", {}, plain(name)), make("span", { className: "hint" }, hint), ...buttons);

  /** @param {Category} category @param {number} position */
  function categoryLine(category, position) {
    const name = plain(category.name);
    return lineOf(name, summaryOf(category), category.configured ? [] : [
      closeButton(`change ${position}`, "Change …", `Change … ${name}`),
      closeButton(`remove ${position}`, "Remove …", `Remove … ${name}`),
    ]);
  }

  /** @param {string} label @param {number} position */
  const labelLine = (label, position) =>
    lineOf(label, count(labelled(label), "torrent"), [closeButton(`unlabel ${position}`, "Remove …", `Remove … ${plain(label)}`)]);

  async function manage() {
    for (;;) {
      const { categories, labels } = await askGroups();
      const { pressed } = await showDialog({
        title: "Categories and labels",
        content: [
          make("h3", {}, "Categories"),
          make("ul", { className: "groups" }, ...categories.map(categoryLine)),
          make("p", {}, closeButton("new", "New category …")),
          make("h3", {}, "Labels"),
          make("ul", { className: "groups" }, ...labels.map(labelLine)),
          make("p", {}, closeButton("label", "New label …")),
        ],
      });
      const [action, position] = pressed.split(" ");
      if (action === "label") await addLabel();
      else if (action === "unlabel") await removeLabel(labels[Number(position)]);
      else if (action === "new") await edit(null);
      else if (action === "change") await edit(categories[Number(position)]);
      else if (action === "remove") await remove(categories[Number(position)]);
      else return;
    }
  }

  $("groups").addEventListener("click", manage);
  subscribe(() => hide($("groups"), !state.isDaemon || !state.session.change || state.connection.kind === "ended"));
}
