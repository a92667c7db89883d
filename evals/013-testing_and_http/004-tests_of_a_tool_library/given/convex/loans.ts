import { v } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import { internalMutation, mutation, query } from "./_generated/server";
import type { MutationCtx } from "./_generated/server";
import { failure, isStaff, requireMember, requireStaff } from "./access";
import { charge, owedBy } from "./accounts";
import { DAY, countLoans, hold, positionOf, serveQueue } from "./queue";
import { loanStatus } from "./schema";

const MOST_LOANS = 3;
const MOST_DAYS = 14;
const MOST_DAYS_IN_ALL = 28;
const MOST_EXTENSIONS = 2;
const MOST_OWED_CENTS = 1000;
const LATE_CENTS_PER_DAY = 150;

const OPEN: readonly string[] = ["queued", "held", "out"];

function isDays(days: number) {
  return Number.isInteger(days) && days >= 1 && days <= MOST_DAYS;
}

async function loanWith(ctx: MutationCtx, loanId: Id<"loans">, ...statuses: Doc<"loans">["status"][]) {
  const loan = await ctx.db.get("loans", loanId);
  if (loan === null) throw failure("NOT_FOUND");
  if (!statuses.includes(loan.status)) throw failure("WRONG_STATUS");
  return loan;
}

export const reserve = mutation({
  args: { toolId: v.id("tools"), days: v.number() },
  returns: v.id("loans"),
  handler: async (ctx, { toolId, days }) => {
    const member = await requireMember(ctx);
    if (!isDays(days)) throw failure("INVALID");
    const tool = await ctx.db.get("tools", toolId);
    if (tool === null) throw failure("NOT_FOUND");
    const loans = await ctx.db
      .query("loans")
      .withIndex("by_member", (q) => q.eq("member", member))
      .collect();
    const open = loans.filter(({ status }) => OPEN.includes(status));
    if (open.some((loan) => loan.toolId === toolId)) throw failure("ALREADY_RESERVED");
    if (open.length >= MOST_LOANS) throw failure("TOO_MANY");
    if ((await owedBy(ctx, member)) > MOST_OWED_CENTS) throw failure("DEBT");
    const { taken, waiting } = await countLoans(ctx, toolId);
    const loan = { toolId, member, days, status: "queued" as const, since: Date.now(), extensions: 0 };
    const loanId = await ctx.db.insert("loans", loan);
    if (waiting === 0 && taken < tool.copies) await hold(ctx, loanId);
    return loanId;
  },
});

export const pickUp = mutation({
  args: { loanId: v.id("loans") },
  returns: v.number(),
  handler: async (ctx, { loanId }) => {
    await requireStaff(ctx);
    const loan = await loanWith(ctx, loanId, "held");
    const now = Date.now();
    const until = now + loan.days * DAY;
    await ctx.db.patch("loans", loanId, { status: "out", since: now, until });
    return until;
  },
});

export const giveBack = mutation({
  args: { loanId: v.id("loans") },
  returns: v.number(),
  handler: async (ctx, { loanId }) => {
    await requireStaff(ctx);
    const loan = await loanWith(ctx, loanId, "out");
    const now = Date.now();
    const tool = await ctx.db.get("tools", loan.toolId);
    const daysLate = Math.max(Math.ceil((now - (loan.until ?? now)) / DAY), 0);
    const fee = Math.min(daysLate * LATE_CENTS_PER_DAY, tool?.depositCents ?? 0);
    await ctx.db.patch("loans", loanId, { status: "returned", since: now });
    if (fee > 0) await charge(ctx, loan.member, fee);
    await serveQueue(ctx, loan.toolId);
    return fee;
  },
});

export const extend = mutation({
  args: { loanId: v.id("loans"), days: v.number() },
  returns: v.number(),
  handler: async (ctx, { loanId, days }) => {
    const member = await requireMember(ctx);
    if (!isDays(days)) throw failure("INVALID");
    const loan = await loanWith(ctx, loanId, "out");
    if (loan.member !== member) throw failure("FORBIDDEN");
    const until = loan.until ?? 0;
    if (Date.now() > until) throw failure("OVERDUE");
    if (loan.extensions >= MOST_EXTENSIONS || loan.days + days > MOST_DAYS_IN_ALL) throw failure("TOO_LONG");
    if ((await countLoans(ctx, loan.toolId)).waiting > 0) throw failure("WANTED");
    const extended = { days: loan.days + days, until: until + days * DAY, extensions: loan.extensions + 1 };
    await ctx.db.patch("loans", loanId, extended);
    return extended.until;
  },
});

export const cancel = mutation({
  args: { loanId: v.id("loans") },
  returns: v.null(),
  handler: async (ctx, { loanId }) => {
    const member = await requireMember(ctx);
    const loan = await loanWith(ctx, loanId, "queued", "held");
    if (loan.member !== member && !(await isStaff(ctx))) throw failure("FORBIDDEN");
    await ctx.db.patch("loans", loanId, { status: "cancelled", since: Date.now() });
    await serveQueue(ctx, loan.toolId);
    return null;
  },
});

/** Runs when the time of a hold is up. */
export const expire = internalMutation({
  args: { loanId: v.id("loans") },
  returns: v.null(),
  handler: async (ctx, { loanId }) => {
    const loan = await ctx.db.get("loans", loanId);
    if (loan === null || loan.status !== "held") return null;
    await ctx.db.patch("loans", loanId, { status: "expired", since: Date.now() });
    await serveQueue(ctx, loan.toolId);
    return null;
  },
});

export const mine = query({
  args: { closed: v.optional(v.boolean()) },
  returns: v.array(
    v.object({
      loanId: v.id("loans"),
      tool: v.string(),
      status: loanStatus,
      until: v.union(v.number(), v.null()),
      position: v.union(v.number(), v.null()),
    }),
  ),
  handler: async (ctx, { closed }) => {
    const member = await requireMember(ctx);
    const loans = await ctx.db
      .query("loans")
      .withIndex("by_member", (q) => q.eq("member", member))
      .order("desc")
      .collect();
    const shown = loans.filter(({ status }) => closed === true || OPEN.includes(status));
    return await Promise.all(
      shown.map(async (loan) => {
        const tool = await ctx.db.get("tools", loan.toolId);
        const hasEnd = loan.status === "held" || loan.status === "out";
        return {
          loanId: loan._id,
          tool: tool?.name ?? "",
          status: loan.status,
          until: hasEnd ? (loan.until ?? null) : null,
          position: loan.status === "queued" ? await positionOf(ctx, loan) : null,
        };
      }),
    );
  },
});
