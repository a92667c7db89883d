import { v } from "convex/values";
import { internalMutation, query } from "./_generated/server";
import { memberCalled } from "./access";
import { caller, exists, refuse, shift } from "./calendar";
import { itemsFor } from "./plans";

export const miss = internalMutation({
  args: { key: v.string(), name: v.string(), product: v.string(), day: v.string(), pieces: v.number() },
  handler: async (ctx, { key, name, product, day, pieces }) => {
    const misses = await ctx.db.query("misses").collect();
    const same = misses.find((each) => each.key === key);
    if (same !== undefined) return [200, same.cents];
    const loads = await ctx.db.query("loads").collect();
    const load = loads.find((each) => each.member === name && each.day === day);
    const item = load?.items.find((each) => each.name === product);
    if (load === undefined || item === undefined || (await memberCalled(ctx, name)) === undefined) return [404, 0];
    if (shift(day, 7) < new Date(Date.now()).toISOString().substring(0, 10)) return [410, 0];
    let left = item.pieces - pieces;
    for (const each of misses) if (each.load === load._id && each.product === product) left -= each.pieces;
    if (left < 0) return [409, 0];
    const cents = item.cents * pieces;
    await ctx.db.insert("misses", { key, load: load._id, product, pieces, cents });
    await ctx.db.insert("money", { member: name, cents, why: key });
    return [201, cents];
  },
});

export const get = query({
  args: { date: v.string() },
  handler: async (ctx, { date }) => {
    await caller(ctx, "staff");
    if (!exists(date)) refuse("INVALID");
    const loads = await ctx.db.query("loads").collect();
    const members = await ctx.db.query("members").collect();
    const totals: Record<string, number> = {};
    const stops = [];
    for (const member of members.sort((one, other) => (one.name < other.name ? -1 : 1))) {
      const load = loads.find((each) => each.member === member.name && each.day === date);
      const items = date > member.loaded ? await itemsFor(ctx, member, date) : (load?.items ?? []);
      if (items.length === 0) continue;
      const lines = items.map(({ name, pieces }) => ({ product: name, quantity: pieces }));
      stops.push({ customer: member.name, lines });
      for (const { name, pieces } of items) totals[name] = (totals[name] ?? 0) + pieces;
    }
    const sums = Object.entries(totals).map(([product, quantity]) => ({ product, quantity }));
    return { stops, totals: sums.sort((one, other) => (one.product < other.product ? -1 : 1)) };
  },
});
