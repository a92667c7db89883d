import { v } from "convex/values";
import { query } from "./_generated/server";

export default query({ args: { x: v.number() }, handler: async (_ctx, args) => args.x });
