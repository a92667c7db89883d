// The page of the next version. It is finished, and waits for the backend.
import type { ConvexClient } from "convex/browser";
import type { FunctionArgs, FunctionReturnType } from "convex/server";
import { api } from "../convex/_generated/api";
import { type Change, type Content, edit, type Kind } from "../convex/lib/content";
import { canConvert, type Converted, convert, type Target, targets } from "../convex/lib/convert";
import { visit, visitSome } from "../convex/lib/visit";

type Document = NonNullable<FunctionReturnType<typeof api.documents.read>>;
type Node = Document["blocks"][number];
type Choice = FunctionArgs<typeof api.blocks.convert>["to"];

const names: { [K in Kind]: string } = {
  heading: "Heading",
  paragraph: "Text",
  todo: "To-do",
  image: "Image",
  list: "List",
  toggle: "Section",
};

/** What a block can be turned into. */
export function menu(content: Content): { to: Choice; name: string }[] {
  const choices: readonly Choice[] = targets(content.kind);
  return choices.map((to) => ({ to, name: names[to] }));
}

export async function choose(client: ConvexClient, node: Node, to: Choice): Promise<number> {
  const ids = await client.mutation(api.blocks.convert, { blockId: node.blockId, to });
  return ids.length;
}

/** What will be there when the server has done it, to be shown at once. */
export function preview(content: Content<"heading" | "todo">): Content<"paragraph"> {
  return convert(content, "paragraph");
}

export function tasks(content: Content): Content<"todo">[] {
  if (content.kind === "todo") return [content];
  if (!canConvert(content, "todo")) return [];
  const todos = convert(content, "todo");
  return Array.isArray(todos) ? todos : [todos];
}

export function title(node: Node): string {
  if ("children" in node) return `${node.content.title} (${node.children.length})`;
  const found = visitSome(
    node.content,
    {
      heading: ({ level, text }) => ({ text, level }),
      list: ({ items }) => items.length,
      image: ({ caption }) => caption,
    },
    (rest) => (rest.kind === "paragraph" ? rest.spans : rest.kind),
  );
  if (found === null) return "untitled";
  if (typeof found === "number") return `${found} items`;
  if (typeof found === "string") return found.toUpperCase();
  return Array.isArray(found) ? found.map((span) => span.text).join("") : `${found.level}: ${found.text}`;
}

const defaults: { [K in Kind]: Change<K> } = {
  heading: { kind: "heading", level: 1 },
  paragraph: { kind: "paragraph", spans: [] },
  todo: { kind: "todo", done: false },
  image: { kind: "image", caption: null },
  list: { kind: "list", items: [] },
  toggle: { kind: "toggle", isOpen: true },
};

export function reset<K extends Kind>(kind: K, content: Content<K>): Content<K> {
  return edit(content, defaults[kind]);
}

export function isEmpty(content: Content): boolean {
  return visit(content, {
    heading: ({ text }) => text === "",
    paragraph: ({ spans }) => spans.every(({ text }) => text === ""),
    todo: ({ text }) => text === "",
    image: () => false,
    list: ({ items }) => items.length === 0,
    toggle: ({ title }) => title === "",
  });
}

/** Undo: from what a block has become to what it was. */
export interface Step<From extends Kind, To extends Target<From>> {
  before: Content<From>;
  to: To;
  after: Converted<From, To>;
}

export function step(before: Content<"paragraph" | "todo">): Step<"paragraph" | "todo", "list"> {
  return { before, to: "list", after: convert(before, "list") };
}
