import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  /** What is on the shelf. Each entry has a stored file of its own, with the checksum that `_storage` has for it. */
  entries: defineTable({ name: v.string(), storageId: v.id("_storage"), sha256: v.string() })
    .index("by_file", ["storageId"])
    .index("by_checksum", ["sha256"]),
  /** Room for what the cleanup has to remember. Nobody else uses it. */
  cleanup: defineTable({ until: v.number() }),
});
