// @ts-check
// Checks of the page's files: the style sheets have no rule without a use, the program serves each file, and the types are
// those of the API.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

import { torrent } from "./torrent.mjs";

const PAGE = new URL("../../src/page/", import.meta.url);
const names = readdirSync(PAGE);
const read = (/** @type {string} */ name) => readFileSync(new URL(name, PAGE), "utf8");
const of = (/** @type {string} */ ending) => names.filter((name) => name.endsWith(ending));

test("each rule of the style sheets is used", () => {
  const markup = [...of(".html"), ...of(".js").filter((name) => !name.endsWith(".d.ts"))].map(read).join("\n");
  const words = new Set(markup.match(/[\w-]+/g));
  // These are made from a name: `--${kind}`, `${kind}-line` and `${kind}-area`.
  for (const word of ["down-line", "up-line", "down-area", "up-area"]) words.add(word);
  const unused = of(".css").flatMap((name) => {
    const style = read(name).replace(/\/\*[^]*?\*\//g, "");
    const selectors = [...style.matchAll(/([^{};]+)\{/g)].map(([, text]) => text.trim()).filter((text) => !text.startsWith("@"));
    return selectors.filter((selector) => {
      const used = selector.replace(/::?[\w-]+/g, (pseudo) => (pseudo.startsWith("::") ? "" : pseudo));
      const parts = [...used.matchAll(/[.#]([a-z][\w-]*)|\[([\w-]+)(?:="([\w-]+)")?/g)].flatMap(([, name, attribute, value]) => [name, attribute?.replace(/^data-/, ""), value]);
      return !parts.every((part) => part === undefined || words.has(part));
    }).map((selector) => `${name}: ${selector}`);
  });
  assert.deepEqual(unused, []);
});

test("each colour of the style sheets is used", () => {
  const text = [...of(".css"), ...of(".js")].map(read).join("\n");
  const defined = new Set([...text.matchAll(/(--[\w-]+):/g)].map(([, name]) => name));
  // The map reads the colours of its cells by their names.
  const isUsed = (/** @type {string} */ name) =>
    text.includes(`var(${name})`) || text.includes(`"${name}"`) || text.includes(`"${name.slice(2)}"`);
  assert.deepEqual([...defined].filter((name) => !isUsed(name)), []);
});

test("the program serves each file", () => {
  const served = readFileSync(new URL("../../src/assets.rs", import.meta.url), "utf8");
  const isServed = (/** @type {string} */ name) => served.includes(`script!("${name}")`) || served.includes(`"page/${name}"`);
  assert.deepEqual(names.filter((name) => !name.endsWith(".d.ts") && !isServed(name)), []);
});

test("the page loads all scripts at once, not one after the import of another", () => {
  const html = read("page.html");
  const modules = of(".js").filter((name) => name !== "page.js");
  assert.deepEqual(modules.filter((name) => !html.includes(`<link rel="modulepreload" href="${name}">`)), []);
});

test("the torrents of the tests have the fields of the API", () => {
  const api = JSON.parse(readFileSync(new URL("../../../../docs/reference/openapi.json", import.meta.url), "utf8"));
  assert.deepEqual(Object.keys(torrent(0)).sort(), Object.keys(api.components.schemas.Torrent.properties).sort());
});

test("each ID that a script looks for is in the page", () => {
  const html = read("page.html");
  const ids = new Set([...html.matchAll(/ id="([\w-]+)"/g)].map(([, id]) => id));
  const wanted = of(".js").flatMap((name) => [...read(name).matchAll(/(?:\$|field|button|notice|hide\(\$)\("([\w-]+)"/g)].map(([, id]) => id));
  assert.deepEqual(wanted.filter((id) => !ids.has(id)), []);
  assert.ok(wanted.length > 100);
});
