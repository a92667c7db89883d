import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

export const addUser = mutation({ args: {}, handler: async (ctx) => await ctx.db.insert("documents_users", { name: "Ada" }) });

export const addPost = mutation({ args: {}, handler: async (ctx) => await ctx.db.insert("documents_posts", { title: "t" }) });

export const removeUser = mutation({
  args: { id: v.id("documents_users") },
  handler: async (ctx, args) => {
    await ctx.db.delete(args.id);
  },
});

export const get = query({ args: { id: v.string() }, handler: async (ctx, args) => await ctx.db.get(args.id as never) });

export const getAsUser = query({
  args: { id: v.string() },
  handler: async (ctx, args) => await ctx.db.get("documents_users", args.id as never),
});

export const normalize = query({
  args: { id: v.string() },
  handler: async (ctx, args) => ctx.db.normalizeId("documents_users", args.id),
});

export const creationTimes = mutation({
  args: {},
  handler: async (ctx) => {
    const times = [];
    for (let n = 0; n < 3; n++) {
      const id = await ctx.db.insert("documents_any", { n });
      times.push((await ctx.db.get(id))!._creationTime);
    }
    return { times, now: Date.now() };
  },
});

export const insertAny = mutation({
  args: { value: v.any() },
  handler: async (ctx, args) => await ctx.db.insert("documents_any", args.value),
});

export const insertBig = mutation({
  args: { bytes: v.number() },
  handler: async (ctx, args) => await ctx.db.insert("documents_any", { text: "x".repeat(args.bytes) }),
});

export const insertNested = mutation({
  args: { levels: v.number() },
  handler: async (ctx, args) => {
    let value: any = 1;
    for (let level = 1; level < args.levels; level++) value = { a: value };
    return await ctx.db.insert("documents_any", { a: value });
  },
});

export const insertLongArray = mutation({
  args: {},
  handler: async (ctx) => await ctx.db.insert("documents_any", { list: new Array(8193).fill(0) }),
});

export const insertWide = mutation({
  args: {},
  handler: async (ctx) =>
    await ctx.db.insert("documents_any", {
      wide: Object.fromEntries(Array.from({ length: 1025 }, (_, n) => [`f${n}`, n])),
    }),
});

export const insertField = mutation({
  args: { name: v.string() },
  handler: async (ctx, args) => {
    const syscall = (globalThis as any).Convex.asyncSyscall;
    return await syscall("1.0/insert", JSON.stringify({ table: "documents_any", value: { [args.name]: 1 } }));
  },
});

export const insertUndefined = mutation({
  args: {},
  handler: async (ctx) => {
    const id = await ctx.db.insert("documents_any", { kept: 1, dropped: undefined });
    return Object.keys((await ctx.db.get(id))!);
  },
});
