import { parse } from "./util";

/** Jobs of the first version have no state. */
export function stateOf(job: any): any {
  if (job.state) return job.state;
  if (job.phase === "done") return { phase: "done", at: job.finishedAt, cents: job.cents };
  return { phase: "waiting" };
}

export function priorityOf(job: any): any {
  return job.priority ?? (job.urgent ? "urgent" : "normal");
}

export function partsOf(job: any): any {
  return parse(job.parts);
}

/** Wind instruments with JSON in `spec` may lack a pitch. */
export function specOf(instrument: any): any {
  const spec = parse(instrument.spec);
  if (spec.family === "wind" && spec.pitch === undefined) return { ...spec, pitch: null };
  return spec;
}

export function showInstrument(instrument: any): any {
  const { _id, label, serial } = instrument;
  return { instrumentId: _id, label, spec: specOf(instrument), ...(serial !== undefined && { serial }) };
}

export async function showJob(ctx: any, job: any) {
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

export async function write(ctx: any, jobId: any, entry: any) {
  await ctx.db.insert("events", { jobId, at: Date.now(), entry });
}

export async function move(ctx: any, job: any, state: any) {
  const from = stateOf(job).phase;
  await ctx.db.patch("jobs", job._id, { phase: state.phase, state });
  await write(ctx, job._id, { type: "moved", from, to: state.phase });
}

export function entryOf(event: any): any {
  if (event.entry) return event.entry;
  const entry = { type: event.type, ...parse(event.data) };
  if (entry.type === "note") entry.author ??= null;
  return entry;
}
