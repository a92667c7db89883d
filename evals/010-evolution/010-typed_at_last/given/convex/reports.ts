import { v } from "convex/values";
import { api, internal } from "./_generated/api";
import { action, internalQuery, query } from "./_generated/server";
import { showJob, specOf, stateOf } from "./lib/jobs";
import { label } from "./lib/labels";
import { match } from "./lib/states";
import { groupBy, sum } from "./lib/util";

/** The jobs opened in a period: at `from` or later, and before `to`. */
export const summary = query(async (ctx, args: any): Promise<any> => {
  const jobs: any[] = await ctx.db
    .query("jobs")
    .withIndex("by_creation_time", (q) => q.gte("_creationTime", args.from).lt("_creationTime", args.to))
    .collect();
  const phases: any = { waiting: 0, quoted: 0, working: 0, done: 0, declined: 0 };
  const families: any = {};
  for (const family of ["strings", "wind", "keys"]) families[family] = { jobs: 0, cents: 0 };
  for (const job of jobs) {
    const state = stateOf(job);
    phases[state.phase] += 1;
    const instrument = await ctx.db.get("instruments", job.instrumentId);
    if (!instrument) continue;
    const family = families[specOf(instrument).family];
    family.jobs += 1;
    if (state.phase === "done") family.cents += state.cents;
  }
  return { phases, families, busiest: await busiest(ctx, jobs) };
});

/** The bench at which the most of these parts are being used, the lowest number first. */
async function busiest(ctx: any, jobs: any) {
  const working = jobs.filter((job: any) => stateOf(job).phase === "working");
  const benches = groupBy(working, (job: any) => stateOf(job).bench);
  let best: any = null;
  let most = -1;
  for (const bench of Object.keys(benches).sort()) {
    const used = sum(benches[bench], (job: any) => sum(Object.values(JSON.parse(job.parts)), (count: any) => count));
    if (used > most) [best, most] = [Number(bench), used];
  }
  return best;
}

export const jobsOfCustomer = internalQuery({
  args: { customerId: v.any() },
  handler: async (ctx, { customerId }): Promise<any> => {
    const found: any[] = [];
    const instruments = await ctx.db
      .query("instruments")
      .withIndex("by_owner", (q) => q.eq("ownerId", customerId))
      .collect();
    for (const instrument of instruments) {
      const jobs = await ctx.db
        .query("jobs")
        .withIndex("by_instrument", (q) => q.eq("instrumentId", instrument._id))
        .collect();
      for (const job of jobs) found.push(await showJob(ctx, job));
    }
    return found;
  },
});

/** What is sent to a customer. */
export const statement = action(async (ctx, args: any): Promise<any> => {
  const customer: any = await ctx.runQuery(api.customers.get, { customerId: args.customerId });
  if (!customer) return { to: { kind: "email", address: "office@workshop.example" }, lines: [], openCents: 0 };
  const jobs: any = await ctx.runQuery(internal.reports.jobsOfCustomer, { customerId: args.customerId });
  const describe = (state: any) =>
    match(state, {
      waiting: () => "is waiting",
      quoted: ({ cents }: any) => `would cost ${cents}`,
      working: ({ bench }: any) => `is on bench ${bench}`,
      done: ({ cents }: any) => `is done for ${cents}`,
      declined: ({ reason }: any) => `was declined${reason === null ? "" : `: ${reason}`}`,
    });
  const lines = jobs.map(({ instrument, title, state }: any) => {
    return `${label("family", instrument.spec.family)} ${instrument.label}, ${title}: ${describe(state)}`;
  });
  const open = (state: any) =>
    match(state, {
      waiting: () => 0,
      quoted: ({ cents }: any) => cents,
      working: ({ quote }: any) => quote,
      done: () => 0,
      declined: () => 0,
    });
  return { to: customer.contact, lines, openCents: sum(jobs, (job: any) => open(job.state) ?? 0) };
});
