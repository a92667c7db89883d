import { defineTable } from "convex/server";
import { v } from "convex/values";

export const handleTables = {
  handles_stamps: defineTable({ batch: v.string(), ts: v.int64() }).index("by_batch", ["batch"]),
};
