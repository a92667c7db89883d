import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  inbox: defineTable({ body: v.string(), remindAt: v.array(v.number()) }),
  archive: defineTable({ body: v.string() }),
  reminders: defineTable({ archiveId: v.id("archive") }),
});
