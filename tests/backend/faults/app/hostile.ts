// Every case as a query, a mutation and an action.
import { actionGeneric as action, mutationGeneric as mutation, queryGeneric as query } from "convex/server";
import { CASES, checkup } from "./cases";

const run = (name: string) => CASES[name]();

export const asQuery = query(async (ctx, { name }: { name: string }) => await run(name));
export const asMutation = mutation(async (ctx, { name }: { name: string }) => {
  await ctx.db.insert("notes", { text: name });
  return await run(name);
});
export const asAction = action(async (ctx, { name }: { name: string }) => await run(name));

export const healthy = query(async () => await checkup());
export const healthyMutation = mutation(async () => await checkup());
export const healthyAction = action(async () => await checkup());
