// One panel at a time, named by ?tab= in the address. Without scripts all panels stand one below the other.
"use strict";
(() => {
  const links = () => [...document.querySelectorAll("[data-tabs] a[data-tab]")];
  if (!links().length) return;
  const activate = (name) => {
    for (const link of links()) {
      if (link.dataset.tab === name) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    for (const panel of document.querySelectorAll(".panel[data-tab]")) {
      panel.toggleAttribute("data-active", panel.dataset.tab === name);
    }
  };
  const target = () => (location.hash ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null);
  const asked = () => {
    const panel = target()?.closest(".panel[data-tab]");
    const name = panel ? panel.dataset.tab : new URLSearchParams(location.search).get("tab");
    return links().some((link) => link.dataset.tab === name) ? name : links()[0].dataset.tab;
  };
  const restore = () => {
    activate(asked());
    target()?.scrollIntoView();
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-tabs] a[data-tab]");
    if (!link || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    const address = new URL(location.href);
    address.hash = "";
    if (link === links()[0]) address.searchParams.delete("tab");
    else address.searchParams.set("tab", link.dataset.tab);
    history.pushState(null, "", address);
    activate(link.dataset.tab);
  });
  addEventListener("popstate", restore);
  addEventListener("hashchange", restore);
  document.addEventListener("refreshed", () => activate(asked())); // and stay where the reader is
  restore();
})();
