import { ConvexError } from "convex/values";

/** The document, unless there is none. */
export function existing<Document>(document: Document | null): Document {
  if (document === null) throw new ConvexError({ code: "NOT_FOUND" });
  return document;
}
