import { v } from "convex/values";
import { memberMutation, memberQuery } from "./lib/functions";

export const me = memberQuery({
  args: {},
  returns: v.object({ name: v.string(), teams: v.array(v.string()) }),
  handler: async (ctx) => {
    const teams = await ctx.db.query("teams").collect();
    return { name: ctx.viewer.name, teams: teams.map((team) => team.name) };
  },
});

export const rename = memberMutation({
  args: { id: v.id("users"), name: v.string(), admin: v.optional(v.boolean()) },
  returns: v.null(),
  handler: async (ctx, { id, ...changes }) => {
    await ctx.db.patch("users", id, changes);
    return null;
  },
});

/** Takes the viewer out of a team, and tells whether they can still read it. */
export const leave = memberMutation({
  args: { id: v.id("teams"), named: v.boolean() },
  returns: v.boolean(),
  handler: async (ctx, { id, named }) => {
    const memberIds = (await ctx.db.get("teams", id))?.memberIds.filter((each) => each !== ctx.viewer._id);
    if (named) await ctx.db.patch("teams", id, { memberIds });
    else await ctx.db.patch(id, { memberIds });
    return (await ctx.db.get("teams", id)) !== null;
  },
});

export const announce = memberMutation({
  args: { text: v.string() },
  returns: v.array(v.string()),
  handler: async (ctx, { text }) => {
    const [old] = await ctx.db.query("announcements").order("desc").take(1);
    if (old?.text === text) await ctx.db.delete("announcements", old._id);
    else await ctx.db.insert("announcements", { text });
    return (await ctx.db.query("announcements").collect()).map((each) => each.text);
  },
});

/** The size of a file, and whether a string is the ID of a note. */
export const inspect = memberQuery({
  args: { file: v.id("_storage"), id: v.string() },
  returns: v.object({ size: v.nullable(v.number()), isNote: v.boolean() }),
  handler: async (ctx, { file, id }) => {
    const metadata = await ctx.db.system.get("_storage", file);
    return { size: metadata?.size ?? null, isNote: ctx.db.normalizeId("notes", id) !== null };
  },
});
