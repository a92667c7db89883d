import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

/** Where an entry came from, as Convex saw it; null if the house wrote it. */
export const origin = {
  address: v.nullable(v.string()),
  program: v.nullable(v.string()),
};

export default defineSchema({
  entries: defineTable({ text: v.string(), ...origin }),
  // One per accepted entry of a visitor, also of those that appear later.
  signatures: defineTable({ address: v.nullable(v.string()) }).index(
    "by_address",
    ["address"],
  ),
});
