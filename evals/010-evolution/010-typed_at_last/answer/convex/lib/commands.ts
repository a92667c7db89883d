import { internal } from "../_generated/api";
import type { Doc, Id } from "../_generated/dataModel";
import type { MutationCtx, QueryCtx } from "../_generated/server";
import type { Command, Kind, Outcomes, Payloads, Phase, State } from "../contract";
import { move, partsOf, priorityOf, stateOf, write } from "./jobs";
import { setting } from "./settings";
import { type Fitting, fail, isCount, must, sortBy, sum } from "./util";

const DAY = 24 * 60 * 60 * 1000;

type Handler<K extends Kind> = (ctx: MutationCtx, job: Doc<"jobs">, payload: Payloads[K]) => Promise<Outcomes[K]>;

const handlers: { [K in Kind]: Handler<K> } = {
  async quote(ctx, job, { cents, days }) {
    only(job, "waiting", "quoted");
    if (!isCount(cents, 0) || !isCount(days, 1)) throw fail("INVALID");
    const validUntil = Date.now() + days * DAY;
    await move(ctx, job, { phase: "quoted", cents, validUntil });
    await ctx.scheduler.runAt(validUntil, internal.jobs.expire, { jobId: job._id, validUntil });
    return { validUntil };
  },

  /** Whoever starts a job sees which urgent jobs are left waiting, if the job is not urgent itself. */
  async start(ctx, job, { bench }) {
    const state = only(job, "waiting", "quoted");
    const benches = await setting(ctx, "benches");
    if (!benches.includes(bench)) throw fail("INVALID");
    const working = await inPhase(ctx, "working");
    const taken = working.find((each) => each.state?.phase === "working" && each.state.bench === bench);
    if (taken !== undefined) throw fail("TAKEN", { bench, by: taken._id });
    const waiting = await inPhase(ctx, "waiting");
    const urgent = waiting.filter((each) => each._id !== job._id && priorityOf(each) === "urgent");
    const quote = state.phase === "quoted" ? state.cents : null;
    await move(ctx, job, { phase: "working", bench, since: Date.now(), quote });
    return { quote, ahead: priorityOf(job) === "urgent" ? [] : urgent.map((each) => each._id) };
  },

  async use(ctx, job, { sku, count }) {
    only(job, "working");
    if (!isCount(count, 1)) throw fail("INVALID");
    const part = await partBySku(ctx, sku);
    if (part === null) throw fail("NOT_FOUND", { table: "parts" });
    const left = part.stock === null ? null : part.stock - count;
    if (left !== null) {
      if (left < 0) throw fail("OUT_OF_STOCK", { sku, stock: part.stock });
      await ctx.db.patch("parts", part._id, { stock: left });
    }
    const parts = partsOf(job);
    await ctx.db.patch("jobs", job._id, { parts: JSON.stringify({ ...parts, [sku]: (parts[sku] ?? 0) + count }) });
    await write(ctx, job._id, { type: "part", sku, count });
    return { left };
  },

  async note(ctx, job, { text, author }) {
    await write(ctx, job._id, { type: "note", text, author });
    return null;
  },

  /** What was quoted is what it costs. Without a quote, it is the time and the parts. */
  async finish(ctx, job, { minutes, discount = 0 }) {
    const state = only(job, "working");
    if (!isCount(minutes, 0) || !isCount(discount, 0)) throw fail("INVALID");
    const parts: Outcomes["finish"]["parts"] = [];
    for (const [sku, count] of Object.entries(partsOf(job))) {
      const part = await partBySku(ctx, sku);
      parts.push({ sku, count, cents: (part?.cents ?? 0) * count });
    }
    const hourly = await setting(ctx, "hourlyCents");
    const quote = state.phase === "working" ? state.quote : null;
    const full = quote ?? Math.round((hourly * minutes) / 60) + sum(parts, (each) => each.cents);
    const net = Math.max(0, full - discount);
    const { percent, included } = await setting(ctx, "vat");
    const vat = included ? Math.round((net * percent) / (100 + percent)) : Math.round((net * percent) / 100);
    const cents = included ? net : net + vat;
    await move(ctx, job, { phase: "done", at: Date.now(), cents });
    return { cents, vat, currency: await setting(ctx, "currency"), parts: sortBy(parts, "sku") };
  },

  async decline(ctx, job, { reason }) {
    const state = only(job, "waiting", "quoted");
    await move(ctx, job, { phase: "declined", reason });
    return { wasQuoted: state.phase === "quoted" };
  },
};

export async function execute<K extends Kind>(
  ctx: MutationCtx,
  jobId: Id<"jobs">,
  kind: K,
  payload: Fitting<Payloads, NoInfer<K>>,
): Promise<Outcomes[K]> {
  const job = await must(ctx, "jobs", jobId);
  return handlers[kind](ctx, job, payload);
}

export async function executeCommand(ctx: MutationCtx, jobId: Id<"jobs">, command: Command): Promise<Outcomes[Kind]> {
  switch (command.kind) {
    case "quote":
      return await execute(ctx, jobId, command.kind, command.payload);
    case "start":
      return await execute(ctx, jobId, command.kind, command.payload);
    case "use":
      return await execute(ctx, jobId, command.kind, command.payload);
    case "note":
      return await execute(ctx, jobId, command.kind, command.payload);
    case "finish":
      return await execute(ctx, jobId, command.kind, command.payload);
    case "decline":
      return await execute(ctx, jobId, command.kind, command.payload);
  }
}

export async function partBySku(ctx: QueryCtx, sku: string): Promise<Doc<"parts"> | null> {
  return await ctx.db
    .query("parts")
    .withIndex("by_sku", (q) => q.eq("sku", sku))
    .unique();
}

async function inPhase(ctx: QueryCtx, phase: Phase): Promise<Doc<"jobs">[]> {
  return await ctx.db
    .query("jobs")
    .withIndex("by_phase", (q) => q.eq("phase", phase))
    .collect();
}

function only(job: Doc<"jobs">, ...phases: Phase[]): State {
  const state = stateOf(job);
  if (!phases.includes(state.phase)) throw fail("WRONG_PHASE", { phase: state.phase });
  return state;
}
