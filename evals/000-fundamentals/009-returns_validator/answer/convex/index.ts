import { v } from "convex/values";
import { action, mutation, query } from "./_generated/server";
import { role, userFields } from "./schema";

export const create = mutation({
  args: userFields,
  returns: v.id("users"),
  handler: async (ctx, user) => {
    return await ctx.db.insert("users", user);
  },
});

export const get = query({
  args: { userId: v.id("users") },
  returns: v.union(
    v.object({
      _id: v.id("users"),
      _creationTime: v.number(),
      ...userFields,
    }),
    v.null(),
  ),
  handler: async (ctx, { userId }) => {
    return await ctx.db.get("users", userId);
  },
});

export const profiles = query({
  args: {},
  returns: v.array(v.object({ name: v.string(), role })),
  handler: async (ctx) => {
    const users = await ctx.db.query("users").collect();
    return users.map(({ name, role }) => ({ name, role }));
  },
});

export const stats = query({
  args: {},
  returns: v.object({
    averageAge: v.union(v.number(), v.null()),
    roles: v.object({ admin: v.number(), member: v.number() }),
  }),
  handler: async (ctx) => {
    const users = await ctx.db.query("users").collect();
    const ages = users.flatMap(({ age }) => (age === undefined ? [] : [age]));
    const total = ages.reduce((sum, age) => sum + age, 0);
    const admins = users.filter(({ role }) => role === "admin").length;
    return {
      averageAge: ages.length > 0 ? total / ages.length : null,
      roles: { admin: admins, member: users.length - admins },
    };
  },
});

export const remove = mutation({
  args: { userId: v.id("users") },
  returns: v.null(),
  handler: async (ctx, { userId }) => {
    await ctx.db.delete("users", userId);
    return null;
  },
});

export const ping = action({
  args: {},
  returns: v.literal("pong"),
  handler: () => "pong" as const,
});
