import { ConvexError, v } from "convex/values";
import {
  mutation,
  query,
  type MutationCtx,
  type QueryCtx,
} from "./_generated/server";
import {
  addEntry,
  changeEntry,
  countFrom,
  findEntry,
  order,
  removeEntry,
} from "./entries";

export const submit = mutation({
  args: { league: v.string(), player: v.string(), score: v.number() },
  handler: async (ctx, { league, player, score }) => {
    await improve(ctx, league, player, score);
    return null;
  },
});

export const importScores = mutation({
  args: {
    league: v.string(),
    scores: v.array(v.object({ player: v.string(), score: v.number() })),
  },
  handler: async (ctx, { league, scores }) => {
    for (const { player, score } of scores) {
      await improve(ctx, league, player, score);
    }
    return null;
  },
});

export const correct = mutation({
  args: { league: v.string(), player: v.string(), score: v.number() },
  handler: async (ctx, { league, player, score }) => {
    const entry = await findEntry(ctx, league, player);
    if (entry === null) {
      return false;
    }
    await changeEntry(ctx, entry, { score });
    return true;
  },
});

export const withdraw = mutation({
  args: { league: v.string(), player: v.string() },
  handler: async (ctx, { league, player }) => {
    const entry = await findEntry(ctx, league, player);
    if (entry === null) {
      return false;
    }
    await removeEntry(ctx, entry);
    return true;
  },
});

export const promote = mutation({
  args: { player: v.string(), from: v.string(), to: v.string() },
  handler: async (ctx, { player, from, to }) => {
    const entry = await findEntry(ctx, from, player);
    if (entry === null) {
      return false;
    }
    if (from !== to) {
      await removeEntry(ctx, entry);
      await improve(ctx, to, player, entry.score);
    }
    return true;
  },
});

export const rename = mutation({
  args: { player: v.string(), name: v.string() },
  handler: async (ctx, { player, name }) => {
    const taken = await ctx.db
      .query("entries")
      .withIndex("by_player_and_league", (q) => q.eq("player", name))
      .first();
    if (taken !== null) {
      throw new ConvexError({ code: "NAME_TAKEN" });
    }
    const entries = await ctx.db
      .query("entries")
      .withIndex("by_player_and_league", (q) => q.eq("player", player))
      .collect();
    for (const entry of entries) {
      await changeEntry(ctx, entry, { player: name });
    }
    return null;
  },
});

export const rank = query({
  args: { league: v.string(), player: v.string() },
  handler: async (ctx, { league, player }) => {
    const entry = await findEntry(ctx, league, player);
    if (entry === null) {
      return null;
    }
    return {
      rank: await rankOf(ctx, league, entry.score),
      of: await order.count(ctx, { namespace: league }),
      score: entry.score,
    };
  },
});

export const page = query({
  args: { league: v.string(), offset: v.number(), count: v.number() },
  handler: async (ctx, { league, offset, count }) => {
    const players = await order.count(ctx, { namespace: league });
    const offsets = Array.from(
      { length: Math.max(0, Math.min(count, players - offset)) },
      (_, index) => offset + index,
    );
    const items = await order.atBatch(
      ctx,
      offsets.map((each) => ({ namespace: league, offset: each })),
    );
    const found = items.map(({ key: [descending, player] }) => ({
      player,
      score: 0 - descending,
    }));
    let current = 0;
    const ranked = [];
    for (const [index, { player, score }] of found.entries()) {
      if (index === 0) {
        current = await rankOf(ctx, league, score);
      } else if (score !== found[index - 1].score) {
        current = offset + index + 1;
      }
      ranked.push({ player, score, rank: current });
    }
    return ranked;
  },
});

export const between = query({
  args: { league: v.string(), low: v.number(), high: v.number() },
  handler: async (ctx, { league, low, high }) => {
    if (low > high) {
      return 0;
    }
    const tooHigh = await countFrom(ctx, league, high + 1);
    return (await countFrom(ctx, league, low)) - tooHigh;
  },
});

export const summary = query({
  args: { league: v.string() },
  handler: async (ctx, { league }) => {
    const players = await order.count(ctx, { namespace: league });
    const total = await order.sum(ctx, { namespace: league });
    if (players === 0) {
      return { players, total, median: null };
    }
    const middle = Math.floor(players / 2);
    const { key } = await order.at(ctx, middle, { namespace: league });
    return { players, total, median: 0 - key[0] };
  },
});

async function improve(
  ctx: MutationCtx,
  league: string,
  player: string,
  score: number,
): Promise<void> {
  const entry = await findEntry(ctx, league, player);
  if (entry === null) {
    await addEntry(ctx, { league, player, score });
  } else if (entry.score < score) {
    await changeEntry(ctx, entry, { score });
  }
}

async function rankOf(
  ctx: QueryCtx,
  league: string,
  score: number,
): Promise<number> {
  return 1 + (await countFrom(ctx, league, score + 1));
}
