import type { Content, Kind } from "./content";

export type Visitor<Result> = { [K in Kind]: (content: Content<K>) => Result };

/** Calls the function for the kind of the content. */
export function visit<Result>(content: Content, visitor: Visitor<Result>): Result {
  switch (content.kind) {
    case "heading":
      return visitor.heading(content);
    case "paragraph":
      return visitor.paragraph(content);
    case "todo":
      return visitor.todo(content);
    case "image":
      return visitor.image(content);
  }
}
