// j and k move, Enter opens, Esc goes up, / searches, [ and ] go to the previous and next failure, ? lists the keys.
"use strict";
(() => {
  const rows = () => [...document.querySelectorAll("[data-row]")].filter((row) => row.offsetParent !== null);
  const move = (step) => {
    const all = rows();
    if (!all.length) return;
    const now = all.findIndex((row) => row.hasAttribute("data-current"));
    const next = now < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(now + step, 0), all.length - 1);
    all[now]?.removeAttribute("data-current");
    all[next].setAttribute("data-current", "");
    all[next].scrollIntoView({ block: "nearest" });
    (all[next].querySelector("a[data-open]") || all[next].querySelector("a"))?.focus({ preventScroll: true });
  };
  const open = (selector) => document.querySelector(selector)?.click();
  const actions = {
    j: () => move(1),
    k: () => move(-1),
    "/": () => document.querySelector("[data-search]")?.focus(),
    "[": () => open("[data-previous]"),
    "]": () => open("[data-next]"),
    "?": () => document.querySelector("dialog[data-keys]")?.showModal(),
    Escape: () => open("[data-up]"),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.target.closest("input, textarea, select")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
  document.querySelector("[data-show-keys]")?.addEventListener("click", actions["?"]);
})();
