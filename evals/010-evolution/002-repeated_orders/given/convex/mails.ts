import { v } from "convex/values";
import { internalMutation } from "./_generated/server";

export const confirm = internalMutation({
  args: {
    customerId: v.id("customers"),
    number: v.number(),
    cents: v.number(),
  },
  handler: async (ctx, { customerId, number, cents }) => {
    const text = `Thank you for order ${number} (${cents / 100} EUR).`;
    await ctx.db.insert("outbox", { customerId, text });
    return null;
  },
});
