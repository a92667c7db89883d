import { Migrations } from "@convex-dev/migrations";
import { components, internal } from "./_generated/api";
import { internalMutation } from "./functions";
import schema from "./schema";

export const migrations = new Migrations(components.migrations, {
  internalMutation,
  schema,
});

export const emails = migrations.define({
  table: "members",
  batchSize: 10,
  migrateOne: (_ctx, { email: old }) => {
    const email = old.trim().toLowerCase();
    if (!email.includes("@")) {
      throw new Error(`Bad address: ${email}`);
    }
    return email === old ? undefined : { email };
  },
});

export const cents = migrations.define({
  table: "invoices",
  batchSize: 20,
  customRange: (query) =>
    query.withIndex("by_state", (q) => q.eq("state", "open")),
  migrateOne: (_ctx, { amount }) =>
    amount === undefined
      ? undefined
      : { amount: undefined, cents: Math.round(amount * 100) },
});

export const dues = migrations.define({
  table: "members",
  batchSize: 10,
  migrateOne: async (ctx, { _id }) => {
    const open = await ctx.db
      .query("invoices")
      .withIndex("by_member_and_state", (q) =>
        q.eq("member", _id).eq("state", "open"),
      )
      .collect();
    return { due: open.reduce((sum, { cents }) => sum + (cents ?? 0), 0) };
  },
});

/** All of them, in the order in which they run. */
export const runAll = migrations.runner([
  internal.steps.emails,
  internal.steps.cents,
  internal.steps.dues,
]);
