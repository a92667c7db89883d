// Light, dark or as the system has it: chosen by the switch, kept in a cookie that the server reads, or in the browser.
"use strict";
(() => {
  const root = document.documentElement;
  root.dataset.scripts = "";
  const kept = localStorage.getItem("theme");
  if (kept) root.dataset.theme = kept;
  const button = document.querySelector("[data-theme-switch]");
  if (!button) return;
  const dark = () => root.dataset.theme === "dark"
    || (!root.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
  const tell = () => button.setAttribute("aria-pressed", String(dark()));
  button.addEventListener("click", () => {
    const next = dark() ? "light" : "dark";
    root.dataset.theme = next;
    localStorage.setItem("theme", next);
    document.cookie = `theme=${next}; path=/; max-age=31536000; samesite=lax`;
    tell();
  });
  tell();
})();
