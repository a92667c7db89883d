import { v } from "convex/values";
import type { Doc } from "./_generated/dataModel";
import { mutation, query, type QueryCtx } from "./_generated/server";

const change = v.object({ key: v.string(), value: v.string() });

export const append = mutation({
  args: { topic: v.string(), changes: v.array(change) },
  returns: v.null(),
  handler: async (ctx, { topic, changes }) => {
    for (const [position, { key, value }] of changes.entries()) {
      await ctx.db.insert("changes", {
        topic,
        committed: ctx.db.vars.commitTs,
        position,
        key,
        value,
      });
    }
    return null;
  },
});

export const poll = query({
  args: {
    topic: v.string(),
    cursor: v.union(v.string(), v.null()),
    limit: v.number(),
  },
  returns: v.object({
    changes: v.array(change),
    cursor: v.union(v.string(), v.null()),
  }),
  handler: async (ctx, { topic, cursor, limit }) => {
    const found = await changesAfter(ctx, topic, cursor, limit);
    const last = found.at(-1);
    return {
      changes: found.map(({ key, value }) => ({ key, value })),
      cursor: last === undefined ? cursor : cursorOf(last),
    };
  },
});

async function changesAfter(
  ctx: QueryCtx,
  topic: string,
  cursor: string | null,
  limit: number,
): Promise<Doc<"changes">[]> {
  if (cursor === null) {
    return await ctx.db
      .query("changes")
      .withIndex("by_topic", (q) => q.eq("topic", topic))
      .take(limit);
  }
  const [committed = "", position] = cursor.split(":");
  const sameMutation = await ctx.db
    .query("changes")
    .withIndex("by_topic", (q) =>
      q
        .eq("topic", topic)
        .eq("committed", BigInt(committed))
        .gt("position", Number(position)),
    )
    .take(limit);
  if (sameMutation.length === limit) return sameMutation;
  const later = await ctx.db
    .query("changes")
    .withIndex("by_topic", (q) =>
      q.eq("topic", topic).gt("committed", BigInt(committed)),
    )
    .take(limit - sameMutation.length);
  return [...sameMutation, ...later];
}

function cursorOf({ committed, position }: Doc<"changes">): string {
  return `${String(committed)}:${position}`;
}
