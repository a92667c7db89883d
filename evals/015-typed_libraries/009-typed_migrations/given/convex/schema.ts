import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

// What documents look like once they are migrated. Until then there are older ones, so nothing is validated.
export default defineSchema(
  {
    teams: defineTable({ name: v.string(), slug: v.string() }).index("by_slug", ["slug"]),
    users: defineTable({
      firstName: v.string(),
      lastName: v.string(),
      role: v.union(v.literal("member"), v.literal("admin")),
      nick: v.optional(v.string()),
      tags: v.array(v.string()),
      settings: v.object({
        theme: v.union(v.literal("light"), v.literal("dark")),
        notify: v.boolean(),
      }),
      teamId: v.nullable(v.id("teams")),
    }).index("by_role", ["role"]),
    shapes: defineTable(
      v.union(
        v.object({ kind: v.literal("circle"), radius: v.number(), label: v.string() }),
        v.object({ kind: v.literal("rect"), width: v.number(), height: v.number(), label: v.string() }),
        v.object({ kind: v.literal("group"), members: v.array(v.id("shapes")), label: v.optional(v.string()) }),
      ),
    ),
    notes: defineTable({ text: v.string(), pinned: v.optional(v.boolean()) }),
  },
  { schemaValidation: false },
);
