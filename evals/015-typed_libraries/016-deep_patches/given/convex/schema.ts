import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  users: defineTable({
    name: v.string(),
    email: v.optional(v.string()),
    avatar: v.optional(v.bytes()),
    credits: v.int64(),
  }).index("by_name", ["name"]),

  projects: defineTable({
    name: v.string(),
    status: v.union(v.literal("active"), v.literal("archived")),
    priority: v.union(v.literal(1), v.literal(2), v.literal(3)),
    budget: v.optional(v.number()),
    limit: v.nullable(v.number()),
    leadId: v.id("users"),
    owner: v.object({
      name: v.string(),
      email: v.optional(v.string()),
      address: v.optional(
        v.object({ city: v.string(), zip: v.optional(v.string()) }),
      ),
    }),
    tags: v.array(v.string()),
    labels: v.optional(v.array(v.string())),
    milestones: v.array(
      v.object({
        title: v.string(),
        done: v.boolean(),
        points: v.optional(v.number()),
      }),
    ),
    members: v.record(
      v.id("users"),
      v.object({
        role: v.union(v.literal("reader"), v.literal("writer")),
        hours: v.number(),
        note: v.optional(v.string()),
      }),
    ),
    counters: v.record(v.string(), v.number()),
    links: v.record(v.string(), v.array(v.string())),
  }).index("by_status", ["status"]),

  shapes: defineTable(
    v.union(
      v.object({
        kind: v.literal("circle"),
        label: v.optional(v.string()),
        radius: v.number(),
        mark: v.number(),
        fill: v.optional(v.string()),
      }),
      v.object({
        kind: v.literal("box"),
        label: v.string(),
        size: v.object({ width: v.number(), height: v.number() }),
        mark: v.string(),
        fill: v.optional(
          v.object({ color: v.string(), opacity: v.optional(v.number()) }),
        ),
      }),
    ),
  ).index("by_kind", ["kind"]),
});
