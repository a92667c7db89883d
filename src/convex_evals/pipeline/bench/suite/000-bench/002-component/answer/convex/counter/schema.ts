import { defineSchema, defineTable } from "convex/server";

export default defineSchema({ hits: defineTable({}) });
