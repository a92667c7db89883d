import { v, type Infer } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { internalMutation, query, type QueryCtx } from "./_generated/server";

const jobId = v.id("_scheduled_functions");

const state = v.union(
  v.literal("pending"),
  v.literal("inProgress"),
  v.literal("success"),
  v.literal("failed"),
  v.literal("canceled"),
  v.literal("forgotten"),
);

export const pack = internalMutation({
  args: { item: v.string() },
  returns: v.id("receipts"),
  handler: async (ctx, { item }) => {
    const { scheduledFunctionId } = await ctx.meta.getRequestMetadata();
    const job = scheduledFunctionId as Id<"_scheduled_functions"> | null;
    if (job !== null) {
      const known = await ctx.db
        .query("receipts")
        .withIndex("by_job_and_item", (q) => q.eq("job", job).eq("item", item))
        .unique();
      if (known) return known._id;
    }
    return await ctx.db.insert("receipts", { item, job });
  },
});

export const receipts = query({
  args: { item: v.string() },
  returns: v.array(
    v.object({
      receipt: v.id("receipts"),
      job: v.nullable(jobId),
      state: v.nullable(state),
    }),
  ),
  handler: async (ctx, { item }) => {
    const found = await ctx.db
      .query("receipts")
      .withIndex("by_item", (q) => q.eq("item", item))
      .collect();
    return await Promise.all(
      found.map(async ({ _id, job }) => ({
        receipt: _id,
        job,
        state: job === null ? null : await stateOf(ctx, job),
      })),
    );
  },
});

export const ofJob = query({
  args: { job: jobId },
  returns: v.array(v.string()),
  handler: async (ctx, { job }) => {
    const found = await ctx.db
      .query("receipts")
      .withIndex("by_job", (q) => q.eq("job", job))
      .collect();
    return found.map(({ item }) => item);
  },
});

async function stateOf(
  ctx: QueryCtx,
  job: Id<"_scheduled_functions">,
): Promise<Infer<typeof state>> {
  const found = await ctx.db.system.get("_scheduled_functions", job);
  return found ? found.state.kind : "forgotten";
}
