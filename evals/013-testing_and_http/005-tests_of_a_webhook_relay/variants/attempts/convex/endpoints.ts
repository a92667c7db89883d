import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { dropAll, startAt, waiting } from "./deliveries";
import { fail, isWordy, me, mine } from "./rules";

const one = { endpointId: v.id("endpoints") };
const secretText = () => `${String(Math.random())}-${crypto.randomUUID()}`;

export const register = mutation({
  args: { url: v.string(), types: v.array(v.string()) },
  handler: async (ctx, { url, types }) => {
    const owner = await me(ctx);
    try {
      if (new URL(url).protocol !== "https:") fail("INVALID");
    } catch {
      fail("INVALID");
    }
    const bad = types.filter((each) => each !== "*" && !isWordy(each.replace(/\.\*$/, "")));
    if (types.length < 1 || bad.length > 0) fail("INVALID");
    const all = (await ctx.db.query("endpoints").collect()).filter((each) => each.owner === owner);
    if (all.find((each) => each.url === url)) fail("REGISTERED");
    if (all.length === 5) fail("TOO_MANY");
    const secret = secretText();
    const endpointId = await ctx.db.insert("endpoints", { owner, url, types, secret, state: "active" });
    await ctx.db.insert("streaks", { endpointId, failed: 0 });
    return { endpointId, secret };
  },
});

export const pause = mutation({
  args: one,
  handler: async (ctx, { endpointId }) => {
    if ((await mine(ctx, endpointId)).state !== "active") fail("WRONG_STATE");
    await ctx.db.patch("endpoints", endpointId, { state: "paused" });
    for (const { _id, job } of await waiting(ctx, endpointId)) {
      if (job !== null) await ctx.scheduler.cancel(job);
      await ctx.db.patch("deliveries", _id, { job: null });
    }
    return null;
  },
});

export const resume = mutation({
  args: one,
  handler: async (ctx, { endpointId }) => {
    if ((await mine(ctx, endpointId)).state === "active") fail("WRONG_STATE");
    await ctx.db.patch("endpoints", endpointId, { state: "active" });
    const streaks = await ctx.db.query("streaks").collect();
    for (const streak of streaks) {
      if (streak.endpointId === endpointId) await ctx.db.patch("streaks", streak._id, { failed: 0 });
    }
    for (const { _id } of await waiting(ctx, endpointId)) await startAt(ctx, _id, Date.now());
    return null;
  },
});

export const rotate = mutation({
  args: one,
  handler: async (ctx, { endpointId }) => {
    const endpoint = await mine(ctx, endpointId);
    const secret = secretText();
    await ctx.db.replace("endpoints", endpointId, { ...endpoint, secret });
    return secret;
  },
});

export const remove = mutation({
  args: one,
  handler: async (ctx, { endpointId }) => {
    await mine(ctx, endpointId);
    await dropAll(ctx, endpointId);
    await ctx.db.delete("endpoints", endpointId);
    return null;
  },
});

export const list = query({
  args: {},
  handler: async (ctx) => {
    const owner = await me(ctx);
    const found = [];
    for await (const endpoint of ctx.db.query("endpoints")) {
      const { _id: endpointId, url, types, state } = endpoint;
      if (endpoint.owner === owner) found.push({ endpointId, url, types, state });
    }
    return found;
  },
});
