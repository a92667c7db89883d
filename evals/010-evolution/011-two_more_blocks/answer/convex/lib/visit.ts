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
    case "list":
      return visitor.list(content);
    case "toggle":
      return visitor.toggle(content);
  }
}

type Cases = Partial<Visitor<unknown>>;
type Only<Some> = { [K in Exclude<keyof Some, Kind>]: never };
type ResultOf<Case> = Case extends (...args: never[]) => infer Result ? Result : never;

/** Calls the function for the kind of the content, or `otherwise` if there is none. */
export function visitSome<Some extends Cases, Other>(
  content: Content,
  cases: Some & Only<Some>,
  otherwise: (content: Content<Exclude<Kind, keyof Some>>) => Other,
): ResultOf<Some[keyof Some]> | Other;
export function visitSome(content: Content, cases: Cases, otherwise: (content: never) => unknown): unknown {
  const rest = otherwise as (content: Content) => unknown; // It is called only for kinds that have no case.
  const { heading = rest, paragraph = rest, todo = rest, image = rest, list = rest, toggle = rest } = cases;
  return visit(content, { heading, paragraph, todo, image, list, toggle });
}
