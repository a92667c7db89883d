import { type Infer, v } from "convex/values";

const level = v.union(v.literal(1), v.literal(2), v.literal(3));

/** What blocks of each kind consist of. */
export const fields = {
  heading: v.object({ level, text: v.string() }),
  paragraph: v.object({ text: v.string() }),
  todo: v.object({ text: v.string(), done: v.boolean() }),
  image: v.object({ url: v.string(), caption: v.nullable(v.string()) }),
};
export type Kind = keyof typeof fields;
export type Fields<K extends Kind> = Infer<(typeof fields)[K]>;
export type Content<K extends Kind = Kind> = { [P in K]: { kind: P } & Fields<P> }[K];
/** Any fields of a block; the others stay. */
export type Change<K extends Kind = Kind> = { [P in K]: { kind: P } & Partial<Fields<P>> }[K];

const { heading, paragraph, todo, image } = fields;
export const content = v.union(
  heading.extend({ kind: v.literal("heading") }),
  paragraph.extend({ kind: v.literal("paragraph") }),
  todo.extend({ kind: v.literal("todo") }),
  image.extend({ kind: v.literal("image") }),
);
export const change = v.union(
  heading.partial().extend({ kind: v.literal("heading") }),
  paragraph.partial().extend({ kind: v.literal("paragraph") }),
  todo.partial().extend({ kind: v.literal("todo") }),
  image.partial().extend({ kind: v.literal("image") }),
);

/** The content after the change, which must be one of the same kind. */
export function edit<K extends Kind>(content: Content<K>, change: Change<K>): Content<K> {
  return { ...content, ...change };
}
