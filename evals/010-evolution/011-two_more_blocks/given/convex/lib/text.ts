import type { Content } from "./content";
import { type Visitor, visit } from "./visit";

const toMarkdown: Visitor<string> = {
  heading: ({ level, text }) => `${"#".repeat(level)} ${text}`,
  paragraph: ({ text }) => text,
  todo: ({ text, done }) => `- [${done ? "x" : " "}] ${text}`,
  image: ({ url, caption }) => `![${caption ?? ""}](${url})`,
};

export function markdown(content: Content): string {
  return visit(content, toMarkdown);
}

/** What people read. */
const toText: Visitor<string> = {
  heading: ({ text }) => text,
  paragraph: ({ text }) => text,
  todo: ({ text }) => text,
  image: ({ caption }) => caption ?? "",
};

export function words(content: Content): number {
  return visit(content, toText).split(/\s+/).filter((word) => word !== "").length;
}
