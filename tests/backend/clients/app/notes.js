import { actionGeneric as action, mutationGeneric as mutation, queryGeneric as query } from "convex/server";
import { makeFunctionReference, internalMutationGeneric as internalMutation } from "convex/server";
import { ConvexError, v } from "convex/values";

const inTopic = (ctx, topic) => ctx.db.query("notes").withIndex("by_topic", (q) => q.eq("topic", topic));

export const list = query({
  args: { topic: v.string() },
  handler: async (ctx, { topic }) => (await inTopic(ctx, topic).collect()).map((note) => note.text),
});

// Another number whenever it runs: shows that it ran.
export const runs = query({
  args: { topic: v.string() },
  handler: async (ctx, { topic }) => [(await inTopic(ctx, topic).first())?.text ?? null, Math.random()],
});

export const page = query({
  args: { paginationOpts: v.any() },
  handler: async (ctx, { paginationOpts }) => {
    const result = await inTopic(ctx, "pages").order("desc").paginate(paginationOpts);
    return { ...result, page: result.page.map((note) => note.text) };
  },
});

export const whoami = query({ args: {}, handler: async (ctx) => (await ctx.auth.getUserIdentity())?.name ?? null });

export const setting = query({ args: {}, handler: async () => process.env.SETTING ?? null });

export const add = mutation({
  args: { topic: v.string(), text: v.string() },
  handler: (ctx, note) => ctx.db.insert("notes", note),
});

export const increment = mutation({
  args: {},
  handler: async (ctx) => {
    const counter = await ctx.db.query("counters").first();
    if (counter === null) await ctx.db.insert("counters", { value: 1 });
    else await ctx.db.patch(counter._id, { value: counter.value + 1 });
  },
});

export const counter = query({
  args: {},
  handler: async (ctx) => (await ctx.db.query("counters").first())?.value ?? 0,
});

export const fail = mutation({
  args: { how: v.string() },
  handler: async (ctx, { how }) => {
    await ctx.db.insert("notes", { topic: "failures", text: how });
    if (how === "with data") throw new ConvexError({ code: 7n });
    throw new Error("boom");
  },
});

export const secret = internalMutation({ args: {}, handler: async () => "secret" });

export const shout = action({
  args: { topic: v.string(), text: v.string() },
  handler: async (ctx, { topic, text }) => {
    await ctx.runMutation(makeFunctionReference("notes:add"), { topic, text: text.toUpperCase() });
    return `${text}!`;
  },
});

// Says that it has begun, and ends when somebody writes about its topic.
export const wait = action({
  args: { topic: v.string() },
  handler: async (ctx, { topic }) => {
    await ctx.runMutation(makeFunctionReference("notes:add"), { topic: "begun", text: topic });
    for (let turn = 0; turn < 1000; turn++) {
      const notes = await ctx.runQuery(makeFunctionReference("notes:list"), { topic });
      if (notes.length > 0) return notes[0];
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    throw new Error("nobody wrote");
  },
});
