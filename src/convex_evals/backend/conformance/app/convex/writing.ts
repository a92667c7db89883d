import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

const any = v.any();

export const insert = mutation({ args: { value: any }, handler: async (ctx, args) => await ctx.db.insert("writing_any", args.value) });

export const insertThenGet = mutation({
  args: { value: any },
  handler: async (ctx, args) => await ctx.db.get(await ctx.db.insert("writing_any", args.value)),
});

export const get = query({ args: { id: v.id("writing_any") }, handler: async (ctx, args) => await ctx.db.get(args.id) });

export const patch = mutation({
  args: { id: v.id("writing_any"), value: any, unset: v.optional(v.string()) },
  handler: async (ctx, args) => {
    const unset = args.unset === undefined ? {} : { [args.unset]: undefined };
    await ctx.db.patch(args.id, { ...args.value, ...unset });
    return await ctx.db.get(args.id);
  },
});

export const replace = mutation({
  args: { id: v.id("writing_any"), value: any },
  handler: async (ctx, args) => {
    await ctx.db.replace(args.id, args.value);
    return await ctx.db.get(args.id);
  },
});

export const remove = mutation({
  args: { id: v.id("writing_any") },
  handler: async (ctx, args) => {
    await ctx.db.delete(args.id);
    return await ctx.db.get(args.id);
  },
});

export const removeTwice = mutation({
  args: { id: v.id("writing_any") },
  handler: async (ctx, args) => {
    await ctx.db.delete(args.id);
    await ctx.db.delete(args.id);
  },
});

export const writeBackWhole = mutation({
  args: { id: v.id("writing_any") },
  handler: async (ctx, args) => {
    const document = (await ctx.db.get(args.id))!;
    await ctx.db.patch(args.id, document);
    await ctx.db.replace(args.id, document);
    return await ctx.db.get(args.id);
  },
});

export const insertInto = mutation({
  args: { table: v.string(), value: any },
  handler: async (ctx, args) => await ctx.db.insert(args.table as never, args.value as never),
});

export const insertStrict = mutation({
  args: { value: any },
  handler: async (ctx, args) => await ctx.db.insert("writing_strict", args.value),
});

export const patchStrict = mutation({
  args: { id: v.id("writing_strict"), value: any },
  handler: async (ctx, args) => await ctx.db.patch(args.id, args.value),
});

export const getStrict = query({ args: { id: v.id("writing_strict") }, handler: async (ctx, args) => await ctx.db.get(args.id) });

export const deletedUser = mutation({
  args: {},
  handler: async (ctx) => {
    const user = await ctx.db.insert("writing_users", { name: "gone" });
    await ctx.db.delete(user);
    return user;
  },
});

export const watch = query({
  args: { id: v.id("writing_any") },
  handler: async (ctx, args) => ({ document: await ctx.db.get(args.id), draw: Math.random() }),
});

export const insertInQuery = query({
  args: {},
  handler: async (ctx) => {
    if ((ctx.db as any).insert !== undefined) return "there is an insert";
    return await (globalThis as any).Convex.asyncSyscall(
      "1.0/insert",
      JSON.stringify({ table: "writing_any", value: {} }),
    );
  },
});
