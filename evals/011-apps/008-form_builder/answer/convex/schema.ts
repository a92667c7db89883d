import { defineSchema, defineTable } from "convex/server";
import { v, type GenericValidator } from "convex/values";

const key = v.string();
const leaf = v.union(v.number(), v.object({ field: v.string() }), v.object({ sum: v.string() }));
const op = v.union(v.literal("+"), v.literal("-"), v.literal("*"), v.literal("/"));
function operation<Operand extends GenericValidator>(operand: Operand) {
  return v.union(leaf, v.object({ op, left: operand, right: operand }));
}
const formula = operation(operation(operation(operation(leaf))));
const showIf = v.optional(
  v.union(
    v.object({ field: v.string(), is: v.string() }),
    v.object({ field: v.string(), includes: v.string() }),
    v.object({ field: v.string(), atLeast: v.number() }),
  ),
);
const required = v.boolean();
const number = v.optional(v.number());
const options = v.array(v.string());
const plain = [
  v.object({ key, showIf, kind: v.literal("text"), required, maxLength: number }),
  v.object({ key, showIf, kind: v.literal("number"), required, min: number, max: number }),
  v.object({ key, showIf, kind: v.union(v.literal("choice"), v.literal("choices")), required, options }),
  v.object({ key, showIf, kind: v.literal("date"), required }),
  v.object({ key, showIf, kind: v.literal("computed"), formula }),
] as const;
const group = v.object({ key, showIf, kind: v.literal("group"), min: v.number(), max: v.number(), fields: v.array(v.union(...plain)) });

export const fields = v.array(v.union(...plain, group));
/** What has been saved for a field; `path` is its path. */
export const saved = v.union(v.string(), v.number(), v.array(v.string()));

export default defineSchema({
  forms: defineTable({ owner: v.string(), draft: fields, latest: v.number() }),
  versions: defineTable({ form: v.id("forms"), version: v.number(), fields }).index("by_form", ["form", "version"]),
  /** `submitted` is the number of the submission in its form, and 0 before. */
  responses: defineTable({
    form: v.id("forms"),
    user: v.string(),
    version: v.number(),
    submitted: v.number(),
    draft: v.record(v.string(), v.union(saved, v.array(v.record(v.string(), saved)))),
  }).index("by_form", ["form", "submitted"]),
});
