import { type Content, type OldContent, textOf } from "./content";
import { type Visitor, visit } from "./visit";

const STYLES = { plain: "", bold: "**", code: "`" };

const toMarkdown: Visitor<string> = {
  heading: ({ level, text }) => `${"#".repeat(level)} ${text}`,
  paragraph: ({ spans }) => spans.map(({ text, style }) => `${STYLES[style]}${text}${STYLES[style]}`).join(""),
  todo: ({ text, done }) => `- ${box(done)}${text}`,
  image: ({ url, caption }) => `![${caption ?? ""}](${url})`,
  list: ({ ordered, items }) =>
    items.map(({ text, done }, index) => `${ordered ? `${index + 1}.` : "-"} ${box(done)}${text}`).join("\n"),
  toggle: ({ title }) => `### ${title}`,
};

function box(done: boolean | null): string {
  if (done === null) return "";
  return done ? "[x] " : "[ ] ";
}

export function markdown(content: Content): string {
  return visit(content, toMarkdown);
}

/** What people read. */
const toText: Visitor<string> = {
  heading: ({ text }) => text,
  paragraph: textOf,
  todo: ({ text }) => text,
  image: ({ caption }) => caption ?? "",
  list: ({ items }) => items.map(({ text }) => text).join("\n"),
  toggle: ({ title }) => title,
};

export function words(content: Content): number {
  return visit(content, toText).split(/\s+/).filter((word) => word !== "").length;
}

/** What old clients can show. */
const toOld: Visitor<OldContent> = {
  heading: (content) => content,
  paragraph: (content) => ({ kind: "paragraph", text: textOf(content) }),
  todo: (content) => content,
  image: (content) => content,
  list: (content) => ({ kind: "paragraph", text: markdown(content) }),
  toggle: ({ title }) => ({ kind: "heading", level: 3, text: title }),
};

export function old(content: Content): OldContent {
  return visit(content, toOld);
}
