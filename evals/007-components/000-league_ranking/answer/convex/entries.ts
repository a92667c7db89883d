import { TableAggregate } from "@convex-dev/aggregate";
import { components } from "./_generated/api";
import type { DataModel, Doc } from "./_generated/dataModel";
import type { MutationCtx, QueryCtx } from "./_generated/server";

type Entry = Doc<"entries">;

/** The entries of each league, the best first. Leagues share nothing. */
export const order = new TableAggregate<{
  Namespace: string;
  Key: [number, string];
  DataModel: DataModel;
  TableName: "entries";
}>(components.aggregate, {
  namespace: ({ league }) => league,
  sortKey: ({ score, player }) => [descending(score), player],
  sumValue: ({ score }) => score,
});

/** How many entries of the league have at least this score. */
export async function countFrom(
  ctx: QueryCtx,
  league: string,
  score: number,
): Promise<number> {
  const upper = {
    key: [descending(score - 1), ""] satisfies [number, string],
    inclusive: false,
  };
  return await order.count(ctx, { namespace: league, bounds: { upper } });
}

export async function findEntry(
  ctx: QueryCtx,
  league: string,
  player: string,
): Promise<Entry | null> {
  return await ctx.db
    .query("entries")
    .withIndex("by_player_and_league", (q) =>
      q.eq("player", player).eq("league", league),
    )
    .unique();
}

export async function addEntry(
  ctx: MutationCtx,
  fields: { league: string; player: string; score: number },
): Promise<void> {
  const entryId = await ctx.db.insert("entries", fields);
  const entry = await ctx.db.get("entries", entryId);
  if (entry !== null) {
    await order.insert(ctx, entry);
  }
}

export async function changeEntry(
  ctx: MutationCtx,
  entry: Entry,
  fields: { league?: string; player?: string; score?: number },
): Promise<void> {
  await ctx.db.patch("entries", entry._id, fields);
  await order.replace(ctx, entry, { ...entry, ...fields });
}

export async function removeEntry(
  ctx: MutationCtx,
  entry: Entry,
): Promise<void> {
  await ctx.db.delete("entries", entry._id);
  await order.delete(ctx, entry);
}

/** Not -score, because -0 comes before 0. */
function descending(score: number): number {
  return 0 - score;
}
