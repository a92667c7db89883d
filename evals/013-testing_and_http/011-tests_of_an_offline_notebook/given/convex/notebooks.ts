import { v } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { mutation } from "./_generated/server";
import type { QueryCtx } from "./_generated/server";
import { failure, membership, requireUser, roleIn } from "./access";
import { announceNotebook } from "./feed";
import { memberRole } from "./schema";

export const create = mutation({
  args: { name: v.string() },
  returns: v.id("notebooks"),
  handler: async (ctx, { name }) => {
    const owner = await requireUser(ctx);
    return await ctx.db.insert("notebooks", { owner, name });
  },
});

/** The caller and their role in a notebook that they can see. */
async function requireVisible(ctx: QueryCtx, notebookId: Id<"notebooks">) {
  const caller = await requireUser(ctx);
  const role = await roleIn(ctx, notebookId, caller);
  if (role === null) throw failure("NOT_FOUND");
  return { caller, role };
}

export const share = mutation({
  args: { notebookId: v.id("notebooks"), user: v.string(), role: memberRole },
  returns: v.null(),
  handler: async (ctx, { notebookId, user, role }) => {
    const visible = await requireVisible(ctx, notebookId);
    if (visible.role !== "owner") throw failure("FORBIDDEN");
    if (user === visible.caller) throw failure("INVALID");
    const member = await membership(ctx, notebookId, user);
    if (member === null) {
      await ctx.db.insert("members", { notebookId, user, role });
      await announceNotebook(ctx, notebookId, user);
    } else {
      await ctx.db.patch("members", member._id, { role });
    }
    return null;
  },
});

export const unshare = mutation({
  args: { notebookId: v.id("notebooks"), user: v.string() },
  returns: v.null(),
  handler: async (ctx, { notebookId, user }) => {
    const { caller, role } = await requireVisible(ctx, notebookId);
    if (role !== "owner" && user !== caller) throw failure("FORBIDDEN");
    const member = await membership(ctx, notebookId, user);
    if (member === null) throw failure("INVALID");
    await ctx.db.delete("members", member._id);
    await announceNotebook(ctx, notebookId, user);
    return null;
  },
});
