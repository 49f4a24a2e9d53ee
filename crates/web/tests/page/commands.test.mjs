// @ts-check
// Tests of the commands that only a daemon has.

import assert from "node:assert/strict";
import { test } from "node:test";

import { optionsOf, valuesOf } from "../../src/page/add.js";
import { makeCommands, targetsOf } from "../../src/page/commands.js";
import { NO_CATEGORY, categoryChange, categoryOf, summaryOf } from "../../src/page/groups.js";
import { changedSettings, settingFields } from "../../src/page/settings.js";
import { emptyState, makeStore } from "../../src/page/store.js";
import { categoryField } from "../../src/page/targets.js";
import { reloaded } from "../../src/page/text.js";
import { contentOf, pathIn, sortTorrents, textOfTiers, tiersOf } from "../../src/page/torrents.js";
import { torrent } from "./torrent.mjs";

/** @typedef {import("../../src/page/types.js").Torrent} Torrent */

const session = { read: true, change: true, csrf_token: null, token_login: false, password_login: false };
const state = { ...emptyState(), session };
/** The changes that were sent. @type {[number[], object][]} */
const sent = [];
const batch = async (/** @type {Torrent[]} */ torrents, /** @type {object} */ change) => {
  sent.push([torrents.map(({ number }) => number), change]);
};
const commands = makeCommands(makeStore(state), /** @type {any} */ ({ batch, ask: async () => null }));

/** Returns the commands that apply to a torrent. @param {Torrent} one */
const fits = (one) => commands.filter((command) => targetsOf(command, state, [one]).length > 0).map(({ id }) => id);

/** Runs a command with some torrents, and returns the changes. @param {string} id @param {Torrent[]} torrents */
function run(id, torrents) {
  sent.length = 0;
  const command = commands.find((one) => one.id === id);
  assert.ok(command !== undefined, id);
  command.run(targetsOf(command, state, torrents));
  return sent;
}

/** Returns a torrent of a daemon. @param {number} number @param {Partial<Torrent>} [fields] */
const kept = (number, fields = {}) => torrent(number, { queue_position: number, ...fields });

test("the queue is that of a daemon", () => {
  const isOfQueue = (/** @type {string} */ id) => /^(queue-|resume-)/.test(id);
  assert.deepEqual(fits(torrent(0)).filter(isOfQueue), []);
  const moves = ["queue-top", "queue-up", "queue-down", "queue-bottom", "queue-position"];
  assert.deepEqual(fits(kept(0)).filter(isOfQueue), ["resume-now", ...moves]);
  assert.deepEqual(fits(kept(0, { forced: true })).filter(isOfQueue), ["resume-queued", ...moves]);
  assert.deepEqual(fits(kept(0, { forced: true, paused: true })).filter(isOfQueue), ["resume-now", ...moves]);
  assert.deepEqual(fits(kept(0, { activity: "failed" })).filter(isOfQueue), ["resume-now", ...moves]);
  // A daemon ends no torrent.
  assert.deepEqual([fits(torrent(0)).includes("stop"), fits(kept(0)).includes("stop")], [true, false]);
});

test("torrents move in the queue, and run now", () => {
  const both = [kept(0), kept(1)];
  for (const to of ["top", "up", "down", "bottom"]) assert.deepEqual(run(`queue-${to}`, both), [[[0, 1], { action: "queue", to }]]);
  assert.deepEqual(run("resume-now", both), [[[0, 1], { action: "resume", now: true }]]);
  assert.deepEqual(run("resume-queued", [kept(0, { forced: true })]), [[[0], { action: "resume" }]]);
});

test("commands are sent by their names", () => {
  for (const [id, one] of /** @type {[string, Torrent][]} */ ([["pause", torrent(0)], ["resume", torrent(0, { paused: true })], ["verify", torrent(0)], ["reannounce", torrent(0)]])) {
    assert.deepEqual(run(id, [one]), [[[0], { action: id }]]);
  }
});

test("torrents are sorted by their position in the queue", () => {
  const torrents = [torrent(0), torrent(1, { queue_position: 2 }), torrent(2, { queue_position: 0 })];
  assert.deepEqual(sortTorrents(torrents, { key: "queue", isDescending: false }), [2, 1, 0]);
});

test("only torrents of a daemon have a category and names of their own", () => {
  const isOwn = (/** @type {string} */ id) => ["category", "rename"].includes(id);
  assert.deepEqual(fits(torrent(0)).filter(isOwn), []);
  assert.deepEqual(fits(kept(0)).filter(isOwn), ["category", "rename"]);
  // Several torrents have no common name.
  const rename = commands.find(({ id }) => id === "rename");
  assert.ok(rename !== undefined);
  assert.deepEqual(targetsOf(rename, state, [kept(0), kept(1)]), []);
});

test("a download is sequential or not", () => {
  assert.deepEqual(run("sequential", [kept(0, { download: true }), kept(1, { download: true, sequential: true })]), [[[0], { action: "set", sequential: true }]]);
  assert.deepEqual(run("any-order", [torrent(0), torrent(1, { sequential: true })]), [[[1], { action: "set", sequential: false }]]);
  assert.equal(fits(torrent(0)).includes("sequential"), false);
});

test("complete content is spread piece by piece or not", () => {
  const torrents = [torrent(0), torrent(1, { super_seeding: true }), torrent(2, { complete: false })];
  assert.deepEqual(run("super-seeding", torrents), [[[0], { action: "set", super_seeding: true }]]);
  assert.deepEqual(run("plain-seeding", torrents), [[[1], { action: "set", super_seeding: false }]]);
});

test("paths of renames start with the name of the content", () => {
  const tree = torrent(0, { content: "/srv/tree", files: 3, is_folder: true });
  assert.deepEqual([contentOf(tree), pathIn(tree, "sub/b.bin")], ["tree", "tree/sub/b.bin"]);
  assert.equal(contentOf({ ...tree, folder: "/" }), "srv/tree");
  const single = torrent(0, { content: "/srv/a.bin", files: 1 });
  assert.equal(pathIn(single, "a.bin"), "a.bin");
  // A folder with one file, which has the name of the folder.
  const folder = torrent(0, { content: "/srv/a.bin", files: 1, is_folder: true });
  assert.equal(pathIn(folder, "a.bin"), "a.bin/a.bin");
  // Content that is served under any name keeps it, and so does content without a folder of its own.
  for (const fields of [{ folder: null }, { content: null }, { content: "/srv" }]) assert.equal(contentOf({ ...tree, ...fields }), "", JSON.stringify(fields));
});

test("a category is made, changed and described", () => {
  const tv = { name: "tv", folder: "/srv/tv", goal: { ratio: 2, seconds: /** @type {const} */ ("never") }, torrents: 1, configured: true };
  assert.equal(summaryOf(tv), "1 torrent, folder /srv/tv, ratio: 2, serving: no limit, of the configuration");
  assert.equal(summaryOf({ ...tv, folder: null, goal: {}, torrents: 2, configured: false }), "2 torrents");
  const fields = [categoryField("seed_ratio", 2), categoryField("idle_seconds", undefined)];
  const same = { folder: "/srv/tv", seed_ratio: "2", idle_seconds: "inherited" };
  assert.equal(categoryChange(tv, fields, same), null);
  const changed = { folder: " ", seed_ratio: "inherited", idle_seconds: "never" };
  assert.deepEqual(categoryChange(tv, fields, changed), { action: "set_category", name: "tv", folder: null, seed_ratio: "inherited", idle_seconds: "never" });
  const made = [categoryField("seed_ratio", undefined)];
  assert.deepEqual(categoryChange(null, made, { name: " films ", folder: "", seed_ratio: "inherited" }), { action: "set_category", name: "films" });
  assert.deepEqual([categoryOf(NO_CATEGORY), categoryOf(""), categoryOf("=-")], [null, null, "-"]);
});

test("settings are sent where a person changed them", () => {
  const limits = [{ limit: "max-up", value: 1024, configured: 1024, requested: false }, { limit: "other", value: null, configured: null, requested: false }];
  const status = { state: "/srv/state", max_down: null, max_up: 1024, alternative: false, adds_paused: true };
  const config = { port: 6881, bind: null, folders: [] };
  const fields = settingFields(limits, status, config);
  // A limit that a newer program has is left out.
  assert.deepEqual(fields.map(({ name }) => name), ["max_up", "alternative", "adds_paused", "port", "bind"]);
  const same = { max_up: "inherited", alternative: false, adds_paused: true, port: "6881", bind: "" };
  assert.deepEqual(changedSettings(fields, same), {});
  const changed = { max_up: "2", alternative: true, adds_paused: false, port: "0", bind: " tun0 " };
  assert.deepEqual(changedSettings(fields, changed), { max_up: 2048, alternative: true, adds_paused: false, port: 0, bind: "tun0" });
  // `get` and `seed` have no state folder, and have limits for their torrents alone.
  const bound = settingFields(limits, { ...status, state: null }, { ...config, bind: "tun0" });
  assert.deepEqual(bound.map(({ name }) => name), ["port", "bind"]);
  assert.deepEqual(changedSettings(bound, { port: "", bind: "" }), { bind: null });
  assert.equal(reloaded([]), "The configuration was read again.");
  assert.match(reloaded(["port", "bind"]), / need a restart: port, bind\.$/);
});

test("a torrent that is added has the values that a person chose", () => {
  assert.equal(valuesOf({ labels: " ,", category: null, sequential: false, limits: {} }), undefined);
  const chosen = { labels: "a, b,a", category: "tv", sequential: true, limits: { seed_ratio: 2 } };
  assert.deepEqual(valuesOf(chosen), { labels: ["a", "b"], category: "tv", sequential: true, seed_ratio: 2 });
});

test("places, files and priorities are sent where a person chose them", () => {
  const none = { folder: "", content: "", contentMap: "", layout: "original", files: [], paused: false, set: undefined };
  assert.deepEqual(optionsOf(none), { paused: false });
  const chosen = { ...none, content: "/srv/a", layout: "subfolder", files: ["skip", "high", "normal", "low"], set: { labels: ["a"] } };
  assert.deepEqual(optionsOf(chosen), { content: "/srv/a", layout: "subfolder", select: [1, 2, 3], priorities: [[1, "high"], [3, "low"]], paused: false, set: { labels: ["a"] } });
  // The program refuses a torrent without files, which is not one with all of them.
  const map = { ...none, folder: "/srv", contentMap: "AA==", files: ["skip"], paused: true };
  assert.deepEqual(optionsOf(map), { folder: "/srv", content_map: "AA==", select: [], paused: true });
});

test("trackers are edited as lines, with a blank line between tiers", () => {
  const tracker = (/** @type {string} */ url, /** @type {number} */ tier) => ({ url, tier, state: "unused", message: "", failures: 0, seeds: null, leeches: null, next_seconds: null });
  const text = "http://a\nhttp://b\n\nhttp://c";
  assert.equal(textOfTiers([tracker("http://a", 0), tracker("http://b", 0), tracker("http://c", 1)]), text);
  assert.deepEqual(tiersOf(text), [["http://a", "http://b"], ["http://c"]]);
  assert.deepEqual(tiersOf("\n \n http://a \n\n\n\nhttp://c\n"), [["http://a"], ["http://c"]]);
  assert.deepEqual(tiersOf(" \n"), []);
  assert.equal(textOfTiers([]), "");
});

test("content moves, or is used where it is", () => {
  const mayMove = (/** @type {Torrent} */ one) => fits(one).includes("move");
  assert.deepEqual([torrent(0), kept(0), kept(0, { activity: "failed" }), torrent(0, { activity: "failed" })].map(mayMove), [true, true, true, false]);
});
