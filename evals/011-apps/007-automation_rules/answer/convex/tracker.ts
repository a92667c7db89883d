import { ConvexError, v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import { internalMutation, mutation, type MutationCtx, query, type QueryCtx } from "./_generated/server";
import { type Action, type Active, Engine, type Entry, invalidField, type Issue, library, type Rule, sorted } from "./lib/engine";
import type { Mistake } from "./lib/rules";
import { entry, issueValues } from "./schema";

const MAXIMUM = 20;
const changes = issueValues.partial();

async function allRules(ctx: QueryCtx): Promise<Doc<"rules">[]> {
  return await ctx.db.query("rules").take(MAXIMUM);
}

function active({ _id, json, counter, runs }: Doc<"rules">): Active {
  return { id: _id, rule: JSON.parse(json) as Rule, counter, runs };
}

async function activeRules(ctx: QueryCtx): Promise<Active[]> {
  return (await allRules(ctx)).filter(({ enabled }) => enabled).map(active);
}

async function valuesOf(ctx: QueryCtx, id: Id<"issues">): Promise<Issue> {
  const found = await ctx.db.get("issues", id);
  if (found === null) throw new Error("No such issue");
  return found.values;
}

function check(values: Partial<Issue>): void {
  const field = invalidField(values);
  if (field !== undefined) throw new ConvexError({ code: "INVALID", field });
}

/** Does what the engine has found out. */
async function carryOut(ctx: MutationCtx, issue: Id<"issues">, engine: Engine, rules: Active[], actor: string) {
  await ctx.db.patch("issues", issue, { values: engine.values });
  for (const each of engine.log) await ctx.db.insert("entries", { issue, entry: each });
  for (const { id, counter, runs } of rules) {
    const rule = ctx.db.normalizeId("rules", id);
    if (rule !== null) await ctx.db.patch("rules", rule, { counter, runs });
  }
  for (const { rule, minutes, actions, chain } of engine.delayed) {
    const json = JSON.stringify(actions);
    await ctx.scheduler.runAfter(minutes * 60_000, internal.tracker.resume, { issue, rule: rule.id, json, chain, actor });
  }
  for (const { rule, url, values } of engine.calls) {
    await ctx.scheduler.runAfter(0, internal.webhooks.call, { issue, rule: rule.rule.name, url, values });
  }
}

export const create = mutation({
  args: { user: v.string(), values: changes.extend({ title: issueValues.fields.title, status: issueValues.fields.status }) },
  handler: async (ctx, { user, values }) => {
    check(values);
    const none = { notes: null, points: null, severity: null, assignee: null, due: null };
    const all = { ...none, ...values, labels: sorted(values.labels ?? []) };
    const rules = await activeRules(ctx);
    const engine = new Engine(all, rules, user, Date.now());
    engine.log.push({ type: "created", by: `user:${user}` });
    engine.begin("created");
    engine.handle();
    const issue = await ctx.db.insert("issues", { values: all });
    await carryOut(ctx, issue, engine, rules, user);
    return issue;
  },
});

export const change = mutation({
  args: { user: v.string(), issue: v.id("issues"), changes },
  handler: async (ctx, args) => {
    check(args.changes);
    const rules = await activeRules(ctx);
    const engine = new Engine(await valuesOf(ctx, args.issue), rules, args.user, Date.now());
    engine.change(args.user, args.changes);
    engine.handle();
    await carryOut(ctx, args.issue, engine, rules, args.user);
    return null;
  },
});

export const comment = mutation({
  args: { user: v.string(), issue: v.id("issues"), text: v.string() },
  handler: async (ctx, { user, issue, text }) => {
    const rules = await activeRules(ctx);
    const engine = new Engine(await valuesOf(ctx, issue), rules, user, Date.now());
    engine.log.push({ type: "commented", by: `user:${user}`, text });
    engine.begin("commented");
    engine.handle();
    await carryOut(ctx, issue, engine, rules, user);
    return null;
  },
});

export const resume = internalMutation({
  args: { issue: v.id("issues"), rule: v.string(), json: v.string(), chain: v.array(v.string()), actor: v.string() },
  handler: async (ctx, { issue, rule, json, chain, actor }) => {
    const rules = await activeRules(ctx);
    const found = rules.find(({ id }) => id === rule);
    if (found === undefined) return null;
    const engine = new Engine(await valuesOf(ctx, issue), rules, actor, Date.now());
    engine.resume(found, JSON.parse(json) as Action[], chain);
    await carryOut(ctx, issue, engine, rules, actor);
    return null;
  },
});

export const addEntry = internalMutation({
  args: { issue: v.id("issues"), entry },
  handler: async (ctx, args) => {
    await ctx.db.insert("entries", args);
    return null;
  },
});

export const issue = query({
  args: { issue: v.id("issues") },
  handler: async (ctx, args): Promise<Issue> => await valuesOf(ctx, args.issue),
});

export const log = query({
  args: { issue: v.id("issues") },
  handler: async (ctx, args): Promise<Entry[]> => {
    const found = ctx.db.query("entries").withIndex("by_issue", (q) => q.eq("issue", args.issue));
    return (await found.collect()).map((each) => each.entry);
  },
});

export const preview = query({
  args: { now: v.number(), user: v.string(), issue: v.id("issues"), changes, text: v.optional(v.string()) },
  handler: async (ctx, args): Promise<Entry[]> => {
    const parsed = args.text === undefined ? undefined : library.parse(args.text);
    if (parsed?.ok === false) throw new ConvexError({ code: "INVALID", mistakes: parsed.mistakes });
    check(args.changes);
    const rules = await activeRules(ctx);
    if (parsed !== undefined) rules.push({ id: "", rule: parsed.rule, counter: 0, runs: 0 });
    const engine = new Engine(await valuesOf(ctx, args.issue), rules, args.user, args.now);
    engine.change(args.user, args.changes);
    engine.handle();
    return engine.log;
  },
});

async function insertRules(ctx: MutationCtx, rules: Rule[], former: number): Promise<Mistake[]> {
  if (former + rules.length > MAXIMUM) return [{ path: "", code: "LIMIT" }];
  for (const rule of rules) {
    const json = JSON.stringify(rule);
    await ctx.db.insert("rules", { name: rule.name, enabled: true, json, counter: 0, runs: 0 });
  }
  return [];
}

export const addRule = mutation({
  args: { text: v.string() },
  handler: async (ctx, args) => {
    const names = (await allRules(ctx)).map(({ name }) => name);
    const parsed = library.parse(args.text, (name) => names.includes(name));
    return parsed.ok ? await insertRules(ctx, [parsed.rule], names.length) : parsed.mistakes;
  },
});

export const importRules = internalMutation({
  args: { text: v.string() },
  handler: async (ctx, args) => {
    const names = (await allRules(ctx)).map(({ name }) => name);
    const parsed = library.parseAll(args.text, names);
    return parsed.ok ? await insertRules(ctx, parsed.rules, names.length) : parsed.mistakes;
  },
});

async function ruleNamed(ctx: QueryCtx, name: string): Promise<Doc<"rules">> {
  const found = await ctx.db
    .query("rules")
    .withIndex("by_name", (q) => q.eq("name", name))
    .unique();
  if (found === null) throw new ConvexError({ code: "NO_RULE" });
  return found;
}

export const setRule = mutation({
  args: { name: v.string(), enabled: v.boolean() },
  handler: async (ctx, { name, enabled }) => {
    await ctx.db.patch("rules", (await ruleNamed(ctx, name))._id, { enabled });
    return null;
  },
});

export const removeRule = mutation({
  args: { name: v.string() },
  handler: async (ctx, { name }) => {
    await ctx.db.delete("rules", (await ruleNamed(ctx, name))._id);
    return null;
  },
});

export const rules = query({
  args: {},
  handler: async (ctx) =>
    (await allRules(ctx)).map((each) => {
      const { rule, runs } = active(each);
      return { name: each.name, enabled: each.enabled, runs, rule };
    }),
});
