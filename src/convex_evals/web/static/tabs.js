// One panel at a time, named by ?tab= in the address. Without scripts all panels stand one below the other.
"use strict";
(() => {
  const bar = document.querySelector("[data-tabs]");
  if (!bar) return;
  const links = [...bar.querySelectorAll("a[data-tab]")];
  const panels = () => [...document.querySelectorAll(".panel[data-tab]")];
  const activate = (name) => {
    for (const link of links) {
      if (link.dataset.tab === name) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    for (const panel of panels()) panel.toggleAttribute("data-active", panel.dataset.tab === name);
  };
  const asked = () => {
    const inside = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const panel = inside && inside.closest(".panel[data-tab]");
    return panel ? panel.dataset.tab : new URLSearchParams(location.search).get("tab") || links[0].dataset.tab;
  };
  const restore = () => {
    const name = asked();
    activate(links.some((link) => link.dataset.tab === name) ? name : links[0].dataset.tab);
    if (location.hash) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
  };
  bar.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-tab]");
    if (!link || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    const address = new URL(location.href);
    address.hash = "";
    if (link === links[0]) address.searchParams.delete("tab");
    else address.searchParams.set("tab", link.dataset.tab);
    history.pushState(null, "", address);
    activate(link.dataset.tab);
  });
  addEventListener("popstate", restore);
  addEventListener("hashchange", restore);
  document.addEventListener("refreshed", restore);
  restore();
})();
