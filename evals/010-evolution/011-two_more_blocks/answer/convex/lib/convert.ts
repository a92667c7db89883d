import { type Content, type Kind, plain, textOf } from "./content";

/** What the content of one kind gives when it is converted to another. */
type Results = {
  heading: { paragraph: Content<"paragraph">; toggle: Content<"toggle"> };
  paragraph: { heading: Content<"heading">; todo: Content<"todo">; list: Content<"list"> };
  todo: { paragraph: Content<"paragraph">; list: Content<"list"> };
  image: { paragraph: Content<"paragraph"> | null };
  list: { paragraph: Content<"paragraph">[]; todo: Content<"todo">[] };
  toggle: { heading: Content<"heading"> };
};
export type Target<K extends Kind> = keyof Results[K];
export type Converted<K extends Kind, T extends Target<K>> = { [P in K]: Results[P][T & keyof Results[P]] }[K];
type Source<T> = { [K in Kind]: T extends keyof Results[K] ? K : never }[Kind];

const conversions: { [K in Kind]: { [T in keyof Results[K]]: (content: Content<K>) => Results[K][T] } } = {
  heading: {
    paragraph: ({ text }) => plain(text),
    toggle: ({ text }) => ({ kind: "toggle", title: text, isOpen: true }),
  },
  paragraph: {
    heading: (content) => ({ kind: "heading", level: 2, text: textOf(content) }),
    todo: (content) => ({ kind: "todo", text: textOf(content), done: false }),
    list: (content) => ({ kind: "list", ordered: false, items: [{ text: textOf(content), done: null }] }),
  },
  todo: {
    paragraph: ({ text }) => plain(text),
    list: ({ text, done }) => ({ kind: "list", ordered: false, items: [{ text, done }] }),
  },
  image: { paragraph: ({ caption }) => (caption === null ? null : plain(caption)) },
  list: {
    paragraph: ({ items }) => items.map(({ text }) => plain(text)),
    todo: ({ items }) => items.map(({ text, done }) => ({ kind: "todo", text, done: done ?? false })),
  },
  toggle: { heading: ({ title }) => ({ kind: "heading", level: 3, text: title }) },
};

const TARGETS: { [K in Kind]: readonly Target<K>[] } = {
  heading: ["paragraph", "toggle"],
  paragraph: ["heading", "todo", "list"],
  todo: ["paragraph", "list"],
  image: ["paragraph"],
  list: ["paragraph", "todo"],
  toggle: ["heading"],
};

export function targets<K extends Kind>(kind: K): readonly { [P in K]: Target<P> }[K][] {
  return TARGETS[kind];
}

export function canConvert<C extends Content, T extends Kind>(
  content: C,
  to: T,
): content is Extract<C, { kind: Source<T> }> {
  const possible: readonly Kind[] = TARGETS[content.kind];
  return possible.includes(to);
}

export function convert<K extends Kind, T extends Target<K>>(content: Content<K>, to: T): Converted<K, T>;
export function convert(content: Content, to: Kind): Content | Content[] | null {
  switch (content.kind) {
    case "heading":
      return by(conversions.heading, content, to);
    case "paragraph":
      return by(conversions.paragraph, content, to);
    case "todo":
      return by(conversions.todo, content, to);
    case "image":
      return by(conversions.image, content, to);
    case "list":
      return by(conversions.list, content, to);
    case "toggle":
      return by(conversions.toggle, content, to);
  }
}

type To<C> = { [T in Kind]?: (content: C) => Content | Content[] | null };

function by<C extends Content>(conversions: To<C>, content: C, to: Kind): Content | Content[] | null {
  const conversion = conversions[to];
  if (conversion === undefined) throw new Error(`${content.kind} to ${to}`);
  return conversion(content);
}
