import { PersistentTextStreaming, type StreamId } from "@convex-dev/persistent-text-streaming";
import { v } from "convex/values";
import { components } from "./_generated/api";
import type { Doc } from "./_generated/dataModel";
import { internalMutation, internalQuery, mutation, query, type QueryCtx } from "./_generated/server";

export const streaming = new PersistentTextStreaming(components.persistentTextStreaming);

const status = v.union(
  v.literal("pending"),
  v.literal("streaming"),
  v.literal("done"),
  v.literal("error"),
  v.literal("timeout"),
);

/** The status alone: the body of a stream is all of its text. */
async function statusOf(ctx: QueryCtx, { streamId }: Doc<"stories">) {
  return await ctx.runQuery(components.persistentTextStreaming.lib.getStreamStatus, { streamId });
}

async function readStory(ctx: QueryCtx, { title, streamId }: Doc<"stories">) {
  const body = await streaming.getStreamBody(ctx, streamId as StreamId);
  return { title, status: body.status, text: body.text };
}

export const start = mutation({
  args: { title: v.string(), source: v.string() },
  returns: v.id("stories"),
  handler: async (ctx, args) => {
    const streamId = await streaming.createStream(ctx);
    return await ctx.db.insert("stories", { ...args, streamId, isBegun: false });
  },
});

export const read = query({
  args: { storyId: v.id("stories") },
  returns: v.nullable(v.object({ title: v.string(), status, text: v.string() })),
  handler: async (ctx, { storyId }) => {
    const story = await ctx.db.get("stories", storyId);
    return story && (await readStory(ctx, story));
  },
});

export const list = query({
  args: {},
  returns: v.array(v.object({ storyId: v.id("stories"), title: v.string(), status })),
  handler: async (ctx) => {
    const stories = await ctx.db.query("stories").order("desc").collect();
    return await Promise.all(
      stories.map(async (story) => ({
        storyId: story._id,
        title: story.title,
        status: await statusOf(ctx, story),
      })),
    );
  },
});

export const again = mutation({
  args: { storyId: v.id("stories") },
  returns: v.boolean(),
  handler: async (ctx, { storyId }) => {
    const story = await ctx.db.get("stories", storyId);
    if (story === null) return false;
    const before = await statusOf(ctx, story);
    if (before !== "error" && before !== "timeout") return false;
    await streaming.deleteStream(ctx, story.streamId as StreamId);
    const streamId = await streaming.createStream(ctx);
    await ctx.db.patch("stories", storyId, { streamId, isBegun: false });
    return true;
  },
});

export const remove = mutation({
  args: { storyId: v.id("stories") },
  returns: v.boolean(),
  handler: async (ctx, { storyId }) => {
    const story = await ctx.db.get("stories", storyId);
    if (story === null) return false;
    const before = await statusOf(ctx, story);
    if (story.isBegun && (before === "pending" || before === "streaming")) return false;
    await streaming.deleteStream(ctx, story.streamId as StreamId);
    await ctx.db.delete("stories", storyId);
    return true;
  },
});

/** A stream is pending until its first sentence is stored, so who writes it is decided here. */
export const begin = internalMutation({
  args: { id: v.string() },
  handler: async (ctx, { id }) => {
    const storyId = ctx.db.normalizeId("stories", id);
    const story = storyId && (await ctx.db.get("stories", storyId));
    if (!story || story.isBegun || (await statusOf(ctx, story)) !== "pending") return null;
    await ctx.db.patch("stories", story._id, { isBegun: true });
    return { streamId: story.streamId, source: story.source };
  },
});

export const find = internalQuery({
  args: { id: v.string() },
  handler: async (ctx, { id }) => {
    const storyId = ctx.db.normalizeId("stories", id);
    const story = storyId && (await ctx.db.get("stories", storyId));
    if (!story) return null;
    const { status, text } = await readStory(ctx, story);
    return { status, text };
  },
});
