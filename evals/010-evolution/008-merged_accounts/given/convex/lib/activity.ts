import type { Doc } from "../_generated/dataModel";
import type { MutationCtx } from "../_generated/server";

/**
 * The activity log is what auditors look at. Its lines are never changed or removed: it says who did something, by the name
 * that they had at the time. Every mutation that changes something other people can see writes exactly one line.
 */
export async function log(ctx: MutationCtx, acting: Doc<"members">, action: string, subject: string): Promise<void> {
  const { workspaceId, _id: actorId, name: actorName } = acting;
  await ctx.db.insert("activity", { workspaceId, actorId, actorName, action, subject });
}
