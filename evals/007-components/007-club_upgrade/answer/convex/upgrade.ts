import {
  runToCompletion,
  type MigrationFunctionReference,
  type MigrationStatus,
} from "@convex-dev/migrations";
import { ConvexError, v, type Infer } from "convex/values";
import { components, internal } from "./_generated/api";
import {
  action,
  query,
  type ActionCtx,
  type MutationCtx,
  type QueryCtx,
} from "./_generated/server";
import { mutation } from "./functions";
import { migrations } from "./steps";

const vStep = v.union(
  v.literal("emails"),
  v.literal("cents"),
  v.literal("dues"),
);
type Step = Infer<typeof vStep>;

/** In the order in which they run. */
const STEPS: Record<Step, MigrationFunctionReference> = {
  emails: internal.steps.emails,
  cents: internal.steps.cents,
  dues: internal.steps.dues,
};
const NAMES: Step[] = ["emails", "cents", "dues"];

const STATES = {
  unknown: "waiting",
  inProgress: "running",
  success: "done",
  failed: "failed",
  canceled: "stopped",
} as const;

export const start = mutation({
  args: {},
  handler: async (ctx): Promise<null> => {
    await migrations.runSerially(ctx, Object.values(STEPS));
    return null;
  },
});

export const progress = query({
  args: {},
  handler: async (ctx) =>
    (await statuses(ctx)).map(({ state, processed, error }, index) => ({
      step: NAMES[index],
      state: STATES[state],
      processed,
      error: error ?? null,
    })),
});

export const preview = mutation({
  args: { step: vStep, size: v.number() },
  handler: async (ctx, { step, size: batchSize }) => {
    const before = await statusOfIdle(ctx, step);
    if (before.isDone) {
      return outcome(before);
    }
    try {
      await migrations.runOne(ctx, STEPS[step], { batchSize, dryRun: true });
    } catch (error) {
      return outcome(statusOfDryRun(error));
    }
    throw new Error("A dry run always throws");
  },
});

export const stop = mutation({
  args: {},
  handler: async (ctx): Promise<Step | null> => {
    const found = await runningStep(ctx);
    if (found !== null) {
      await migrations.cancel(ctx, STEPS[found]);
    }
    return found;
  },
});

export const restart = mutation({
  args: {},
  handler: async (ctx): Promise<null> => {
    await refuseWhileRunning(ctx);
    await ctx.runMutation(internal.steps.runAll, { reset: true });
    return null;
  },
});

export const finish = action({
  args: { step: vStep },
  handler: async (ctx, { step }): Promise<number> => {
    await refuseWhileRunning(ctx);
    const { processed } = await runToCompletion(
      ctx,
      components.migrations,
      STEPS[step],
    );
    return processed;
  },
});

type Ctx = QueryCtx | MutationCtx | ActionCtx;

/** In the order of the steps: the component returns them in an order of its own. */
async function statuses(ctx: Ctx): Promise<MigrationStatus[]> {
  const found = await migrations.getStatus(ctx, {
    migrations: Object.values(STEPS),
  });
  return NAMES.map((step) => {
    const status = found.find(({ name }) => name === `steps:${step}`);
    if (status === undefined) {
      throw new Error(`No status of ${step}`);
    }
    return status;
  });
}

async function runningStep(ctx: Ctx): Promise<Step | null> {
  const all = await statuses(ctx);
  const index = all.findIndex(({ state }) => state === "inProgress");
  return index === -1 ? null : NAMES[index];
}

async function refuseWhileRunning(ctx: Ctx): Promise<void> {
  if ((await runningStep(ctx)) !== null) {
    throw new ConvexError({ code: "RUNNING" });
  }
}

async function statusOfIdle(ctx: Ctx, step: Step): Promise<MigrationStatus> {
  await refuseWhileRunning(ctx);
  return (await statuses(ctx))[NAMES.indexOf(step)];
}

/** A dry run ends with an error, which undoes it and says what it would have done. */
function statusOfDryRun(error: unknown): MigrationStatus {
  if (error instanceof ConvexError) {
    const { kind, status } = error.data as {
      kind?: string;
      status: MigrationStatus;
    };
    if (kind === "DRY RUN") {
      return status;
    }
  }
  throw error;
}

function outcome({ processed, isDone, error }: MigrationStatus) {
  return { processed, isDone, error: error ?? null };
}
