"use node";

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { v } from "convex/values";
import { api, internal } from "./_generated/api";
import { action } from "./_generated/server";

export const builtins = action({
  args: {},
  handler: async () => ({
    digest: createHash("sha256").update("abc").digest("hex"),
    buffer: Buffer.from("hi").toString("base64"),
    exists: typeof existsSync,
  }),
});

export const context = action({
  args: { name: v.string() },
  handler: async (ctx, args): Promise<any> => {
    await ctx.runMutation(internal.acting.addNote, { body: args.name });
    const file = await ctx.storage.store(new Blob(["from node"], { type: "text/plain" }));
    const blob = await ctx.storage.get(file);
    const job = await ctx.scheduler.runAfter(0, internal.scheduling.record, { name: args.name });
    return {
      count: await ctx.runQuery(internal.acting.countNotes, { body: args.name }),
      text: await blob!.text(),
      job,
      identity: (await ctx.auth.getUserIdentity())?.subject ?? null,
      nested: await ctx.runAction(api.calling.act, {}),
      vectors: (await ctx.vectorSearch("searching_vectors", "by_embedding", { vector: [1, 0, 0] })).length >= 0,
    };
  },
});

export const throws = action({
  args: {},
  handler: async () => {
    throw new Error("node boom");
  },
});

export const lengthOf = action({ args: { text: v.string() }, handler: async (_ctx, args) => args.text.length });

export const exits = action({
  args: {},
  handler: async () => {
    process.exit(1);
  },
});
