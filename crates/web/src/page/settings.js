// @ts-check
// The settings of the program: limits of all torrents together, and connections.

import { read } from "./answers.js";
import { $, hide, make, notice } from "./dom.js";
import { closeButton, showDialog } from "./dialogs.js";
import { LIMITS, changedLimits, settingField, shown } from "./targets.js";
import { TEXT, reloaded } from "./text.js";

/** @typedef {import("./types.js").Config} Config */
/** @typedef {import("./types.js").Limit} Limit */
/** @typedef {import("./types.js").Status} Status */
/** @typedef {import("./targets.js").LimitName} LimitName */
/** @typedef {import("./dialogs.js").Field} Field */

/**
 * Returns the fields of the settings: those of a daemon, if it is one, and those of connections.
 * @param {Limit[]} limits
 * @param {Status} status
 * @param {Config} config
 * @returns {Field[]}
 */
export function settingFields(limits, status, config) {
  const names = /** @type {LimitName[]} */ (Object.keys(LIMITS));
  const isDaemon = status.state !== null;
  const ofDaemon = limits.flatMap((limit) => {
    const name = names.find((one) => LIMITS[one].option === limit.limit);
    return name === undefined || !isDaemon ? [] : [settingField(name, limit)];
  });
  const switches = [
    { name: "alternative", label: "Use the alternative rates", value: status.alternative },
    { name: "adds_paused", label: "Torrents that programs add start paused", value: status.adds_paused },
  ];
  return [
    ...ofDaemon,
    ...(isDaemon ? switches : []),
    { name: "port", label: "Port of incoming peers", type: "number", max: "65535", step: "1", value: String(config.port), hint: TEXT.anyPort },
    { name: "bind", label: "Local address or network interface", value: config.bind ?? "", placeholder: "all addresses", hint: TEXT.untilEnd },
  ];
}

/**
 * Returns the settings that a person changed, as a request has them.
 * @param {Field[]} fields
 * @param {import("./dialogs.js").Answers} answers
 */
export function changedSettings(fields, answers) {
  /** @type {Record<string, unknown>} */
  const changes = changedLimits(fields, answers);
  for (const { name, value } of fields) {
    const answer = answers[name];
    if (name in LIMITS || answer === value) continue;
    const text = typeof answer === "string" ? answer.trim() : "";
    if (typeof answer === "boolean") changes[name] = answer;
    else if (name === "bind") changes.bind = text === "" ? null : text;
    else if (text !== "") changes[name] = Number(text);
  }
  return changes;
}

/**
 * Starts the button of the settings.
 * @param {import("./types.js").Store} store
 * @param {import("./actions.js").Actions} actions
 */
export function startSettings(store, { ask }) {
  const { state } = store;
  /** Whether the program of this connection was asked whether it is a daemon. */
  let isAsked = false;

  async function open() {
    const [limits, status, config] = await Promise.all([read("limits"), read("status"), read("config")]);
    if (limits === null || status === null || config === null) return;
    const fields = settingFields(limits, status, config);
    const reload = make("p", {}, closeButton("reload", "Read the configuration again"));
    const { pressed, answers } = await showDialog({
      title: "Settings",
      text: `Limits in force now: download ${shown("max_down", status.max_down)}, upload ${shown("max_up", status.max_up)}.`,
      fields,
      extra: state.isDaemon ? [reload] : [],
      action: "Set",
    });
    if (pressed === "reload") {
      const answer = await ask("POST", "reload");
      notice("added", answer === null ? "" : reloaded(answer.restart));
    }
    const changes = pressed === "do" ? changedSettings(fields, answers) : {};
    if (Object.keys(changes).length > 0) await ask("PATCH", "config", changes);
  }

  async function askKind() {
    try {
      const status = await read("status");
      // Only a daemon has a state folder.
      store.set({ isDaemon: status !== null && status.state !== null });
    } catch {
      // The stream reports a lost connection.
    }
  }

  $("settings").addEventListener("click", open);
  store.subscribe(() => {
    const isOpen = state.connection.kind === "open";
    if (isOpen && !isAsked) askKind();
    isAsked = isOpen;
    hide($("settings"), !state.session.change || state.connection.kind === "ended");
  });
}
