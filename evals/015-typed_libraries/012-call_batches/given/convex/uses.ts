import { type Infer, v } from "convex/values";
import { api, internal } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import { action, mutation, query } from "./_generated/server";
import {
  call,
  runActions,
  runMutations,
  runQueries,
  scheduleAll,
  scheduledCall,
  settleActions,
  settleMutations,
  settleQueries,
} from "./lib/batch";
import { size } from "./schema";

const outcome = v.union(
  v.object({ ok: v.literal(true), value: v.any() }),
  v.object({
    ok: v.literal(false),
    message: v.string(),
    data: v.optional(v.any()),
  }),
);

type Outcome = Infer<typeof outcome>;

const overviewOf = v.object({
  total: v.number(),
  title: v.string(),
  titles: v.array(v.string()),
  hits: v.number(),
});

/** Some of each, by position. */
export const overview = query({
  args: { id: v.id("items"), tags: v.array(v.string()) },
  returns: overviewOf,
  handler: async (ctx, { id, tags }): Promise<Infer<typeof overviewOf>> => {
    const [total, item, titles, tagged] = await runQueries(ctx, [
      [internal.items.count],
      [api.items.get, { id }],
      [api.items.list],
      [internal.items.withTags, { tags, mode: { kind: "some", atLeast: 1 } }],
    ]);
    return {
      total,
      title: item?.title ?? "?",
      titles,
      hits: tagged.reduce((sum, { hits }) => sum + hits, 0),
    };
  },
});

/** Titles of any number of items. */
export const titles = query({
  args: { ids: v.array(v.id("items")) },
  returns: v.array(v.string()),
  handler: async (ctx, { ids }): Promise<string[]> =>
    await runQueries(
      ctx,
      ids.map((id) => call(internal.items.title, { id })),
    ),
});

/** The same, where some may be gone. */
export const titlesIfAny = query({
  args: { ids: v.array(v.id("items")) },
  returns: v.array(outcome),
  handler: async (ctx, { ids }): Promise<Outcome[]> =>
    await settleQueries(
      ctx,
      ids.map((id) => call(internal.items.title, { id })),
    ),
});

/** Two new items, a new title for an old one, and how many large ones are cleared; by name. */
export const change = mutation({
  args: { id: v.id("items"), titles: v.array(v.string()) },
  returns: v.object({ before: v.string(), cleared: v.number() }),
  handler: async (
    ctx,
    { id, titles: [first = "", second = ""] },
  ): Promise<{ before: string; cleared: number }> => {
    const done = await runMutations(ctx, {
      zero: [api.items.create, { title: first, tags: [], size: "small" }],
      again: [internal.items.rename, { id, title: second }],
      clear: [internal.items.clear, { size: "large" }],
    });
    const { total } = await runQueries(ctx, { total: [internal.items.count] });
    await ctx.db.insert("log", { text: `${total} left, new is ${done.zero}` });
    return { before: done.again.before, cleared: done.clear };
  },
});

/** As many of them as possible. */
export const createMany = mutation({
  args: { titles: v.array(v.string()) },
  returns: v.array(outcome),
  handler: async (ctx, args): Promise<Outcome[]> =>
    await settleMutations(
      ctx,
      args.titles.map((title) =>
        call(api.items.create, { title, tags: ["new"], size: "small" }),
      ),
    ),
});

export const createManyInAction = action({
  args: { titles: v.array(v.string()), isStrict: v.boolean() },
  returns: v.array(v.any()),
  handler: async (ctx, args): Promise<unknown[]> => {
    const calls = args.titles.map((title) =>
      call(api.items.create, { title, tags: ["new"], size: "small" }),
    );
    return args.isStrict
      ? await runMutations(ctx, calls)
      : await settleMutations(ctx, calls);
  },
});

const measured = v.object({ ping: v.string(), first: outcome, second: outcome });

export const measureBoth = action({
  args: { text: v.string() },
  returns: measured,
  handler: async (ctx, { text }): Promise<Infer<typeof measured>> => {
    const [ping, total] = await Promise.all([
      runActions(ctx, [[api.work.ping]]),
      runQueries(ctx, [[internal.items.count, {}]]),
    ]);
    const { first, second } = await settleActions(ctx, {
      first: [internal.work.measure, { text }],
      second: [internal.work.measure, { text: "none", unit: `of ${total[0]}` }],
    });
    return { ping: ping[0], first, second };
  },
});

export const askAll = action({
  args: { urls: v.array(v.string()) },
  returns: v.array(v.string()),
  handler: async (ctx, { urls }): Promise<string[]> =>
    await runActions(
      ctx,
      urls.map((url) => call(internal.work.ask, { url })),
    ),
});

const ids = v.object({
  clear: v.id("_scheduled_functions"),
  create: v.id("_scheduled_functions"),
  ping: v.id("_scheduled_functions"),
});

export const later = mutation({
  args: { delayMs: v.number(), size: v.optional(size) },
  returns: ids,
  handler: async (ctx, args): Promise<Infer<typeof ids>> =>
    await scheduleAll(ctx, args.delayMs, {
      clear: [internal.items.clear, { size: args.size }],
      create: [api.items.create, { title: "late", tags: ["a"], size: "large" }],
      ping: [api.work.ping],
    }),
});

export const laterInAction = action({
  args: { delayMs: v.number() },
  returns: v.array(v.id("_scheduled_functions")),
  handler: async (ctx, { delayMs }): Promise<Id<"_scheduled_functions">[]> => [
    ...(await scheduleAll(ctx, delayMs, [
      [internal.items.clear],
      [internal.work.measure, { text: "abc" }],
    ])),
  ],
});

const seen = v.nullable(
  v.object({ what: v.string(), size: v.optional(size), state: v.string() }),
);

/** What is known about a call that was scheduled, if it is one of `clear` or `create`. */
export const look = query({
  args: { id: v.id("_scheduled_functions") },
  returns: seen,
  handler: async (ctx, { id }): Promise<Infer<typeof seen>> => {
    const clear = await scheduledCall(ctx, internal.items.clear, id);
    if (clear !== null)
      return {
        what: "clear",
        size: clear.args.size,
        state: clear.state.kind,
      };
    const create = await scheduledCall(ctx, api.items.create, id);
    if (create !== null)
      return {
        what: `create ${create.args.title}`,
        size: create.args.size,
        state: create.state.kind,
      };
    return null;
  },
});
