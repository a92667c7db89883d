// Choices that filter are sent when they are made; empty fields stay out of the address, the order of a table stays in it; ticked runs become ?runs=A,B.
"use strict";
document.addEventListener("change", (event) => {
  if (event.target.matches("[data-submit]")) event.target.form.requestSubmit();
});
const keepOrder = (form) => {
  const order = new URLSearchParams(location.search).get("sort");
  if (!order || form.elements.sort || new URL(form.action).pathname !== location.pathname) return;
  const field = document.createElement("input");
  Object.assign(field, { type: "hidden", name: "sort", value: order });
  form.append(field);
};
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "get") return;
  if (form.matches("[data-compare]")) {
    event.preventDefault();
    const ticked = [...form.querySelectorAll("input[name=runs]:checked")].map((box) => box.value);
    if (ticked.length > 1) location.href = `${form.getAttribute("action")}?runs=${ticked.join(",")}`;
    return;
  }
  for (const field of form.elements) if (!field.value) field.disabled = true;
  keepOrder(form);
});
addEventListener("pageshow", () => {
  for (const field of document.querySelectorAll("form :disabled")) field.disabled = false;
});
