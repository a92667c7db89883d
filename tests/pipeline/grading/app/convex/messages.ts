import { paginationOptsValidator } from "convex/server";
import { ConvexError, v } from "convex/values";
import { api, internal } from "./_generated/api";
import { action, internalMutation, internalQuery, mutation, query } from "./_generated/server";

export const send = mutation({
  args: { channel: v.string(), body: v.string() },
  handler: async (ctx, args) => {
    if (args.body === "") throw new ConvexError({ code: "EMPTY", field: "body" });
    return await ctx.db.insert("messages", args);
  },
});

export const list = query({
  args: { channel: v.string() },
  handler: async (ctx, args) =>
    await ctx.db
      .query("messages")
      .withIndex("by_channel", (q) => q.eq("channel", args.channel))
      .collect(),
});

export const scan = query({
  args: { channel: v.string() },
  handler: async (ctx, args) =>
    await ctx.db
      .query("messages")
      .filter((q) => q.eq(q.field("channel"), args.channel))
      .collect(),
});

export const oneByOne = query({
  args: { ids: v.array(v.id("messages")) },
  handler: async (ctx, args) => {
    const found = [];
    for (const id of args.ids) found.push(await ctx.db.get("messages", id));
    return found.length;
  },
});

export const together = query({
  args: { ids: v.array(v.id("messages")) },
  handler: async (ctx, args) => {
    const reads = args.ids.map((id) => ctx.db.get("messages", id));
    const listed = ctx.db.query("messages").collect();
    return (await Promise.all(reads)).length + (await listed).length;
  },
});

export const page = query({
  args: { paginationOpts: paginationOptsValidator },
  handler: async (ctx, args) => await ctx.db.query("messages").paginate(args.paginationOpts),
});

export const endless = query({
  args: { paginationOpts: paginationOptsValidator },
  handler: async () => ({ page: [], isDone: false, continueCursor: "again" }),
});

export const remove = internalMutation({
  args: { id: v.id("messages") },
  returns: v.null(),
  handler: async (ctx, args) => {
    await ctx.db.delete(args.id);
    return null;
  },
});

export const secret = internalQuery({ args: {}, handler: async () => "secret" });

export const removeLater = mutation({
  args: { id: v.id("messages"), delay: v.number() },
  handler: async (ctx, args) => {
    await ctx.scheduler.runAfter(args.delay, internal.messages.remove, { id: args.id });
  },
});

export const whoAmI = query({
  args: {},
  handler: async (ctx) => {
    const identity = await ctx.auth.getUserIdentity();
    return identity === null ? null : { subject: identity.subject, name: identity.name ?? null };
  },
});

export const echo = query({ args: { value: v.any() }, handler: async (_, args) => args.value });

export const broken = query({
  args: {},
  handler: async (): Promise<null> => {
    throw new Error("boom");
  },
});

export const slow = action({
  args: { ms: v.number() },
  handler: async (_, args) => {
    await new Promise((resolve) => setTimeout(resolve, args.ms));
  },
});

export const fetchAndKeep = action({
  args: { url: v.string() },
  handler: async (ctx, args): Promise<number> => {
    const response = await fetch(args.url, { method: "POST", body: JSON.stringify({ hello: "there" }) });
    const texts = (await response.json()) as string[];
    for (const body of texts) await ctx.runMutation(internal.messages.keep, { body });
    return response.status;
  },
});

export const listTwice = action({
  args: { channel: v.string() },
  handler: async (ctx, args): Promise<null> => {
    await ctx.runQuery(api.messages.list, args);
    await ctx.runQuery(api.messages.list, args);
    return null;
  },
});

export const keep = internalMutation({
  args: { body: v.string() },
  handler: async (ctx, args) => {
    await ctx.db.insert("messages", { channel: "kept", body: args.body });
  },
});

export const variable = query({ args: { name: v.string() }, handler: async (_, args) => process.env[args.name] ?? null });

export const uploadUrl = mutation({ args: {}, handler: async (ctx) => await ctx.storage.generateUploadUrl() });
