import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  receipts: defineTable({
    item: v.string(),
    job: v.nullable(v.id("_scheduled_functions")),
  })
    .index("by_item", ["item"])
    .index("by_job", ["job"])
    .index("by_job_and_item", ["job", "item"]),
});
