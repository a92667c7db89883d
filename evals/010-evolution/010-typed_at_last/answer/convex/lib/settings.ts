import type { Setting, Settings } from "../contract";
import type { MutationCtx, QueryCtx } from "../_generated/server";
import type { Fitting } from "./util";

const DEFAULTS: Settings = {
  benches: [1, 2],
  currency: "EUR",
  hourlyCents: 6000,
  vat: { percent: 20, included: false },
};

export async function setting<Key extends keyof Settings>(ctx: QueryCtx, key: Key): Promise<Settings[Key]> {
  const all = await allSettings(ctx);
  return all[key];
}

export async function allSettings(ctx: QueryCtx): Promise<Settings> {
  const all = { ...DEFAULTS };
  for await (const row of ctx.db.query("settings")) {
    switch (row.key) {
      case "benches":
        all.benches = row.value;
        break;
      case "currency":
        all.currency = row.value;
        break;
      case "hourlyCents":
        all.hourlyCents = row.value;
        break;
      case "vat":
        all.vat = row.value;
        break;
    }
  }
  return all;
}

const rowOf: { [Key in keyof Settings]: (value: Settings[Key]) => Setting } = {
  benches: (value) => ({ key: "benches", value }),
  currency: (value) => ({ key: "currency", value }),
  hourlyCents: (value) => ({ key: "hourlyCents", value }),
  vat: (value) => ({ key: "vat", value }),
};

export async function saveSetting<Key extends keyof Settings>(
  ctx: MutationCtx,
  key: Key,
  value: Fitting<Settings, NoInfer<Key>>,
): Promise<void> {
  await save(ctx, rowOf[key](value));
}

export async function save(ctx: MutationCtx, setting: Setting): Promise<void> {
  const row = await ctx.db
    .query("settings")
    .withIndex("by_key", (q) => q.eq("key", setting.key))
    .unique();
  if (row === null) await ctx.db.insert("settings", setting);
  else await ctx.db.replace("settings", row._id, setting);
}
