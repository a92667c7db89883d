import { defineSchema, defineTable } from "convex/server";
import { contact } from "./shapes";

export default defineSchema({
  contacts: defineTable(contact).index("by_city", ["address.city"]),
});
