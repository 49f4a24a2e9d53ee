// @ts-check
// Torrents that the user adds by a dialog, or drops on the page.

import { read, reasonOf } from "./answers.js";
import { NO_CATEGORY, categoryChoices, categoryOf } from "./groups.js";
import { actByEnter, answersOf, partOf } from "./dialogs.js";
import { $, field, hide, make, notice, setText } from "./dom.js";
import { PRIORITIES } from "./files.js";
import { count, plain, size } from "./format.js";
import { filesOf } from "./metainfo.js";
import { OWN_LIMITS, changedLimits, newField } from "./targets.js";

/** @typedef {import("./types.js").Store} Store */
/** @typedef {import("./types.js").NewTorrent} NewTorrent */

// Maximum number of characters of a line in a message, and of lines.
const MAX_NAME = 60;
const MAX_LINES = 20;

// Number of files that can be chosen. The pane chooses files of larger torrents after they are added.
const MAX_FILES = 2000;

// Interval at which the fetch of a URL is asked about, in milliseconds.
const JOB_INTERVAL = 500;

// Info-hashes of version 1 (hexadecimal or base 32) and of version 2.
const INFO_HASH = /^([0-9a-f]{40}|[a-z2-7]{32}|[0-9a-f]{64})$/i;

/**
 * Returns the links of a text with one per line, and the lines that are none.
 * @param {string} text
 */
export function linksOf(text) {
  const lines = text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  const isLink = (/** @type {string} */ line) => !/\s/.test(line) && (/^(magnet:\?|https?:\/\/)/i.test(line) || INFO_HASH.test(line));
  return { links: lines.filter(isLink), others: lines.filter((line) => !isLink(line)) };
}

/**
 * Names the lines that cannot be used, or returns "".
 * @param {string[]} others
 */
export function problemOf(others) {
  if (others.length === 0) return "";
  const named = others.slice(0, MAX_LINES).map((line) => `${plain(line.slice(0, MAX_NAME))}: no magnet link, info-hash or URL`);
  const more = others.length - named.length;
  return [...named, ...(more > 0 ? [`and ${count(more, "other line")}`] : [])].join("\n");
}

/**
 * Returns the options of a torrent that is added. `files` has the priority of each file, if its files are known.
 * @param {{ folder: string, content: string, contentMap: string, layout: string, files: string[], paused: boolean,
 *   set: NewTorrent["set"] }} choices
 * @returns {NewTorrent}
 */
export function optionsOf({ folder, content, contentMap, layout, files, paused, set }) {
  const select = files.flatMap((priority, i) => (priority === "skip" ? [] : [i]));
  const priorities = files.flatMap((priority, i) => (["low", "high"].includes(priority) ? [/** @type {[number, import("./types.js").Priority]} */ ([i, priority])] : []));
  return {
    ...(folder !== "" && { folder }),
    ...(content !== "" && { content }),
    ...(contentMap !== "" && { content_map: contentMap }),
    ...(layout !== "original" && { layout: /** @type {NewTorrent["layout"]} */ (layout) }),
    ...(select.length < files.length && { select }),
    ...(priorities.length > 0 && { priorities }),
    paused,
    ...(set !== undefined && { set }),
  };
}

/** Returns the bytes of a file, one character per byte. @param {Blob} file */
async function bytesOf(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return text;
}

/**
 * Returns the values of a torrent that a person chose for it.
 * @param {{ labels: string, category: string | null, sequential: boolean, limits: Record<string, unknown> }} choices
 * @returns {NewTorrent["set"]}
 */
export function valuesOf({ labels, category, sequential, limits }) {
  const chosen = labels.split(",").map((label) => label.trim()).filter((label) => label !== "");
  const values = {
    ...(chosen.length > 0 && { labels: [...new Set(chosen)] }),
    ...(category !== null && { category }),
    ...(sequential && { sequential }),
    ...limits,
  };
  return Object.keys(values).length === 0 ? undefined : values;
}

/** Returns the query of a .torrent file, which has the options as JSON. @param {NewTorrent} options */
export const queryOf = (options) => `?${new URLSearchParams({ options: JSON.stringify(options) })}`;

/**
 * Starts the dialog and the drop target.
 * @param {Store} store
 * @param {import("./actions.js").Actions} actions
 */
export function startAdding({ state, subscribe }, { send }) {
  const dialog = $("adding", HTMLDialogElement);
  const mayAdd = () => state.acceptsTorrents && state.session.change;
  const files = () => [...(field("torrent-files").files ?? [])];
  const links = $("links", HTMLTextAreaElement);
  /** The fields of limits. @type {import("./dialogs.js").Field[]} */
  let limits = [];
  /** @type {import("./dialogs.js").Part[]} */
  let parts = [];

  /** Waits until the program has fetched a URL. Returns the problem, or "". @param {number} id */
  async function waitForJob(id) {
    for (;;) {
      const response = await fetch(`api/v1/jobs/${id}`);
      if (!response.ok) return reasonOf(response);
      const job = await response.json();
      if (job.state !== "fetching") return job.state === "failed" ? plain(job.error ?? "") : "";
      await new Promise((resolve) => setTimeout(resolve, JOB_INTERVAL));
    }
  }

  /**
   * Sends files and links one after the other, and reports what was refused. URLs are fetched at the same time.
   * @param {File[]} files
   * @param {string} text
   * @param {NewTorrent} options
   */
  async function addAll(files, text, options) {
    const { links, others } = linksOf(text);
    /** @type {string[]} */
    const refused = [];
    let added = 0;
    const report = (/** @type {string} */ name, /** @type {string} */ problem) => {
      if (problem === "") added += 1;
      else refused.push(`${plain(name.slice(0, MAX_NAME))}: ${problem}`);
      notice("added", added > 0 ? `${count(added, "torrent")} added.` : "");
    };
    for (const file of files) {
      const { problem } = await send("POST", `torrents${queryOf(options)}`, "application/x-bittorrent", file);
      report(file.name, problem);
    }
    /** @type {Promise<void>[]} */
    const jobs = [];
    const { select: _, priorities: __, ...linkOptions } = options;
    for (const link of links) {
      const { problem, answer } = await send("POST", "torrents", "application/json", JSON.stringify({ link, options: linkOptions }));
      if (problem === "" && answer?.state === "fetching") jobs.push(waitForJob(answer.id).then((failed) => report(link, failed)));
      else report(link, problem);
    }
    await Promise.all(jobs);
    notice("refusal", [...refused, problemOf(others)].filter(Boolean).join("\n"));
  }

  /** Lists the files of the only chosen .torrent file. */
  async function listFiles() {
    const chosen = files();
    const list = $("adding-files");
    list.replaceChildren();
    if (chosen.length === 1) {
      const found = filesOf(await bytesOf(chosen[0]));
      // Only a daemon adds torrents with other priorities.
      const priorities = state.isDaemon ? PRIORITIES : ["skip", "normal"];
      if (found.length > 1 && found.length <= MAX_FILES) {
        list.append(...found.map(({ path, length }) => {
          const choice = make("select", {}, ...priorities.map((name) => new Option(name, name, false, name === "normal")));
          return make("li", {}, make("label", {}, choice, make("span", {}, plain(path), make("span", { className: "hint" }, ` ${size(length)}`))));
        }));
      }
    }
    hide($("adding-files-box"), list.children.length === 0);
  }

  /** What the dialog has. The content map is read later. */
  function chosen() {
    const set = valuesOf({
      labels: field("adding-labels").value,
      category: categoryOf($("adding-category", HTMLSelectElement).value),
      sequential: field("adding-sequential").checked,
      limits: changedLimits(limits, answersOf(parts)),
    });
    return {
      folder: field("adding-folder").value.trim(),
      content: field("adding-content").value.trim(),
      layout: $("adding-layout", HTMLSelectElement).value,
      files: Array.from($("adding-files").querySelectorAll("select"), ({ value }) => value),
      paused: field("adding-paused").checked,
      set,
    };
  }

  /** Adds what the dialog has. */
  async function addChosen() {
    const [torrents, text, choices, map] = [files(), links.value, chosen(), field("adding-map").files?.[0]];
    const contentMap = map === undefined ? "" : btoa(await bytesOf(map));
    await addAll(torrents, text, optionsOf({ ...choices, contentMap }));
  }

  /** Shows what only a daemon has. */
  async function showCategories() {
    const [choices, status] = await Promise.all([categoryChoices(), read("status")]);
    $("adding-category").replaceChildren(...choices.map(([value, name]) => new Option(name, value, value === NO_CATEGORY)));
    hide($("adding-category-box"), choices.length === 1);
    field("adding-paused").checked ||= status?.adds_paused ?? false;
  }

  async function open() {
    limits = OWN_LIMITS.filter((name) => name !== "idle_seconds" || state.isDaemon).map(newField);
    parts = limits.map(partOf);
    details.querySelector("div")?.replaceChildren(...parts.map(({ line }) => line));
    hide(place, !state.isDaemon);
    dialog.returnValue = "cancel";
    dialog.showModal();
    if (state.isDaemon) showCategories();
    /** @type {{ folders: string[] } | null} */
    const config = await read("config");
    if (config === null) return;
    const { folders } = config;
    $("adding-folders").replaceChildren(...folders.map((folder) => make("option", { value: folder })));
    // The socket of a daemon permits all folders, names none, and takes content maps.
    hide($("adding-map-box"), folders.length > 0);
    if (folders.length === 0) return;
    const space = await read(`free-space?folder=${encodeURIComponent(folders[0])}`);
    if (space !== null) setText($("adding-space"), `${size(space.free_bytes)} free in ${plain(folders[0])}`);
  }

  const form = /** @type {HTMLFormElement} */ (dialog.querySelector("form"));
  const details = $("adding-limits", HTMLDetailsElement);
  const place = $("adding-place", HTMLDetailsElement);
  actByEnter(form, form.querySelector("button.main"));
  // A number that is missing must be seen.
  details.addEventListener("invalid", () => (details.open = true), true);
  $("add").addEventListener("click", open);
  dialog.addEventListener("close", () => {
    if (dialog.returnValue === "add") addChosen();
    form.reset();
    for (const part of [details, place]) part.open = false;
    setText($("link-problems"), "");
    listFiles();
  });
  field("torrent-files").addEventListener("change", listFiles);
  links.addEventListener("input", () => setText($("link-problems"), problemOf(linksOf(links.value).others)));
  // Text is dropped into a field as in other pages.
  const isForField = (/** @type {DragEvent} */ { target, dataTransfer }) =>
    target instanceof Element && target.closest("input, textarea") !== null && !dataTransfer?.types.includes("Files");
  addEventListener("dragover", (event) => {
    if (isForField(event)) return;
    event.preventDefault();
    document.body.classList.toggle("dropping", mayAdd());
    if (event.dataTransfer !== null) event.dataTransfer.dropEffect = mayAdd() ? "copy" : "none";
  });
  addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) document.body.classList.remove("dropping");
  });
  // Without this, the browser would leave the page to show the file.
  addEventListener("drop", (event) => {
    if (isForField(event)) return;
    event.preventDefault();
    document.body.classList.remove("dropping");
    if (!mayAdd() || event.dataTransfer === null) return;
    addAll([...event.dataTransfer.files], event.dataTransfer.getData("text"), {});
  });
  subscribe(() => hide($("add"), !mayAdd()));
}
