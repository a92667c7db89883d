import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc } from "./_generated/dataModel";
import { internalMutation, mutation, query } from "./_generated/server";
import type { MutationCtx, QueryCtx } from "./_generated/server";
import { failure, requireUser } from "./access";

const DAY = 24 * 60 * 60 * 1000;
const LONGEST_SILENCE = 20 * DAY;
const MOST_DEVICES = 3;
const LONGEST_NAME = 20;

async function devicesOf(ctx: QueryCtx, user: string) {
  return await ctx.db
    .query("devices")
    .withIndex("by_user_and_name", (q) => q.eq("user", user))
    .collect();
}

export async function requireDevice(ctx: QueryCtx, user: string, name: string) {
  const device = await ctx.db
    .query("devices")
    .withIndex("by_user_and_name", (q) => q.eq("user", user).eq("name", name))
    .unique();
  if (device === null) throw failure("UNKNOWN_DEVICE");
  return device;
}

export async function recordSync(ctx: MutationCtx, device: Doc<"devices">, done: number) {
  await ctx.db.patch("devices", device._id, { done, syncedAt: Date.now() });
}

export const register = mutation({
  args: { name: v.string() },
  returns: v.null(),
  handler: async (ctx, { name }) => {
    const user = await requireUser(ctx);
    if (name.length < 1 || name.length > LONGEST_NAME) throw failure("INVALID");
    const devices = await devicesOf(ctx, user);
    if (devices.some((device) => device.name === name)) throw failure("TAKEN");
    if (devices.length >= MOST_DEVICES) throw failure("TOO_MANY");
    const syncedAt = Date.now();
    const deviceId = await ctx.db.insert("devices", { user, name, done: 0, syncedAt });
    await ctx.scheduler.runAt(syncedAt + LONGEST_SILENCE, internal.devices.forget, { deviceId });
    return null;
  },
});

/** Forgets a device that has been silent for too long, or looks again when that may be the case. */
export const forget = internalMutation({
  args: { deviceId: v.id("devices") },
  returns: v.null(),
  handler: async (ctx, { deviceId }) => {
    const device = await ctx.db.get("devices", deviceId);
    if (device === null) return null;
    const due = device.syncedAt + LONGEST_SILENCE;
    if (due > Date.now()) await ctx.scheduler.runAt(due, internal.devices.forget, { deviceId });
    else await ctx.db.delete("devices", deviceId);
    return null;
  },
});

export const list = query({
  args: {},
  returns: v.array(v.object({ name: v.string(), done: v.number(), syncedAt: v.number() })),
  handler: async (ctx) => {
    const devices = await devicesOf(ctx, await requireUser(ctx));
    return devices.map(({ name, done, syncedAt }) => ({ name, done, syncedAt }));
  },
});
