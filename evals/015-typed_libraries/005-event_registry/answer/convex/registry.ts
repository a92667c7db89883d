import { v } from "convex/values";
import { defineEvents, event } from "./lib/events";

const currency = v.union(v.literal("EUR"), v.literal("USD"));
const source = v.union(v.object({ kind: v.literal("card"), last4: v.string() }), v.object({ kind: v.literal("cash") }));

export const registry = defineEvents({
  "account.opened": event(v.object({ owner: v.string() })).next(v.object({ owner: v.string(), currency }), (old) => ({
    ...old,
    currency: "EUR" as const,
  })),
  "money.deposited": event(v.object({ amount: v.number() }))
    .next(v.object({ cents: v.number() }), (old) => ({ cents: Math.round(old.amount * 100) }))
    .next(v.object({ cents: v.number(), source }), (old) => ({ ...old, source: { kind: "cash" as const } })),
  "money.withdrawn": event(v.object({ cents: v.number() })),
  "account.closed": event(v.null()).next(v.object({ reason: v.optional(v.string()) }), () => ({})),
});
