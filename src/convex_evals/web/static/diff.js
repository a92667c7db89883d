// Side by side or inline: switched in place, kept in the address as ?diff=inline. A line that is linked to opens its file.
"use strict";
(() => {
  const diff = document.querySelector(".diff");
  document.addEventListener("click", (event) => {
    const chip = event.target.closest("[data-diff]");
    if (!chip || !diff || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const inline = chip.dataset.diff === "inline";
    diff.classList.toggle("inline", inline);
    for (const each of document.querySelectorAll("[data-diff]")) {
      if (each === chip) each.setAttribute("aria-current", "true");
      else each.removeAttribute("aria-current");
    }
    const address = new URL(location.href);
    if (inline) address.searchParams.set("diff", "inline");
    else address.searchParams.delete("diff");
    history.replaceState(null, "", address);
  });
  const reveal = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const closed = target && target.closest("details:not([open])");
    if (!closed) return;
    closed.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();
})();
