// A page with data-live listens for what happens on the server and replaces the parts that changed, nothing else.
"use strict";
(() => {
  const source = document.querySelector("[data-live]");
  if (!source) return;
  let events = null;
  let pending = false;
  let busy = false;
  let ended = false;
  const keep = (part) => part.contains(document.activeElement) && document.activeElement.matches("input, textarea, select");
  const replace = (fresh) => {
    for (const part of document.querySelectorAll("[data-part]")) {
      const next = fresh.querySelector(`[data-part="${CSS.escape(part.dataset.part)}"]`);
      if (!next || part.isEqualNode(next) || keep(part)) continue;
      const focused = part.contains(document.activeElement) && document.activeElement.getAttribute("href");
      const current = part.querySelector("[data-current] a[data-open]")?.getAttribute("href");
      part.replaceWith(next);
      const find = (address) => [...next.querySelectorAll("a")].find((link) => link.getAttribute("href") === address);
      if (current) find(current)?.closest("[data-row]")?.setAttribute("data-current", "");
      if (focused) find(focused)?.focus({ preventScroll: true });
      next.dispatchEvent(new CustomEvent("refreshed", { bubbles: true }));
    }
    if (!fresh.querySelector("[data-live]")) end();
  };
  const refresh = async () => {
    if (busy) { pending = true; return; }
    busy = true;
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (answer.ok) replace(new DOMParser().parseFromString(await answer.text(), "text/html"));
    } catch { /* the server is away; the next event asks again */ }
    await new Promise((resolve) => setTimeout(resolve, 250));
    busy = false;
    if (pending) { pending = false; refresh(); }
  };
  const open = () => {
    if (events || ended || document.hidden) return;
    events = new EventSource(source.dataset.live);
    events.addEventListener("open", refresh); // for what happened since the page was written, or while nobody listened
    events.addEventListener("change", refresh);
  };
  const close = () => { events?.close(); events = null; };
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) { close(); return; }
    open();
  });
  const end = () => { close(); ended = true; };
  addEventListener("pagehide", close);
  open();
})();
