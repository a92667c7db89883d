import { paginationOptsValidator } from "convex/server";
import type { Doc } from "./_generated/dataModel";
import { query, type QueryCtx } from "./_generated/server";

export const listOrders = query({
  args: { paginationOpts: paginationOptsValidator },
  handler: async (ctx, args) => {
    const orders = await ctx.db
      .query("orders")
      .order("desc")
      .paginate(args.paginationOpts);
    return {
      ...orders,
      page: await Promise.all(
        orders.page.map((order) => withCustomer(ctx, order)),
      ),
    };
  },
});

async function withCustomer(ctx: QueryCtx, order: Doc<"orders">) {
  const customer = await ctx.db.get("customers", order.customerId);
  return {
    orderId: order._id,
    total: order.total,
    customer: customer && { name: customer.name, city: customer.city },
  };
}
