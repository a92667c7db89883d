import type { Doc } from "../_generated/dataModel";
import type { MutationCtx } from "../_generated/server";
import { productOf } from "./stock";

type Change = { orders: number; units: number; amount: number; tax: number };

/** Sales are reported for the day on which the order was placed, also if they change later. Shipping is not a sale. */
export async function reportSales(ctx: MutationCtx, day: string, change: Change): Promise<void> {
  const report = await ctx.db
    .query("dailySales")
    .withIndex("by_day", (q) => q.eq("day", day))
    .unique();
  if (report === null) {
    await ctx.db.insert("dailySales", { day, ...change });
    return;
  }
  await ctx.db.patch("dailySales", report._id, {
    orders: report.orders + change.orders,
    units: report.units + change.units,
    amount: report.amount + change.amount,
    tax: report.tax + change.tax,
  });
}

export async function countSold(ctx: MutationCtx, sku: string, units: number, amount: number): Promise<void> {
  const product = await productOf(ctx, sku);
  await ctx.db.patch("products", product._id, { sold: product.sold + units, revenue: product.revenue + amount });
}

export async function tell(ctx: MutationCtx, type: string, order: Doc<"orders">, amount: number): Promise<void> {
  await ctx.db.insert("outbox", { type, orderId: order._id, amount });
}
