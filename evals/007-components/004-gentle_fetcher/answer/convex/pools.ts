import { Workpool } from "@convex-dev/workpool";
import { components } from "./_generated/api";
import type { MutationCtx } from "./_generated/server";

const FIRST_LIMIT = 3;
const options = {
  retryActionsByDefault: true,
  defaultRetryBehavior: {
    maxAttempts: 4,
    initialBackoffMs: 30_000,
    base: 2,
  },
};

export const bulk = new Workpool(components.bulk, options);
export const urgent = new Workpool(components.urgent, {
  ...options,
  maxParallelism: 1,
});

export function poolOf({ urgent: isUrgent }: { urgent: boolean }) {
  return isUrgent ? urgent : bulk;
}

/** The component's own default is another one. */
export async function useFirstLimit(ctx: MutationCtx) {
  if ((await ctx.db.query("settings").first()) === null) {
    await changeLimit(ctx, FIRST_LIMIT);
  }
}

export async function changeLimit(ctx: MutationCtx, limit: number) {
  const settings = await ctx.db.query("settings").first();
  if (settings === null) {
    await ctx.db.insert("settings", { limit });
  } else {
    await ctx.db.patch("settings", settings._id, { limit });
  }
  await ctx.runMutation(components.bulk.config.update, {
    maxParallelism: limit,
  });
}
