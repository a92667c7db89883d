import { Migrations } from "@convex-dev/migrations";
import { v } from "convex/values";
import { components, internal } from "./_generated/api";
import { mutation, query } from "./_generated/server";
import schema from "./schema";

const migrations = new Migrations(components.migrations, { schema });

export const setInitial = migrations.define({
  table: "people",
  batchSize: 10,
  migrateOne: async (ctx, person) => {
    await ctx.db.patch(person._id, { initial: person.name[0] });
  },
});

export const rename = migrations.define({
  table: "people",
  migrateOne: (_, person) => ({ name: person.name.toUpperCase() }),
});

export const run = migrations.runner([internal.people.setInitial, internal.people.rename]);

export const add = mutation({
  args: { names: v.array(v.string()) },
  handler: async (ctx, { names }) => {
    for (const name of names) await ctx.db.insert("people", { name });
  },
});

export const list = query({
  args: {},
  handler: async (ctx) => (await ctx.db.query("people").collect()).map(({ name, initial }) => [name, initial ?? null]),
});

export const status = query({
  args: {},
  handler: async (ctx): Promise<[string, string, number][]> => {
    const found = await migrations.getStatus(ctx, { migrations: [internal.people.setInitial, internal.people.rename] });
    return found.map(({ name, state, processed }) => [name, state, processed]);
  },
});
