import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

const oldProduct = v.object({
  title: v.string(),
  price: v.number(),
});

const newProduct = v.object({
  title: v.string(),
  priceCents: v.number(),
  tags: v.array(v.string()),
});

export default defineSchema({
  // Once everything is migrated: only the new shape.
  products: defineTable(v.union(oldProduct, newProduct)),
});
