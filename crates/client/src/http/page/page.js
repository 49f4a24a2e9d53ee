// One stream of server-sent events brings the changes of all torrents, with the detail of the chosen one. Files and trackers
// are requested while their tab is open. The page logs in with the token in the fragment of the address, which browsers never
// send, or with what a person types. It has a session then: a cookie, which the stream needs, and a token that commands carry.

import { startAdding } from "./add.js";
import { firstFile, resetLists, showFiles, showPeers, showTrackers, startLists } from "./lists.js";
import { resetOverview, showOverview, startOverview } from "./overview.js";
import { $, KIB, count, isOver, notice, number, percent, plain, progressOf, rate, reasonOf, setText, stateOf, title } from "./text.js";
import { showChosen, showTorrents, startTorrents } from "./torrents.js";

// Interval at which the open tab is requested, in milliseconds.
const TAB_INTERVAL = 2000;

const TABS = ["overview", "files", "peers", "trackers"];

// What the page may do, and the token of its session.
let session = { read: true, change: false, csrf_token: null };
let chosen = null;
let tab = "overview";
let source = null;
let torrents = [];
// The torrents by their numbers, and the name of the event that was applied last.
const known = new Map();
let lastEvent = null;
const limits = { max_down: null, max_up: null };
let acceptsTorrents = false;
// The chosen torrent as it was last shown.
let detail = null;

function takeSession(view) {
  session = view;
  $("limits").hidden = !view.change;
  $("logout").hidden = view.csrf_token === null;
  $("read-only").hidden = view.change;
  $("read-only").open ||= !view.read;
  $("token-login").hidden = !view.token_login;
  $("password-login").hidden = !view.password_login;
  setText($("read-only").querySelector("summary"), view.read
    ? "Read only: this page was opened without its token"
    : "Log in to see the torrents");
  setText($("login-hint"), view.token_login
    ? "Open the address that hashlane printed in the terminal, including the part after #. Or paste that address, or the token:"
    : "");
  $("list").hidden = !view.read;
  if (!view.read) {
    $("detail").hidden = true;
    source?.close();
    setText($("totals"), "");
  }
  if (detail !== null) showDetail(detail);
}

// Asks what the page may do. Browsers keep the session of a page that is loaded again.
async function askSession() {
  const response = await fetch("api/v1/session");
  takeSession(await response.json());
}

// Logs in, and shows what the page may do then.
async function logIn(credentials) {
  try {
    const headers = { "Content-Type": "application/json" };
    const response = await fetch("api/v1/session", { method: "POST", headers, body: JSON.stringify(credentials) });
    if (response.status === 401) {
      await askSession();
      notice("refusal", "token" in credentials
        ? "The token is wrong, or of an earlier start of the program. Open the address that is in the terminal now."
        : "The user name or the password is wrong.");
      return;
    }
    if (!response.ok) {
      notice("refusal", `The login was refused: ${await reasonOf(response)}`);
      return;
    }
    takeSession(await response.json());
    notice("refusal", "");
    listen();
  } catch (error) {
    notice("refusal", `The login did not arrive: ${error.message}`);
  }
}

function showTotals({ max_down, max_up }) {
  const sum = (of) => torrents.reduce((all, torrent) => all + of(torrent), 0);
  const [down, up] = [sum((t) => t.down_bytes_per_second), sum((t) => t.up_bytes_per_second)];
  setText($("totals"), `${count(torrents.length, "torrent")}, ↓ ${rate(down)}, ↑ ${rate(up)}`);
  // A limit that is being edited stays as it is.
  if (!$("limits").matches(":focus-within, .changed")) {
    $("max-down").value = max_down === null ? "" : Math.ceil(max_down / KIB);
    $("max-up").value = max_up === null ? "" : Math.ceil(max_up / KIB);
  }
  showTitle(down, up);
}

// The title shows the progress of all torrents together.
function showTitle(down, up) {
  const active = torrents.filter((torrent) => !isOver(torrent) && !torrent.complete);
  const failed = torrents.filter((torrent) => torrent.activity === "failed").length;
  let text;
  if (active.length > 0) {
    const [part, whole] = active.map(progressOf).reduce(([a, b], [c, d]) => [a + c, b + d], [0, 0]);
    text = whole === 0 ? "…" : percent(part, whole);
    if (down > 0) text += ` ↓ ${rate(down)}`;
  } else if (failed > 0) {
    text = `✗ ${number(failed)} failed`;
  } else {
    text = torrents.every((torrent) => torrent.complete) ? "✓ complete" : "incomplete";
    if (up > 0) text += ` ↑ ${rate(up)}`;
  }
  const all = `${text} – Hashlane`;
  if (document.title !== all) document.title = all;
}

// The result or the problem of a torrent, in a sentence.
function verdictOf(torrent) {
  const trusted = torrent.trusted_pieces;
  const verified = trusted === 0
    ? "Complete and verified"
    : `Complete, but ${number(trusted)} of ${count(torrent.pieces, "piece")} trusted, not verified`;
  const sentences = {
    failed: `Failed: ${plain(torrent.error ?? "")}`,
    absent: `Waiting for the content: ${plain(torrent.error ?? "")}`,
    confirming: "Some pieces on the disk are wrong. Answer the question in the terminal to continue.",
    partial: "Incomplete: only the pieces that are present and right are served. See the map of pieces.",
    serving: trusted === 0
      ? `${verified}: all wanted content is present and right. Serving to peers.`
      : `${verified}. Serving to peers.`,
    incomplete: "Ended. Some content is missing or wrong; see the map of pieces.",
    complete: `${verified}. The torrent has ended; its content stays where it is.`,
  };
  return sentences[stateOf(torrent).key] ?? "";
}

function showVerdict(torrent) {
  const [node, text] = [$("verdict"), verdictOf(torrent)];
  setText(node, text);
  node.hidden = text === "";
  const classes = `notice ${stateOf(torrent).kind}`;
  if (node.className !== classes) node.className = classes;
}

// The buttons act on the torrent that is shown.
function showActions(torrent) {
  $("actions").hidden = !session.change || isOver(torrent);
  $("actions").dataset.torrent = torrent.number;
  const isPaused = torrent.activity === "paused";
  setText($("pause"), isPaused ? "Resume" : "Pause");
  $("pause").dataset.action = isPaused ? "resume" : "pause";
}

// Shows what the list of torrents knows about the chosen one.
function showHead(torrent) {
  $("detail").hidden = false;
  setText($("detail-name"), title(torrent));
  setText($("detail-content"), plain(torrent.content ?? ""));
  showVerdict(torrent);
  showActions(torrent);
}

function showDetail(torrent) {
  detail = torrent;
  showHead(torrent);
  if (tab === "overview") showOverview(torrent);
  showPeers(torrent);
}

async function showTab() {
  if (chosen === null || !["files", "trackers"].includes(tab)) return;
  const [asked, of] = [tab, chosen];
  try {
    const path = asked === "files" ? `files?offset=${firstFile()}` : "trackers";
    const response = await fetch(`api/v1/torrents/${of}/${path}`);
    // The user may have gone to another torrent or tab meanwhile.
    if (!response.ok || asked !== tab || of !== chosen) return;
    const answer = await response.json();
    if (asked !== tab || of !== chosen) return;
    if (asked === "files") showFiles(answer, session.change);
    else showTrackers(answer);
  } catch {
    // The stream reports a lost connection.
  }
}

function openTab(name) {
  tab = name;
  for (const other of TABS) {
    $(other).hidden = other !== name;
    $(`tab-${other}`).ariaSelected = String(other === name);
    $(`tab-${other}`).tabIndex = other === name ? 0 : -1;
  }
  if (detail !== null) showDetail(detail);
  showTab();
}

const mayAdd = () => acceptsTorrents && session.change;

// Applies the changes of an event.
function apply({ full, changed, removed, max_down, max_up, accepts_torrents }) {
  if (full) known.clear();
  for (const fields of changed) known.set(fields.number, { ...known.get(fields.number), ...fields });
  for (const number of removed) known.delete(number);
  torrents = [...known.values()].sort((a, b) => a.number - b.number);
  if (accepts_torrents === undefined) return;
  Object.assign(limits, { max_down, max_up });
  acceptsTorrents = accepts_torrents;
}

function show(state) {
  apply(state);
  $("add").hidden = !mayAdd();
  showTotals(limits);
  showTorrents(torrents);
  if (chosen !== null && torrents.every((torrent) => torrent.number !== chosen)) {
    unchoose();
    notice("refusal", "The torrent that was chosen was removed.");
  }
  if (state.detail?.number === chosen) showDetail(state.detail);
  if (chosen === null && torrents.length === 1) choose(torrents[0].number);
}

function showEnd(state) {
  show(state);
  source.close();
  const complete = torrents.filter((torrent) => torrent.complete).length;
  const isAll = complete === torrents.length;
  const isTrusted = torrents.some((torrent) => torrent.trusted_pieces > 0);
  const result = isTrusted ? "complete, in part trusted, not verified" : "complete and verified";
  const counted = torrents.length === 1
    ? `The torrent is ${isAll ? result : "not complete"}.`
    : `${number(complete)} of ${count(torrents.length, "torrent")} are ${result}.`;
  notice("end", `Hashlane has ended. ${counted} This page shows the final state.`);
  $("end").className = `notice ${isAll ? "good" : "warn"}`;
  acceptsTorrents = false;
  $("add").hidden = true;
  $("actions").hidden = true;
  $("limits").hidden = true;
  $("read-only").hidden = true;
}

// Opens the stream of the page, in place of the one before: browsers allow six connections to a server, for all tabs.
function listen() {
  source?.close();
  const query = new URLSearchParams();
  if (chosen !== null) query.set("torrent", chosen);
  if (lastEvent !== null) query.set("since", lastEvent);
  source = new EventSource(`api/v1/events?${query}`);
  let last = null;
  source.onmessage = (event) => {
    last = new Date();
    notice("loss", "");
    lastEvent = event.lastEventId;
    show(JSON.parse(event.data));
  };
  source.addEventListener("end", (event) => showEnd(JSON.parse(event.data)));
  source.onerror = () => {
    const since = last === null ? "" : ` The figures are those of ${last.toLocaleTimeString()}.`;
    if (source.readyState === EventSource.CLOSED) explainRefusal(source, since);
    else notice("loss", `The program does not answer: it has ended, or the connection is lost. Trying again.${since}`);
  };
}

// The browser does not say why it was refused a stream. A program that was started again can have fewer torrents.
async function explainRefusal(refused, since) {
  let text;
  try {
    const response = await fetch("api/v1/torrents");
    if (refused !== source) return;
    if (response.ok) {
      const state = await response.json();
      if (refused !== source) return;
      if (chosen !== null && state.torrents.every((torrent) => torrent.number !== chosen)) {
        unchoose();
        notice("refusal", "The torrent that was chosen was removed, or the program was started again without it.");
        return;
      }
      text = "The program refuses this page: too many pages are open. Close some, and reload this one.";
    } else {
      text = `The program refuses this page: ${await reasonOf(response)}`;
    }
  } catch {
    text = "The program does not answer. Reload this page when it runs again.";
  }
  notice("loss", text + since);
}

// Leaves the chosen torrent.
function unchoose() {
  chosen = null;
  detail = null;
  $("detail").hidden = true;
  document.body.classList.remove("detail-only");
  showChosen(null);
  listen();
}

function choose(number) {
  if (number !== chosen) {
    chosen = number;
    detail = null;
    const torrent = torrents.find((one) => one.number === number);
    if (torrent !== undefined) {
      showHead(torrent);
      resetOverview(torrent);
    }
    resetLists();
    listen();
    showTab();
  }
  showChosen(number);
}

// On a phone, the detail takes the place of the list, and the browser's way back leads to the list. The style sheet ignores
// the class on larger screens.
function openDetail() {
  if (!matchMedia("(width < 48rem)").matches) return;
  document.body.classList.add("detail-only");
  history.pushState(null, "");
  $("detail").hidden = false;
  scrollTo(0, 0);
  $("detail-name").focus({ preventScroll: true });
}

function startDetail() {
  $("back").addEventListener("click", () => history.back());
  addEventListener("popstate", () => {
    document.body.classList.remove("detail-only");
    document.querySelector("#torrents tr.chosen button")?.focus();
  });
}

// Sends a request with the token. Returns the problem, or "" if the request was accepted.
async function send(method, path, type, body) {
  const headers = {
    ...(session.csrf_token !== null && { "X-CSRF-Token": session.csrf_token }),
    ...(type && { "Content-Type": type }),
  };
  try {
    const response = await fetch(`api/v1/${path}`, { method, headers, body });
    if (response.ok) return "";
    if (response.status === 401) {
      await askSession();
      $("read-only").open = true;
      return "The session has ended, or is of an earlier start of the program. Log in again, or open the address that is in the terminal now.";
    }
    return `The request was refused: ${await reasonOf(response)}`;
  } catch (error) {
    return `The request did not arrive: ${error.message}`;
  }
}

async function ask(method, path, body) {
  const type = body === undefined ? undefined : "application/json";
  notice("refusal", await send(method, path, type, body && JSON.stringify(body)));
}

// Returns the torrent on which the buttons act.
const actedOn = () => torrents.find(({ number }) => String(number) === $("actions").dataset.torrent);

function confirmEnd() {
  const torrent = actedOn();
  if (torrent === undefined) return;
  const incomplete = !torrent.complete && torrent.download;
  setText($("confirm-title"), `End ${title(torrent)}?`);
  const outcome = incomplete
    ? "The download is not complete and will count as failed. What has arrived stays on the disk, and the next download continues from it."
    : "The torrent will no longer be served. Its content stays where it is.";
  const isLast = torrents.filter((torrent) => !isOver(torrent)).length === 1;
  setText($("confirm-text"), isLast ? `${outcome} It is the last one: the program will end, too.` : outcome);
  $("confirm").returnValue = "keep";
  $("confirm").dataset.torrent = torrent.number;
  $("confirm").showModal();
}

function startActions() {
  $("pause").addEventListener("click", () => ask("POST", `torrents/${$("actions").dataset.torrent}/${$("pause").dataset.action}`));
  $("end-torrent").addEventListener("click", confirmEnd);
  $("confirm").addEventListener("close", () => {
    if ($("confirm").returnValue === "end") ask("POST", `torrents/${$("confirm").dataset.torrent}/end`);
  });
  $("token-login").addEventListener("submit", (event) => {
    event.preventDefault();
    logIn({ token: $("token").value.trim().replace(/^.*#/, "") });
    $("token").value = "";
  });
  $("password-login").addEventListener("submit", (event) => {
    event.preventDefault();
    logIn({ user: $("user").value, password: $("password").value });
    $("password").value = "";
  });
  $("logout").addEventListener("click", async () => {
    await fetch("api/v1/session", { method: "DELETE" });
    await askSession();
  });
}

function startLimits() {
  const form = $("limits").querySelector("form");
  for (const kind of ["input", "change"]) form.addEventListener(kind, () => $("limits").classList.add("changed"));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const limit = (id) => ($(id).value === "" ? null : Number($(id).value) * KIB);
    await ask("PATCH", "config", { max_down: limit("max-down"), max_up: limit("max-up") });
    $("limits").classList.remove("changed");
    document.activeElement.blur();
  });
}

// The arrow keys move between tabs, as in other programs (ARIA Authoring Practices, pattern "tabs").
function startTabs() {
  for (const name of TABS) $(`tab-${name}`).addEventListener("click", () => openTab(name));
  $("tabs").addEventListener("keydown", (event) => {
    const steps = { ArrowRight: 1, ArrowLeft: TABS.length - 1 };
    const ends = { Home: 0, End: TABS.length - 1 };
    const next = ends[event.key] ?? (TABS.indexOf(tab) + (steps[event.key] ?? NaN)) % TABS.length;
    if (Number.isNaN(next)) return;
    event.preventDefault();
    openTab(TABS[next]);
    $(`tab-${TABS[next]}`).focus();
  });
}

// Takes the token from the address, where it must not stay.
function tokenOfAddress() {
  if (location.hash.length < 2) return null;
  const token = location.hash.slice(1);
  history.replaceState(null, "", location.pathname);
  return token;
}

// Logs in with the token of the address, or continues the session. A person who is not logged in may be able to read.
async function start() {
  const token = tokenOfAddress();
  if (token !== null) await logIn({ token });
  else await askSession();
  if (session.read && source === null) listen();
}

startTorrents((number) => {
  choose(number);
  openDetail();
});
startDetail();
startOverview();
startLists(async (files, priority) => {
  await ask("PUT", `torrents/${chosen}/files`, { files, priority });
  showTab();
}, showTab);
startAdding(mayAdd, (path, type, body) => send("POST", path, type, body));
startActions();
startLimits();
startTabs();
// The address with the token may be opened where the page is open already.
addEventListener("hashchange", () => {
  const token = tokenOfAddress();
  if (token !== null) logIn({ token });
});
start().catch((error) => notice("loss", `The program does not answer: ${error.message}. Reload this page when it runs.`));
setInterval(showTab, TAB_INTERVAL);
