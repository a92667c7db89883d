import {
  actionGeneric as action,
  internalQueryGeneric as internalQuery,
  mutationGeneric as mutation,
  queryGeneric as query,
  makeFunctionReference,
} from "convex/server";
import { ConvexError, v } from "convex/values";

export const send = mutation({
  args: { channel: v.string(), body: v.string() },
  handler: async (ctx, { channel, body }) => await ctx.db.insert("messages", { channel, body, likes: 0 }),
});

export const list = query({
  args: { channel: v.string() },
  handler: async (ctx, { channel }) => {
    console.log("listing", channel);
    const found = await ctx.db
      .query("messages")
      .withIndex("by_channel", (q) => q.eq("channel", channel))
      .collect();
    return found.map((message) => message.body);
  },
});

export const scan = query(async (ctx, { channel }: { channel: string }) => {
  const found = await ctx.db
    .query("messages")
    .filter((q) => q.eq(q.field("channel"), channel))
    .collect();
  return found.map((message) => message.body);
});

export const first = query(async (ctx) => (await ctx.db.query("messages").first())?.body ?? null);

export const hidden = internalQuery(async () => "hidden");

export const fail = query(async () => {
  throw new Error("boom");
});

export const refuse = mutation(async (ctx) => {
  await ctx.db.insert("messages", { channel: "a", body: "never", likes: 0 });
  throw new ConvexError({ code: 7, big: 5n });
});

export const echo = query(async (ctx, { value }: { value: any }) => value ?? null);

export const whoami = query(async (ctx) => (await ctx.auth.getUserIdentity())?.name ?? null);

export const create = mutation(async (ctx) => await ctx.db.insert("counters", { n: 0 }));

export const increment = mutation({
  args: { id: v.id("counters") },
  handler: async (ctx, { id }) => {
    const { n } = (await ctx.db.get(id))!;
    await ctx.db.patch(id, { n: n + 1 });
    return n + 1;
  },
});

const send_ = makeFunctionReference<"mutation">("messages:send");
const list_ = makeFunctionReference<"query">("messages:list");

export const sendAndList = action(async (ctx, { body }: { body: string }) => {
  console.log("acting");
  await ctx.runMutation(send_, { channel: "actions", body });
  return await ctx.runQuery(list_, { channel: "actions" });
});

export const sendTwice = mutation(async (ctx) => {
  await ctx.runMutation(send_, { channel: "nested", body: "one" });
  await ctx.runMutation(send_, { channel: "nested", body: "two" });
  return await ctx.runQuery(list_, { channel: "nested" });
});

export const spin = query(async () => {
  for (;;);
});

export default query(async () => "default");
