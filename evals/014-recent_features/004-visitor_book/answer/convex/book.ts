import { ConvexError, v } from "convex/values";
import { internal } from "./_generated/api";
import {
  action,
  internalMutation,
  mutation,
  query,
  type MutationCtx,
} from "./_generated/server";
import { origin } from "./schema";

const LIMIT = 3;
const WINDOW_MS = 60 * 60 * 1000;

export const sign = mutation({
  args: { text: v.string() },
  returns: v.null(),
  handler: async (ctx, { text }) => {
    await ctx.db.insert("entries", { text, ...(await accept(ctx)) });
    return null;
  },
});

/** The scheduler runs nobody's request: what is known about the visitor is known now. */
export const signLater = mutation({
  args: { text: v.string(), minutes: v.number() },
  returns: v.null(),
  handler: async (ctx, { text, minutes }) => {
    const visitor = await accept(ctx);
    await ctx.scheduler.runAfter(minutes * 60_000, internal.book.appear, {
      text,
      ...visitor,
    });
    return null;
  },
});

export const signFrom = action({
  args: { url: v.string() },
  returns: v.null(),
  handler: async (ctx, { url }): Promise<null> => {
    const response = await fetch(url).catch(() => null);
    if (!response?.ok) throw new ConvexError({ code: "UNREACHABLE" });
    await ctx.runMutation(internal.book.signAsVisitor, {
      text: await response.text(),
    });
    return null;
  },
});

export const entries = query({
  args: {},
  returns: v.array(v.object({ text: v.string(), ...origin })),
  handler: async (ctx) => {
    const newest = await ctx.db.query("entries").order("desc").take(50);
    return newest.map(({ text, address, program }) => ({
      text,
      address,
      program,
    }));
  },
});

/** The same as `sign`, for HTTP and other functions: the request is still that of the visitor. */
export const signAsVisitor = internalMutation({
  args: { text: v.string() },
  returns: v.null(),
  handler: async (ctx, { text }) => {
    await ctx.db.insert("entries", { text, ...(await accept(ctx)) });
    return null;
  },
});

export const appear = internalMutation({
  args: { text: v.string(), ...origin },
  returns: v.null(),
  handler: async (ctx, entry) => {
    await ctx.db.insert("entries", entry);
    return null;
  },
});

/** Counts an entry for the visitor who makes this request. */
async function accept(ctx: MutationCtx) {
  const { ip, userAgent } = await ctx.meta.getRequestMetadata();
  const recent = await ctx.db
    .query("signatures")
    .withIndex("by_address", (q) =>
      q.eq("address", ip).gt("_creationTime", Date.now() - WINDOW_MS),
    )
    .take(LIMIT);
  if (recent.length >= LIMIT) throw new ConvexError({ code: "TOO_MANY" });
  await ctx.db.insert("signatures", { address: ip });
  return { address: ip, program: userAgent };
}
