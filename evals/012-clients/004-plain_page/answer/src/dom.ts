export function element<Tag extends keyof HTMLElementTagNameMap>(tag: Tag, text = ""): HTMLElementTagNameMap[Tag] {
  const created = document.createElement(tag);
  created.textContent = text;
  return created;
}

export function button(text: string, onClick: () => void): HTMLButtonElement {
  const created = element("button", text);
  created.type = "button";
  created.addEventListener("click", onClick);
  return created;
}

/** Makes the children of `parent` those of `values`. What is there already stays where it is, and keeps the focus. */
export function show<Value, Child extends Element>(
  parent: Element,
  children: Map<string, Child>,
  values: readonly Value[],
  keyOf: (value: Value) => string,
  create: (value: Value) => Child,
  update: (child: Child, value: Value) => void,
): void {
  const keys = new Set(values.map(keyOf));
  for (const [key, child] of children) {
    if (keys.has(key)) continue;
    child.remove();
    children.delete(key);
  }
  let next = parent.firstElementChild;
  for (const value of values) {
    const key = keyOf(value);
    const child = children.get(key) ?? create(value);
    children.set(key, child);
    update(child, value);
    if (child === next) next = next.nextElementSibling;
    else parent.insertBefore(child, next);
  }
}
