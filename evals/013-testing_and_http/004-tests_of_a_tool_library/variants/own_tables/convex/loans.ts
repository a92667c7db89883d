import { ConvexError, v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import { internalMutation, mutation, query } from "./_generated/server";
import type { MutationCtx, QueryCtx } from "./_generated/server";
import { isStaff, requireMember, requireStaff } from "./access";
import { owedBy } from "./accounts";

const DAY = 86_400_000;

function refuse(code: string): never {
  throw new ConvexError({ code });
}

async function queueOf(ctx: QueryCtx, toolId: Id<"tools">) {
  return await ctx.db
    .query("waiting")
    .withIndex("by_tool", (q) => q.eq("toolId", toolId))
    .collect();
}

async function taken(ctx: QueryCtx, toolId: Id<"tools">) {
  const holds = await ctx.db.query("holds").collect();
  const borrowed = await ctx.db.query("borrowed").collect();
  return [...holds, ...borrowed].filter((each) => each.toolId === toolId).length;
}

export async function overview(ctx: QueryCtx) {
  const rows = [];
  for (const { _id: toolId, name, copies } of await ctx.db.query("tools").collect()) {
    const rest = copies - (await taken(ctx, toolId));
    rows.push({ toolId, name, copies, free: rest > 0 ? rest : 0, waiting: (await queueOf(ctx, toolId)).length });
  }
  return rows.sort((a, b) => (a.name < b.name ? -1 : 1));
}

export async function serve(ctx: MutationCtx, toolId: Id<"tools">) {
  const tool = await ctx.db.get("tools", toolId);
  for (const next of await queueOf(ctx, toolId)) {
    if (tool === null || (await taken(ctx, toolId)) >= tool.copies) return;
    await ctx.db.delete("waiting", next._id);
    const job = await ctx.scheduler.runAfter(2 * DAY, internal.loans.letGo, { loanId: next.loanId });
    await ctx.db.insert("holds", { toolId, loanId: next.loanId, until: Date.now() + 2 * DAY, job });
  }
}

async function find(ctx: QueryCtx, loanId: Id<"loans">) {
  const loan = await ctx.db.get("loans", loanId);
  if (loan === null) return refuse("NOT_FOUND");
  const is = (each: { loanId: Id<"loans"> }) => each.loanId === loanId;
  const queue = await queueOf(ctx, loan.toolId);
  const hold = (await ctx.db.query("holds").collect()).find(is);
  const out = (await ctx.db.query("borrowed").collect()).find(is);
  const waiting = queue.find(is);
  const status = hold ? "held" : out ? "out" : waiting ? "queued" : (loan.end as "returned");
  return { loan, hold, out, waiting, status, position: queue.findIndex(is) + 1 };
}

export const reserve = mutation({
  args: { toolId: v.id("tools"), days: v.number() },
  handler: async (ctx, { toolId, days }) => {
    const member = await requireMember(ctx);
    if (days % 1 !== 0 || days < 1 || days > 14) refuse("INVALID");
    if ((await ctx.db.get("tools", toolId)) === null) refuse("NOT_FOUND");
    const own = (await ctx.db.query("loans").collect()).filter((loan) => loan.member === member && loan.end === "");
    if (own.some((loan) => loan.toolId === toolId)) refuse("ALREADY_RESERVED");
    if (own.length > 2) refuse("TOO_MANY");
    if ((await owedBy(ctx, member)) > 1000) refuse("DEBT");
    const loanId = await ctx.db.insert("loans", { toolId, member, days, end: "" });
    await ctx.db.insert("waiting", { toolId, loanId });
    await serve(ctx, toolId);
    return loanId;
  },
});

export const pickUp = mutation({
  args: { loanId: v.id("loans") },
  handler: async (ctx, { loanId }) => {
    await requireStaff(ctx);
    const { loan, hold } = await find(ctx, loanId);
    if (hold === undefined) return refuse("WRONG_STATUS");
    await ctx.scheduler.cancel(hold.job);
    await ctx.db.delete("holds", hold._id);
    const due = Date.now() + loan.days * DAY;
    await ctx.db.insert("borrowed", { toolId: loan.toolId, loanId, due, extensions: 0 });
    return due;
  },
});

export const giveBack = mutation({
  args: { loanId: v.id("loans") },
  handler: async (ctx, { loanId }) => {
    await requireStaff(ctx);
    const { loan, out } = await find(ctx, loanId);
    if (out === undefined) return refuse("WRONG_STATUS");
    const deposit = (await ctx.db.get("tools", loan.toolId))?.depositCents ?? 0;
    let cents = 0;
    for (let late = Date.now() - out.due; late > 0 && cents < deposit; late -= DAY) cents += 150;
    cents = Math.min(cents, deposit);
    await ctx.db.insert("entries", { member: loan.member, cents });
    await ctx.db.delete("borrowed", out._id);
    await close(ctx, loan, "returned");
    return cents;
  },
});

async function close(ctx: MutationCtx, loan: Doc<"loans">, end: string) {
  await ctx.db.patch("loans", loan._id, { end });
  await serve(ctx, loan.toolId);
}

export const extend = mutation({
  args: { loanId: v.id("loans"), days: v.number() },
  handler: async (ctx, { loanId, days }) => {
    const member = await requireMember(ctx);
    if (days % 1 !== 0 || days < 1 || days > 14) refuse("INVALID");
    const { loan, out } = await find(ctx, loanId);
    if (out === undefined) return refuse("WRONG_STATUS");
    if (loan.member !== member) refuse("FORBIDDEN");
    if (out.due < Date.now()) refuse("OVERDUE");
    if (out.extensions === 2 || loan.days + days > 28) refuse("TOO_LONG");
    if ((await queueOf(ctx, loan.toolId)).length) refuse("WANTED");
    const due = out.due + days * DAY;
    await ctx.db.patch("borrowed", out._id, { due, extensions: out.extensions + 1 });
    await ctx.db.patch("loans", loanId, { days: loan.days + days });
    return due;
  },
});

export const cancel = mutation({
  args: { loanId: v.id("loans") },
  handler: async (ctx, { loanId }) => {
    const member = await requireMember(ctx);
    const { loan, hold, waiting } = await find(ctx, loanId);
    if (!hold && !waiting) refuse("WRONG_STATUS");
    if (loan.member !== member && !(await isStaff(ctx))) refuse("FORBIDDEN");
    if (waiting) await ctx.db.delete("waiting", waiting._id);
    if (hold) {
      await ctx.scheduler.cancel(hold.job);
      await ctx.db.delete("holds", hold._id);
    }
    await close(ctx, loan, "cancelled");
    return null;
  },
});

export const letGo = internalMutation({
  args: { loanId: v.id("loans") },
  handler: async (ctx, { loanId }) => {
    const { loan, hold } = await find(ctx, loanId);
    if (hold === undefined) return null;
    await ctx.db.delete("holds", hold._id);
    await close(ctx, loan, "expired");
    return null;
  },
});

export const mine = query({
  args: { closed: v.optional(v.boolean()) },
  handler: async (ctx, { closed = false }) => {
    const member = await requireMember(ctx);
    const rows = [];
    for (const each of await ctx.db.query("loans").order("desc").collect()) {
      if (each.member !== member || (each.end !== "" && !closed)) continue;
      const { hold, out, waiting, status, position } = await find(ctx, each._id);
      rows.push({
        loanId: each._id,
        tool: (await ctx.db.get("tools", each.toolId))?.name ?? "",
        status,
        until: hold?.until ?? out?.due ?? null,
        position: waiting ? position : null,
      });
    }
    return rows;
  },
});
