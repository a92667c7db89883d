// Side by side or inline: switched in place, kept in the address as ?diff=inline. So is the file that was opened last,
// as ?file=PATH. A line that is linked to opens its file.
"use strict";
(() => {
  const keep = (name, value) => {
    const address = new URL(location.href);
    if (value) address.searchParams.set(name, value);
    else address.searchParams.delete(name);
    history.replaceState(history.state, "", address);
  };
  const choose = (chip) => {
    const inline = chip.dataset.diff === "inline";
    for (const diff of document.querySelectorAll(".diff")) diff.classList.toggle("inline", inline);
    for (const each of document.querySelectorAll("[data-diff]")) {
      if (each === chip) each.setAttribute("aria-current", "true");
      else each.removeAttribute("aria-current");
    }
    keep("diff", inline && "inline");
  };
  document.addEventListener("click", (event) => {
    const chip = event.target.closest("[data-diff]");
    if (chip && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      choose(chip);
    }
    const file = event.target.closest("details[data-file] > summary")?.parentElement;
    if (file) keep("file", !file.open && file.dataset.file);
  });
  const reveal = () => {
    const query = new URLSearchParams(location.search);
    const panel = query.get("tab") && document.getElementById(query.get("tab"));
    const target = location.hash
      ? document.getElementById(decodeURIComponent(location.hash.slice(1)))
      : panel?.querySelector(`details[data-file="${CSS.escape(query.get("file") ?? "")}"]`);
    const closed = target?.closest("details:not([open])");
    if (closed) closed.open = true;
    if (closed || !location.hash) target?.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();
})();
