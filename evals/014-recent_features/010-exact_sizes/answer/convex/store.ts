import { ConvexError, getDocumentSize, v, type Value } from "convex/values";
import {
  mutation,
  query,
  type MutationCtx,
  type QueryCtx,
} from "./_generated/server";
import { entryFields } from "./schema";

const QUOTA = 4096;

type Entry = { owner: string; key: string; value: Value; note?: string };

export const put = mutation({
  args: entryFields,
  returns: v.number(),
  handler: async (ctx, args) => {
    const entry = args as Entry;
    const { size, free } = await measure(ctx, entry);
    if (size > free) throw new ConvexError({ code: "QUOTA", size, free });
    const old = await findEntry(ctx, entry);
    if (old === null) await ctx.db.insert("entries", entry);
    else await ctx.db.replace("entries", old._id, entry);
    return await setUsed(ctx, entry.owner, QUOTA - free + size);
  },
});

export const remove = mutation({
  args: { owner: v.string(), key: v.string() },
  returns: v.number(),
  handler: async (ctx, args) => {
    const used = await usedBy(ctx, args.owner);
    const old = await findEntry(ctx, args);
    if (old === null) return used;
    await ctx.db.delete("entries", old._id);
    return await setUsed(ctx, args.owner, used - getDocumentSize(old));
  },
});

export const preview = query({
  args: entryFields,
  returns: v.object({ size: v.number(), fits: v.boolean() }),
  handler: async (ctx, args) => {
    const { size, free } = await measure(ctx, args as Entry);
    return { size, fits: size <= free };
  },
});

export const used = query({
  args: { owner: v.string() },
  returns: v.number(),
  handler: async (ctx, { owner }) => await usedBy(ctx, owner),
});

/** The size of an entry, and how many bytes there are for it beside the others of its owner. */
async function measure(
  ctx: QueryCtx,
  { owner, key, value, note }: Entry,
): Promise<{ size: number; free: number }> {
  const fields = { owner, key, value };
  const size = getDocumentSize(
    note === undefined ? fields : { ...fields, note },
  );
  const old = await findEntry(ctx, { owner, key });
  const oldSize = old === null ? 0 : getDocumentSize(old);
  return { size, free: QUOTA - (await usedBy(ctx, owner)) + oldSize };
}

async function findEntry(
  ctx: QueryCtx,
  { owner, key }: { owner: string; key: string },
) {
  return await ctx.db
    .query("entries")
    .withIndex("by_owner_and_key", (q) => q.eq("owner", owner).eq("key", key))
    .unique();
}

async function findAccount(ctx: QueryCtx, owner: string) {
  return await ctx.db
    .query("accounts")
    .withIndex("by_owner", (q) => q.eq("owner", owner))
    .unique();
}

async function usedBy(ctx: QueryCtx, owner: string): Promise<number> {
  return (await findAccount(ctx, owner))?.used ?? 0;
}

async function setUsed(
  ctx: MutationCtx,
  owner: string,
  used: number,
): Promise<number> {
  const account = await findAccount(ctx, owner);
  if (account === null) await ctx.db.insert("accounts", { owner, used });
  else await ctx.db.patch("accounts", account._id, { used });
  return used;
}
