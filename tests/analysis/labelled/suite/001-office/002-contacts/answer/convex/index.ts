import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

export const saveContact = mutation({
  args: { name: v.string(), email: v.string() },
  handler: async (ctx, args) => {
    const email = args.email.toLowerCase();
    const known = await ctx.db
      .query("contacts")
      .withIndex("by_email", (q) => q.eq("email", email))
      .unique();
    if (known === null) {
      await ctx.db.insert("contacts", { name: args.name, email });
    } else {
      await ctx.db.patch(known._id, { name: args.name });
    }
  },
});

export const listContacts = query({
  args: {},
  handler: async (ctx) => {
    const contacts = await ctx.db.query("contacts").collect();
    return contacts.map((contact) => ({ name: contact.name, email: contact.email }));
  },
});
