// Torrents that the user adds by a dialog, or drops on the page.

import { $, count, notice, plain } from "./text.js";

// Sends files and links one after the other, and reports those that were refused.
async function addAll(send, files, links) {
  const refused = [];
  const add = async (name, path, type, body) => {
    const problem = await send(path, type, body);
    if (problem !== "") refused.push(`${plain(name)}: ${problem}`);
  };
  for (const file of files) await add(file.name, "torrents", "application/x-bittorrent", file);
  for (const link of links) await add(link.slice(0, 60), "magnets", "application/json", JSON.stringify({ link }));
  const n = files.length + links.length - refused.length;
  notice("added", n > 0 ? `${count(n, "torrent")} added.` : "");
  notice("refusal", refused.join("\n"));
}

const linksOf = (text) => text.split(/\s+/).filter((word) => word.toLowerCase().startsWith("magnet:"));

// Starts the dialog and the drop target. `mayAdd` returns whether torrents can be added, `send` returns a problem or "".
export function startAdding(mayAdd, send) {
  $("add").addEventListener("click", () => {
    $("adding").returnValue = "cancel";
    $("adding").showModal();
  });
  $("adding").addEventListener("close", () => {
    if ($("adding").returnValue === "add") addAll(send, [...$("torrent-files").files], linksOf($("links").value));
    $("adding").querySelector("form").reset();
  });
  addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.toggle("dropping", mayAdd());
    event.dataTransfer.dropEffect = mayAdd() ? "copy" : "none";
  });
  addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) document.body.classList.remove("dropping");
  });
  // Without this, the browser would leave the page to show the file.
  addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    if (!mayAdd()) return;
    addAll(send, [...event.dataTransfer.files], linksOf(event.dataTransfer.getData("text")));
  });
}
