import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

export const create = mutation({
  args: { name: v.string(), email: v.string() },
  handler: async (ctx, { name, email }) => {
    return await ctx.db.insert("customers", {
      name,
      email,
      emailKey: email.toLowerCase(),
    });
  },
});

export const changeEmail = mutation({
  args: { customerId: v.id("customers"), email: v.string() },
  handler: async (ctx, { customerId, email }) => {
    await ctx.db.patch("customers", customerId, {
      email,
      emailKey: email.toLowerCase(),
    });
    return null;
  },
});

/** The customer with this address, however it is capitalized: the oldest one, if there are several. */
export const byEmail = query({
  args: { email: v.string() },
  handler: async (ctx, { email }) => {
    const wanted = email.toLowerCase();
    const found = await ctx.db
      .query("customers")
      .withIndex("by_email_key", (q) => q.eq("emailKey", wanted))
      .first();
    const notMigrated = await ctx.db
      .query("customers")
      .withIndex("by_email_key", (q) => q.eq("emailKey", undefined))
      .collect();
    const old = notMigrated.find(
      (customer) => customer.email.toLowerCase() === wanted,
    );
    const oldest =
      found && old
        ? found._creationTime < old._creationTime
          ? found
          : old
        : (found ?? old);
    if (!oldest) return null;
    const { _id, _creationTime, name } = oldest;
    return { _id, _creationTime, name, email: oldest.email };
  },
});
