import { v } from "convex/values";
import { internal } from "./_generated/api";
import {
  internalQuery,
  mutation,
  query,
  type MutationCtx,
  type QueryCtx,
} from "./_generated/server";

const LIMIT = 50;
const WINDOW_MS = 60_000;

const outcome = v.union(
  v.literal("recorded"),
  v.literal("limited"),
  v.literal("suspended"),
);

export const submit = mutation({
  args: { events: v.array(v.object({ tenant: v.string(), text: v.string() })) },
  returns: v.array(outcome),
  handler: async (ctx, { events }) => {
    const at = Date.now();
    const room = new Map<string, number | "suspended">();
    const outcomes: (typeof outcome.type)[] = [];
    for (const { tenant, text } of events) {
      const left = room.get(tenant) ?? (await roomOf(ctx, tenant));
      if (left === "suspended") {
        outcomes.push("suspended");
        room.set(tenant, left);
      } else if (left <= 0) {
        outcomes.push("limited");
        room.set(tenant, left);
      } else {
        await ctx.db.insert("events", { tenant, at, text });
        outcomes.push("recorded");
        room.set(tenant, left - 1);
      }
    }
    return outcomes;
  },
});

export const suspend = mutation({
  args: { tenant: v.string(), isSuspended: v.boolean() },
  returns: v.null(),
  handler: async (ctx, { tenant, isSuspended }) => {
    const found = await suspensionOf(ctx, tenant);
    if (isSuspended && found === null) {
      await ctx.db.insert("suspensions", { tenant });
    }
    if (!isSuspended && found !== null) {
      await ctx.db.delete("suspensions", found._id);
    }
    return null;
  },
});

export const recent = query({
  args: { tenant: v.string() },
  returns: v.array(v.string()),
  handler: async (ctx, { tenant }) => {
    const events = await recentEvents(ctx, tenant).collect();
    return events.map(({ text }) => text);
  },
});

export const countRecent = internalQuery({
  args: { tenant: v.string() },
  returns: v.number(),
  handler: async (ctx, { tenant }) => {
    const events = await recentEvents(ctx, tenant).take(LIMIT);
    return events.length;
  },
});

/** How many more events may be recorded. Suspensions are read with the guarantees of the transaction, events are not. */
async function roomOf(
  ctx: MutationCtx,
  tenant: string,
): Promise<number | "suspended"> {
  if ((await suspensionOf(ctx, tenant)) !== null) return "suspended";
  const count: number = await ctx.runQuery(
    internal.events.countRecent,
    { tenant },
    { useStaleSnapshot: true },
  );
  return LIMIT - count;
}

function recentEvents(ctx: QueryCtx, tenant: string) {
  return ctx.db
    .query("events")
    .withIndex("by_tenant", (q) =>
      q.eq("tenant", tenant).gt("at", Date.now() - WINDOW_MS),
    );
}

async function suspensionOf(ctx: QueryCtx, tenant: string) {
  return await ctx.db
    .query("suspensions")
    .withIndex("by_tenant", (q) => q.eq("tenant", tenant))
    .unique();
}
