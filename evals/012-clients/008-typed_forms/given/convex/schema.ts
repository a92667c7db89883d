import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";
import { orderArgs, reviewArgs } from "./args";

export default defineSchema({
  shops: defineTable({ name: v.string(), isClosed: v.boolean() }),
  orders: defineTable(orderArgs).index("by_shop", ["shopId"]).index("by_request", ["requestId"]),
  reviews: defineTable(reviewArgs).index("by_request", ["requestId"]),
});
