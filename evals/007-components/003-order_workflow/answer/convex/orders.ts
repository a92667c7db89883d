import type { WorkflowStep } from "@convex-dev/workflow";
import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import { mutation, query, type MutationCtx } from "./_generated/server";
import { APPROVAL, workflow } from "./fulfilment";

const STEPS = ["stock", "payment", "approval", "carrier"];
const CANCELABLE = ["waiting", "shipping", "stuck"];
const FINAL = ["shipped", "refused", "rejected", "expired", "canceled"];

export const place = mutation({
  args: { item: v.string(), url: v.string() },
  handler: async (ctx, { item, url }): Promise<Id<"orders">> => {
    const order = await ctx.db.insert("orders", {
      item,
      url,
      state: "preparing",
      workflows: [],
    });
    const workflowId = await workflow.start(
      ctx,
      internal.fulfilment.fulfil,
      { order },
      { onComplete: internal.fulfilment.ended, context: { order } },
    );
    await ctx.db.patch("orders", order, { workflows: [workflowId] });
    return order;
  },
});

export const state = query({
  args: { order: v.id("orders") },
  handler: async (ctx, { order }) => {
    const found = await ctx.db.get("orders", order);
    return found?.state ?? null;
  },
});

export const history = query({
  args: { order: v.id("orders") },
  handler: async (ctx, { order }) => {
    const found = await ctx.db.get("orders", order);
    if (found === null || found.workflows.length === 0) return [];
    const steps = await workflow.listSteps(ctx, found.workflows[0]);
    return steps.page
      .filter((step) => STEPS.includes(step.name))
      .map((step) => ({ name: step.name, state: stateOf(step, found) }));
  },
});

/** What was under way when a workflow was canceled never gets a result. */
function stateOf({ runResult }: WorkflowStep, order: Doc<"orders">) {
  if (runResult === undefined) {
    return order.state === "canceled" ? "canceled" : "running";
  }
  const succeeded = runResult.kind === "success" && runResult.returnValue;
  return succeeded ? "succeeded" : "failed";
}

export const decide = mutation({
  args: { order: v.id("orders"), approved: v.boolean() },
  handler: async (ctx, { order, approved }): Promise<boolean> => {
    const found = await ctx.db.get("orders", order);
    if (found?.state !== "waiting") return false;
    const next = approved ? "shipping" : "rejected";
    await ctx.db.patch("orders", order, { state: next });
    await workflow.sendEvent(ctx, {
      ...APPROVAL,
      workflowId: found.workflows[0],
      value: approved,
    });
    return true;
  },
});

export const cancel = mutation({
  args: { order: v.id("orders") },
  handler: async (ctx, { order }): Promise<boolean> => {
    const found = await ctx.db.get("orders", order);
    if (found === null || !CANCELABLE.includes(found.state)) return false;
    const [workflowId] = found.workflows;
    if (found.state !== "stuck") await workflow.cancel(ctx, workflowId);
    const undoId = await workflow.start(ctx, internal.fulfilment.undo, {
      order,
    });
    await ctx.db.patch("orders", order, {
      state: "canceled",
      workflows: [workflowId, undoId],
    });
    return true;
  },
});

export const resume = mutation({
  args: { order: v.id("orders") },
  handler: async (ctx, { order }): Promise<boolean> => {
    const found = await ctx.db.get("orders", order);
    if (found?.state !== "stuck") return false;
    await ctx.db.patch("orders", order, { state: "shipping" });
    await workflow.restart(ctx, found.workflows[0], { from: "carrier" });
    return true;
  },
});

export const archive = mutation({
  args: { order: v.id("orders") },
  handler: async (ctx, { order }): Promise<boolean> => {
    const found = await ctx.db.get("orders", order);
    if (found === null || !(await isOver(ctx, found))) return false;
    for (const workflowId of found.workflows) {
      await workflow.cleanup(ctx, workflowId);
    }
    await ctx.db.patch("orders", order, { workflows: [] });
    return true;
  },
});

async function isOver(ctx: MutationCtx, order: Doc<"orders">) {
  if (!FINAL.includes(order.state) || order.workflows.length === 0) {
    return false;
  }
  for (const workflowId of order.workflows) {
    const { type } = await workflow.status(ctx, workflowId);
    if (type === "inProgress") return false;
  }
  return true;
}
