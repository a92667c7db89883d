import type { Doc, Id } from "../_generated/dataModel";
import type { MutationCtx, QueryCtx } from "../_generated/server";
import { existing, fail } from "./errors";

export async function productOf(ctx: QueryCtx, sku: string): Promise<Doc<"products">> {
  return existing(
    await ctx.db
      .query("products")
      .withIndex("by_sku", (q) => q.eq("sku", sku))
      .unique(),
  );
}

type Move = Pick<Doc<"stockMoves">, "reason"> & { orderId?: Id<"orders"> };

/** The only place where stock changes: every change is recorded, and there is never less than nothing. */
export async function moveStock(ctx: MutationCtx, sku: string, change: number, move: Move): Promise<void> {
  const product = await productOf(ctx, sku);
  if (product.onHand + change < 0) throw fail("SOLD_OUT");
  await ctx.db.patch("products", product._id, { onHand: product.onHand + change });
  await ctx.db.insert("stockMoves", { sku, change, ...move });
}

/** Moves units of a product or bundle. */
export async function moveUnits(
  ctx: MutationCtx,
  { sku, parts }: Pick<Doc<"orderLines">, "sku" | "parts">,
  units: number,
  move: Move,
): Promise<void> {
  for (const part of parts ?? [{ sku, quantity: 1 }]) await moveStock(ctx, part.sku, part.quantity * units, move);
}
