import { v } from "convex/values";
import { api, internal } from "./_generated/api";
import type { Doc } from "./_generated/dataModel";
import { action, internalQuery, query } from "./_generated/server";
import type { Bench, Customer, Job, Results, State, Summary } from "./contract";
import { partsOf, showJob, specOf, stateOf } from "./lib/jobs";
import { label } from "./lib/labels";
import { match } from "./lib/states";
import { sum } from "./lib/util";
import { bench, contact, job } from "./lib/validators";

const count = v.object({ jobs: v.number(), cents: v.number() });

/** The jobs opened in a period: at `from` or later, and before `to`. */
export const summary = query({
  args: { from: v.number(), to: v.number() },
  returns: v.object({
    phases: v.object({
      waiting: v.number(),
      quoted: v.number(),
      working: v.number(),
      done: v.number(),
      declined: v.number(),
    }),
    families: v.object({ strings: count, wind: count, keys: count }),
    busiest: v.nullable(bench),
  }),
  handler: async (ctx, { from, to }) => {
    const jobs = await ctx.db
      .query("jobs")
      .withIndex("by_creation_time", (q) => q.gte("_creationTime", from).lt("_creationTime", to))
      .collect();
    const phases: Summary["phases"] = { waiting: 0, quoted: 0, working: 0, done: 0, declined: 0 };
    const families: Summary["families"] = {
      strings: { jobs: 0, cents: 0 },
      wind: { jobs: 0, cents: 0 },
      keys: { jobs: 0, cents: 0 },
    };
    for (const job of jobs) {
      const state = stateOf(job);
      phases[state.phase] += 1;
      const instrument = await ctx.db.get("instruments", job.instrumentId);
      if (instrument === null) continue;
      const family = families[specOf(instrument).family];
      family.jobs += 1;
      if (state.phase === "done") family.cents += state.cents;
    }
    return { phases, families, busiest: busiest(jobs) };
  },
});

/** The bench at which the most of these parts are being used, the lowest number first. */
function busiest(jobs: Doc<"jobs">[]): Bench | null {
  const used = new Map<Bench, number>();
  for (const job of jobs) {
    const state = stateOf(job);
    if (state.phase !== "working") continue;
    used.set(state.bench, (used.get(state.bench) ?? 0) + sum(Object.values(partsOf(job)), (each) => each));
  }
  const [best] = [...used].sort(([a, usedAtA], [b, usedAtB]) => usedAtB - usedAtA || a - b);
  return best === undefined ? null : best[0];
}

export const jobsOfCustomer = internalQuery({
  args: { customerId: v.id("customers") },
  returns: v.array(job),
  handler: async (ctx, { customerId }) => {
    const found: Job[] = [];
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
export const statement = action({
  args: { customerId: v.id("customers") },
  returns: v.object({ to: contact, lines: v.array(v.string()), openCents: v.number() }),
  handler: async (ctx, { customerId }): Promise<Results["reports.statement"]> => {
    const customer: Customer | null = await ctx.runQuery(api.customers.get, { customerId });
    if (customer === null) return { to: { kind: "email", address: "office@workshop.example" }, lines: [], openCents: 0 };
    const jobs: Job[] = await ctx.runQuery(internal.reports.jobsOfCustomer, { customerId });
    const lines: string[] = [];
    for (const { instrument, title, state } of jobs) {
      if (instrument === null) continue;
      lines.push(`${label("family", instrument.spec.family)} ${instrument.label}, ${title}: ${describe(state)}`);
    }
    return { to: customer.contact, lines, openCents: sum(jobs, (job) => open(job.state) ?? 0) };
  },
});

function describe(state: State): string {
  return match(state, {
    waiting: () => "is waiting",
    quoted: ({ cents }) => `would cost ${cents}`,
    working: ({ bench }) => `is on bench ${bench}`,
    done: ({ cents }) => `is done for ${cents}`,
    declined: ({ reason }) => `was declined${reason === null ? "" : `: ${reason}`}`,
  });
}

function open(state: State): number | null {
  return match(state, {
    waiting: () => 0,
    quoted: ({ cents }) => cents,
    working: ({ quote }) => quote,
    done: () => 0,
    declined: () => 0,
  });
}
