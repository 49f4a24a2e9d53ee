// Sorts the table by the column of the button. Without scripts, the table keeps its order: the most damaged first.
"use strict";
for (const table of document.querySelectorAll("table.sorted")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const ascending = head.getAttribute("aria-sort") !== "ascending";
      const body = table.tBodies[0];
      const key = (row) => row.cells[column].dataset.key ?? row.cells[column].textContent.trim();
      const compare = (a, b) => key(a).localeCompare(key(b), undefined, { numeric: true });
      const rows = [...body.rows].sort((a, b) => (ascending ? compare(a, b) : compare(b, a)));
      body.append(...rows);
      for (const other of heads) {
        other.removeAttribute("aria-sort");
      }
      head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
    });
  });
}
