import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

const bound = v.object({ op: v.string(), field: v.string(), value: v.optional(v.any()) });

export const fill = mutation({
  args: { rows: v.array(v.any()) },
  handler: async (ctx, args) => {
    for (const row of await ctx.db.query("querying_rows").collect()) await ctx.db.delete(row._id);
    const ids = [];
    for (const row of args.rows) ids.push(await ctx.db.insert("querying_rows", row));
    return ids;
  },
});

// Runs a query described by its arguments and returns the field `tag` of what it finds.
export const run = query({
  args: {
    index: v.optional(v.string()),
    range: v.optional(v.array(bound)),
    order: v.optional(v.union(v.literal("asc"), v.literal("desc"))),
    table: v.optional(v.string()),
  },
  handler: async (ctx, args) => {
    let source: any = ctx.db.query((args.table ?? "querying_rows") as "querying_rows");
    if (args.index !== undefined)
      source = source.withIndex(args.index, (q: any) =>
        (args.range ?? []).reduce((range, { op, field, value }) => range[op](field, value), q),
      );
    if (args.order !== undefined) source = source.order(args.order);
    return (await source.collect()).map((row: any) => row.tag ?? null);
  },
});

export const equalUndefined = query({
  args: {},
  handler: async (ctx) =>
    (
      await ctx.db
        .query("querying_rows")
        .withIndex("by_x", (q) => q.eq("x", undefined))
        .collect()
    ).map((row: any) => row.tag),
});

export const afterCreation = query({
  args: { x: v.number(), time: v.number() },
  handler: async (ctx, args) =>
    (
      await ctx.db
        .query("querying_rows")
        .withIndex("by_x", (q) => q.eq("x", args.x).gt("_creationTime", args.time))
        .collect()
    ).map((row: any) => row.tag),
});

export const filtered = query({
  args: { kind: v.string() },
  handler: async (ctx, args) => {
    const filters: Record<string, (q: any) => any> = {
      equal: (q) => q.eq(q.field("a"), 1),
      undefined: (q) => q.eq(q.field("a"), undefined),
      greater: (q) => q.gt(q.field("a"), 5),
      add: (q) => q.eq(q.add(1, "x"), 1),
      notBoolean: (q) => q.field("one"),
      combined: (q) => q.and(q.or(q.eq(q.field("a"), 1), q.eq(q.field("a"), 7)), q.not(q.eq(q.field("b"), true))),
      shortCircuit: (q) => q.or(true, q.eq(q.add(1, "x"), 1)),
    };
    return (await ctx.db.query("querying_rows").filter(filters[args.kind]!).collect()).map((row: any) => row.tag);
  },
});

export const firstAndUnique = query({
  args: { x: v.number() },
  handler: async (ctx, args) => {
    const matching = () => ctx.db.query("querying_rows").withIndex("by_x", (q) => q.eq("x", args.x));
    return { first: await matching().first(), unique: await matching().unique() };
  },
});

export const takes = query({
  args: { n: v.number() },
  handler: async (ctx, args) => {
    const rows = await ctx.db.query("querying_rows").take(args.n);
    const metrics = await (globalThis as any).Convex.asyncSyscall("1.0/getTransactionMetrics", "{}");
    return { length: rows.length, read: JSON.parse(metrics).documentsRead.used };
  },
});

export const breaksEarly = query({
  args: {},
  handler: async (ctx) => {
    const seen = [];
    for await (const row of ctx.db.query("querying_rows")) {
      seen.push((row as any).tag);
      if (seen.length === 2) break;
    }
    return { seen, all: (await ctx.db.query("querying_rows").collect()).length };
  },
});

export const reuses = query({
  args: {},
  handler: async (ctx) => {
    const rows = ctx.db.query("querying_rows").order("asc");
    await rows.collect();
    return await rows.collect();
  },
});

export const manyOperators = query({
  args: {},
  handler: async (ctx) => {
    let rows: any = ctx.db.query("querying_rows");
    for (let n = 0; n < 257; n++) rows = rows.filter((q: any) => q.eq(1, 1));
    return await rows.collect();
  },
});

export const systemTables = query({
  args: {},
  handler: async (ctx) => ({
    files: (await ctx.db.system.query("_storage").collect()).length,
    jobs: (await ctx.db.system.query("_scheduled_functions").collect()).length,
  }),
});

export const systemTableAsUser = query({ args: {}, handler: async (ctx) => await ctx.db.query("_storage" as never).collect() });

export const ownWrites = mutation({
  args: {},
  handler: async (ctx) => {
    const rows = await ctx.db.query("querying_rows").withIndex("by_x").collect();
    const [first, second] = rows as any[];
    await ctx.db.delete(first._id);
    await ctx.db.patch(second._id, { x: 100 });
    await ctx.db.insert("querying_rows", { x: 50, tag: "inserted" });
    return (await ctx.db.query("querying_rows").withIndex("by_x", (q) => q.gte("x", 3)).collect()).map((row: any) => row.tag);
  },
});

export const creationTimeOf = query({
  args: { id: v.id("querying_rows") },
  handler: async (ctx, args) => (await ctx.db.get(args.id))!._creationTime,
});
