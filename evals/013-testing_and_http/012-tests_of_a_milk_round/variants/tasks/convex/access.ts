/** What is to be done, and when. */
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import { internalMutation } from "./_generated/server";
import type { MutationCtx, QueryCtx } from "./_generated/server";
import { at, halfDayAfter, loadedAt, newYearProof, refuse, shift } from "./calendar";
import { itemsFor } from "./plans";

type Job = Doc<"jobs">["job"];

export async function later(ctx: MutationCtx, due: number, job: Job) {
  await ctx.db.insert("jobs", { due, job });
  if (due < Date.now() + 20 * 86_400_000) await ctx.scheduler.runAfter(due - Date.now(), internal.access.work, {});
}

/** Does everything that is due, in order. Nothing happens if it was done before. */
export async function doDue(ctx: MutationCtx) {
  for (;;) {
    const next = await ctx.db.query("jobs").withIndex("by_due").first();
    if (next === null || next.due > Date.now()) return;
    await ctx.db.delete("jobs", next._id);
    await perform(ctx, next.job, next.due);
  }
}

export const work = internalMutation({
  args: {},
  handler: async (ctx) => {
    await doDue(ctx);
  },
});

export async function memberCalled(ctx: QueryCtx, name: string) {
  return (await ctx.db.query("members").collect()).filter((each) => each.name === name).at(0);
}

export async function creditOf(ctx: QueryCtx, name: string) {
  const rows = (await ctx.db.query("money").collect()).filter(({ member }) => member === name);
  return rows.map(({ cents }) => cents).reduce((a, b) => a + b, 0);
}

export async function attemptsOf(ctx: QueryCtx, invoiceId: Id<"invoices">) {
  return (await ctx.db.query("attempts").collect()).filter((each) => each.invoiceId === invoiceId);
}

export async function tryNow(ctx: MutationCtx, invoice: Doc<"invoices">) {
  const before = await attemptsOf(ctx, invoice._id);
  for (const { _id, state } of before) {
    if (state === "waiting") await ctx.db.patch("attempts", _id, { state: "given up" });
  }
  const number = before.length + 1;
  const attemptId = await ctx.db.insert("attempts", { invoiceId: invoice._id, number, state: "waiting" });
  await later(ctx, halfDayAfter(Date.now()), { what: "stop", attemptId });
  const body = { invoice: invoice._id, attempt: number, customer: invoice.member, cents: invoice.total - invoice.used };
  await ctx.scheduler.runAfter(0, internal.payments.ask, { attemptId, body });
}

export async function write(ctx: MutationCtx, invoice: Doc<"invoices">, kind: string) {
  await ctx.scheduler.runAfter(0, internal.payments.tell, { customer: invoice.member, invoice: invoice._id, kind });
}

async function perform(ctx: MutationCtx, job: Job, due: number) {
  if (job.what === "load") return await load(ctx, job.member, job.date);
  if (job.what === "bill") return await bill(ctx, job.member, job.month, job.isLast, due);
  if (job.what === "stop") {
    const attempt = await ctx.db.get("attempts", job.attemptId);
    if (attempt?.state === "waiting") await ctx.db.patch("attempts", job.attemptId, { state: "given up" });
    return;
  }
  const invoice = (await ctx.db.get("invoices", job.invoiceId)) ?? refuse("NOT_FOUND");
  if (invoice.isPaid) return;
  if (job.what === "try") return await tryNow(ctx, invoice);
  if (job.what === "remind") return await write(ctx, invoice, "reminder");
  await ctx.db.patch("invoices", invoice._id, { isLate: true });
  const member = (await memberCalled(ctx, invoice.member)) ?? refuse("NOT_FOUND");
  if (!member.isSuspended) {
    await ctx.db.patch("members", member._id, { isSuspended: true });
    await write(ctx, invoice, "suspended");
  }
}

async function load(ctx: MutationCtx, name: string, day: string) {
  const member = (await memberCalled(ctx, name)) ?? refuse("NOT_FOUND");
  const items = await itemsFor(ctx, member, day);
  if (items.length > 0) await ctx.db.insert("loads", { member: name, day, items });
  await ctx.db.patch("members", member._id, { loaded: day });
  const next = shift(day, 1);
  if (member.end === undefined || next <= shift(member.end, 1)) {
    await later(ctx, loadedAt(next), { what: "load", member: name, date: next });
  }
  await ctx.scheduler.runAt(at(day, 6), internal.access.work, {});
}

async function bill(ctx: MutationCtx, name: string, month: string, isLast: boolean, due: number) {
  const member = (await memberCalled(ctx, name)) ?? refuse("NOT_FOUND");
  if (!isLast && member.end !== undefined && member.end < `${newYearProof(month)}-01`) return;
  if (!isLast) {
    const next = newYearProof(month);
    const job = { what: "bill" as const, member: name, month: next, isLast: false };
    await later(ctx, at(`${newYearProof(next)}-01`, 6), job);
  }
  const loads = await ctx.db.query("loads").collect();
  const own = loads.filter((each) => each.member === name && each.day.startsWith(month));
  const items = own.flatMap((each) => each.items);
  if (items.length === 0) return;
  let total = 0;
  for (const { pieces, cents } of items) total += pieces * cents;
  const credit = await creditOf(ctx, name);
  const used = credit > total ? total : credit;
  await ctx.db.insert("money", { member: name, cents: -used, why: month });
  const isPaid = used === total;
  const invoiceId = await ctx.db.insert("invoices", { member: name, month, total, used, isPaid, isLate: false });
  if (isPaid) return;
  const invoice = (await ctx.db.get("invoices", invoiceId)) ?? refuse("NOT_FOUND");
  await tryNow(ctx, invoice);
  const days = (count: number) => due + count * 86_400_000;
  for (const count of [3, 7]) await later(ctx, days(count), { what: "try", invoiceId });
  for (const count of [5, 9]) await later(ctx, days(count), { what: "remind", invoiceId });
  await later(ctx, days(12), { what: "suspend", invoiceId });
}
