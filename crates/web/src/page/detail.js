// @ts-check
// The pane of the chosen torrent.

import { askUser } from "./dialogs.js";
import { $, hide, setAttribute, setText } from "./dom.js";
import { number, oneLine, plain } from "./format.js";
import { showCharts, showFigures, startOverview } from "./overview.js";
import { TABS } from "./route.js";
import { makeFiles } from "./files.js";
import { resetPeers, showPeers, showTrackers, startTables } from "./tables.js";
import { TEXT, verdict } from "./text.js";
import { contentOf, isKept, isOver, pathIn, problemOf, stateOf, title } from "./torrents.js";

/** @typedef {import("./types.js").Store} Store */
/** @typedef {import("./types.js").Torrent} Torrent */

// Interval at which the open tab is requested, in milliseconds.
const TAB_INTERVAL = 2000;

/**
 * @param {Store} store
 * @param {import("./route.js").Route} route
 * @param {import("./actions.js").Actions} actions
 * @param {import("./commands.js").Command} verify
 */
export function startDetail(store, { go }, actions, verify) {
  const { state } = store;
  /** @type {number | null} */
  let shown = null;
  /** @type {import("./types.js").TorrentDetail | null} */
  let charted = null;
  let tab = "";
  /** The place of the list on a phone, where the pane hides it. */
  let listAt = 0;
  const chosen = () => (state.chosen === null ? undefined : state.torrents.get(state.chosen));
  const mayChange = () => state.session.change && state.connection.kind !== "ended";

  /** Requests what the stream does not have. */
  async function showTab() {
    const [asked, of] = [state.tab, state.chosen];
    if (of === null || !["files", "trackers"].includes(asked)) return;
    try {
      const path = asked === "files" ? files.path() : "trackers";
      const response = await fetch(`api/v1/torrents/${of}/${path}`);
      if (!response.ok) return;
      const answer = await response.json();
      const torrent = chosen();
      // The user may have gone to another torrent or tab meanwhile.
      if (asked !== state.tab || of !== state.chosen || torrent === undefined) return;
      if (asked === "files") files.show(of, answer, mayChange(), mayChange() && isKept(torrent) && contentOf(torrent) !== "");
      else showTrackers(answer, torrent, mayChange() && isKept(torrent) && !isOver(torrent) ? trackerChanges : null);
    } catch {
      // The stream reports a lost connection.
    }
  }

  const trackerChanges = {
    /** @param {string} url */
    async change(url) {
      const path = `torrents/${state.chosen}`;
      const values = await askUser({ title: "Change the tracker", fields: [{ name: "url", label: "URL", value: url, required: true }], action: "Change" });
      const to = values === null ? "" : String(values.url).trim();
      if (to === "" || to === url) return;
      await actions.ask("POST", path, { action: "replace_tracker", url, new_url: to });
      showTab();
    },
    /** @param {string} url */
    async remove(url) {
      await actions.ask("POST", `torrents/${state.chosen}`, { action: "remove_tracker", url });
      showTab();
    },
  };

  /** Renames a file or folder of the content. @param {string} path */
  async function renameFile(path) {
    const torrent = chosen();
    if (torrent === undefined) return;
    const values = await askUser({
      title: `Rename ${plain(path)}`,
      fields: [{ name: "to", label: "New path in the folder of the torrent", value: path, hint: TEXT.nothingReplaced }],
      action: "Rename",
    });
    const to = values === null ? "" : String(values.to);
    if (to === "" || to === oneLine(path)) return;
    await actions.ask("POST", `torrents/${torrent.number}`, { action: "rename", from: pathIn(torrent, path), to: pathIn(torrent, to) });
    showTab();
  }

  const files = makeFiles(showTab, async (numbers, priority) => {
    await actions.ask("POST", `torrents/${state.chosen}`, { action: "prioritize", files: numbers, priority });
    showTab();
  }, renameFile);

  /** @param {Torrent} torrent */
  function showVerdict(torrent) {
    const { key, kind } = stateOf(torrent);
    const error = plain(torrent.error ?? "");
    const text = verdict(key, { error, trusted: torrent.trusted_pieces, pieces: torrent.pieces });
    setText($("verdict"), text);
    hide($("verdict"), text === "");
    if ($("verdict").className !== `notice ${kind}`) $("verdict").className = `notice ${kind}`;
    // The problem of a tracker is not that of the content.
    const problem = torrent.error === null ? problemOf(torrent) : "";
    setText($("tracker-problem"), problem);
    hide($("tracker-problem"), problem === "");
  }

  function showTabs() {
    for (const name of TABS) {
      hide($(name), name !== state.tab);
      setAttribute($(`tab-${name}`), "aria-selected", String(name === state.tab));
      $(`tab-${name}`).tabIndex = name === state.tab ? 0 : -1;
    }
    const peers = chosen()?.peers ?? 0;
    setText($("tab-peers"), peers > 0 ? `Peers (${number(peers)})` : "Peers");
  }

  store.subscribe(() => {
    const torrent = chosen();
    hide($("detail"), torrent === undefined);
    const isPhone = matchMedia("(width < 48rem)").matches;
    if (isPhone && shown === null && torrent !== undefined) listAt = scrollY;
    document.body.classList.toggle("has-detail", torrent !== undefined);
    if (torrent === undefined) {
      if (isPhone && shown !== null) scrollTo(0, listAt);
      shown = null;
      return;
    }
    const isOther = shown !== torrent.number;
    if (isOther) {
      files.reset();
      resetPeers();
      charted = null;
      showCharts(null, false);
      if (isPhone) {
        scrollTo(0, 0);
        $("detail-name").focus({ preventScroll: true });
      }
    }
    shown = torrent.number;
    setText($("detail-name"), title(torrent));
    setText($("detail-content"), plain(torrent.content ?? ""));
    showVerdict(torrent);
    showTabs();
    showFigures(torrent, state.detail, state.tab);
    for (const form of ["add-tracker", "add-peer"]) hide($(form), !mayChange() || isOver(torrent));
    if (state.detail !== null && (charted !== state.detail || tab !== state.tab)) {
      if (state.tab === "overview") showCharts(state.detail, mayChange());
      showPeers(state.detail);
      charted = state.detail;
    }
    if (isOther || tab !== state.tab) showTab();
    tab = state.tab;
  });

  for (const name of TABS) $(`tab-${name}`).addEventListener("click", () => go(chosen() ?? null, name, true));
  // The arrow keys move between tabs, as in other programs (ARIA Authoring Practices, pattern "tabs").
  $("tabs").addEventListener("keydown", (event) => {
    const at = TABS.indexOf(state.tab);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: TABS.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const name = TABS[(next + TABS.length) % TABS.length];
    go(chosen() ?? null, name, true);
    $(`tab-${name}`).focus();
  });
  $("back").addEventListener("click", () => {
    const number = state.chosen;
    go(null);
    // After the list is shown.
    queueMicrotask(() => /** @type {HTMLElement | null} */ (document.querySelector(`#torrents tr[data-key="${number}"]`))?.focus());
  });
  $("repair-files").addEventListener("click", () => {
    go(chosen() ?? null, "files", true);
    files.showWrong();
  });
  $("repair-verify").addEventListener("click", () => verify.run([chosen() ?? []].flat()));
  addEventListener("resize", () => {
    if (state.tab === "overview" && charted !== null) showCharts(charted, mayChange());
  });
  startOverview();
  startTables(store, actions, showTab);
  setInterval(() => {
    if (state.tab !== "files" || files.isDue()) showTab();
  }, TAB_INTERVAL);
}
