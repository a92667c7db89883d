import {
  vResultValidator,
  vWorkflowId,
  WorkflowManager,
  type WorkflowCtx,
} from "@convex-dev/workflow";
import { v } from "convex/values";
import { components, internal } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import {
  internalAction,
  internalMutation,
  internalQuery,
} from "./_generated/server";
import { vState } from "./schema";

const HOUR = 60 * 60_000;
const REFUSABLE = ["stock", "payment"];

export const workflow = new WorkflowManager(components.workflow, {
  workpoolOptions: {
    retryActionsByDefault: true,
    defaultRetryBehavior: {
      maxAttempts: 4,
      initialBackoffMs: 30_000,
      base: 2,
    },
  },
});

export const APPROVAL = { name: "approval", validator: v.boolean() } as const;

export const fulfil = workflow
  .define({ args: { order: v.id("orders") } })
  .handler(async (step, { order }): Promise<void> => {
    const [stock, payment] = await Promise.all([
      succeeds(step, order, "stock"),
      succeeds(step, order, "payment"),
    ]);
    if (!stock || !payment) {
      await step.runMutation(internal.fulfilment.enter, {
        order,
        state: "refused",
      });
      await undoAll(step, order, { stock, payment });
      return;
    }
    await step.runMutation(internal.fulfilment.wait, { order });
    if (await step.awaitEvent(APPROVAL)) {
      await request(step, order, "carrier");
      await step.runMutation(internal.fulfilment.enter, {
        order,
        state: "shipped",
      });
    } else {
      await undoAll(step, order, { stock, payment });
    }
  });

/** The handler of a canceled workflow does not go on, so another one cleans up after it. */
export const undo = workflow
  .define({ args: { order: v.id("orders") } })
  .handler(async (step, { order }): Promise<void> => {
    await undoAll(step, order, { stock: true, payment: true });
  });

async function undoAll(
  step: WorkflowCtx,
  order: Id<"orders">,
  done: { stock: boolean; payment: boolean },
) {
  await Promise.all([
    done.stock && succeeds(step, order, "stock/release"),
    done.payment && succeeds(step, order, "payment/refund"),
  ]);
}

async function succeeds(step: WorkflowCtx, order: Id<"orders">, path: string) {
  try {
    return await request(step, order, path);
  } catch {
    return false;
  }
}

async function request(
  step: WorkflowCtx,
  order: Id<"orders">,
  path: string,
): Promise<boolean> {
  return await step.runAction(
    internal.fulfilment.send,
    { order, path },
    { name: path },
  );
}

/** Returns whether the request was granted; anything but a clear answer is worth another try. */
export const send = internalAction({
  args: { order: v.id("orders"), path: v.string() },
  handler: async (ctx, { order, path }): Promise<boolean> => {
    const { item, url }: { item: string; url: string } = await ctx.runQuery(
      internal.fulfilment.load,
      { order },
    );
    const response = await fetch(`${url}/${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ order, item }),
    });
    if (response.status === 200) return true;
    if (response.status === 409 && REFUSABLE.includes(path)) return false;
    throw new Error(`${path}: ${response.status}`);
  },
});

export const load = internalQuery({
  args: { order: v.id("orders") },
  handler: async (ctx, { order }) => {
    const found = await ctx.db.get("orders", order);
    if (found === null) throw new Error("No such order");
    return { item: found.item, url: found.url };
  },
});

export const enter = internalMutation({
  args: { order: v.id("orders"), state: vState },
  handler: async (ctx, { order, state }) => {
    await ctx.db.patch("orders", order, { state });
  },
});

export const wait = internalMutation({
  args: { order: v.id("orders") },
  handler: async (ctx, { order }) => {
    await ctx.db.patch("orders", order, { state: "waiting" });
    await ctx.scheduler.runAfter(48 * HOUR, internal.fulfilment.expire, {
      order,
    });
  },
});

export const expire = internalMutation({
  args: { order: v.id("orders") },
  handler: async (ctx, { order }) => {
    const found = await ctx.db.get("orders", order);
    if (found?.state !== "waiting") return;
    await ctx.db.patch("orders", order, { state: "expired" });
    await workflow.sendEvent(ctx, {
      ...APPROVAL,
      workflowId: found.workflows[0],
      value: false,
    });
  },
});

export const ended = internalMutation({
  args: {
    workflowId: vWorkflowId,
    result: vResultValidator,
    context: v.object({ order: v.id("orders") }),
  },
  handler: async (ctx, { result, context: { order } }) => {
    if (result.kind === "failed") {
      await ctx.db.patch("orders", order, { state: "stuck" });
    }
  },
});
