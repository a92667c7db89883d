import type { Doc, Id } from "../_generated/dataModel";
import type { MutationCtx, QueryCtx } from "../_generated/server";
import { existing, fail } from "./errors";
import { upTo } from "./money";

export async function linesOf(ctx: QueryCtx, orderId: Id<"orders">): Promise<Doc<"orderLines">[]> {
  return await ctx.db
    .query("orderLines")
    .withIndex("by_order", (q) => q.eq("orderId", orderId))
    .collect();
}

export async function orderOf(ctx: QueryCtx, customerId: Id<"customers">, orderId: Id<"orders">): Promise<Doc<"orders">> {
  const order = existing(await ctx.db.get("orders", orderId));
  if (order.customerId !== customerId) throw fail("NOT_FOUND");
  return order;
}

export async function lineOf(ctx: QueryCtx, orderId: Id<"orders">, lineId: Id<"orderLines">): Promise<Doc<"orderLines">> {
  const line = existing(await ctx.db.get("orderLines", lineId));
  if (line.orderId !== orderId) throw fail("NOT_FOUND");
  return line;
}

/** Takes units off a line. What they cost, and the tax in it. */
export async function takeOff(ctx: MutationCtx, line: Doc<"orderLines">, units: number) {
  const before = line.gone ?? 0;
  const after = before + units;
  if (after > line.quantity) throw fail("INVALID");
  await ctx.db.patch("orderLines", line._id, { gone: after });
  return {
    amount: upTo(line.amount, after, line.quantity) - upTo(line.amount, before, line.quantity),
    tax: upTo(line.tax, after, line.quantity) - upTo(line.tax, before, line.quantity),
  };
}

/** What the units that were not taken back cost. */
export function keptAmount(lines: Doc<"orderLines">[]): number {
  return lines.reduce((sum, line) => sum + line.amount - upTo(line.amount, line.gone ?? 0, line.quantity), 0);
}

export async function staffOf(ctx: QueryCtx, staffId: Id<"staff">): Promise<Doc<"staff">> {
  const staff = await ctx.db.get("staff", staffId);
  if (staff === null) throw fail("FORBIDDEN");
  return staff;
}

/** Everything that staff do with orders is on record. */
export async function audit(ctx: MutationCtx, staffId: Id<"staff">, action: string, orderId?: Id<"orders">): Promise<void> {
  await ctx.db.insert("audit", { staffId, action, orderId });
}
