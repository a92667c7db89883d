import { ConvexError } from "convex/values";

export type Code = "NOT_FOUND" | "FORBIDDEN" | "INVALID" | "TAKEN" | "NO_SEATS" | "LAST_OWNER" | "APPROVED" | "FULL";

/** The error that clients understand. */
export function fail(code: Code): ConvexError<{ code: Code }> {
  return new ConvexError({ code });
}

/** The document, unless there is none. */
export function existing<Document>(document: Document | null | undefined): Document {
  if (document === null || document === undefined) throw fail("NOT_FOUND");
  return document;
}
