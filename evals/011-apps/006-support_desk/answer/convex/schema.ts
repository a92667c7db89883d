import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const priority = v.union(v.literal("urgent"), v.literal("high"), v.literal("normal"), v.literal("low"));
export const status = v.union(v.literal("open"), v.literal("waiting"), v.literal("solved"), v.literal("closed"));
export const what = v.union(
  v.literal("opened"),
  v.literal("merged"),
  v.literal("split"),
  v.literal("status"),
  v.literal("priority"),
  v.literal("overdue"),
  v.literal("unassigned"),
  v.literal("assigned"),
);

export default defineSchema({
  agents: defineTable({ name: v.string(), capacity: v.number(), online: v.boolean() }).index("by_name", ["name"]),

  holidays: defineTable({ date: v.string() }).index("by_date", ["date"]),

  tickets: defineTable({
    customer: v.string(),
    subject: v.string(),
    priority,
    status,
    tags: v.array(v.string()),
    assignee: v.nullable(v.string()),
    mergedInto: v.nullable(v.id("tickets")),
    overdue: v.boolean(),
    due: v.nullable(v.number()),
    /** The clock, in milliseconds, as it was when the ticket got its present status, at `since`. */
    used: v.number(),
    since: v.number(),
  })
    .index("by_customer", ["customer"])
    .index("by_status", ["status", "assignee"])
    .index("by_assignee", ["assignee", "status"]),

  messages: defineTable({
    ticket: v.id("tickets"),
    author: v.string(),
    body: v.string(),
    internal: v.boolean(),
  }).index("by_ticket", ["ticket"]),

  events: defineTable({
    ticket: v.id("tickets"),
    at: v.number(),
    by: v.string(),
    what,
    detail: v.nullable(v.string()),
  }).index("by_ticket", ["ticket"]),
});
