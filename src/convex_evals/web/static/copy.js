// Buttons with data-copy put that text on the clipboard; data-copy-link copies the address of this view.
"use strict";
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy], [data-copy-link]");
  if (!button) return;
  const text = button.hasAttribute("data-copy-link") ? location.href : button.dataset.copy;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
    button.focus();
  }
  button.dataset.copied = "";
  setTimeout(() => delete button.dataset.copied, 1500);
});
