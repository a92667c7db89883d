// A link with data-keep="sort" keeps that part of the address: what scripts put there after the page was made.
"use strict";
(() => {
  const keep = (event) => {
    const link = event.target.closest?.("a[data-keep]");
    if (!link) return;
    const now = new URLSearchParams(location.search);
    const address = new URL(link.href);
    for (const name of link.dataset.keep.split(" ")) {
      if (now.get(name)) address.searchParams.set(name, now.get(name));
      else address.searchParams.delete(name);
    }
    link.href = address.href;
  };
  for (const kind of ["click", "auxclick", "contextmenu"]) document.addEventListener(kind, keep, true);
})();
