import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";
import { orders, tickets } from "./machines";

export default defineSchema({
  people: defineTable({ name: v.string() }),
  orders: defineTable(orders.validator)
    .index("by_state", ["state"])
    .index("by_customer", ["customer", "state"]),
  orderChanges: defineTable(orders.auditValidator).index("by_document", [
    "document",
  ]),
  tickets: defineTable(tickets.validator).index("by_state", ["state"]),
  ticketChanges: defineTable(tickets.auditValidator).index("by_document", [
    "document",
  ]),
});
