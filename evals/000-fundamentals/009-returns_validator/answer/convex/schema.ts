import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const role = v.union(v.literal("admin"), v.literal("member"));

export const userFields = {
  name: v.string(),
  email: v.string(),
  age: v.optional(v.number()),
  role,
};

export default defineSchema({
  users: defineTable(userFields),
});
