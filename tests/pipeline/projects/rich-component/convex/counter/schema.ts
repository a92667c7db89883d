import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({ counts: defineTable({ value: v.number() }) });
