// @ts-check
// A list in which only the rows in the window have elements: 5,000 rows cost no more than 50.

// Number of rows with elements above and below the window.
const MARGIN = 3;

/**
 * Makes the rows of a body, which are absolute in it and of one height. `update` returns whether the row still exists.
 * @template {string | number} K
 * @template {HTMLElement} E
 * @param {{ scroller: HTMLElement, body: HTMLElement, make: (key: K) => E, update: (row: E, key: K, position: number) => boolean }} of
 */
export function makeRows({ scroller, body, make, update }) {
  /** The elements of rows by their keys. @type {Map<K, E>} */
  const rows = new Map();
  let height = 1;
  /** The keys of all rows. @type {K[]} */
  let order = [];

  /** Returns the element that follows in the place of this one. @param {ChildNode} node */
  function moveToEnd(node) {
    const next = node.nextSibling;
    body.append(node);
    return next;
  }

  /** The part of the window that can show rows. */
  function clip() {
    const { top, bottom } = scroller.getBoundingClientRect();
    return [Math.max(top, 0), Math.min(bottom, innerHeight)];
  }

  /** Shows a row in its place, and returns whether it still exists. @param {E} row @param {K} key @param {number} position */
  function put(row, key, position) {
    if (!update(row, key, position)) return false;
    const place = `translateY(${position * height}px)`;
    if (row.style.transform !== place) row.style.transform = place;
    return true;
  }

  /** Shows the rows in the window, and removes the others. */
  function show() {
    const [top, bottom] = clip();
    const place = body.getBoundingClientRect().top;
    const first = Math.max(0, Math.floor((top - place) / height) - MARGIN);
    const end = Math.max(first, Math.min(order.length, Math.ceil((bottom - place) / height) + MARGIN));
    const visible = new Set(order.slice(first, end));
    // The row with the focus stays, so that the focus is not lost.
    let focused = document.activeElement;
    while (focused !== null && focused.parentElement !== body) focused = focused.parentElement;
    for (const [key, row] of rows) {
      if (visible.has(key)) continue;
      const position = row === focused ? order.indexOf(key) : -1;
      if (position >= 0 && put(row, key, position)) continue;
      row.remove();
      rows.delete(key);
    }
    let before = /** @type {ChildNode | null} */ (body.firstChild);
    for (let position = first; position < end; position += 1) {
      const key = order[position];
      const row = rows.get(key) ?? make(key);
      if (!put(row, key, position)) continue;
      rows.set(key, row);
      // Elements are in the order of the list, as screen readers need it. One with the focus stays, and others move behind it.
      if (row === focused) while (before !== null && before !== row) before = moveToEnd(before);
      if (row === before) before = row.nextSibling;
      else body.insertBefore(row, before);
    }
  }

  return {
    show,
    element: (/** @type {K} */ key) => rows.get(key),
    elements: () => rows.values(),
    /** Reads the height of rows from the style sheet, which has one for phones, too. */
    measure() {
      height = parseFloat(getComputedStyle(body).getPropertyValue("--row"));
      body.style.height = `${order.length * height}px`;
    },
    /** Sets the keys of all rows. @param {K[]} keys */
    set(keys) {
      order = keys;
      body.style.height = `${order.length * height}px`;
    },
    /** Returns the number of rows of a page. */
    page() {
      const [top, bottom] = clip();
      return Math.max(1, Math.floor((bottom - top) / height) - 2);
    },
    /**
     * Scrolls to a row, and gives it the focus. `above` is the height of what covers the top of the window.
     * @param {K} key
     * @param {number} [above]
     */
    focus(key, above = 0) {
      const [top, bottom] = clip();
      const y = body.getBoundingClientRect().top + order.indexOf(key) * height;
      const by = y < top + above ? y - top - above : Math.max(0, y + height - bottom);
      (scroller.scrollHeight > scroller.clientHeight ? scroller : document.documentElement).scrollTop += by;
      show();
      rows.get(key)?.focus({ preventScroll: true });
    },
  };
}
