import { v } from "convex/values";
import { query } from "./_generated/server";
import { extend, literals, nullable, omit, partial, pick, required } from "./lib/validators";
import { everything, node } from "./shapes";

const returns = v.null();
const handler = () => null;

export const full = query({ args: { value: required(everything) }, returns, handler });
export const loose = query({ args: { value: partial(required(everything)) }, returns, handler });
export const picked = query({ args: { value: pick(node, "type", "value") }, returns, handler });
export const omitted = query({ args: { value: omit(node, "type", "left") }, returns, handler });
export const extended = query({ args: { value: extend(node, { value: v.boolean() }) }, returns, handler });
export const maybe = query({ args: { value: partial(v.optional(node)) }, returns, handler });
export const nullables = query({
  args: { a: nullable(v.optional(v.string())), b: nullable(node), c: nullable(nullable(v.number())) },
  returns,
  handler,
});
export const several = query({ args: { value: literals("a", 1, true, 5n) }, returns, handler });
