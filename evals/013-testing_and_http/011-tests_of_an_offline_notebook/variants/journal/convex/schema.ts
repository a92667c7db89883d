import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

const part = v.object({ text: v.string(), when: v.number(), by: v.string(), name: v.string(), made: v.number() });

export default defineSchema({
  notebooks: defineTable({
    name: v.string(),
    people: v.array(v.object({ who: v.string(), what: v.string() })),
  }),
  gadgets: defineTable({ who: v.string(), name: v.string(), last: v.number(), seen: v.number() }),
  papers: defineTable({
    key: v.string(),
    count: v.number(),
    parts: v.object({ title: part, body: part, notebook: part }),
    gone: v.union(v.null(), v.number()),
    goneSince: v.number(),
  }),
  journal: defineTable({ place: v.number(), key: v.string(), readers: v.array(v.string()) }),
});
