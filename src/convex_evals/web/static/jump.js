// Ctrl+K: jump to any run, model or eval by the beginning of its name.
"use strict";
(() => {
  const dialog = document.querySelector("dialog[data-jump]");
  if (!dialog) return;
  const field = dialog.querySelector("input");
  const list = dialog.querySelector("[role=listbox]");
  let asked = 0;
  const options = () => [...list.children];
  const choose = (option) => {
    for (const each of options()) each.setAttribute("aria-selected", String(each === option));
    if (option) field.setAttribute("aria-activedescendant", option.id);
    option?.scrollIntoView({ block: "nearest" });
  };
  const chosen = () => options().find((each) => each.getAttribute("aria-selected") === "true");
  const option = (found, index) => {
    const element = document.createElement("div");
    element.id = `jump-${index}`;
    element.setAttribute("role", "option");
    element.dataset.address = found.address;
    for (const name of ["kind", "name"]) {
      const part = document.createElement("span");
      part.className = name;
      part.textContent = found[name];
      element.append(part);
    }
    return element;
  };
  const look = async () => {
    const turn = ++asked;
    const answer = await fetch(`${dialog.dataset.jump}?q=${encodeURIComponent(field.value)}`);
    if (turn !== asked || !answer.ok) return;
    const { found } = await answer.json();
    list.replaceChildren(...found.map(option));
    choose(list.firstElementChild);
  };
  const go = (target) => { if (target) location.href = target.dataset.address; };
  field.addEventListener("input", look);
  list.addEventListener("click", (event) => go(event.target.closest("[role=option]")));
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") go(chosen());
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    const all = options();
    const next = all.indexOf(chosen()) + (event.key === "ArrowDown" ? 1 : -1);
    choose(all[Math.min(Math.max(next, 0), all.length - 1)]);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    dialog.showModal();
    field.select();
    look();
  });
})();
