import { ConvexError, v, type Infer } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc } from "./_generated/dataModel";
import {
  action,
  internalMutation,
  mutation,
  query,
  type ActionCtx,
  type MutationCtx,
  type QueryCtx,
} from "./_generated/server";
import { extend, layer } from "./lib/builders";
import { role } from "./schema";

type Role = Infer<typeof role>;
const RANK: Record<Role, number> = { reader: 0, editor: 1, owner: 2 };

export async function findMember(ctx: QueryCtx, token: string): Promise<Doc<"members"> | null> {
  return await ctx.db
    .query("members")
    .withIndex("by_token", (q) => q.eq("token", token))
    .unique();
}

function admit(member: Doc<"members"> | null, atLeast: Role = "reader"): Doc<"members"> {
  if (member === null) throw new ConvexError({ code: "UNKNOWN_TOKEN" });
  if (RANK[member.role] < RANK[atLeast]) throw new ConvexError({ code: "FORBIDDEN", atLeast });
  return member;
}

export const withMember = layer({
  args: { token: v.string() },
  use: async (ctx: QueryCtx, { token }, options: { atLeast?: Role }) => ({
    ctx: { member: admit(await findMember(ctx, token), options.atLeast) },
  }),
});

const withMemberInAction = layer({
  args: { token: v.string() },
  use: async (ctx: ActionCtx, { token }, options: { atLeast?: Role }): Promise<{ ctx: { member: Doc<"members"> } }> => {
    const member = await ctx.runQuery(internal.members.byToken, { token });
    return { ctx: { member: admit(member, options.atLeast) } };
  },
});

export const withProject = layer({
  args: { projectId: v.id("projects") },
  use: async (
    ctx: QueryCtx & { member: Doc<"members"> },
    { projectId },
    options: { archived: "allowed" | "refused" },
  ) => {
    const project = await ctx.db.get("projects", projectId);
    if (project === null || project.ownerId !== ctx.member._id) throw new ConvexError({ code: "NO_PROJECT" });
    if (project.archived && options.archived === "refused") throw new ConvexError({ code: "ARCHIVED" });
    return { ctx: { project } };
  },
});

export const withAudit = layer({
  use: (
    ctx: MutationCtx & { member: Doc<"members">; project?: Doc<"projects"> },
    _args,
    options: { what: string },
  ) => ({
    ctx: { audited: true as const },
    done: async (result) => {
      await ctx.db.insert("audit", {
        what: options.what,
        by: ctx.member._id,
        ...(ctx.project && { projectId: ctx.project._id }),
        result: JSON.stringify(result ?? null),
      });
    },
  }),
});

export const withViewer = layer({
  args: { token: v.optional(v.string()) },
  use: async (ctx: QueryCtx, { token }) => {
    const member = token === undefined ? null : await findMember(ctx, token);
    return member === null ? { ctx: { signedIn: false as const } } : { ctx: { signedIn: true as const, member } };
  },
});

const withStep = (name: string) =>
  layer({
    use: async (ctx: MutationCtx & { depth?: number }) => {
      await ctx.db.insert("steps", { text: `${name}: begin` });
      return {
        ctx: { depth: (ctx.depth ?? 0) + 1 },
        done: async (result) => {
          await ctx.db.insert("steps", { text: `${name}: ${JSON.stringify(result)}` });
        },
      };
    },
  });

export const memberQuery = extend(query, withMember);
export const memberMutation = extend(mutation, withMember);
export const internalMemberMutation = extend(internalMutation, withMember);
export const memberAction = extend(action, withMemberInAction);
export const projectQuery = extend(memberQuery, withProject);
export const auditedMutation = extend(memberMutation, withAudit);
export const projectMutation = extend(extend(memberMutation, withProject), withAudit);
export const viewerQuery = extend(query, withViewer);
export const steppedMutation = extend(extend(mutation, withStep("outer")), withStep("inner"));
