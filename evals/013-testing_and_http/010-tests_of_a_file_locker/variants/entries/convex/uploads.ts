import { v } from "convex/values";
import { internalMutation, internalQuery, mutation } from "./_generated/server";
import { fail, isPath, me, push, shelf, sum, ticket, ticketsOf, tidy } from "./locker";

export const begin = mutation({
  args: { name: v.string(), size: v.number() },
  handler: async (ctx, { name, size }): Promise<string> => {
    const owner = await me(ctx);
    if (!isPath(name) || size % 1 !== 0 || !(size > 0) || size > 5e3) fail("INVALID");
    if ((await ticketsOf(ctx, owner)).length > 2) fail("TOO_MANY");
    const { used, reserved } = await sum(ctx, owner);
    if (size > 1e4 - used - reserved) fail("QUOTA");
    return await ctx.db.insert("tickets", { owner, path: name, bytes: size, begun: Date.now() });
  },
});

export const cancel = mutation({
  args: { token: v.string() },
  handler: async (ctx, { token }) => {
    const owner = await me(ctx);
    const found = await ticket(ctx, token);
    if (found?.owner !== owner) fail("NOT_FOUND");
    await ctx.db.delete("tickets", found._id);
    return null;
  },
});

export const look = internalQuery({
  args: { token: v.string() },
  handler: async (ctx, { token }) => await ticket(ctx, token),
});

export const store = internalMutation({
  args: { token: v.string(), hash: v.string(), stored: v.id("_storage") },
  handler: async (ctx, { token, hash, stored }) => {
    const found = await ticket(ctx, token);
    if (found === null) throw new Error("Too late.");
    const { owner, path, bytes } = found;
    await ctx.db.delete("tickets", found._id);
    const entry =
      (await shelf(ctx, owner)).find((each) => each.path === path)?._id ??
      (await ctx.db.insert("entries", { owner, path, history: [] }));
    const blobs = await ctx.db.query("blobs").collect();
    if (blobs.some((each) => each.hash === hash)) await ctx.storage.delete(stored);
    else await ctx.db.insert("blobs", { hash, stored });
    const { version, added } = await push(ctx, entry, { hash, size: bytes });
    await tidy(ctx);
    return { body: { version, name: path }, status: added ? 201 : 200 };
  },
});
