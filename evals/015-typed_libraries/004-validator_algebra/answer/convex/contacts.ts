import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { extend, nullable, omit, partial, pick, required, variant } from "./lib/validators";
import { contact } from "./shapes";

const person = variant(contact, "kind", "person");
const system = { _id: v.id("contacts"), _creationTime: v.number() };

export const add = mutation({
  args: { contact },
  returns: v.id("contacts"),
  handler: async (ctx, args) => await ctx.db.insert("contacts", args.contact),
});

export const addComplete = mutation({
  args: { contact: required(contact) },
  returns: v.id("contacts"),
  handler: async (ctx, args) => await ctx.db.insert("contacts", args.contact),
});

export const addOld = mutation({
  args: { contact: extend(contact, { rank: v.string(), note: v.optional(v.string()) }) },
  returns: v.id("contacts"),
  handler: async (ctx, { contact: { rank, note, ...rest } }) =>
    await ctx.db.insert("contacts", { ...rest, rank: Number(rank), note: note ?? null }),
});

export const change = mutation({
  args: { id: v.id("contacts"), changes: partial(omit(contact, "kind", "owner")) },
  returns: v.null(),
  handler: async (ctx, args) => {
    await ctx.db.patch("contacts", args.id, args.changes);
    return null;
  },
});

export const brief = query({
  args: { id: v.id("contacts") },
  returns: nullable(pick(contact, "kind", "name", "vat")),
  handler: async (ctx, args) => {
    const found = await ctx.db.get("contacts", args.id);
    if (found === null) return null;
    const { name } = found;
    if (found.kind === "person") return { kind: found.kind, name };
    return { kind: found.kind, name, ...(found.vat !== undefined && { vat: found.vat }) };
  },
});

export const peopleIn = query({
  args: { city: v.string() },
  returns: v.array(extend(person, system)),
  handler: async (ctx, args) => {
    const found = await ctx.db
      .query("contacts")
      .withIndex("by_city", (q) => q.eq("address.city", args.city))
      .collect();
    return found.filter((each) => each.kind === "person");
  },
});
