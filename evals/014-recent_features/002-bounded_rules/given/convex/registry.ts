import type { FunctionReference } from "convex/server";
import { internal } from "./_generated/api";
import type { Id } from "./_generated/dataModel";

/** An internal mutation of a partner. It returns its verdict. */
export type Rule = FunctionReference<
  "mutation",
  "internal",
  { orderId: Id<"orders"> },
  string
>;

export const RULES: { name: string; rule: Rule }[] = [
  { name: "history", rule: internal.rules.history },
  { name: "signals", rule: internal.rules.signals },
  { name: "catalogue", rule: internal.rules.catalogue },
  { name: "reminders", rule: internal.rules.reminders },
  { name: "blocklist", rule: internal.rules.blocklist },
  { name: "size", rule: internal.rules.size },
];
