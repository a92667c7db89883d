import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  orders: defineTable({ customer: v.string(), placedAt: v.number(), total: v.number() }).index("by_customer_and_time", [
    "customer",
    "placedAt",
  ]),
});
