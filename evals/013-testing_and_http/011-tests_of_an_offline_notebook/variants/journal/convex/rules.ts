import { ConvexError } from "convex/values";
import type { Doc } from "./_generated/dataModel";
import type { MutationCtx, QueryCtx } from "./_generated/server";

export const DAYS = 86_400_000;

export function fail(code: string): never {
  throw new ConvexError({ code });
}

export async function me(ctx: QueryCtx) {
  return (await ctx.auth.getUserIdentity())?.subject ?? fail("UNAUTHENTICATED");
}

/** Devices that are forgotten stay in their table, but nobody finds them. */
export async function gadgetsOf(ctx: QueryCtx, who: string) {
  const all = await ctx.db.query("gadgets").collect();
  return all.filter((each) => each.who === who && Date.now() - each.seen < 20 * DAYS);
}

export async function gadget(ctx: QueryCtx, who: string, name: string) {
  return (await gadgetsOf(ctx, who)).find((each) => each.name === name) ?? fail("UNKNOWN_DEVICE");
}

export async function book(ctx: QueryCtx, text: string) {
  const id = ctx.db.normalizeId("notebooks", text);
  return id === null ? null : await ctx.db.get("notebooks", id);
}

export function what(notebook: Doc<"notebooks"> | null, who: string) {
  return notebook?.people.find((each) => each.who === who)?.what ?? "nobody";
}

/** Notes that are purged stay in their table, but nobody finds them. */
export async function papers(ctx: QueryCtx) {
  const all = await ctx.db.query("papers").collect();
  return all.filter(({ gone, goneSince }) => gone === null || Date.now() - goneSince < 10 * DAYS);
}

export async function places(ctx: QueryCtx) {
  return (await ctx.db.query("journal").collect()).length;
}

export async function note(ctx: MutationCtx, key: string, notebooks: string[], others: string[] = []) {
  const readers = [...others];
  for (const each of notebooks) readers.push(...((await book(ctx, each))?.people ?? []).map(({ who }) => who));
  await ctx.db.insert("journal", { place: (await places(ctx)) + 1, key, readers });
}
