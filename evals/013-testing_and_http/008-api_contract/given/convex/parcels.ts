import { v, type Infer } from "convex/values";
import { internalMutation, internalQuery, type QueryCtx } from "./_generated/server";
import { parcel } from "./contract";

const at = { depot: v.string(), number: v.int64() };
const order = parcel.omit("depot", "number", "status");

async function find(ctx: QueryCtx, depot: string, number: bigint) {
  return await ctx.db
    .query("parcels")
    .withIndex("by_depot", (q) => q.eq("depot", depot).eq("number", number))
    .unique();
}

export const get = internalQuery({
  args: at,
  handler: async (ctx, { depot, number }) => await find(ctx, depot, number),
});

export const list = internalQuery({
  args: {
    depot: v.string(),
    after: v.int64(),
    status: v.optional(parcel.fields.status),
    minWeight: v.number(),
    tags: v.array(v.string()),
    limit: v.number(),
  },
  handler: async (ctx, { depot, after, status, minWeight, tags, limit }) => {
    const all = await ctx.db
      .query("parcels")
      .withIndex("by_depot", (q) => q.eq("depot", depot).gt("number", after))
      .collect();
    const found = all.filter(
      (each) =>
        (status === undefined || each.status === status) &&
        each.weight >= minWeight &&
        tags.every((tag) => each.tags.includes(tag)),
    );
    return { items: found.slice(0, limit), more: found.length > limit };
  },
});

export const create = internalMutation({
  args: { depot: v.string(), order },
  handler: async (ctx, { depot, order }) => {
    const last = await ctx.db
      .query("parcels")
      .withIndex("by_depot", (q) => q.eq("depot", depot))
      .order("desc")
      .first();
    const number = (last?.number ?? 0n) + 1n;
    await ctx.db.insert("parcels", { ...order, depot, number, status: "waiting" });
    return number;
  },
});

export const replace = internalMutation({
  args: { ...at, order },
  handler: async (ctx, { depot, number, order }): Promise<Infer<typeof parcel> | null> => {
    const found = await find(ctx, depot, number);
    if (found === null) return null;
    if (found.status === "waiting") {
      await ctx.db.replace("parcels", found._id, { ...order, depot, number, status: "waiting" });
    }
    return await find(ctx, depot, number);
  },
});

export const move = internalMutation({
  args: { ...at, status: parcel.fields.status },
  handler: async (ctx, { depot, number, status }) => {
    const found = await find(ctx, depot, number);
    if (found !== null) await ctx.db.patch("parcels", found._id, { status });
    return found?.status ?? null;
  },
});

export const remove = internalMutation({
  args: at,
  handler: async (ctx, { depot, number }) => {
    const found = await find(ctx, depot, number);
    if (found !== null) await ctx.db.delete("parcels", found._id);
    return null;
  },
});
