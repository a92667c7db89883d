// A page with data-live listens for what happens on the server and replaces the parts that changed, nothing else:
// what is ticked, opened, focused or looked at stays.
"use strict";
(() => {
  const source = document.querySelector("[data-live]");
  if (!source) return;
  let events = null;
  let pending = false;
  let busy = false;
  let ended = false;
  const isUsed = (field) => field === document.activeElement || (field.matches("textarea") && field.value !== field.defaultValue);
  const keep = (part) => [...part.querySelectorAll("input:not([type=checkbox]), textarea, select")].some(isUsed);
  const find = (scope, address) => [...scope.querySelectorAll("a")].find((link) => link.getAttribute("href") === address);
  const carry = (part, next) => {
    for (const box of part.querySelectorAll("input[type=checkbox]:checked")) {
      const same = next.querySelector(`input[name="${CSS.escape(box.name)}"][value="${CSS.escape(box.value)}"]`);
      if (same) same.checked = true;
    }
    for (const old of part.querySelectorAll("details[id]")) {
      const same = next.querySelector(`details[id="${CSS.escape(old.id)}"]`);
      if (same) same.open = old.open;
    }
  };
  const swap = (part, next) => {
    const active = part.contains(document.activeElement) ? document.activeElement : null;
    const current = part.querySelector("[data-current] a[data-open]")?.getAttribute("href");
    const { scrollTop, scrollLeft } = part;
    carry(part, next);
    part.replaceWith(next);
    Object.assign(next, { scrollTop, scrollLeft });
    if (current) find(next, current)?.closest("[data-row]")?.setAttribute("data-current", "");
    if (active?.matches("input")) next.querySelector(`input[value="${CSS.escape(active.value)}"]`)?.focus({ preventScroll: true });
    else if (active) find(next, active.getAttribute("href"))?.focus({ preventScroll: true });
    next.dispatchEvent(new CustomEvent("refreshed", { bubbles: true }));
  };
  const place = () => { // the first link in sight, unless the reader is at the top and waits for what is new there
    const link = scrollY && [...document.querySelectorAll("main a[href]")].find((each) => each.getBoundingClientRect().top > 0);
    return link && { address: link.getAttribute("href"), top: link.getBoundingClientRect().top };
  };
  const replace = (fresh) => {
    const goesOn = fresh.querySelector("[data-live]") !== null; // asked first, because parts move from there to here
    const seen = place();
    for (const part of document.querySelectorAll("[data-part]")) {
      const next = fresh.querySelector(`[data-part="${CSS.escape(part.dataset.part)}"]`);
      if (next && !part.isEqualNode(next) && !keep(part)) swap(part, next);
    }
    const link = seen && find(document.querySelector("main"), seen.address);
    if (link) scrollBy(0, link.getBoundingClientRect().top - seen.top);
    if (!goesOn) end();
  };
  const load = async () => { // false: the server is busy or away, and what it did not say is still to be shown
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (answer.ok) replace(new DOMParser().parseFromString(await answer.text(), "text/html"));
      return answer.status < 500 && answer.status !== 429;
    } catch { return false; }
  };
  const refresh = async () => {
    if (busy) { pending = true; return; }
    busy = true;
    const loaded = await load();
    await new Promise((resolve) => setTimeout(resolve, loaded ? 250 : 3000));
    busy = false;
    const again = pending || (!loaded && events?.readyState === EventSource.OPEN); // a stream that opens anew asks anyway
    pending = false;
    if (again) refresh();
  };
  const open = () => {
    if (events || ended || document.hidden) return;
    events = new EventSource(source.dataset.live);
    events.addEventListener("ready", refresh); // for what happened since the page was written, or while nobody listened
    events.addEventListener("change", refresh);
    events.addEventListener("error", () => { // a browser comes back to a stream that broke, but not to one that was refused
      if (events?.readyState !== EventSource.CLOSED) return;
      close();
      setTimeout(open, 3000);
    });
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
