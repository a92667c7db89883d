import { ConvexError, v } from "convex/values";
import { internal } from "./_generated/api";
import {
  action,
  internalQuery,
  mutation,
  query,
  type ActionCtx,
  type MutationCtx,
  type QueryCtx,
} from "./_generated/server";

export const order = action({
  args: { photo: v.string(), url: v.string() },
  returns: v.string(),
  handler: async (ctx, { photo, url }): Promise<string> => {
    const token = await tokenOfCall(ctx);
    const fingerprint = await fingerprintOf(token);
    if (await ctx.runQuery(internal.prints.isBlocked, { fingerprint }))
      throw new ConvexError({ code: "BLOCKED" });
    const response = await fetch(url, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${token}`,
        "Content-Type": "application/json",
      },
      body: JSON.stringify({ photo }),
    });
    if (!response.ok) throw new ConvexError({ code: "REFUSED" });
    const made = (await response.json()) as { order: string };
    return made.order;
  },
});

export const checkIn = mutation({
  args: { device: v.string() },
  returns: v.string(),
  handler: async (ctx, { device }) => {
    const { user, fingerprint, known } = await caller(ctx);
    if (known) await ctx.db.patch("tokens", known._id, { device });
    else
      await ctx.db.insert("tokens", {
        user,
        fingerprint,
        device,
        isBlocked: false,
      });
    return fingerprint;
  },
});

export const block = mutation({
  args: { fingerprint: v.string() },
  returns: v.null(),
  handler: async (ctx, { fingerprint }) => {
    const { user } = await caller(ctx);
    const found = await find(ctx, fingerprint);
    if (found === null || found.user !== user || found.isBlocked)
      throw new ConvexError({ code: "NOT_FOUND" });
    await ctx.db.patch("tokens", found._id, { isBlocked: true });
    return null;
  },
});

export const devices = query({
  args: {},
  returns: v.array(
    v.object({ device: v.string(), fingerprint: v.string() }),
  ),
  handler: async (ctx) => {
    const identity = await ctx.auth.getUserIdentity();
    if (identity === null) return [];
    const found = await ctx.db
      .query("tokens")
      .withIndex("by_user", (q) =>
        q.eq("user", identity.subject).eq("isBlocked", false),
      )
      .collect();
    return found.map(({ device, fingerprint }) => ({ device, fingerprint }));
  },
});

export const isBlocked = internalQuery({
  args: { fingerprint: v.string() },
  returns: v.boolean(),
  handler: async (ctx, { fingerprint }) =>
    (await find(ctx, fingerprint))?.isBlocked ?? false,
});

/** Who calls, with a token that is not blocked. */
async function caller(ctx: MutationCtx) {
  const fingerprint = await fingerprintOf(await tokenOfCall(ctx));
  const identity = await ctx.auth.getUserIdentity();
  if (identity === null) throw new ConvexError({ code: "UNAUTHENTICATED" });
  const known = await find(ctx, fingerprint);
  if (known?.isBlocked) throw new ConvexError({ code: "BLOCKED" });
  return { user: identity.subject, fingerprint, known };
}

async function tokenOfCall(ctx: ActionCtx | MutationCtx) {
  const { authToken } = await ctx.meta.getRequestMetadata();
  if (authToken === null) throw new ConvexError({ code: "UNAUTHENTICATED" });
  return authToken;
}

async function find(ctx: QueryCtx, fingerprint: string) {
  return await ctx.db
    .query("tokens")
    .withIndex("by_fingerprint", (q) => q.eq("fingerprint", fingerprint))
    .unique();
}

async function fingerprintOf(token: string) {
  const bytes = new TextEncoder().encode(token);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return [...digest]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}
