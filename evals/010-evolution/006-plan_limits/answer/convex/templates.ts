import { v } from "convex/values";
import { mutation } from "./_generated/server";
import { existing } from "./errors";
import { requireRoom } from "./limits";

const TEMPLATES = {
  agency: { projects: ["Clients", "Work"], bytes: 100 },
  school: { projects: ["Classes", "Teachers", "Rooms"], bytes: 50 },
};

/** Creates the projects of a template, each with a file. */
export const apply = mutation({
  args: {
    workspaceId: v.id("workspaces"),
    template: v.union(v.literal("agency"), v.literal("school")),
  },
  handler: async (ctx, { workspaceId, template }) => {
    existing(await ctx.db.get("workspaces", workspaceId));
    const { projects, bytes } = TEMPLATES[template];
    await requireRoom(ctx, workspaceId, {
      projects: projects.length,
      bytes: projects.length * bytes,
    });
    for (const name of projects) {
      const projectId = await ctx.db.insert("projects", {
        workspaceId,
        name,
        isArchived: false,
      });
      await ctx.db.insert("files", { projectId, name: "Read me", bytes });
    }
    return null;
  },
});
