import { v } from "convex/values";
import type { Doc } from "./_generated/dataModel";
import {
  internalMutation,
  type MutationCtx,
  type QueryCtx,
} from "./_generated/server";
import { isInForce } from "./keys";
import { suspension } from "./users";

const LAST_USED_STEP_MS = 45_000;

/** What a request with this hash of a secret comes to. Who asks is checked in the transaction that does it. */
export const read = internalMutation({
  args: { hash: v.string() },
  handler: async (ctx, { hash }) => {
    const key = await useKey(ctx, hash);
    if (key === null) {
      return "unauthorized" as const;
    }
    if (!key.scopes.includes("read")) {
      return "forbidden" as const;
    }
    return (await notesOf(ctx, key.owner)).map(({ text }) => text);
  },
});

export const write = internalMutation({
  args: { hash: v.string(), text: v.nullable(v.string()) },
  handler: async (ctx, { hash, text }) => {
    const key = await useKey(ctx, hash);
    if (key === null) {
      return "unauthorized" as const;
    }
    if (!key.scopes.includes("write")) {
      return "forbidden" as const;
    }
    if (text === null) {
      return "malformed" as const;
    }
    await ctx.db.insert("notes", { owner: key.owner, text });
    return (await notesOf(ctx, key.owner)).length;
  },
});

async function useKey(
  ctx: MutationCtx,
  hash: string,
): Promise<Doc<"keys"> | null> {
  const secret = await ctx.db
    .query("secrets")
    .withIndex("by_hash", (q) => q.eq("hash", hash))
    .unique();
  const now = Date.now();
  if (secret === null || (secret.until !== null && secret.until <= now)) {
    return null;
  }
  const key = await ctx.db.get("keys", secret.keyId);
  if (key === null || !isInForce(key)) {
    return null;
  }
  if ((await suspension(ctx, key.owner)) !== null) {
    return null;
  }
  if (now - (key.lastUsed ?? 0) > LAST_USED_STEP_MS) {
    await ctx.db.patch("keys", key._id, { lastUsed: now });
  }
  return key;
}

async function notesOf(ctx: QueryCtx, owner: string) {
  return await ctx.db
    .query("notes")
    .withIndex("by_owner", (q) => q.eq("owner", owner))
    .collect();
}
