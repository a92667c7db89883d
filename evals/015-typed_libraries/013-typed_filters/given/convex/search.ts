import { v } from "convex/values";
import { api } from "./_generated/api";
import type { Doc } from "./_generated/dataModel";
import { action, mutation, query } from "./_generated/server";
import { filters, filterValidator, find } from "./lib/filters";
import schema from "./schema";

export const people = query({
  args: { filter: filterValidator("people") },
  returns: v.array(schema.doc("people")),
  handler: async (ctx, { filter }) => await find(ctx, "people", filter),
});

export const events = query({
  args: { filter: filterValidator("events") },
  returns: v.array(schema.doc("events")),
  handler: async (ctx, { filter }) => await find(ctx, "events", filter),
});

export const drafts = query({
  args: { filter: filterValidator("drafts") },
  returns: v.array(schema.doc("drafts")),
  handler: async (ctx, { filter }) => await find(ctx, "drafts", filter),
});

/** What was paid in euros, in this time, among the events that the client wants. */
export const euros = query({
  args: {
    from: v.number(),
    to: v.number(),
    also: v.optional(filterValidator("events")),
  },
  returns: v.number(),
  handler: async (ctx, { from, to, also }) => {
    const f = filters("events");
    const paid = f.and(
      f.eq("amount.currency", "EUR"),
      f.between("at", from, to),
      also ?? f.and(),
    );
    const found = await find(ctx, "events", paid);
    return found.reduce((sum, event) => sum + event.amount.value, 0);
  },
});

/** Active people who are not guests and have been here often, or whose boss this is. */
export const staff = action({
  args: { boss: v.nullable(v.id("people")) },
  returns: v.array(v.string()),
  handler: async (ctx, { boss }): Promise<string[]> => {
    const f = filters("people");
    const filter = f.and(
      f.oneOf("role", ["admin", "member"]),
      f.eq("isActive", true),
      f.or(
        f.gte("visits", 10n),
        boss === null ? f.missing("boss") : f.eq("boss", boss),
      ),
    );
    const found: Doc<"people">[] = await ctx.runQuery(api.search.people, {
      filter,
    });
    return found.map((person) => person.name);
  },
});

/** Deletes the names that these people had, and says which ones. */
export const forgetNames = mutation({
  args: { person: v.id("people") },
  returns: v.array(v.string()),
  handler: async (ctx, { person }) => {
    const f = filters("events");
    const renamed = f.and(f.eq("person", person), f.eq("kind", "renamed"));
    const found = await find(ctx, "events", renamed);
    for (const event of found) await ctx.db.delete("events", event._id);
    return found.map((event) => `${event.from} > ${event.to}`);
  },
});
