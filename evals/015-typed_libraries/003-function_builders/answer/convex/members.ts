import { v } from "convex/values";
import { internalQuery } from "./_generated/server";
import { findMember } from "./functions";
import schema from "./schema";

export const byToken = internalQuery({
  args: { token: v.string() },
  returns: v.nullable(schema.doc("members")),
  handler: async (ctx, args) => await findMember(ctx, args.token),
});
