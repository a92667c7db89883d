import { v } from "convex/values";
import { internal } from "./_generated/api";
import {
  internalAction,
  internalMutation,
  internalQuery,
} from "./_generated/server";

export const note = internalMutation({
  args: { text: v.string() },
  returns: v.number(),
  handler: async (ctx, { text }) => {
    await ctx.db.insert("log", { text });
    const all = await ctx.db.query("log").collect();
    return all.filter((each) => each.text === text).length;
  },
});

export const notes = internalQuery({
  args: {},
  returns: v.array(v.string()),
  handler: async (ctx) =>
    (await ctx.db.query("log").collect()).map(({ text }) => text),
});

/** Fails the first times, if it is told to. */
export const sendEmail = internalAction({
  args: {
    to: v.array(v.string()),
    subject: v.string(),
    priority: v.union(v.literal("low"), v.literal("high")),
    failures: v.optional(v.number()),
  },
  returns: v.object({ messageId: v.string() }),
  handler: async (ctx, args): Promise<{ messageId: string }> => {
    const text = `${args.subject} to ${args.to.join()}, ${args.priority}`;
    const times = await ctx.runMutation(internal.work.note, { text });
    if (times <= (args.failures ?? 0)) throw new Error(`No luck (${times})`);
    return { messageId: `m-${args.subject}` };
  },
});

export const resize = internalMutation({
  args: { image: v.string(), width: v.number(), quality: v.optional(v.number()) },
  returns: v.number(),
  handler: async (ctx, { image, width }) => {
    await ctx.db.insert("log", { text: `${image} ${width}` });
    if (width <= 0) throw new Error("Too small");
    return width * 2;
  },
});

export const report = internalAction({
  args: { since: v.optional(v.union(v.number(), v.string())) },
  returns: v.array(v.string()),
  handler: async (ctx, { since }): Promise<string[]> => [
    `since ${since ?? "ever"}`,
    ...(await ctx.runQuery(internal.work.notes, {})),
  ],
});

export const cleanUp = internalMutation({
  args: {},
  returns: v.null(),
  handler: async (ctx) => {
    const all = await ctx.db.query("log").collect();
    for (const each of all) await ctx.db.delete("log", each._id);
    return null;
  },
});
