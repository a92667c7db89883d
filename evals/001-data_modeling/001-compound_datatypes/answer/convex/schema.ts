import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  users: defineTable({ name: v.string() }),

  recipes: defineTable({
    title: v.string(),
    tags: v.array(v.string()),
    ingredients: v.array(v.object({ name: v.string(), grams: v.number() })),
    nutrition: v.object({
      calories: v.number(),
      macros: v.object({
        protein: v.number(),
        fat: v.number(),
        carbs: v.number(),
      }),
    }),
    ratings: v.record(v.id("users"), v.number()),
  }),
});
