import type { RegisteredMutation, RegisteredQuery } from "convex/server";
import { ConvexError, type GenericValidator, type Infer, type ObjectType, type PropertyValidators } from "convex/values";
import type { Doc } from "../_generated/dataModel";
import { mutation, query, type MutationCtx, type QueryCtx } from "../_generated/server";
import { rules } from "../rules";
import { guardReader, guardWriter } from "./rules";

export type MemberQueryCtx = Omit<QueryCtx, "db"> & {
  db: ReturnType<typeof guardReader<Doc<"users">, typeof rules>>;
  viewer: Doc<"users">;
};
export type MemberMutationCtx = Omit<MutationCtx, "db"> & {
  db: ReturnType<typeof guardWriter<Doc<"users">, typeof rules>>;
  viewer: Doc<"users">;
};

type Definition<Ctx, Args extends PropertyValidators, Returns extends GenericValidator> = {
  args: Args;
  returns: Returns;
  handler: (ctx: Ctx, args: ObjectType<Args>) => Infer<Returns> | Promise<Infer<Returns>>;
};

/** A public query for members, who see only what the rules let them read. */
export function memberQuery<Args extends PropertyValidators, Returns extends GenericValidator>({
  args,
  returns,
  handler,
}: Definition<MemberQueryCtx, Args, Returns>): RegisteredQuery<"public", ObjectType<Args>, Promise<Infer<Returns>>> {
  return query({
    args: args as PropertyValidators,
    returns: returns as GenericValidator,
    handler: async (ctx, given): Promise<unknown> => {
      const viewer = await findViewer(ctx);
      return await handler({ ...ctx, db: guardReader(ctx.db, viewer, rules), viewer }, given as ObjectType<Args>);
    },
  });
}

/** A public mutation for members, who see and change only what the rules allow. */
export function memberMutation<Args extends PropertyValidators, Returns extends GenericValidator>({
  args,
  returns,
  handler,
}: Definition<MemberMutationCtx, Args, Returns>): RegisteredMutation<
  "public",
  ObjectType<Args>,
  Promise<Infer<Returns>>
> {
  return mutation({
    args: args as PropertyValidators,
    returns: returns as GenericValidator,
    handler: async (ctx, given): Promise<unknown> => {
      const viewer = await findViewer(ctx);
      return await handler({ ...ctx, db: guardWriter(ctx.db, viewer, rules), viewer }, given as ObjectType<Args>);
    },
  });
}

async function findViewer(ctx: QueryCtx): Promise<Doc<"users">> {
  const identity = await ctx.auth.getUserIdentity();
  const viewer =
    identity === null
      ? null
      : await ctx.db
          .query("users")
          .withIndex("by_subject", (q) => q.eq("subject", identity.subject))
          .unique();
  if (viewer === null) throw new ConvexError({ code: "UNKNOWN_CALLER" });
  return viewer;
}
