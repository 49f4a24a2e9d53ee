// @ts-check
// Tests of the page that need no browser, for `node --test`.

import assert from "node:assert/strict";
import { test } from "node:test";

import { linksOf, problemOf as problemOfLines, queryOf } from "../../src/page/add.js";
import { reasonOf } from "../../src/page/answers.js";
import { bytesOf, kibOf, makeCommands, targetsOf } from "../../src/page/commands.js";
import { duration, percent, plain, size } from "../../src/page/format.js";
import { lossOf } from "../../src/page/header.js";
import { columnsIn, moveColumn } from "../../src/page/list.js";
import { bitsOf, cellsOf, describe, kindOf } from "../../src/page/map.js";
import { decode, filesOf } from "../../src/page/metainfo.js";
import { isRoute, readRoute } from "../../src/page/route.js";
import { placesOf } from "../../src/page/sidebar.js";
import { changesOf, emptyState, makeStore } from "../../src/page/store.js";
import { countFacets, findTorrent, magnetOf, matching, problemOf, sortTorrents, stateOf } from "../../src/page/torrents.js";
import { verdict } from "../../src/page/text.js";
import { linesOf, treeOf } from "../../src/page/tree.js";
import { detailOf, torrent } from "./torrent.mjs";

const ALL = { group: "state", value: "" };

test("figures", () => {
  assert.equal(size(999), "999 bytes");
  assert.equal(size(1000), "1.0 KiB");
  assert.equal(size(123 * 1024), "123 KiB");
  assert.equal(percent(9999, 10000), "99.9 %");
  assert.equal(percent(1, 1), "100 %");
  assert.equal(duration(null), "");
  assert.equal(duration(7200), "2.0 h");
  assert.equal(plain("a\u202eb\u0000"), "a\ufffdb\ufffd");
});

test("an event changes what it names, and nothing else", () => {
  const state = emptyState();
  const [first, second] = [torrent(0), torrent(1)];
  Object.assign(state, changesOf(state, { full: true, changed: [second, first], removed: [], accepts_torrents: true, max_up: 7 }));
  assert.deepEqual([...state.torrents.keys()], [0, 1]);
  assert.deepEqual(state.limits, { max_down: null, max_up: 7 });
  assert.equal(state.acceptsTorrents, true);
  state.selected = new Set([0, 1]);
  Object.assign(state, changesOf(state, { full: false, changed: [{ number: 0, peers: 3 }], removed: [1] }));
  assert.deepEqual([...state.torrents.values()], [{ ...first, peers: 3 }]);
  assert.deepEqual([...state.selected], [0]);
  assert.equal(state.acceptsTorrents, true);
  // The detail of a torrent that is not chosen any more does not replace that of another one.
  const detail = detailOf(first);
  const event = { full: false, changed: [], removed: [], detail };
  assert.equal(changesOf(state, event).detail, undefined);
  assert.equal(changesOf({ ...state, chosen: 0 }, event).detail, detail);
});

test("listeners of a store are called once after several changes", async () => {
  const store = makeStore(emptyState());
  let calls = 0;
  store.subscribe(({ search, chosen }) => {
    calls += 1;
    assert.deepEqual([search, chosen], ["a", 4]);
  });
  store.set({ search: "a" });
  store.set({ chosen: 4 });
  assert.equal(calls, 0);
  await Promise.resolve();
  assert.equal(calls, 1);
});

test("states and problems", () => {
  assert.equal(stateOf(torrent(0)).name, "Seeding");
  assert.equal(stateOf(torrent(0, { complete: false })).name, "Seeding, incomplete");
  assert.equal(stateOf(torrent(0, { activity: "ended", complete: false })).name, "Ended, incomplete");
  assert.equal(stateOf(torrent(0, { activity: "paused", paused: true })).name, "Paused");
  assert.equal(stateOf(torrent(0, { activity: "queued" })).name, "Queued");
  const refused = [{ tracker: "one.example", error: "no\u202e" }, { tracker: "two.example", error: null }];
  assert.equal(problemOf(torrent(0, { announces: refused })), "one.example: no\ufffd");
  assert.equal(problemOf(torrent(0, { announces: refused, activity: "ended" })), "");
  assert.equal(problemOf(torrent(0, { announces: refused, error: "gone" })), "gone");
});

test("a torrent that failed can be resumed and verified", () => {
  const state = { ...emptyState(), session: { read: true, change: true, csrf_token: null, token_login: false, password_login: false } };
  const commands = makeCommands(makeStore(state), /** @type {any} */ ({ batch: () => {} }));
  const fits = (/** @type {import("../../src/page/types.js").Torrent} */ one) =>
    commands.filter((command) => targetsOf(command, state, [one]).length > 0).map(({ id }) => id);
  const failed = fits(torrent(0, { activity: "failed", error: "gone", complete: false }));
  assert.deepEqual(failed, ["resume", "verify", "labels", "magnet", "remove"]);
  const ended = fits(torrent(0, { activity: "ended" }));
  assert.deepEqual(ended, ["labels", "magnet", "remove"]);
  assert.match(verdict("failed", { error: "gone", trusted: 0, pieces: 1 }), /^Failed: gone\. .*“Resume”/);
});

test("the overview says why a torrent waits, and what a person should know of another one", () => {
  const of = (/** @type {string} */ state, /** @type {string} */ error) => verdict(state, { error, trusted: 0, pieces: 1 });
  assert.equal(of("waiting", "no space"), "Waiting: no space");
  assert.equal(of("waiting", ""), "");
  assert.equal(of("paused", "not moved"), "not moved");
  assert.match(of("serving", "not moved"), /^Complete and verified: .* not moved$/);
});

test("the sidebar counts each torrent in its places", () => {
  const announces = [{ tracker: "one.example", error: "no" }];
  const torrents = [
    torrent(0, { labels: ["a", "b"], announces }),
    torrent(1, { activity: "failed", error: "gone", complete: false, announces }),
    torrent(2, { labels: ["a"], up_bytes_per_second: 1, content: null }),
  ];
  const counts = countFacets(torrents);
  assert.deepEqual(Object.fromEntries(counts.state), { "": 3, serving: 2, failed: 1, active: 1, error: 1, "tracker-error": 1 });
  assert.deepEqual(Object.fromEntries(counts.label), { a: 2, b: 1, "": 1 });
  assert.deepEqual(Object.fromEntries(counts.folder), { "/srv": 2, "": 1 });
  assert.deepEqual(Object.fromEntries(counts.tracker), { "one.example": 2, "": 1 });
  const shown = torrents.filter(matching({ group: "state", value: "tracker-error" }, ""));
  assert.deepEqual(shown, [torrents[0]]);
  // Categories that no torrent has are no group, and a chosen place stays without torrents.
  assert.deepEqual(placesOf("category", counts.category, ALL), []);
  const chosen = placesOf("label", counts.label, { group: "label", value: "gone" });
  assert.deepEqual(chosen.map(({ value }) => value), ["a", "b", "gone", ""]);
});

test("a search finds all words in any order", () => {
  const one = torrent(0, { name: "Open map of the Alps", labels: ["Europe"], info_hash: "abcd" });
  for (const text of ["", "alps OPEN", "europe map", "abcd"]) assert.equal(matching(ALL, text)(one), true, text);
  for (const text of ["alpz", "open sea"]) assert.equal(matching(ALL, text)(one), false, text);
});

test("torrents with the same value keep the given order", () => {
  const torrents = [torrent(2, { peers: 1 }), torrent(0, { peers: 5 }), torrent(1, { peers: 1 })];
  assert.deepEqual(sortTorrents(torrents, { key: "peers", isDescending: false }), [1, 2, 0]);
  assert.deepEqual(sortTorrents(torrents, { key: "peers", isDescending: true }), [0, 1, 2]);
  assert.deepEqual(sortTorrents(torrents, { key: "other", isDescending: false }), [0, 1, 2]);
});

test("addresses and links of torrents", () => {
  assert.deepEqual(readRoute("#/torrent/abcd/files"), { id: "abcd", tab: "files" });
  assert.deepEqual(readRoute("#/torrent/7/other"), { id: "7", tab: "overview" });
  for (const other of ["", "#", "#secret", "#/torrent/", "#/other/abcd"]) assert.equal(readRoute(other), null, other);
  assert.deepEqual(["", "#", "#/torrent/aa", "#secret"].map(isRoute), [true, true, true, false]);
  const [ended, running] = [torrent(0, { info_hash_v1: "aa", activity: "ended" }), torrent(1, { info_hash_v1: "aa", info_hash_v2: "bb", name: "a & b" })];
  assert.equal(findTorrent([ended, running], "aa"), running);
  assert.equal(findTorrent([ended, running], "0"), ended);
  assert.equal(findTorrent([ended, running], "cc"), undefined);
  assert.equal(magnetOf(running), "magnet:?xt=urn:btih:aa&xt=urn:btmh:1220bb&dn=a%20%26%20b");
  assert.equal(magnetOf(torrent(0)), "");
});

test("lines that are no links are named", () => {
  const [v1, v2] = ["0123456789abcdef0123456789abcdef01234567", "0123456789abcdef".repeat(4)];
  const links = ["magnet:?xt=urn:btih:aa", v1, v2, "https://site.example/a.torrent"];
  const others = ["two words", "magnet:?xt=urn:btih:aa two", `${v1}0`, "ftp://site.example/a.torrent", "javascript:alert(1)"];
  assert.deepEqual(linksOf(` ${[...links, ...others].join(" \r\n\n")}`), { links, others });
  assert.equal(problemOfLines([]), "");
  assert.equal(problemOfLines(["a\u202e"]), "a\ufffd: no magnet link, info-hash or URL");
  assert.equal(problemOfLines(Array(25).fill("a")).split("\n").at(-1), "and 5 other lines");
});

test("the options of a .torrent file are JSON in the query", () => {
  const options = { folder: "/srv/a b&c", select: [0, 2], paused: false, set: { labels: ["ä", "b=c"] } };
  const query = new URLSearchParams(queryOf(options));
  assert.deepEqual([...query.keys()], ["options"]);
  assert.deepEqual(JSON.parse(query.get("options") ?? ""), options);
});

test("the reason of a refusal is the detail of a problem, or the text of a proxy", async () => {
  const of = (/** @type {string} */ text) => reasonOf(new Response(text, { status: 502, statusText: "Bad Gateway" }));
  assert.equal(await of('{"title": "Not Found", "status": 404, "detail": "no such\\u202etorrent"}'), "no such\ufffdtorrent");
  assert.equal(await of("a proxy\n"), "a proxy");
  for (const odd of ['{"detail": 5}', "null", "[]"]) assert.equal(await of(odd), odd);
  assert.equal(await of(""), "Bad Gateway");
});

test("limits in KiB/s", () => {
  assert.deepEqual([kibOf(null), kibOf(1), kibOf(2048)], ["", "1", "2"]);
  assert.deepEqual([bytesOf(""), bytesOf("0"), bytesOf("-1"), bytesOf("1.5"), bytesOf("x")], [null, null, null, 1536, null]);
});

test("the map of pieces", () => {
  const bits = bitsOf("gAE=");
  assert.deepEqual([0, 1, 15, 16].map(bits), [true, false, true, false]);
  // Pieces 0 to 4 are present, 6 and 7 are wrong.
  const detail = { ...detailOf(torrent(0, { complete: false })), have: "+AA=", wrong: "AwA=" };
  const state = cellsOf(detail, 5);
  assert.deepEqual(state.cells.map(({ present, wrong }) => [present, wrong]), [[2, 0], [2, 0], [1, 0], [0, 2], [0, 0]]);
  assert.equal(describe(state, detail), "Pieces: 5 of 10 present, 2 wrong (6 to 7)");
  assert.deepEqual(state.cells.map(kindOf), ["present", "present", "partly", "wrong", "missing"]);
  // A verification has judged pieces 0 to 3 and 6 so far.
  const verifying = { ...detail, have: "wAA=", wrong: "AgA=", checked: "8gA=", activity: "verifying", verified_bytes: 81920 };
  const running = cellsOf(verifying, 5);
  assert.deepEqual(running.cells.map(kindOf), ["present", "missing", "unknown", "wrong", "unknown"]);
  assert.equal(describe(running, verifying), "Pieces: 50.0 % verified, 2 present, 1 wrong (6), 2 missing");
  const waiting = { ...detail, have: "", wrong: "", activity: "verifying" };
  assert.deepEqual(cellsOf(waiting, 5).cells.map(kindOf), Array(5).fill("unknown"));
});

test("the files of a .torrent file", () => {
  const file = (/** @type {string} */ path, /** @type {number} */ length, attr = "") => `d${attr}6:lengthi${length}e4:pathl${path}ee`;
  const v1 = `d4:infod5:filesl${file("1:a5:b.txt", 5)}${file("4:.pad1:3", 3, "4:attr1:p")}${file("1:c", 7)}e4:name1:nee`;
  assert.deepEqual(filesOf(v1), [{ path: "a/b.txt", length: 5 }, { path: "c", length: 7 }]);
  const v2 = "d4:infod9:file treed1:ad1:bd0:d6:lengthi5eeee1:cd0:d6:lengthi7eeee4:name1:nee";
  assert.deepEqual(filesOf(v2), [{ path: "a/b", length: 5 }, { path: "c", length: 7 }]);
  assert.deepEqual(filesOf("d4:infod6:lengthi9e4:name2:\u00c3\u00a9ee"), [{ path: "é", length: 9 }]);
  for (const invalid of ["", "d", "i", "l".repeat(100_000), "9999999:a", "d4:infoi1ee", "d4:infod5:filesi1eee", "-1:", "i1x2e"]) {
    assert.deepEqual(filesOf(invalid), [], invalid.slice(0, 20));
  }
  for (const invalid of ["d1:ae", "l".repeat(100_000)]) assert.throws(() => decode(invalid), /not a bencoded value/);
});

/** @param {number} number @param {string} path @param {Partial<import("../../src/page/types.js").File>} [fields] */
const fileOf = (number, path, fields = {}) =>
  ({ number, path, length_bytes: 10, done_bytes: 4, priority: "normal", wrong_pieces: 0, ...fields });

test("columns keep a stored order, and a new one follows", () => {
  const all = columnsIn(undefined);
  assert.deepEqual(all.slice(0, 3), ["name", "state", "problem"]);
  assert.deepEqual(columnsIn(["size", "name", "size", "other", 7]).slice(0, 3), ["size", "name", "state"]);
  assert.deepEqual(columnsIn(["size"]).toSorted(), all.toSorted());
  for (const [key, place, expected] of /** @type {const} */ ([["name", "problem", "state problem name"], ["problem", "name", "problem name state"], ["name", "name", "name state problem"]])) {
    assert.equal(moveColumn(["name", "state", "problem"], key, place).join(" "), expected);
  }
});

test("folders have the figures of the files below them", () => {
  const root = treeOf([fileOf(0, "a/b/c", { wrong_pieces: 2 }), fileOf(1, "a/d", { priority: "high" }), fileOf(2, "e", { done_bytes: null })]);
  const a = /** @type {import("../../src/page/tree.js").Folder} */ (root.folders.get("a"));
  assert.deepEqual(a.files.map(({ number }) => number), [0, 1]);
  assert.deepEqual([a.name, a.length, a.done, a.wrong, a.priority], ["a", 20, 8, 2, ""]);
  const b = /** @type {import("../../src/page/tree.js").Folder} */ (a.folders.get("a/b"));
  assert.deepEqual([b.name, b.files.length, b.done, b.priority], ["b", 1, 4, "normal"]);
  // A figure that is not known leaves the folder without it, and priorities that differ once stay different.
  assert.deepEqual([root.length, root.done, root.priority], [30, null, ""]);
  assert.equal(treeOf([fileOf(0, "x/a"), fileOf(1, "x/b", { priority: "low" }), fileOf(2, "x/c", { priority: "low" })]).priority, "");
});

test("lines of the tree are in the order of names, below folders that are open", () => {
  const files = ["part 10", "b/2", "part 9", "a/sub/1", "a/0"].map((path, number) => fileOf(number, path));
  const shape = (/** @type {(path: string) => boolean} */ isOpen) =>
    linesOf(treeOf(files), isOpen).map(({ key, level, position, beside, parent }) => [key, level, position, beside, parent]);
  assert.deepEqual(shape(() => false), [["a/", 1, 1, 4, null], ["b/", 1, 2, 4, null], ["2", 1, 3, 4, null], ["0", 1, 4, 4, null]]);
  assert.deepEqual(shape((path) => path === "a").slice(0, 4), [
    ["a/", 1, 1, 4, null],
    ["a/sub/", 2, 1, 2, "a/"],
    ["4", 2, 2, 2, "a/"],
    ["b/", 1, 2, 4, null],
  ]);
  // Metadata can nest folders deeper than functions can call each other.
  const deep = fileOf(0, `${"d/".repeat(4000)}f`);
  assert.equal(linesOf(treeOf([deep]), () => true).length, 4001);
});

test("states of the connection are different sentences", () => {
  const of = (/** @type {import("../../src/page/types.js").Connection["kind"]} */ kind) =>
    lossOf({ ...emptyState(), connection: { kind, reason: "no", since: null } });
  assert.equal(of("open"), "");
  assert.equal(of("ended"), "");
  assert.match(of("lost"), /connection was lost/);
  assert.match(of("full"), /^Too many pages/);
  assert.equal(of("refused"), "The program refuses this page: no");
});
