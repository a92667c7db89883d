import {
  actionGeneric as action,
  makeFunctionReference,
  mutationGeneric as mutation,
  queryGeneric as query,
} from "convex/server";

export const list = query(async (ctx) => (await ctx.db.query("notes").collect()).map((note) => note.text));

export const add = mutation(async (ctx, { text }: { text: string }) => {
  await ctx.db.insert("notes", { text });
  return text;
});

export const clear = mutation(async (ctx) => {
  for (const note of await ctx.db.query("notes").collect()) await ctx.db.delete(note._id);
});

export const increment = mutation(async (ctx) => {
  const counter = await ctx.db.query("counters").first();
  if (counter === null) await ctx.db.insert("counters", { n: 1 });
  else await ctx.db.patch(counter._id, { n: counter.n + 1 });
});

export const counted = query(async (ctx) => (await ctx.db.query("counters").first())?.n ?? 0);

export const keep = mutation(async (ctx, { value }: { value: any }) => await ctx.db.insert("anything", { value }));

export const echo = query(async (ctx, { value }: { value: any }) => value);

export const big = query(async (ctx, { characters }: { characters: number }) => {
  const notes = await ctx.db.query("notes").collect();
  return notes.length + "x".repeat(characters);
});

export const nested = query(async (ctx, { levels }: { levels: number }) => {
  let value: any = 0;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
});

const add_ = makeFunctionReference<"mutation">("notes:add");
const list_ = makeFunctionReference<"query">("notes:list");
const slow_ = makeFunctionReference<"action">("notes:slow");
type Slow = { name: string; milliseconds: number; until?: string };
const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Leaves a note when it begins and another when it ends; `until` is a note that it waits for, looking that often. */
export const slow = action(async (ctx, { name, milliseconds, until }: Slow) => {
  await ctx.runMutation(add_, { text: `${name} began` });
  do await sleep(milliseconds);
  while (until && !(await ctx.runQuery(list_, {})).includes(until));
  await ctx.runMutation(add_, { text: `${name} ended` });
});

export const later = mutation(async (ctx, { text, milliseconds }: { text: string; milliseconds: number }) => {
  await ctx.scheduler.runAfter(milliseconds, add_, { text });
});

export const actLater = mutation(async (ctx, { name }: { name: string }) => {
  await ctx.scheduler.runAfter(0, slow_, { name, milliseconds: 600_000 });
});

export const jobs = query(async (ctx) => {
  return (await ctx.db.system.query("_scheduled_functions").collect()).map((job) => job.state.kind);
});

export const times = query(async (ctx) => (await ctx.db.query("notes").collect()).map((note) => note._creationTime));

export const now = query(async () => Date.now());
