import { defineTable } from "convex/server";
import { v } from "convex/values";

export const documentTables = {
  documents_users: defineTable({ name: v.string() }),
  documents_posts: defineTable({ title: v.string() }),
  documents_any: defineTable(v.any()),
};
