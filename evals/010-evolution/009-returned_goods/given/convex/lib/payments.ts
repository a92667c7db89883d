import type { Doc, Id } from "../_generated/dataModel";
import type { MutationCtx } from "../_generated/server";
import { addSpent } from "./customers";
import { existing } from "./errors";

export async function changeBalance(
  ctx: MutationCtx,
  giftCardId: Id<"giftCards">,
  amount: number,
  orderId?: Id<"orders">,
): Promise<void> {
  if (amount === 0) return;
  const card = existing(await ctx.db.get("giftCards", giftCardId));
  await ctx.db.patch("giftCards", giftCardId, { balance: card.balance + amount });
  await ctx.db.insert("giftCardEntries", { giftCardId, amount, orderId });
}

/** Money goes back to the card first, as far as it was paid by card and not refunded yet, then to the gift card. */
export async function refund(ctx: MutationCtx, orderId: Id<"orders">, amount: number): Promise<Doc<"orders">> {
  const order = existing(await ctx.db.get("orders", orderId));
  const toCard = Math.min(amount, order.paidByCard - order.refundedToCard);
  const toGiftCard = amount - toCard;
  await ctx.db.patch("orders", orderId, {
    refundedToCard: order.refundedToCard + toCard,
    refundedToGiftCard: order.refundedToGiftCard + toGiftCard,
  });
  if (order.giftCardId !== undefined) await changeBalance(ctx, order.giftCardId, toGiftCard, orderId);
  await addSpent(ctx, order.customerId, -amount);
  return existing(await ctx.db.get("orders", orderId));
}
