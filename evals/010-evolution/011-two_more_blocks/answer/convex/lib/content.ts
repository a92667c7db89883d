import { type Infer, v } from "convex/values";

const level = v.union(v.literal(1), v.literal(2), v.literal(3));

/** What blocks of each kind consist of. */
export const fields = {
  heading: v.object({ level, text: v.string() }),
  paragraph: v.object({
    spans: v.array(
      v.object({ text: v.string(), style: v.union(v.literal("plain"), v.literal("bold"), v.literal("code")) }),
    ),
  }),
  todo: v.object({ text: v.string(), done: v.boolean() }),
  image: v.object({ url: v.string(), caption: v.nullable(v.string()) }),
  list: v.object({
    ordered: v.boolean(),
    items: v.array(v.object({ text: v.string(), done: v.nullable(v.boolean()) })),
  }),
  /** Contains other blocks, but no toggles. */
  toggle: v.object({ title: v.string(), isOpen: v.boolean() }),
};
/** What paragraphs were before, and are for old clients. */
export const oldParagraph = v.object({ text: v.string() });

export type Kind = keyof typeof fields;
export type Fields<K extends Kind> = Infer<(typeof fields)[K]>;
export type Content<K extends Kind = Kind> = { [P in K]: { kind: P } & Fields<P> }[K];
/** Any fields of a block; the others stay. */
export type Change<K extends Kind = Kind> = { [P in K]: { kind: P } & Partial<Fields<P>> }[K];

const contents = {
  heading: fields.heading.extend({ kind: v.literal("heading") }),
  paragraph: fields.paragraph.extend({ kind: v.literal("paragraph") }),
  todo: fields.todo.extend({ kind: v.literal("todo") }),
  image: fields.image.extend({ kind: v.literal("image") }),
  list: fields.list.extend({ kind: v.literal("list") }),
  toggle: fields.toggle.extend({ kind: v.literal("toggle") }),
};
const { heading, paragraph, todo, image, list, toggle } = contents;
const oldContents = oldParagraph.extend({ kind: v.literal("paragraph") });

export const inner = v.union(heading, paragraph, todo, image, list);
export const section = toggle;
/** What clients send, old ones among them. */
export const content = v.union(heading, paragraph, todo, image, list, toggle, oldContents);
/** What old clients get. */
export const oldContent = v.union(heading, oldContents, todo, image);
export type OldContent = Infer<typeof oldContent>;
export const change = v.union(
  fields.heading.partial().extend({ kind: v.literal("heading") }),
  fields.paragraph.partial().extend({ kind: v.literal("paragraph") }),
  fields.todo.partial().extend({ kind: v.literal("todo") }),
  fields.image.partial().extend({ kind: v.literal("image") }),
  fields.list.partial().extend({ kind: v.literal("list") }),
  fields.toggle.partial().extend({ kind: v.literal("toggle") }),
  oldParagraph.partial().extend({ kind: v.literal("paragraph") }),
);

export type Sent = Infer<typeof content>;
export type SentChange = Infer<typeof change>;

export function plain(text: string): Content<"paragraph"> {
  return { kind: "paragraph", spans: [{ text, style: "plain" }] };
}

export function textOf({ spans }: Content<"paragraph">): string {
  return spans.map(({ text }) => text).join("");
}

/** Of old clients, or of old documents. */
export function current(sent: Sent): Content {
  return sent.kind === "paragraph" && "text" in sent ? plain(sent.text) : sent;
}

export function currentChange(sent: SentChange): Change {
  if (sent.kind !== "paragraph" || !("text" in sent)) return sent;
  return sent.text === undefined ? { kind: "paragraph" } : plain(sent.text);
}

/** The content after the change, which must be one of the same kind. */
export function edit<K extends Kind>(content: Content<K>, change: Change<K>): Content<K> {
  return { ...content, ...change };
}
