import { StreamIdValidator } from "@convex-dev/persistent-text-streaming";
import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  stories: defineTable({
    title: v.string(),
    source: v.string(),
    streamId: StreamIdValidator,
    isBegun: v.boolean(),
  }),
});
