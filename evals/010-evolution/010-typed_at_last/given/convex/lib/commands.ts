import { internal } from "../_generated/api";
import { move, partsOf, priorityOf, stateOf, write } from "./jobs";
import { setting } from "./settings";
import { fail, groupBy, isCount, must, sortBy, sum } from "./util";

const DAY = 24 * 60 * 60 * 1000;

const handlers: any = {
  async quote(ctx: any, job: any, { cents, days }: any) {
    only(job, ["waiting", "quoted"]);
    if (!isCount(cents, 0) || !isCount(days, 1)) throw fail("INVALID");
    const validUntil = Date.now() + days * DAY;
    await move(ctx, job, { phase: "quoted", cents, validUntil });
    await ctx.scheduler.runAt(validUntil, internal.jobs.expire, { jobId: job._id, validUntil });
    return { validUntil };
  },

  /** Whoever starts a job sees which urgent jobs are left waiting, if the job is not urgent itself. */
  async start(ctx: any, job: any, { bench }: any) {
    only(job, ["waiting", "quoted"]);
    const benches = await setting(ctx, "benches");
    if (!benches.includes(bench)) throw fail("INVALID");
    const working = await ctx.db
      .query("jobs")
      .withIndex("by_phase", (q: any) => q.eq("phase", "working"))
      .collect();
    const byBench = groupBy(working, (each: any) => each.state.bench);
    if (byBench[bench]) throw fail("TAKEN", { bench, by: byBench[bench][0]._id });
    const waiting = await ctx.db
      .query("jobs")
      .withIndex("by_phase", (q: any) => q.eq("phase", "waiting"))
      .collect();
    const urgent = waiting.filter((each: any) => each._id !== job._id && priorityOf(each) === "urgent");
    const quote = stateOf(job).cents ?? null;
    await move(ctx, job, { phase: "working", bench, since: Date.now(), quote });
    return { quote, ahead: priorityOf(job) === "urgent" ? [] : urgent.map((each: any) => each._id) };
  },

  async use(ctx: any, job: any, { sku, count }: any) {
    only(job, ["working"]);
    if (!isCount(count, 1)) throw fail("INVALID");
    const part = await partBySku(ctx, sku);
    if (!part) throw fail("NOT_FOUND", { table: "parts" });
    let left = part.stock;
    if (left !== null) {
      left -= count;
      if (left < 0) throw fail("OUT_OF_STOCK", { sku, stock: part.stock });
      await ctx.db.patch("parts", part._id, { stock: left });
    }
    const parts = partsOf(job);
    await ctx.db.patch("jobs", job._id, { parts: JSON.stringify({ ...parts, [sku]: (parts[sku] ?? 0) + count }) });
    await write(ctx, job._id, { type: "part", sku, count });
    return { left };
  },

  async note(ctx: any, job: any, { text, author }: any) {
    await write(ctx, job._id, { type: "note", text, author });
    return null;
  },

  /** What was quoted is what it costs. Without a quote, it is the time and the parts. */
  async finish(ctx: any, job: any, { minutes, discount = 0 }: any) {
    only(job, ["working"]);
    if (!isCount(minutes, 0) || !isCount(discount, 0)) throw fail("INVALID");
    const parts = [];
    for (const [sku, count] of Object.entries<any>(partsOf(job))) {
      const part = await partBySku(ctx, sku);
      parts.push({ sku, count, cents: (part?.cents ?? 0) * count });
    }
    const hourly = await setting(ctx, "hourlyCents");
    const full = stateOf(job).quote ?? Math.round((hourly * minutes) / 60) + sum(parts, (each: any) => each.cents);
    const net = Math.max(0, full - discount);
    const { percent, included } = await setting(ctx, "vat");
    const vat = included ? Math.round((net * percent) / (100 + percent)) : Math.round((net * percent) / 100);
    const cents = included ? net : net + vat;
    await move(ctx, job, { phase: "done", at: Date.now(), cents });
    return { cents, vat, currency: await setting(ctx, "currency"), parts: sortBy(parts, "sku") };
  },

  async decline(ctx: any, job: any, { reason }: any) {
    only(job, ["waiting", "quoted"]);
    await move(ctx, job, { phase: "declined", reason });
    return { wasQuoted: stateOf(job).phase === "quoted" };
  },
};

export async function execute(ctx: any, jobId: any, kind: any, payload: any): Promise<any> {
  const job = await must(ctx, "jobs", jobId);
  return await handlers[kind](ctx, job, payload);
}

export async function partBySku(ctx: any, sku: any) {
  return await ctx.db
    .query("parts")
    .withIndex("by_sku", (q: any) => q.eq("sku", sku))
    .unique();
}

function only(job: any, phases: any) {
  const { phase } = stateOf(job);
  if (!phases.includes(phase)) throw fail("WRONG_PHASE", { phase });
}
