import { v } from "convex/values";
import { internal } from "./_generated/api";
import { internalMutation, internalQuery } from "./_generated/server";
import { shapes, users } from "./chains";
import { defineMigrations } from "./lib/migrations";

export const migrations = defineMigrations({ users, shapes });

const table = v.union(v.literal("users"), v.literal("shapes"));

export const usersBatch = internalMutation({
  args: {
    batchSize: v.number(),
    upTo: v.optional(v.union(v.literal("role"), v.literal("nick"), v.literal("settings"))),
  },
  handler: async (ctx, options) => await migrations.runBatch(ctx, "users", options),
});

export const shapesBatch = internalMutation({
  args: { batchSize: v.number() },
  handler: async (ctx, options) => await migrations.runBatch(ctx, "shapes", options),
});

export const progress = internalQuery({
  args: { table },
  handler: async (ctx, args) => await migrations.progress(ctx, args.table),
});

/** One batch after another, in transactions of their own, until both tables are migrated. */
export const runAll = internalMutation({
  args: { batchSize: v.number() },
  handler: async (ctx, { batchSize }): Promise<null> => {
    for (const name of ["users", "shapes"] as const) {
      if ((await migrations.progress(ctx, name)).isDone) continue;
      await migrations.runBatch(ctx, name, { batchSize });
      await ctx.scheduler.runAfter(0, internal.migrations.runAll, { batchSize });
      return null;
    }
    return null;
  },
});

/** What a user from an old backup would be today. */
export const restored = internalQuery({
  args: {
    user: v.object({
      _id: v.id("users"),
      _creationTime: v.number(),
      firstName: v.string(),
      lastName: v.string(),
      role: v.union(v.literal("member"), v.literal("admin")),
      admin: v.optional(v.boolean()),
      alias: v.optional(v.string()),
      theme: v.optional(v.union(v.literal("dark"), v.literal("bright"))),
      team: v.nullable(v.id("teams")),
    }),
  },
  handler: (_ctx, { user }) => users.upgrade(user, "role"),
});
