import { v } from "convex/values";
import { api } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import {
  auditedMutation,
  internalMemberMutation,
  memberAction,
  memberQuery,
  projectMutation,
  projectQuery,
  steppedMutation,
  viewerQuery,
} from "./functions";
import { role } from "./schema";

export const whoAmI = memberQuery({
  returns: v.object({ name: v.string(), role }),
  handler: (ctx) => ({ name: ctx.member.name, role: ctx.member.role }),
});

export const create = auditedMutation({
  atLeast: "editor",
  what: "create",
  args: { name: v.string() },
  returns: v.id("projects"),
  handler: async (ctx, args) => await ctx.db.insert("projects", { ...args, ownerId: ctx.member._id, archived: false }),
});

export const rename = projectMutation({
  atLeast: "editor",
  archived: "refused",
  what: "rename",
  args: { name: v.string(), suffix: v.optional(v.string()) },
  returns: v.object({ from: v.string(), to: v.string() }),
  handler: async (ctx, args) => {
    const name = args.name + (args.suffix ?? "");
    await ctx.db.patch("projects", ctx.project._id, { name });
    return { from: ctx.project.name, to: name };
  },
});

export const archive = projectMutation({
  archived: "allowed",
  what: "archive",
  returns: v.null(),
  handler: async (ctx) => {
    await ctx.db.patch("projects", ctx.project._id, { archived: true });
  },
});

export const state = projectQuery({
  archived: "allowed",
  returns: v.union(v.object({ kind: v.literal("open"), name: v.string() }), v.object({ kind: v.literal("archived") })),
  handler: (ctx) =>
    ctx.project.archived ? { kind: "archived" as const } : { kind: "open" as const, name: ctx.project.name },
});

export const greeting = viewerQuery({
  args: { formal: v.optional(v.boolean()) },
  handler: (ctx, args) => {
    const hello = args.formal ? "Good day" : "Hi";
    return ctx.signedIn ? `${hello}, ${ctx.member.name}` : `${hello}, stranger`;
  },
});

export const wipe = internalMemberMutation({
  atLeast: "owner",
  returns: v.number(),
  handler: async (ctx) => {
    const projects = await ctx.db
      .query("projects")
      .withIndex("by_owner", (q) => q.eq("ownerId", ctx.member._id))
      .collect();
    for (const project of projects) await ctx.db.delete("projects", project._id);
    return projects.length;
  },
});

export const createMany = memberAction({
  atLeast: "editor",
  args: { names: v.array(v.string()) },
  returns: v.array(v.id("projects")),
  handler: async (ctx, args): Promise<Id<"projects">[]> => {
    const ids: Id<"projects">[] = [];
    for (const name of args.names) {
      const id = await ctx.runMutation(api.projects.create, { token: ctx.member.token, name });
      ids.push(id);
    }
    return ids;
  },
});

export const stepped = steppedMutation({
  args: { text: v.string() },
  returns: v.number(),
  handler: async (ctx, args) => {
    await ctx.db.insert("steps", args);
    return ctx.depth;
  },
});
