import { v } from "convex/values";
import { query } from "./_generated/server";

export const pair = query({
  args: {},
  returns: v.tuple([v.string(), v.number()]),
  handler: () => ["one", 1],
});
