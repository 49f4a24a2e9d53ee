// @ts-check
// Tests of limits in dialogs and requests.

import assert from "node:assert/strict";
import { test } from "node:test";

import { LIMITS, categoryField, changedLimits, newField, ownField, settingField, shown, targetOf, textOf } from "../../src/page/targets.js";

/** @typedef {import("../../src/page/dialogs.js").Field} Field */

/** The answer of a field that a person leaves as it is. @param {Field} field */
const untouched = ({ value, amount }) => (value === "at" ? amount?.value ?? "" : value ?? "");

/** Returns the changes of fields of which some are answered. @param {Field[]} fields @param {Record<string, string>} answers */
const changes = (fields, answers = {}) =>
  changedLimits(fields, { ...Object.fromEntries(fields.map((field) => [field.name, untouched(field)])), ...answers });

/** @param {Field} field */
const words = ({ choices }) => choices?.map(([word]) => word);

test("answers become what a request has", () => {
  assert.deepEqual(["never", "inherited", "1", "0.5"].map((text) => targetOf("max_up", text)), [null, "inherited", 1024, 512]);
  // 0 is no rate.
  assert.equal(targetOf("max_down", "0.0001"), 1);
  assert.deepEqual(["never", "inherited", "0", "1.25"].map((text) => targetOf("seed_ratio", text)), ["never", "inherited", 0, 1.25]);
  assert.deepEqual(["never", "inherited", "0", "1.5"].map((text) => targetOf("seed_seconds", text)), ["never", "inherited", 0, 90]);
  assert.deepEqual(["never", "3"].map((text) => targetOf("max_active_uploads", text)), [null, 3]);
});

test("values are shown and edited in units of people", () => {
  assert.deepEqual([shown("max_down", null), shown("max_down", 2048), shown("seed_ratio", 1.5)], ["no limit", "2.0 KiB/s", "1.5"]);
  assert.deepEqual([shown("idle_seconds", 3600), shown("max_active_downloads", 3)], ["60 min", "3"]);
  assert.deepEqual([textOf("max_up", 512), textOf("idle_seconds", 90), textOf("seed_ratio", 1.5)], ["0.5", "1.5", "1.5"]);
  // No second is lost.
  for (const seconds of [1, 59, 61, 3601, 86_401]) assert.equal(targetOf("seed_seconds", textOf("seed_seconds", seconds)), seconds);
});

test("limits of torrents change only where a person changes them", () => {
  const fields = [ownField("max_up", 2048), ownField("seed_ratio", null), ownField("idle_seconds", undefined)];
  assert.deepEqual(fields.map((field) => field.choices?.[0][1]), ["unchanged: 2.0 KiB/s", "unchanged: no limit", "unchanged"]);
  // A rate of one torrent is not inherited: the limits of all torrents apply too.
  assert.deepEqual(fields.map(words), [["", "never", "at"], ["", "inherited", "never", "at"], ["", "inherited", "never", "at"]]);
  assert.deepEqual(changes(fields), {});
  const answers = { max_up: "never", seed_ratio: "2", idle_seconds: "inherited" };
  assert.deepEqual(changes(fields, answers), { max_up: null, seed_ratio: 2, idle_seconds: "inherited" });
});

test("a torrent that is added has only the limits that a person chose", () => {
  const fields = [newField("max_down"), newField("seed_ratio")];
  assert.deepEqual(fields.map(words), [["never", "at"], ["inherited", "never", "at"]]);
  assert.deepEqual(changes(fields), {});
  assert.deepEqual(changes(fields, { max_down: "100", seed_ratio: "never" }), { max_down: 102_400, seed_ratio: "never" });
});

test("a category shows its own limits", () => {
  const fields = [categoryField("seed_ratio", 2), categoryField("seed_seconds", "never"), categoryField("idle_seconds", undefined)];
  assert.deepEqual(fields.map(untouched), ["2", "never", "inherited"]);
  assert.deepEqual(changes(fields), {});
  assert.deepEqual(changes(fields, { seed_ratio: "inherited", idle_seconds: "90" }), { seed_ratio: "inherited", idle_seconds: 5400 });
});

test("settings show whether a request set them, and can be given back", () => {
  const of = (/** @type {number | null} */ value, requested = true) => settingField("max_down", { limit: "max-down", value, configured: 1024, requested });
  assert.deepEqual([of(2048), of(null), of(1024, false)].map(untouched), ["2", "never", "inherited"]);
  assert.equal(of(2048).choices?.[0][1], "as configured: 1.0 KiB/s");
  assert.deepEqual(changes([of(2048)], { max_down: "inherited" }), { max_down: "inherited" });
  assert.deepEqual(changes([of(null)], { max_down: "2" }), { max_down: 2048 });
  // A number that is rounded in the dialog is sent only if a person changes it.
  assert.deepEqual(changes([of(1000)]), {});
});

test("each limit of the API has its field", () => {
  const options = ["alt-max-down", "alt-max-up", "idle-time", "max-active-downloads", "max-active-uploads", "max-down", "max-up", "seed-ratio", "seed-time"];
  assert.deepEqual(Object.values(LIMITS).map(({ option }) => option).sort(), options);
});
