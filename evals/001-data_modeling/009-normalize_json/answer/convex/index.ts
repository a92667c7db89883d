import { type Infer, v } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import {
  mutation,
  query,
  type MutationCtx,
  type QueryCtx,
} from "./_generated/server";

const customer = v.object({ email: v.string(), name: v.string() });

const product = v.object({
  sku: v.string(),
  name: v.string(),
  price: v.number(),
});

const order = v.object({
  number: v.string(),
  customer,
  lines: v.array(v.object({ product, quantity: v.number() })),
});

export const importOrder = mutation({
  args: { order },
  handler: async (ctx, { order }) => {
    if ((await findOrder(ctx, order.number)) !== null) {
      throw new Error(`There is an order ${order.number} already`);
    }
    const customerId = await upsertCustomer(ctx, order.customer);
    const orderId = await ctx.db.insert("orders", {
      number: order.number,
      customerId,
    });
    // One after the other: lines keep their order, and a product that occurs twice is found.
    for (const { product, quantity } of order.lines) {
      const productId = await upsertProduct(ctx, product);
      await ctx.db.insert("orderLines", { orderId, productId, quantity });
    }
    return orderId;
  },
});

export const getOrder = query({
  args: { number: v.string() },
  handler: async (ctx, { number }) => {
    const order = await findOrder(ctx, number);
    if (order === null) {
      return null;
    }
    const customer = await ctx.db.get("customers", order.customerId);
    if (customer === null) {
      throw new Error(`The order ${number} has no customer`);
    }
    const lines = await ctx.db
      .query("orderLines")
      .withIndex("by_orderId", (q) => q.eq("orderId", order._id))
      .collect();
    return {
      number,
      customer: { email: customer.email, name: customer.name },
      lines: await Promise.all(lines.map((line) => assembleLine(ctx, line))),
    };
  },
});

async function findOrder(ctx: QueryCtx, number: string) {
  return await ctx.db
    .query("orders")
    .withIndex("by_number", (q) => q.eq("number", number))
    .unique();
}

async function upsertCustomer(
  ctx: MutationCtx,
  imported: Infer<typeof customer>,
): Promise<Id<"customers">> {
  const known = await ctx.db
    .query("customers")
    .withIndex("by_email", (q) => q.eq("email", imported.email))
    .unique();
  if (known === null) {
    return await ctx.db.insert("customers", imported);
  }
  await ctx.db.patch("customers", known._id, imported);
  return known._id;
}

async function upsertProduct(
  ctx: MutationCtx,
  imported: Infer<typeof product>,
): Promise<Id<"products">> {
  const known = await ctx.db
    .query("products")
    .withIndex("by_sku", (q) => q.eq("sku", imported.sku))
    .unique();
  if (known === null) {
    return await ctx.db.insert("products", imported);
  }
  await ctx.db.patch("products", known._id, imported);
  return known._id;
}

async function assembleLine(ctx: QueryCtx, line: Doc<"orderLines">) {
  const product = await ctx.db.get("products", line.productId);
  if (product === null) {
    throw new Error(`The order line ${line._id} has no product`);
  }
  const { sku, name, price } = product;
  return { product: { sku, name, price }, quantity: line.quantity };
}
