// @ts-check
// The names of files in a .torrent file, for the choice of files before it is added. The program reads the file again.

// Nesting of lists and dictionaries at most: the trees of version 2 nest as deep as folders do.
const MAX_DEPTH = 200;

/**
 * Reads a bencoded value. Texts are byte strings, one character per byte.
 * @param {string} bytes
 * @returns {any}
 */
export function decode(bytes) {
  let at = 0;
  const fail = () => new Error(`byte ${at}: not a bencoded value`);
  const until = (/** @type {string} */ end) => {
    const stop = bytes.indexOf(end, at);
    if (stop < 0 || stop - at > 20) throw fail();
    const text = bytes.slice(at, stop);
    if (!/^-?\d+$/.test(text)) throw fail();
    at = stop + 1;
    return Number(text);
  };
  /** @param {number} depth @returns {any} */
  function value(depth) {
    if (depth > MAX_DEPTH) throw fail();
    const kind = bytes[at];
    if (kind === "i") {
      at += 1;
      return until("e");
    }
    if (kind === "l" || kind === "d") {
      at += 1;
      const items = [];
      while (bytes[at] !== "e") items.push(value(depth + 1));
      at += 1;
      if (kind === "l") return items;
      if (items.length % 2 === 1) throw fail();
      const entries = new Map();
      for (let i = 0; i < items.length; i += 2) entries.set(items[i], items[i + 1]);
      return entries;
    }
    const length = until(":");
    if (length < 0 || at + length > bytes.length) throw fail();
    at += length;
    return bytes.slice(at - length, at);
  }
  return value(0);
}

/** Returns the text of a byte string. @param {string} bytes */
const textOf = (bytes) => new TextDecoder().decode(Uint8Array.from(bytes, (c) => c.charCodeAt(0)));

/**
 * Returns the files of a tree of version 2 (BEP 52).
 * @param {Map<string, any>} tree
 * @param {string[]} above
 * @returns {{ path: string, length: number }[]}
 */
function filesOfTree(tree, above) {
  return [...tree].flatMap(([name, entry]) => {
    const path = [...above, textOf(name)];
    const file = entry.get("");
    return file === undefined ? filesOfTree(entry, path) : [{ path: path.join("/"), length: file.get("length") }];
  });
}

/**
 * Returns the files of a .torrent file without padding, in the order of their positions, or an empty list if the file is
 * invalid: the program says why when it gets the file.
 * @param {string} bytes one character per byte
 * @returns {{ path: string, length: number }[]}
 */
export function filesOf(bytes) {
  try {
    const info = decode(bytes).get("info");
    const files = info.get("files");
    if (files === undefined && info.has("length")) return [{ path: textOf(info.get("name")), length: info.get("length") }];
    if (files === undefined) return filesOfTree(info.get("file tree"), []);
    return files
      .filter((/** @type {Map<string, any>} */ file) => !(file.get("attr") ?? "").includes("p"))
      .map((/** @type {Map<string, any>} */ file) => ({ path: file.get("path").map(textOf).join("/"), length: file.get("length") }));
  } catch {
    return [];
  }
}
