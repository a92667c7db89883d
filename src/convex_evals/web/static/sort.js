// Columns of tables that are complete on the page are sorted here. The address keeps the order: ?sort=column or -column.
"use strict";
(() => {
  const value = (row, index) => {
    const cell = row.cells[index];
    const given = cell.dataset.value ?? cell.textContent.trim();
    return given !== "" && !Number.isNaN(Number(given)) ? Number(given) : given;
  };
  const order = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));
  const sort = (table, name, descending) => {
    const heads = [...table.tHead.rows[0].cells];
    const index = heads.findIndex((head) => head.dataset.sort === name);
    if (index < 0) return;
    for (const head of heads) head.removeAttribute("aria-sort");
    heads[index].setAttribute("aria-sort", descending ? "descending" : "ascending");
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [value(row, index), row]);
    rows.sort(([a], [b]) => (descending ? order(b, a) : order(a, b)));
    body.append(...rows.map(([, row]) => row));
  };
  const handle = (head) => {
    const button = document.createElement("button");
    if (head.querySelector("a")) {
      button.textContent = "↕";
      button.setAttribute("aria-label", `Sort by ${head.textContent.trim()}`);
    } else button.append(...head.childNodes);
    return button;
  };
  const restore = (scope) => {
    const wanted = new URLSearchParams(location.search).get("sort");
    for (const table of scope.querySelectorAll("table[data-sortable]")) {
      for (const head of table.tHead.rows[0].cells) {
        if (!head.dataset.sort || head.querySelector("button")) continue;
        head.append(handle(head));
      }
      if (wanted) sort(table, wanted.replace(/^-/, ""), wanted.startsWith("-"));
    }
  };
  document.addEventListener("click", (event) => {
    const head = event.target.closest("table[data-sortable] th[data-sort]");
    if (!head || event.target.closest("a")) return;
    const descending = head.getAttribute("aria-sort") === "ascending";
    const address = new URL(location.href);
    address.searchParams.set("sort", (descending ? "-" : "") + head.dataset.sort);
    history.replaceState(null, "", address);
    sort(head.closest("table"), head.dataset.sort, descending);
  });
  document.addEventListener("refreshed", (event) => restore(event.target));
  restore(document);
})();
