import { v } from "convex/values";

export const contact = v.union(
  v.object({ kind: v.literal("email"), address: v.string() }),
  v.object({ kind: v.literal("phone"), number: v.string(), texts: v.boolean() }),
);

export const family = v.union(v.literal("strings"), v.literal("wind"), v.literal("keys"));
export const spec = v.union(
  v.object({ family: v.literal("strings"), strings: v.number(), fretted: v.boolean() }),
  v.object({
    family: v.literal("wind"),
    material: v.union(v.literal("wood"), v.literal("brass"), v.literal("silver")),
    pitch: v.nullable(v.string()),
  }),
  v.object({ family: v.literal("keys"), keys: v.number(), power: v.nullable(v.object({ volts: v.number() })) }),
);

export const bench = v.union(v.literal(1), v.literal(2), v.literal(3), v.literal(4));
export const priority = v.union(v.literal("normal"), v.literal("urgent"));
export const phase = v.union(
  v.literal("waiting"),
  v.literal("quoted"),
  v.literal("working"),
  v.literal("done"),
  v.literal("declined"),
);
export const state = v.union(
  v.object({ phase: v.literal("waiting") }),
  v.object({ phase: v.literal("quoted"), cents: v.number(), validUntil: v.number() }),
  v.object({ phase: v.literal("working"), bench, since: v.number(), quote: v.nullable(v.number()) }),
  v.object({ phase: v.literal("done"), at: v.number(), cents: v.number() }),
  v.object({ phase: v.literal("declined"), reason: v.nullable(v.string()) }),
);

export const entry = v.union(
  v.object({ type: v.literal("moved"), from: phase, to: phase }),
  v.object({ type: v.literal("part"), sku: v.string(), count: v.number() }),
  v.object({ type: v.literal("note"), text: v.string(), author: v.nullable(v.string()) }),
);
export const entryType = v.union(v.literal("moved"), v.literal("part"), v.literal("note"));

const currency = v.union(v.literal("EUR"), v.literal("CHF"));
export const settings = v.object({
  benches: v.array(bench),
  currency,
  hourlyCents: v.number(),
  vat: v.object({ percent: v.number(), included: v.boolean() }),
});
const { benches, hourlyCents, vat } = settings.fields;
export const setting = v.union(
  v.object({ key: v.literal("benches"), value: benches }),
  v.object({ key: v.literal("currency"), value: currency }),
  v.object({ key: v.literal("hourlyCents"), value: hourlyCents }),
  v.object({ key: v.literal("vat"), value: vat }),
);
export const settingKey = v.union(
  v.literal("benches"),
  v.literal("currency"),
  v.literal("hourlyCents"),
  v.literal("vat"),
);
export const settingValue = v.union(benches, currency, hourlyCents, vat);

export const command = v.union(
  v.object({ kind: v.literal("quote"), payload: v.object({ cents: v.number(), days: v.number() }) }),
  v.object({ kind: v.literal("start"), payload: v.object({ bench }) }),
  v.object({ kind: v.literal("use"), payload: v.object({ sku: v.string(), count: v.number() }) }),
  v.object({ kind: v.literal("note"), payload: v.object({ text: v.string(), author: v.nullable(v.string()) }) }),
  v.object({
    kind: v.literal("finish"),
    payload: v.object({ minutes: v.number(), discount: v.optional(v.number()) }),
  }),
  v.object({ kind: v.literal("decline"), payload: v.object({ reason: v.nullable(v.string()) }) }),
);
export const outcome = v.union(
  v.object({ validUntil: v.number() }),
  v.object({ quote: v.nullable(v.number()), ahead: v.array(v.id("jobs")) }),
  v.object({ left: v.nullable(v.number()) }),
  v.null(),
  v.object({
    cents: v.number(),
    vat: v.number(),
    currency,
    parts: v.array(v.object({ sku: v.string(), count: v.number(), cents: v.number() })),
  }),
  v.object({ wasQuoted: v.boolean() }),
);

export const customer = v.object({
  customerId: v.id("customers"),
  name: v.string(),
  contact,
  discountPercent: v.optional(v.number()),
  note: v.nullable(v.string()),
});
export const instrument = v.object({
  instrumentId: v.id("instruments"),
  label: v.string(),
  spec,
  serial: v.optional(v.string()),
});
export const job = v.object({
  jobId: v.id("jobs"),
  title: v.string(),
  priority,
  state,
  parts: v.record(v.string(), v.number()),
  instrument: v.nullable(instrument),
});
export const part = v.object({
  sku: v.string(),
  name: v.string(),
  cents: v.number(),
  stock: v.nullable(v.number()),
});
