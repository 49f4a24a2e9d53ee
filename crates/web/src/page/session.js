// @ts-check
// The session of the page: a cookie, which the stream needs, and a token that commands carry. It starts with the token in the
// fragment of the address, which browsers never send, or with what a person types.

import { reasonOf } from "./answers.js";
import { $, field, hide, notice, setText } from "./dom.js";
import { isRoute } from "./route.js";
import { TEXT, loginRefused, requestLost } from "./text.js";

/** @typedef {import("./types.js").Store} Store */

/**
 * Asks what the page may do. Browsers keep the session of a page that is loaded again.
 * @param {Store} store
 */
export async function askSession(store) {
  const response = await fetch("api/v1/session");
  store.set({ session: await response.json() });
}

/** Takes the token from the address, where it must not stay. */
export function tokenOfAddress() {
  if (isRoute(location.hash)) return null;
  const token = location.hash.slice(1);
  history.replaceState(null, "", location.pathname);
  return token;
}

/**
 * Logs in, and returns whether that succeeded.
 * @param {Store} store
 * @param {{ token: string } | { user: string, password: string }} credentials
 */
export async function logIn(store, credentials) {
  try {
    const headers = { "Content-Type": "application/json" };
    const response = await fetch("api/v1/session", { method: "POST", headers, body: JSON.stringify(credentials) });
    if (response.status === 401) {
      await askSession(store);
      notice("refusal", "token" in credentials ? TEXT.wrongToken : TEXT.wrongPassword);
      return false;
    }
    if (!response.ok) {
      notice("refusal", loginRefused(await reasonOf(response)));
      return false;
    }
    store.set({ session: await response.json() });
    notice("refusal", "");
    return true;
  } catch (error) {
    notice("refusal", requestLost(String(error)));
    return false;
  }
}

/**
 * Starts the forms. `onLogin` is called after a login that succeeded.
 * @param {Store} store
 * @param {() => void} onLogin
 */
export function startSession(store, onLogin) {
  const attempt = async (/** @type {{ token: string } | { user: string, password: string }} */ credentials) => {
    if (await logIn(store, credentials)) onLogin();
  };
  $("token-login").addEventListener("submit", (event) => {
    event.preventDefault();
    attempt({ token: field("token").value.trim().replace(/^.*#/, "") });
    field("token").value = "";
  });
  $("password-login").addEventListener("submit", (event) => {
    event.preventDefault();
    attempt({ user: field("user").value, password: field("password").value });
    field("password").value = "";
  });
  $("logout").addEventListener("click", async () => {
    await fetch("api/v1/session", { method: "DELETE" });
    await askSession(store);
  });
  // The address with the token may be opened where the page is open already.
  addEventListener("hashchange", () => {
    const token = tokenOfAddress();
    if (token !== null) attempt({ token });
  });
  const details = $("read-only", HTMLDetailsElement);
  store.subscribe(({ session, connection }) => {
    const isEnded = connection.kind === "ended";
    hide($("logout"), session.csrf_token === null || isEnded);
    hide(details, session.change || isEnded);
    if (!session.read) details.open = true;
    hide($("token-login"), !session.token_login);
    hide($("password-login"), !session.password_login);
    setText(/** @type {HTMLElement} */ (details.querySelector("summary")), session.read ? TEXT.readOnly : TEXT.logIn);
    notice("login-hint", session.token_login ? TEXT.tokenHint : "");
    hide($("application"), !session.read);
    document.body.classList.toggle("logged-out", !session.read);
  });
}
