import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

export const create = mutation({
  args: { name: v.string(), email: v.string() },
  handler: async (ctx, args) => {
    return await ctx.db.insert("customers", args);
  },
});

export const changeEmail = mutation({
  args: { customerId: v.id("customers"), email: v.string() },
  handler: async (ctx, { customerId, email }) => {
    await ctx.db.patch("customers", customerId, { email });
    return null;
  },
});

/** The customer with this address, however it is capitalized: the oldest one, if there are several. */
export const byEmail = query({
  args: { email: v.string() },
  handler: async (ctx, { email }) => {
    const customers = await ctx.db.query("customers").collect();
    const wanted = email.toLowerCase();
    return (
      customers.find((customer) => customer.email.toLowerCase() === wanted) ??
      null
    );
  },
});
