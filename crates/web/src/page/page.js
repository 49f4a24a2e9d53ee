// @ts-check
// Starts the page. Events and answers change the store, and each part of the page shows the store.

import { makeActions } from "./actions.js";
import { startAdding } from "./add.js";
import { makeCommands } from "./commands.js";
import { startDetail } from "./detail.js";
import { $ } from "./dom.js";
import { startGroups } from "./groups.js";
import { startHeader } from "./header.js";
import { showKeys, startKeyboard } from "./keyboard.js";
import { startList } from "./list.js";
import { startMenu } from "./menu.js";
import { startRoute } from "./route.js";
import { askSession, logIn, startSession, tokenOfAddress } from "./session.js";
import { startSettings } from "./settings.js";
import { startSidebar } from "./sidebar.js";
import { emptyState, makeStore } from "./store.js";
import { makeStream } from "./stream.js";

const token = tokenOfAddress();
const store = makeStore(emptyState());
const stream = makeStream(store);
const actions = makeActions(store);
const commands = makeCommands(store, actions);
const route = startRoute(store);

startSession(store, stream.open);
startHeader(store, actions);
startSidebar(store);
// On phones, the pane hides the list, which then has no rows: the list comes after the pane.
startDetail(store, route, actions, /** @type {import("./commands.js").Command} */ (commands.find(({ id }) => id === "verify")));
startList(store, (torrent) => route.go(torrent));
startMenu(store, commands);
startKeyboard(store, commands);
startAdding(store, actions);
startGroups(store, actions);
startSettings(store, actions);
$("keys").addEventListener("click", showKeys);

// Logs in with the token of the address, or continues the session. A person who is not logged in may be able to read.
async function start() {
  if (token !== null) await logIn(store, { token });
  else await askSession(store);
  if (store.state.session.read && !stream.isOpen()) stream.open();
}

start().catch((error) => store.set({ connection: { kind: "refused", reason: String(error.message), since: null } }));
