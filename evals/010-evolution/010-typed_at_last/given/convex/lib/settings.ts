const DEFAULTS: any = {
  benches: [1, 2],
  currency: "EUR",
  hourlyCents: 6000,
  vat: { percent: 20, included: false },
};

export async function setting(ctx: any, key: any): Promise<any> {
  const row = await ctx.db
    .query("settings")
    .withIndex("by_key", (q: any) => q.eq("key", key))
    .unique();
  return row ? row.value : DEFAULTS[key];
}

export async function allSettings(ctx: any) {
  const all: any = {};
  for (const key of Object.keys(DEFAULTS)) all[key] = await setting(ctx, key);
  return all;
}

export async function saveSetting(ctx: any, key: any, value: any): Promise<any> {
  const row = await ctx.db
    .query("settings")
    .withIndex("by_key", (q: any) => q.eq("key", key))
    .unique();
  if (row) await ctx.db.replace("settings", row._id, { key, value });
  else await ctx.db.insert("settings", { key, value });
}
