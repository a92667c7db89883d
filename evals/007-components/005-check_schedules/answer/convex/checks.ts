import { ConvexError, v, type Infer } from "convex/values";
import type { Doc } from "./_generated/dataModel";
import {
  mutation,
  query,
  type MutationCtx,
  type QueryCtx,
} from "./_generated/server";
import { startJob, stopJob } from "./jobs";
import { vSchedule } from "./schema";

const vCheck = v.object({
  name: v.string(),
  schedule: vSchedule,
  url: v.string(),
});
const key = { user: v.string(), name: v.string() };
const MOST_RESULTS = 20;

export const set = mutation({
  args: { user: v.string(), ...vCheck.fields },
  handler: async (ctx, { user, ...check }) => {
    return await setCheck(ctx, user, check);
  },
});

export const sync = mutation({
  args: { user: v.string(), checks: v.array(vCheck) },
  handler: async (ctx, { user, checks }) => {
    const names = new Set(checks.map((check) => check.name));
    if (names.size < checks.length) {
      throw new ConvexError({ code: "DUPLICATE" });
    }
    const counts = { created: 0, changed: 0, unchanged: 0, removed: 0 };
    for (const check of await checksOf(ctx, user)) {
      if (names.has(check.name)) continue;
      await removeCheck(ctx, check);
      counts.removed += 1;
    }
    for (const check of checks) {
      counts[await setCheck(ctx, user, check)] += 1;
    }
    return counts;
  },
});

export const remove = mutation({
  args: key,
  handler: async (ctx, { user, name }) => {
    const check = await findCheck(ctx, user, name);
    if (check === null) return false;
    await removeCheck(ctx, check);
    return true;
  },
});

export const rename = mutation({
  args: { ...key, to: v.string() },
  handler: async (ctx, { user, name, to }) => {
    const check = await findCheck(ctx, user, name);
    if (check === null || (await findCheck(ctx, user, to)) !== null) {
      return false;
    }
    await ctx.db.patch("checks", check._id, { name: to });
    return true;
  },
});

export const pause = mutation({
  args: key,
  handler: async (ctx, { user, name }) => {
    const check = await findCheck(ctx, user, name);
    if (check === null || check.job === null) return false;
    await stopJob(ctx, check.job);
    await ctx.db.patch("checks", check._id, { job: null });
    return true;
  },
});

export const resume = mutation({
  args: key,
  handler: async (ctx, { user, name }) => {
    const check = await findCheck(ctx, user, name);
    if (check === null || check.job !== null) return false;
    const job = await startJob(ctx, check._id, check.schedule);
    await ctx.db.patch("checks", check._id, { job });
    return true;
  },
});

export const list = query({
  args: { user: v.string() },
  handler: async (ctx, { user }) => {
    const checks = await checksOf(ctx, user);
    return checks.map(({ name, schedule, url, job }) => ({
      name,
      schedule,
      url,
      isPaused: job === null,
    }));
  },
});

export const results = query({
  args: key,
  handler: async (ctx, { user, name }) => {
    const check = await findCheck(ctx, user, name);
    if (check === null) return [];
    const newest = await ctx.db
      .query("results")
      .withIndex("by_check", (q) => q.eq("check", check._id))
      .order("desc")
      .take(MOST_RESULTS);
    return newest.map(({ at, status }) => ({ at, status }));
  },
});

async function setCheck(
  ctx: MutationCtx,
  user: string,
  { name, schedule, url }: Infer<typeof vCheck>,
): Promise<"created" | "changed" | "unchanged"> {
  const check = await findCheck(ctx, user, name);
  if (check === null) {
    const fields = { user, name, schedule, url, job: null };
    const id = await ctx.db.insert("checks", fields);
    const job = await startJob(ctx, id, schedule);
    await ctx.db.patch("checks", id, { job });
    return "created";
  }
  const isSame = sameSchedule(check.schedule, schedule);
  if (isSame && check.url === url) return "unchanged";
  await ctx.db.patch("checks", check._id, { schedule, url });
  if (!isSame) {
    // A paused check has no job, but its schedule must be right as well.
    const job = await startJob(ctx, check._id, schedule);
    await stopJob(ctx, check.job ?? job);
    if (check.job !== null) await ctx.db.patch("checks", check._id, { job });
  }
  return "changed";
}

function sameSchedule(
  a: Infer<typeof vSchedule>,
  b: Infer<typeof vSchedule>,
): boolean {
  if ("every" in a || "every" in b) {
    return "every" in a && "every" in b && a.every === b.every;
  }
  return a.cron === b.cron && a.timeZone === b.timeZone;
}

async function removeCheck(ctx: MutationCtx, check: Doc<"checks">) {
  await stopJob(ctx, check.job);
  const all = await ctx.db
    .query("results")
    .withIndex("by_check", (q) => q.eq("check", check._id))
    .collect();
  for (const result of all) await ctx.db.delete("results", result._id);
  await ctx.db.delete("checks", check._id);
}

async function checksOf(ctx: QueryCtx, user: string) {
  return await ctx.db
    .query("checks")
    .withIndex("by_user", (q) => q.eq("user", user))
    .collect();
}

async function findCheck(ctx: QueryCtx, user: string, name: string) {
  return await ctx.db
    .query("checks")
    .withIndex("by_user", (q) => q.eq("user", user).eq("name", name))
    .unique();
}
