import { v } from "convex/values";
import { defineSettings } from "./lib/settings";

export const settings = defineSettings({
  theme: {
    validator: v.union(v.literal("light"), v.literal("dark")),
    default: "light",
    scope: "public",
  },
  pageSize: { validator: v.number(), default: 20, scope: "public" },
  banner: {
    validator: v.nullable(v.object({ text: v.string(), until: v.optional(v.number()) })),
    default: null,
    scope: "public",
  },
  layout: {
    validator: v.object({
      sidebar: v.object({ open: v.boolean(), width: v.number() }),
      columns: v.array(v.string()),
      accent: v.optional(v.string()),
    }),
    default: { sidebar: { open: true, width: 240 }, columns: ["name", "date"], accent: "blue" },
    scope: "public",
  },
  limits: {
    validator: v.object({
      perDay: v.number(),
      burst: v.object({ size: v.number(), window: v.optional(v.number()) }),
      byPlan: v.record(v.string(), v.number()),
    }),
    default: { perDay: 100, burst: { size: 10, window: 60 }, byPlan: { free: 1, pro: 50 } },
    scope: "internal",
  },
  mail: {
    validator: v.object({
      from: v.string(),
      transport: v.union(
        v.object({ kind: v.literal("smtp"), host: v.string(), port: v.number() }),
        v.object({ kind: v.literal("none") }),
      ),
      footer: v.optional(v.object({ text: v.string(), html: v.boolean() })),
    }),
    default: { from: "team@example.com", transport: { kind: "none" } },
    scope: "internal",
  },
});
