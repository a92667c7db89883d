import { ConvexError } from "convex/values";

export type Code = "NOT_FOUND" | "FORBIDDEN" | "INVALID" | "SOLD_OUT" | "USED_UP" | "WRONG_STATUS";

export function fail(code: Code): ConvexError<{ code: Code }> {
  return new ConvexError({ code });
}

/** The document, unless there is none. */
export function existing<Document>(document: Document | null | undefined): Document {
  if (document === null || document === undefined) throw fail("NOT_FOUND");
  return document;
}

/** A whole number from 1 on. */
export function checkQuantity(quantity: number): void {
  if (!Number.isInteger(quantity) || quantity < 1) throw fail("INVALID");
}
