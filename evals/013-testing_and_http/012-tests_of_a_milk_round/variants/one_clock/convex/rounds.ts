import { v } from "convex/values";
import { internalMutation, query } from "./_generated/server";
import { boss, day, deadline, household, text } from "./calendar";
import { linesFor } from "./plans";
import { price } from "./products";

export const report = internalMutation({
  args: { report: v.string(), customer: v.string(), product: v.string(), date: v.string(), quantity: v.number() },
  handler: async (ctx, { report: key, customer, product, date, quantity }) => {
    const all = await ctx.db.query("missed").collect();
    const known = all.find((each) => each.report === key);
    if (known !== undefined) return { status: 200, cents: known.cents };
    const found = await household(ctx, customer);
    const isFixed = deadline(day(date)) <= Date.now();
    const lines = isFixed ? await linesFor(ctx, customer, date) : [];
    const line = lines.find((each) => each.product.name === product);
    if (found === null || line === undefined) return { status: 404, cents: 0 };
    if (Date.now() >= Date.parse(text(day(date) + 8))) return { status: 410, cents: 0 };
    const before = all.filter(
      (each) => each.subject === customer && each.date === date && each.productId === line.product._id,
    );
    const sum = before.reduce((total, each) => total + each.quantity, quantity);
    if (sum > line.quantity) return { status: 409, cents: 0 };
    const cents = price(line.product, date) * quantity;
    const productId = line.product._id;
    await ctx.db.insert("missed", { report: key, subject: customer, productId, date, quantity, cents });
    await ctx.db.patch("households", found._id, { credit: found.credit + cents });
    return { status: 201, cents };
  },
});

export const get = query({
  args: { date: v.string() },
  handler: async (ctx, { date }) => {
    await boss(ctx);
    day(date);
    const stops = [];
    for (const { subject } of await ctx.db.query("households").collect()) {
      const lines = await linesFor(ctx, subject, date);
      if (lines.length === 0) continue;
      stops.push({ customer: subject, lines: lines.map((each) => ({ ...each, product: each.product.name })) });
    }
    stops.sort((a, b) => (a.customer < b.customer ? -1 : 1));
    const flat = stops.flatMap(({ lines }) => lines);
    const totals = [...new Set(flat.map(({ product }) => product))].sort().map((product) => {
      const its = flat.filter((each) => each.product === product);
      return { product, quantity: its.reduce((sum, each) => sum + each.quantity, 0) };
    });
    return { stops, totals };
  },
});
