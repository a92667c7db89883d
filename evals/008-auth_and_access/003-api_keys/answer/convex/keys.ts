import { ConvexError, v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import {
  action,
  internalMutation,
  mutation,
  query,
  type MutationCtx,
  type QueryCtx,
} from "./_generated/server";
import { scope } from "./schema";
import { hashOf, hintOf, newSecret } from "./secrets";

const MOST_KEYS = 3;
const DAY_MS = 24 * 60 * 60 * 1000;
const CHANGEOVER_MS = 60 * 60 * 1000;

const creation = {
  label: v.string(),
  scopes: v.array(scope),
  days: v.nullable(v.number()),
};

// Actions, because only they have randomness that nobody can predict.
export const create = action({
  args: creation,
  handler: async (
    ctx,
    args,
  ): Promise<{ keyId: Id<"keys">; secret: string }> => {
    const secret = newSecret();
    const keyId: Id<"keys"> = await ctx.runMutation(internal.keys.add, {
      ...args,
      hash: await hashOf(secret),
      hint: hintOf(secret),
    });
    return { keyId, secret };
  },
});

export const rotate = action({
  args: { keyId: v.id("keys") },
  handler: async (ctx, { keyId }): Promise<{ secret: string }> => {
    const secret = newSecret();
    await ctx.runMutation(internal.keys.replaceSecret, {
      keyId,
      hash: await hashOf(secret),
      hint: hintOf(secret),
    });
    return { secret };
  },
});

export const add = internalMutation({
  args: { ...creation, hash: v.string(), hint: v.string() },
  handler: async (ctx, { label, scopes, days, hash, hint }) => {
    const owner = await requireUser(ctx);
    const isRepeated = new Set(scopes).size !== scopes.length;
    if (scopes.length === 0 || isRepeated || (days !== null && !(days > 0))) {
      throw new ConvexError({ code: "INVALID" });
    }
    if ((await keysInForce(ctx, owner)).length >= MOST_KEYS) {
      throw new ConvexError({ code: "TOO_MANY" });
    }
    const expires = days === null ? null : Date.now() + days * DAY_MS;
    const fields = { owner, label, scopes, expires, hint, lastUsed: null };
    const keyId = await ctx.db.insert("keys", fields);
    await ctx.db.insert("secrets", { keyId, hash, until: null });
    return keyId;
  },
});

export const replaceSecret = internalMutation({
  args: { keyId: v.id("keys"), hash: v.string(), hint: v.string() },
  handler: async (ctx, { keyId, hash, hint }) => {
    await requireOwnKey(ctx, keyId);
    for (const secret of await secretsOf(ctx, keyId)) {
      if (secret.until === null) {
        const until = Date.now() + CHANGEOVER_MS;
        await ctx.db.patch("secrets", secret._id, { until });
      } else {
        await ctx.db.delete("secrets", secret._id);
      }
    }
    await ctx.db.insert("secrets", { keyId, hash, until: null });
    await ctx.db.patch("keys", keyId, { hint });
    return null;
  },
});

export const revoke = mutation({
  args: { keyId: v.id("keys") },
  handler: async (ctx, { keyId }) => {
    await requireOwnKey(ctx, keyId);
    for (const secret of await secretsOf(ctx, keyId)) {
      await ctx.db.delete("secrets", secret._id);
    }
    await ctx.db.delete("keys", keyId);
    return null;
  },
});

export const list = query({
  args: {},
  handler: async (ctx) => {
    const owner = (await ctx.auth.getUserIdentity())?.subject;
    const keys = owner === undefined ? [] : await keysInForce(ctx, owner);
    return keys.map(({ _id, label, scopes, expires, hint, lastUsed }) => ({
      keyId: _id,
      label,
      scopes,
      expires,
      hint,
      lastUsed,
    }));
  },
});

export function isInForce(key: Doc<"keys">): boolean {
  return key.expires === null || key.expires > Date.now();
}

async function requireUser(ctx: QueryCtx): Promise<string> {
  const identity = await ctx.auth.getUserIdentity();
  if (identity === null) {
    throw new ConvexError({ code: "UNAUTHENTICATED" });
  }
  return identity.subject;
}

async function requireOwnKey(ctx: QueryCtx, keyId: Id<"keys">): Promise<void> {
  const owner = await requireUser(ctx);
  const key = await ctx.db.get("keys", keyId);
  if (key === null || key.owner !== owner || !isInForce(key)) {
    throw new ConvexError({ code: "NOT_FOUND" });
  }
}

async function keysInForce(ctx: QueryCtx, owner: string) {
  const keys = await ctx.db
    .query("keys")
    .withIndex("by_owner", (q) => q.eq("owner", owner))
    .collect();
  return keys.filter(isInForce);
}

async function secretsOf(ctx: MutationCtx, keyId: Id<"keys">) {
  return await ctx.db
    .query("secrets")
    .withIndex("by_key", (q) => q.eq("keyId", keyId))
    .collect();
}
