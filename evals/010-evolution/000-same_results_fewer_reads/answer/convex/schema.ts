import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const status = v.union(
  v.literal("open"),
  v.literal("waiting"),
  v.literal("closed"),
);

export default defineSchema({
  customers: defineTable({
    name: v.string(),
    email: v.string(),
    // The address in lower case. Customers from before have none until
    // migrations:run has added it.
    emailKey: v.optional(v.string()),
  }).index("by_email_key", ["emailKey"]),
  agents: defineTable({
    name: v.string(),
  }),
  tickets: defineTable({
    customerId: v.id("customers"),
    subject: v.string(),
    status,
    // 0 (low) to 4 (urgent). Tickets from the first year have none.
    priority: v.optional(v.number()),
    // Tickets that never had an agent have no such field; tickets that were
    // taken away from their agent have null.
    agentId: v.optional(v.nullable(v.id("agents"))),
  }).index("by_agent_and_status_and_priority", [
    "agentId",
    "status",
    "priority",
  ]),
  comments: defineTable({
    ticketId: v.id("tickets"),
    text: v.string(),
  }).index("by_ticket", ["ticketId"]),
});
