import type { Entry, Instrument, Job, Phase, Priority, Spec, State } from "../contract";
import type { Doc, Id } from "../_generated/dataModel";
import type { MutationCtx, QueryCtx } from "../_generated/server";
import { flag, number, oneOf, parse, record, text } from "./json";

const PHASES = ["waiting", "quoted", "working", "done", "declined"] as const;

/** Jobs of the first version have no state. */
export function stateOf(job: Doc<"jobs">): State {
  if (job.state !== undefined) return job.state;
  if (job.phase === "done") return { phase: "done", at: number(job.finishedAt), cents: number(job.cents) };
  return { phase: "waiting" };
}

export function priorityOf(job: Doc<"jobs">): Priority {
  return job.priority ?? (job.urgent === true ? "urgent" : "normal");
}

export function partsOf(job: Doc<"jobs">): Record<string, number> {
  return Object.fromEntries([...record(parse(job.parts))].map(([sku, count]) => [sku, number(count)]));
}

export function specOf(instrument: Doc<"instruments">): Spec {
  return typeof instrument.spec === "string" ? parsedSpec(instrument.spec) : instrument.spec;
}

/** Wind instruments may lack a pitch. */
function parsedSpec(json: string): Spec {
  const spec = record(parse(json));
  const family = oneOf(spec.get("family"), ["strings", "wind", "keys"]);
  switch (family) {
    case "strings":
      return { family, strings: number(spec.get("strings")), fretted: flag(spec.get("fretted")) };
    case "wind": {
      const pitch = spec.get("pitch") ?? null;
      const material = oneOf(spec.get("material"), ["wood", "brass", "silver"]);
      return { family, material, pitch: pitch === null ? null : text(pitch) };
    }
    case "keys": {
      const power = spec.get("power");
      const volts = power === null ? null : number(record(power).get("volts"));
      return { family, keys: number(spec.get("keys")), power: volts === null ? null : { volts } };
    }
  }
}

export function showInstrument(instrument: Doc<"instruments">): Instrument {
  const { _id, label, serial } = instrument;
  const shown = { instrumentId: _id, label, spec: specOf(instrument) };
  return serial === undefined ? shown : { ...shown, serial };
}

export async function showJob(ctx: QueryCtx, job: Doc<"jobs">): Promise<Job> {
  const instrument = await ctx.db.get("instruments", job.instrumentId);
  return {
    jobId: job._id,
    title: job.title,
    priority: priorityOf(job),
    state: stateOf(job),
    parts: partsOf(job),
    instrument: instrument && showInstrument(instrument),
  };
}

export async function write(ctx: MutationCtx, jobId: Id<"jobs">, entry: Entry): Promise<void> {
  await ctx.db.insert("events", { jobId, at: Date.now(), entry });
}

export async function move(ctx: MutationCtx, job: Doc<"jobs">, state: State): Promise<void> {
  const from = stateOf(job).phase;
  await ctx.db.patch("jobs", job._id, { phase: state.phase, state });
  await write(ctx, job._id, { type: "moved", from, to: state.phase });
}

export function entryOf(event: Doc<"events">): Entry {
  if ("entry" in event) return event.entry;
  const data = record(parse(event.data));
  const phase = (name: string): Phase => oneOf(data.get(name), PHASES);
  switch (event.type) {
    case "moved":
      return { type: "moved", from: phase("from"), to: phase("to") };
    case "part":
      return { type: "part", sku: text(data.get("sku")), count: number(data.get("count")) };
    case "note": {
      const author = data.get("author") ?? null;
      return { type: "note", text: text(data.get("text")), author: author === null ? null : text(author) };
    }
  }
}
