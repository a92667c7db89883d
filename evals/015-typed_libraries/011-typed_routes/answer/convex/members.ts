import { v } from "convex/values";
import { internalMutation, internalQuery } from "./_generated/server";
import schema, { role } from "./schema";

const member = schema.doc("members");

export const list = internalQuery({
  args: { team: v.string() },
  returns: v.array(member),
  handler: async (ctx, { team }) =>
    await ctx.db
      .query("members")
      .withIndex("by_team_and_number", (q) => q.eq("team", team))
      .collect(),
});

export const get = internalQuery({
  args: { team: v.string(), number: v.number() },
  returns: v.nullable(member),
  handler: async (ctx, { team, number }) =>
    await ctx.db
      .query("members")
      .withIndex("by_team_and_number", (q) => q.eq("team", team).eq("number", number))
      .unique(),
});

export const add = internalMutation({
  args: { team: v.string(), name: v.string(), role, tags: v.array(v.string()), addedBy: v.string() },
  returns: v.nullable(v.number()),
  handler: async (ctx, args) => {
    const taken = await ctx.db
      .query("members")
      .withIndex("by_team_and_name", (q) => q.eq("team", args.team).eq("name", args.name))
      .first();
    if (taken !== null) return null;
    const last = await ctx.db
      .query("members")
      .withIndex("by_team_and_number", (q) => q.eq("team", args.team))
      .order("desc")
      .first();
    const number = (last?.number ?? 0) + 1;
    await ctx.db.insert("members", { ...args, number });
    return number;
  },
});

export const remove = internalMutation({
  args: { team: v.string(), number: v.number() },
  returns: v.boolean(),
  handler: async (ctx, { team, number }) => {
    const found = await ctx.db
      .query("members")
      .withIndex("by_team_and_number", (q) => q.eq("team", team).eq("number", number))
      .unique();
    if (found !== null) await ctx.db.delete("members", found._id);
    return found !== null;
  },
});
