import type { Doc, Id } from "../_generated/dataModel";
import type { MutationCtx } from "../_generated/server";
import { existing } from "./errors";

export function tierFor(spent: number): Doc<"customers">["tier"] {
  return spent >= 50_000 ? "gold" : spent >= 20_000 ? "silver" : "basic";
}

/** The tier always follows from what the customer has spent. */
export async function addSpent(ctx: MutationCtx, customerId: Id<"customers">, amount: number): Promise<void> {
  const customer = existing(await ctx.db.get("customers", customerId));
  const spent = customer.spent + amount;
  await ctx.db.patch("customers", customerId, { spent, tier: tierFor(spent) });
}

/** Entries add up to the points of the customer; there are none of zero points. */
export async function addPoints(ctx: MutationCtx, order: Doc<"orders">, points: number): Promise<void> {
  if (points === 0) return;
  const customer = existing(await ctx.db.get("customers", order.customerId));
  await ctx.db.patch("customers", customer._id, { points: (customer.points ?? 0) + points });
  await ctx.db.insert("pointEntries", { customerId: customer._id, orderId: order._id, points });
}
