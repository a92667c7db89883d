import { Crons } from "@convex-dev/crons";
import { v } from "convex/values";
import { components, internal } from "./_generated/api";
import { mutation, query } from "./_generated/server";

const crons = new Crons(components.crons);

export const register = mutation({
  args: { name: v.string(), ms: v.number() },
  handler: async (ctx, { name, ms }): Promise<string> => {
    const args = { topic: name, text: "reminded" };
    return await crons.register(ctx, { kind: "interval", ms }, internal.events.record, args, name);
  },
});

export const registerCron = mutation({
  args: { name: v.string(), cronspec: v.string() },
  handler: async (ctx, { name, cronspec }): Promise<string> => {
    const args = { topic: name, text: "reminded" };
    return await crons.register(ctx, { kind: "cron", cronspec }, internal.events.record, args, name);
  },
});

export const list = query({
  args: {},
  handler: async (ctx) => (await crons.list(ctx)).map((cron) => cron.name),
});

export const remove = mutation({
  args: { name: v.string() },
  handler: async (ctx, { name }) => await crons.delete(ctx, { name }),
});
