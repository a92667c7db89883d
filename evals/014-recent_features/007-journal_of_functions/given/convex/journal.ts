import type { ActionCtx, MutationCtx, QueryCtx } from "./_generated/server";

/** Adds an entry for the function whose context this is, and returns its label. */
export async function journal(
  ctx: QueryCtx | MutationCtx | ActionCtx,
  text: string,
): Promise<string> {
  throw new Error("Not written yet");
}
