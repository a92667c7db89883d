import { v } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { mutation } from "./_generated/server";
import type { MutationCtx } from "./_generated/server";
import { fail, me, note, papers, what } from "./rules";

export const create = mutation({
  args: { name: v.string() },
  handler: async (ctx, { name }) => {
    return await ctx.db.insert("notebooks", { name, people: [{ who: await me(ctx), what: "owner" }] });
  },
});

async function appearOrVanish(ctx: MutationCtx, notebookId: Id<"notebooks">, who: string) {
  for (const { key, parts } of await papers(ctx)) {
    if (parts.notebook.text === notebookId) await note(ctx, key, [], [who]);
  }
}

export const share = mutation({
  args: { notebookId: v.id("notebooks"), user: v.string(), role: v.union(v.literal("reader"), v.literal("writer")) },
  handler: async (ctx, { notebookId, user, role }) => {
    const caller = await me(ctx);
    const notebook = await ctx.db.get("notebooks", notebookId);
    if (notebook === null || what(notebook, caller) === "nobody") fail("NOT_FOUND");
    if (what(notebook, caller) !== "owner") fail("FORBIDDEN");
    if (what(notebook, user) === "owner") fail("INVALID");
    const others = notebook.people.filter(({ who }) => who !== user);
    await ctx.db.patch("notebooks", notebookId, { people: [...others, { who: user, what: role }] });
    if (others.length === notebook.people.length) await appearOrVanish(ctx, notebookId, user);
    return null;
  },
});

export const unshare = mutation({
  args: { notebookId: v.id("notebooks"), user: v.string() },
  handler: async (ctx, { notebookId, user }) => {
    const caller = await me(ctx);
    const notebook = await ctx.db.get("notebooks", notebookId);
    if (notebook === null || what(notebook, caller) === "nobody") fail("NOT_FOUND");
    if (caller !== user && what(notebook, caller) !== "owner") fail("FORBIDDEN");
    if (["nobody", "owner"].includes(what(notebook, user))) fail("INVALID");
    await ctx.db.patch("notebooks", notebookId, { people: notebook.people.filter(({ who }) => who !== user) });
    await appearOrVanish(ctx, notebookId, user);
    return null;
  },
});
