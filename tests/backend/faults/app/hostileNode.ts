"use node";
// Every case as an action in Node.js, whose process is used again.
import { actionGeneric as action } from "convex/server";
import { CASES, checkup } from "./cases";

export const asNode = action(async (ctx, { name }: { name: string }) => await CASES[name]());
export const healthy = action(async () => await checkup());
