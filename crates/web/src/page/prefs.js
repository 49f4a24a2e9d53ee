// @ts-check
// Choices that the browser keeps.

/**
 * Returns an object that this page stored in the browser, or {} if there is none. Other pages of the same host, and older
 * versions of this page, store other values, and a browser can refuse the storage.
 * @param {string} key
 * @returns {Record<string, unknown>}
 */
export function stored(key) {
  try {
    const value = JSON.parse(localStorage.getItem(key) ?? "null");
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}

/**
 * @param {string} key
 * @param {object} value
 */
export function store(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // The choice lasts as long as the page.
  }
}
