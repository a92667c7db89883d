import { defineTable } from "convex/server";
import { v } from "convex/values";

export const fileTables = {
  files_references: defineTable({ file: v.id("_storage"), job: v.optional(v.id("_scheduled_functions")) }),
  files_documents: defineTable({ name: v.string() }),
};
