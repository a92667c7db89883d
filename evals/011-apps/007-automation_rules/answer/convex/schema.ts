import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

const text = v.nullable(v.string());
const status = v.union(v.literal("open"), v.literal("active"), v.literal("blocked"), v.literal("done"));
const severity = v.union(v.literal("minor"), v.literal("major"), v.literal("critical"));

export const issueValues = v.object({
  title: v.string(),
  notes: text,
  points: v.nullable(v.number()),
  status,
  severity: v.nullable(severity),
  assignee: text,
  due: text,
  labels: v.array(v.string()),
});
const value = v.union(v.string(), v.number(), v.null(), v.array(v.string()));
const rule = v.string();

export const entry = v.union(
  v.object({ type: v.literal("created"), by: v.string() }),
  v.object({ type: v.literal("commented"), by: v.string(), text: v.string() }),
  v.object({ type: v.literal("set"), by: v.string(), field: v.string(), from: value, to: value }),
  v.object({ type: v.literal("ran"), rule }),
  v.object({ type: v.literal("cut"), rule }),
  v.object({ type: v.literal("stopped") }),
  v.object({ type: v.literal("delayed"), rule, minutes: v.number() }),
  v.object({ type: v.literal("resumed"), rule }),
  v.object({ type: v.literal("called"), rule, url: v.string() }),
  v.object({ type: v.literal("answered"), rule, url: v.string(), status: v.nullable(v.number()) }),
);

export default defineSchema({
  issues: defineTable({ values: issueValues }),
  entries: defineTable({ issue: v.id("issues"), entry }).index("by_issue", ["issue"]),
  /** `json` is the rule itself, which has been checked. */
  rules: defineTable({
    name: v.string(),
    enabled: v.boolean(),
    json: v.string(),
    counter: v.number(),
    runs: v.number(),
  }).index("by_name", ["name"]),
});
