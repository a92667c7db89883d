import { v } from "convex/values";
import { brand, extend, literals, nullable, variants } from "./lib/validators";

export const email = brand(v.string(), "Email");

export const contact = extend(
  variants("kind", {
    person: { name: v.string(), email, address: v.object({ city: v.string(), zip: v.optional(v.string()) }) },
    company: { name: v.string(), vat: v.optional(v.string()), size: v.optional(literals("small", "large")) },
  }),
  { owner: v.string(), note: nullable(v.string()), rank: v.optional(v.number()) },
);

export const everything = v.object({
  id: v.optional(v.id("contacts")),
  nothing: v.optional(v.null()),
  number: v.optional(v.number()),
  bigint: v.optional(v.int64()),
  boolean: v.optional(v.boolean()),
  text: v.optional(v.string()),
  bytes: v.optional(v.bytes()),
  list: v.optional(v.array(v.string())),
  object: v.optional(v.object({ a: v.optional(v.string()) })),
  record: v.optional(v.record(v.string(), v.number())),
  union: v.optional(v.union(v.string(), v.number())),
  literal: v.optional(v.literal(5)),
  whatever: v.optional(v.any()),
});

export const node = v.union(
  v.union(
    v.object({ type: v.literal("leaf"), value: v.number() }),
    v.object({ type: v.literal("pair"), left: v.string(), right: v.string() }),
  ),
  v.object({ type: v.literal("none"), value: v.optional(v.string()) }),
);
