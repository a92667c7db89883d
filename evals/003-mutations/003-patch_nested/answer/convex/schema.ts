import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const quietHours = v.object({ from: v.number(), to: v.number() });

export default defineSchema({
  users: defineTable({
    name: v.string(),
    settings: v.object({
      theme: v.string(),
      language: v.optional(v.string()),
      notifications: v.object({
        email: v.boolean(),
        push: v.boolean(),
        quietHours: v.optional(quietHours),
      }),
    }),
  }),
});
