import { v } from "convex/values";
import { mutation } from "./_generated/server";
import { callerOrNull, failure, membership, requireMember } from "./access";
import { role as roleValidator } from "./schema";

export const create = mutation({
  args: { name: v.string() },
  handler: async (ctx, { name }) => {
    const user = await callerOrNull(ctx);
    if (user === null) {
      throw failure("UNAUTHENTICATED");
    }
    const orgId = await ctx.db.insert("orgs", { name });
    await ctx.db.insert("members", { orgId, user, role: "admin" });
    return orgId;
  },
});

export const setRole = mutation({
  args: {
    orgId: v.id("orgs"),
    user: v.string(),
    role: v.nullable(roleValidator),
  },
  handler: async (ctx, { orgId, user, role }) => {
    const caller = await requireMember(ctx, orgId);
    if (caller.role !== "admin") {
      throw failure("FORBIDDEN");
    }
    const member = await membership(ctx, orgId, user);
    if (member !== null) {
      await ctx.db.delete("members", member._id);
    }
    if (role !== null) {
      await ctx.db.insert("members", { orgId, user, role });
    }
    const members = await ctx.db
      .query("members")
      .withIndex("by_org_and_user", (q) => q.eq("orgId", orgId))
      .collect();
    if (!members.some((each) => each.role === "admin")) {
      throw failure("LAST_ADMIN");
    }
    return null;
  },
});
