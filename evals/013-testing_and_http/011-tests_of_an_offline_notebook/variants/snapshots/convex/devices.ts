import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { DAY, ring } from "./alarms";
import { caller, oops } from "./common";

export const register = mutation({
  args: { name: v.string() },
  handler: async (ctx, { name: label }) => {
    const person = await caller(ctx);
    if (!/^[^]{1,20}$/.test(label)) oops("INVALID");
    const labels: string[] = [];
    const own = ctx.db.query("machines").withIndex("by_person", (q) => q.eq("person", person));
    for await (const machine of own) labels.push(machine.label);
    if (labels.includes(label)) oops("TAKEN");
    if (labels.length === 3) oops("TOO_MANY");
    const alive = Date.now();
    await ring(ctx, alive + 20 * DAY, { machine: await ctx.db.insert("machines", { person, label, last: 0, alive }) });
    return null;
  },
});

export const list = query({
  args: {},
  handler: async (ctx) => {
    const person = await caller(ctx);
    const own = await ctx.db
      .query("machines")
      .withIndex("by_person", (q) => q.eq("person", person))
      .collect();
    return own.map((machine) => ({ name: machine.label, done: machine.last, syncedAt: machine.alive }));
  },
});
