// @ts-check
// The files of a torrent as a tree. Without elements, so that tests need no browser.

/** @typedef {import("./types.js").File} File */

/**
 * A folder: its path, the files below it, and what they add up to. `priority` is "" if the files have different ones.
 * @typedef {{ key: string, path: string, name: string, folders: Map<string, Folder>, own: File[], files: File[],
 *   length: number, done: number | null, wrong: number, priority: string }} Folder
 */

/**
 * A line of the tree: a folder or a file, its level from 1, and its position among those beside it from 1.
 * @typedef {{ key: string, name: string, level: number, position: number, beside: number, parent: string | null,
 *   isOpen: boolean, folder: Folder | null, file: File | null }} Line
 */

const order = new Intl.Collator(undefined, { numeric: true });

/** @param {string} path @returns {Folder} */
const emptyFolder = (path) => ({
  key: `${path}/`,
  path,
  name: path.slice(path.lastIndexOf("/") + 1),
  folders: new Map(),
  own: [],
  files: [],
  length: 0,
  done: 0,
  wrong: 0,
  priority: "",
});

/**
 * Counts a file in a folder. A folder is as complete as it is known: one file without a figure leaves it without one.
 * @param {Folder} folder
 * @param {File} file
 */
function count(folder, file) {
  folder.priority = folder.files.length === 0 || folder.priority === file.priority ? file.priority : "";
  folder.files.push(file);
  folder.length += file.length_bytes;
  folder.done = folder.done === null || file.done_bytes === null ? null : folder.done + file.done_bytes;
  folder.wrong += file.wrong_pieces;
}

/**
 * Returns the folder that has these files, whose paths have `/`.
 * @param {File[]} files
 */
export function treeOf(files) {
  const root = emptyFolder("");
  for (const file of files) {
    let folder = root;
    count(folder, file);
    for (let at = file.path.indexOf("/"); at >= 0; at = file.path.indexOf("/", at + 1)) {
      const path = file.path.slice(0, at);
      let below = folder.folders.get(path);
      if (below === undefined) folder.folders.set(path, below = emptyFolder(path));
      folder = below;
      count(folder, file);
    }
    folder.own.push(file);
  }
  return root;
}

/** @param {File} file */
export const nameOf = (file) => file.path.slice(file.path.lastIndexOf("/") + 1);

/**
 * Returns the lines of a tree whose parents are all open: in each folder its folders come first, by name.
 * @param {Folder} root
 * @param {(path: string) => boolean} isOpen
 */
export function linesOf(root, isOpen) {
  /** @type {Line[]} */
  const lines = [];
  // A list of what is still to do, because metadata may nest folders deeper than calls can.
  /** @type {Line[]} */
  const waiting = [];

  /** Plans the lines of a folder, the first one last. @param {Folder} folder @param {number} level @param {string | null} parent */
  function plan(folder, level, parent) {
    const folders = [...folder.folders.values()].sort((a, b) => order.compare(a.name, b.name));
    const files = folder.own.map((file) => ({ file, name: nameOf(file) })).sort((a, b) => order.compare(a.name, b.name));
    const beside = folders.length + files.length;
    const shared = { level, beside, parent };
    const below = [
      ...folders.map((one) => ({ ...shared, key: one.key, name: one.name, isOpen: isOpen(one.path), folder: one, file: null })),
      ...files.map(({ file, name }) => ({ ...shared, key: String(file.number), name, isOpen: false, folder: null, file })),
    ];
    below.map((line, i) => ({ ...line, position: i + 1 })).reverse().forEach((line) => waiting.push(line));
  }

  plan(root, 1, null);
  for (let line = waiting.pop(); line !== undefined; line = waiting.pop()) {
    lines.push(line);
    if (line.folder !== null && line.isOpen) plan(line.folder, line.level + 1, line.key);
  }
  return lines;
}
