// Torrents that the user adds by a dialog, or drops on the page.

import { $, count, notice, plain } from "./text.js";

// Maximum number of characters of a link in a message.
const MAX_NAME = 60;

// Info-hashes of version 1 (hexadecimal or base 32) and of version 2.
const INFO_HASH = /^([0-9a-f]{40}|[a-z2-7]{32}|[0-9a-f]{64})$/i;

const wordsOf = (text) => text.split(/\s+/).filter((word) => word !== "");

const isLink = (word) => /^magnet:/i.test(word) || INFO_HASH.test(word);

// Returns the problem of words that are no links, or "".
function problemOf(words) {
  if (words.length === 0) return "";
  const more = words.length > 1 ? ` and ${count(words.length - 1, "other word")}` : "";
  const remedy = words.some((word) => /^https?:/i.test(word))
    ? "Download the .torrent file, and add the file."
    : "Paste magnet links or info-hashes.";
  return `${plain(words[0].slice(0, MAX_NAME))}${more}: neither a magnet link nor an info-hash. ${remedy}`;
}

// Sends files and the links of a text one after the other, and reports what was refused.
async function addAll(send, files, text) {
  const words = wordsOf(text);
  const links = words.filter(isLink);
  const refused = [];
  const add = async (name, path, type, body) => {
    const problem = await send(path, type, body);
    if (problem !== "") refused.push(`${plain(name)}: ${problem}`);
  };
  for (const file of files) await add(file.name, "torrents", "application/x-bittorrent", file);
  for (const link of links) await add(link.slice(0, MAX_NAME), "torrents", "application/json", JSON.stringify({ link }));
  const n = files.length + links.length - refused.length;
  notice("added", n > 0 ? `${count(n, "torrent")} added.` : "");
  const problem = problemOf(words.filter((word) => !isLink(word)));
  notice("refusal", [...refused, problem].filter(Boolean).join("\n"));
}

// Starts the dialog and the drop target. `mayAdd` returns whether torrents can be added, `send` returns a problem or "".
export function startAdding(mayAdd, send) {
  $("add").addEventListener("click", () => {
    $("adding").returnValue = "cancel";
    $("adding").showModal();
  });
  $("adding").addEventListener("close", () => {
    if ($("adding").returnValue === "add") addAll(send, [...$("torrent-files").files], $("links").value);
    $("adding").querySelector("form").reset();
  });
  // Text is dropped into a field as in other pages.
  const isForField = ({ target, dataTransfer }) =>
    target instanceof Element && target.closest("input, textarea") !== null && !dataTransfer.types.includes("Files");
  addEventListener("dragover", (event) => {
    if (isForField(event)) return;
    event.preventDefault();
    document.body.classList.toggle("dropping", mayAdd());
    event.dataTransfer.dropEffect = mayAdd() ? "copy" : "none";
  });
  addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) document.body.classList.remove("dropping");
  });
  // Without this, the browser would leave the page to show the file.
  addEventListener("drop", (event) => {
    if (isForField(event)) return;
    event.preventDefault();
    document.body.classList.remove("dropping");
    if (!mayAdd()) return;
    addAll(send, [...event.dataTransfer.files], event.dataTransfer.getData("text"));
  });
}
