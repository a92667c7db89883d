import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { must } from "./lib/util";
import { contact, customer } from "./lib/validators";

export const add = mutation({
  args: {
    name: v.string(),
    contact,
    discountPercent: v.optional(v.nullable(v.number())),
    note: v.optional(v.string()),
  },
  returns: v.id("customers"),
  handler: async (ctx, { name, contact, discountPercent, note }) => {
    const row = { name, contact, note: note ?? null };
    return await ctx.db.insert("customers", typeof discountPercent === "number" ? { ...row, discountPercent } : row);
  },
});

export const get = query({
  args: { customerId: v.id("customers") },
  returns: v.nullable(customer),
  handler: async (ctx, { customerId }) => {
    const row = await ctx.db.get("customers", customerId);
    if (row === null) return null;
    const { _id, _creationTime, contact, note, ...rest } = row;
    return {
      ...rest,
      customerId: _id,
      contact: typeof contact === "string" ? { kind: "email" as const, address: contact } : contact,
      note: note ?? null,
    };
  },
});

/** What is not among the changes stays. A discount that is null is removed. */
export const change = mutation({
  args: {
    customerId: v.id("customers"),
    changes: v.object({
      name: v.optional(v.string()),
      contact: v.optional(contact),
      discountPercent: v.optional(v.nullable(v.number())),
      note: v.optional(v.nullable(v.string())),
    }),
  },
  returns: v.null(),
  handler: async (ctx, { customerId, changes: { discountPercent, ...changes } }) => {
    await must(ctx, "customers", customerId);
    await ctx.db.patch("customers", customerId, changes);
    if (discountPercent !== undefined)
      await ctx.db.patch("customers", customerId, { discountPercent: discountPercent ?? undefined });
    return null;
  },
});
