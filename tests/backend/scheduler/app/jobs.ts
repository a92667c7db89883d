import {
  internalActionGeneric as internalAction,
  internalMutationGeneric as internalMutation,
  internalQueryGeneric as internalQuery,
  makeFunctionReference,
  mutationGeneric as mutation,
  queryGeneric as query,
} from "convex/server";
import { v } from "convex/values";

const reference = (path: string) => makeFunctionReference<"mutation">(path);
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const metadata = async () => JSON.parse(await (globalThis as any).Convex.asyncSyscall("1.0/getRequestMetadata", "{}"));

export const schedule = mutation(async (ctx, { path, args, ms, times }: any) => {
  const ids = [];
  for (let i = 0; i < (times ?? 1); i++) ids.push(await ctx.scheduler.runAfter(ms ?? 0, reference(path), args ?? {}));
  return ids;
});

export const scheduleAt = mutation(
  async (ctx, { ms, name }: any) => await ctx.scheduler.runAt(ms, reference("jobs:record"), { name }),
);

export const scheduleInOrder = mutation(async (ctx, { names }: { names: string[] }) => {
  for (const name of names) await ctx.scheduler.runAfter(0, reference("jobs:record"), { name });
});

export const cancel = mutation(async (ctx, { id }: any) => await ctx.scheduler.cancel(id));
export const job = query(async (ctx, { id }: any) => await ctx.db.system.get(id));
export const jobs = query(async (ctx) => await ctx.db.system.query("_scheduled_functions").collect());
export const runs = query(
  async (ctx, { name }: any) =>
    await ctx.db
      .query("runs")
      .withIndex("by_name", (q) => q.eq("name", name))
      .collect(),
);

export const record = internalMutation({
  args: { name: v.string() },
  handler: async (ctx, { name }) => {
    const { scheduledFunctionId } = await metadata();
    const own = scheduledFunctionId === null ? null : await ctx.db.system.get(scheduledFunctionId);
    const user = await ctx.auth.getUserIdentity();
    console.log("recording", name);
    await ctx.db.insert("runs", { name, seen: { job: scheduledFunctionId, state: own?.state.kind ?? null, user } });
  },
});

export const fail = internalMutation(async (ctx, { name }: { name: string }) => {
  await ctx.db.insert("runs", { name, seen: null });
  throw new Error("scheduled failure");
});

export const cancelsItself = internalMutation(async (ctx, { name }: { name: string }) => {
  await ctx.scheduler.cancel((await metadata()).scheduledFunctionId);
  await ctx.db.insert("runs", { name, seen: null });
});

export const chain = internalMutation(async (ctx, { name, left }: { name: string; left: number }) => {
  await ctx.db.insert("runs", { name, seen: left });
  if (left > 0) await ctx.scheduler.runAfter(0, reference("jobs:chain"), { name, left: left - 1 });
});

export const count = internalMutation(async (ctx) => {
  const counter = await ctx.db.query("counters").first();
  if (counter === null) await ctx.db.insert("counters", { n: 1 });
  else await ctx.db.patch(counter._id, { n: counter.n + 1 });
});

export const counted = query(async (ctx) => (await ctx.db.query("counters").first())?.n ?? 0);

export const act = internalAction(async (ctx, { name, until, fails, then }: any) => {
  await ctx.runMutation(reference("jobs:record"), { name });
  console.log("acting", name);
  const said = makeFunctionReference<"query">("jobs:runs");
  while (until && (await ctx.runQuery(said, { name: until })).length === 0) await sleep(20);
  if (fails) throw new Error("action failure");
  if (then) await ctx.scheduler.runAfter(0, reference("jobs:record"), { name: then });
  if (then) await ctx.runMutation(reference("jobs:schedule"), { path: "jobs:record", args: { name: then } });
});

export const goOn = mutation(async (ctx, { name }: { name: string }) => {
  await ctx.db.insert("runs", { name, seen: null });
});

export const never = internalAction(async (ctx, { name }: { name: string }) => {
  await ctx.runMutation(reference("jobs:record"), { name });
  for (;;) await sleep(1000);
});

export const look = internalQuery(async () => null);
