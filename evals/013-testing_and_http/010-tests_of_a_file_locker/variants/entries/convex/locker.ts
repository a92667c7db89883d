import { ConvexError } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import type { MutationCtx, QueryCtx } from "./_generated/server";

const HOUR = 3_600_000;

export function fail(code: string): never {
  throw new ConvexError({ code });
}

export async function me(ctx: QueryCtx) {
  return (await ctx.auth.getUserIdentity())?.subject ?? fail("UNAUTHENTICATED");
}

export function isPath(text: string) {
  return text.split("/").every((part) => part !== "" && part.replace(/[a-z]|[0-9]|[.-]/g, "") === "");
}

/** Nothing cleans up in time: what is over is not looked at any more. */
export async function entriesOf(ctx: QueryCtx, owner?: string) {
  const all = await ctx.db.query("entries").collect();
  return all.filter(
    (each) => (owner ?? each.owner) === each.owner && (each.binned ?? Infinity) + 14 * 24 * HOUR > Date.now(),
  );
}

export async function shelf(ctx: QueryCtx, owner: string) {
  const files = (await entriesOf(ctx, owner)).filter(({ binned }) => binned === undefined);
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

export async function entryAt(ctx: QueryCtx, path: string) {
  const files = await shelf(ctx, await me(ctx));
  return files.find((each) => each.path === path) ?? fail("NOT_FOUND");
}

export async function ticketsOf(ctx: QueryCtx, owner: string) {
  const all = await ctx.db.query("tickets").collect();
  return all.filter((each) => each.owner === owner && Date.now() - each.begun < HOUR);
}

export async function ticket(ctx: QueryCtx, token: string) {
  const id = ctx.db.normalizeId("tickets", token);
  const found = id && (await ctx.db.get("tickets", id));
  return found && Date.now() - found.begun < HOUR ? found : null;
}

export async function sum(ctx: QueryCtx, owner: string) {
  const sizes = new Map<string, number>();
  for (const { history } of await entriesOf(ctx, owner)) for (const { hash, size } of history) sizes.set(hash, size);
  const bytes = (await ticketsOf(ctx, owner)).map((each) => each.bytes);
  const add = (a: number, b: number) => a + b;
  return { used: [...sizes.values()].reduce(add, 0), reserved: bytes.reduce(add, 0) };
}

/** Removes what nobody can see any more. */
export async function tidy(ctx: MutationCtx) {
  const kept = await entriesOf(ctx);
  for (const { _id } of await ctx.db.query("entries").collect()) {
    if (!kept.some((each) => each._id === _id)) await ctx.db.delete("entries", _id);
  }
  for (const { _id, hash, stored } of await ctx.db.query("blobs").collect()) {
    if (kept.some(({ history }) => history.some((each) => each.hash === hash))) continue;
    await ctx.storage.delete(stored);
    await ctx.db.delete("blobs", _id);
  }
}

export async function push(ctx: MutationCtx, entry: Id<"entries">, content: { hash: string; size: number }) {
  const { history } = (await ctx.db.get("entries", entry)) as Doc<"entries">;
  const last = history[history.length - 1] as Doc<"entries">["history"][number] | undefined;
  if (last?.hash === content.hash) return { version: last.version, added: false };
  const version = last === undefined ? 1 : last.version + 1;
  const longer = [...history, { version, size: content.size, hash: content.hash, at: Date.now() }];
  await ctx.db.patch("entries", entry, { history: longer.slice(-3) });
  return { version, added: true };
}
