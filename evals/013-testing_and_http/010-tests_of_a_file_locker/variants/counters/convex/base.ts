import { ConvexError, v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import { internalMutation } from "./_generated/server";
import type { MutationCtx, QueryCtx } from "./_generated/server";

const HALF_AN_HOUR = 1_800_000;
const FORTNIGHT = 336 * 2 * HALF_AN_HOUR;

export function no(code: string): never {
  throw new ConvexError({ code });
}

export async function caller(ctx: QueryCtx) {
  const identity = await ctx.auth.getUserIdentity();
  return identity === null ? no("UNAUTHENTICATED") : identity.subject;
}

export function valid(name: string) {
  return /^([-.0-9a-z]+\/)*[-.0-9a-z]+$/.test(name);
}

export async function get(ctx: QueryCtx, owner: string, name: string) {
  return await ctx.db
    .query("shelf")
    .withIndex("by_name", (q) => q.eq("owner", owner).eq("name", name))
    .first();
}

export async function revisions(ctx: QueryCtx, key: string) {
  return await ctx.db
    .query("revisions")
    .withIndex("by_key", (q) => q.eq("key", key))
    .collect();
}

export async function describe(ctx: QueryCtx, { content, made, number }: Doc<"revisions">) {
  const { hash, bytes } = (await ctx.db.get("contents", content)) as Doc<"contents">;
  return { at: made, hash, size: bytes, version: number };
}

export async function accountOf(ctx: QueryCtx, owner: string) {
  return await ctx.db
    .query("accounts")
    .withIndex("by_owner", (q) => q.eq("owner", owner))
    .first();
}

type Change = { used?: number; reserved?: number; uploads?: number };

/** Adds to the sums of an owner. */
export async function book(ctx: MutationCtx, owner: string, change: Change) {
  const account = await accountOf(ctx, owner);
  const sums = {
    used: (account?.used ?? 0) + (change.used ?? 0),
    reserved: (account?.reserved ?? 0) + (change.reserved ?? 0),
    uploads: (account?.uploads ?? 0) + (change.uploads ?? 0),
  };
  if (account === null) await ctx.db.insert("accounts", { owner, ...sums });
  else await ctx.db.patch("accounts", account._id, sums);
}

export async function refer(ctx: MutationCtx, id: Id<"contents">, by: 1 | -1) {
  const { references, owner, bytes, stored } = (await ctx.db.get("contents", id)) as Doc<"contents">;
  await ctx.db.patch("contents", id, { references: references + by });
  if (references + by > 0) return;
  await ctx.db.delete("contents", id);
  await ctx.storage.delete(stored);
  await book(ctx, owner, { used: -bytes });
}

export async function append(ctx: MutationCtx, key: string, content: Id<"contents">) {
  const old = await revisions(ctx, key);
  const newest = old.at(-1);
  if (newest && newest.content === content) return { number: newest.number, added: false };
  const number = 1 + (newest?.number ?? 0);
  await refer(ctx, content, 1);
  await ctx.db.insert("revisions", { key, content, number, made: Date.now() });
  if (old.length === 3) {
    await ctx.db.delete("revisions", old[0]._id);
    await refer(ctx, old[0].content, -1);
  }
  return { number, added: true };
}

export async function destroy(ctx: MutationCtx, { _id, key }: Doc<"trash">) {
  await ctx.db.delete("trash", _id);
  for (const revision of await revisions(ctx, key)) {
    await ctx.db.delete("revisions", revision._id);
    await refer(ctx, revision.content, -1);
  }
  for (const link of await ctx.db.query("links").collect()) {
    if (link.key === key) await ctx.db.delete("links", link._id);
  }
}

export async function discard(ctx: MutationCtx, { _id, owner, bytes }: Doc<"uploads">) {
  await ctx.db.delete("uploads", _id);
  await book(ctx, owner, { reserved: -bytes, uploads: -1 });
}

/** There is one round at a time, at a full or half hour, when the first of all things will be over. */
export async function planRound(ctx: MutationCtx) {
  const ends = [
    ...(await ctx.db.query("trash").collect()).map(({ since }) => since + FORTNIGHT),
    ...(await ctx.db.query("uploads").collect()).map(({ end }) => end),
  ];
  const planned = await ctx.db.query("rounds").first();
  if (ends.length === 0) return;
  const at = Math.ceil(Math.min(...ends) / HALF_AN_HOUR) * HALF_AN_HOUR;
  if (planned !== null && planned.at <= at) return;
  if (planned !== null) await ctx.db.delete("rounds", planned._id);
  const round = await ctx.db.insert("rounds", { at });
  await ctx.scheduler.runAfter(at - Date.now(), internal.base.goRound, { round });
}

export const goRound = internalMutation({
  args: { round: v.id("rounds") },
  handler: async (ctx, { round }) => {
    if ((await ctx.db.get("rounds", round)) === null) return;
    await ctx.db.delete("rounds", round);
    for (const item of await ctx.db.query("trash").collect()) {
      if (item.since + FORTNIGHT <= Date.now()) await destroy(ctx, item);
    }
    for (const upload of await ctx.db.query("uploads").collect()) {
      if (upload.end <= Date.now()) await discard(ctx, upload);
    }
    await planRound(ctx);
  },
});
