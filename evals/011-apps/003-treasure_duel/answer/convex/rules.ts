import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import { internalMutation, type MutationCtx } from "./_generated/server";

export type Game = Doc<"games">;

const MINUTE_MS = 60 * 1000;
const LIMITS_MS = {
  open: 24 * 60 * MINUTE_MS,
  hiding: 30 * MINUTE_MS,
  playing: 10 * MINUTE_MS,
};
const MOST_STRIKES = 3;

/** Changes a game that goes on, and lets its next time limit begin. */
export async function goOn(
  ctx: MutationCtx,
  game: Game,
  changes: Partial<Game> & { status: keyof typeof LIMITS_MS },
): Promise<void> {
  const limit = game.limit + 1;
  const deadline = Date.now() + LIMITS_MS[changes.status];
  await ctx.db.patch("games", game._id, { ...changes, limit, deadline });
  await startTimer(ctx, game._id, limit, deadline);
}

export async function createGame(
  ctx: MutationCtx,
  first: string,
): Promise<Id<"games">> {
  const deadline = Date.now() + LIMITS_MS.open;
  const empty = { treasures: null, digs: [], strikes: 0 };
  const id = await ctx.db.insert("games", {
    first,
    second: null,
    status: "open",
    turn: 0,
    boards: [empty, empty],
    winner: null,
    limit: 0,
    deadline,
  });
  await startTimer(ctx, id, 0, deadline);
  return id;
}

export async function finish(
  ctx: MutationCtx,
  game: Game,
  winner: string | null,
  boards = game.boards,
): Promise<void> {
  await ctx.db.patch("games", game._id, {
    status: "over",
    winner,
    boards,
    deadline: null,
  });
}

export function nameOf(game: Game, player: number): string | null {
  return player === 0 ? game.first : game.second;
}

async function startTimer(
  ctx: MutationCtx,
  id: Id<"games">,
  limit: number,
  deadline: number,
): Promise<void> {
  await ctx.scheduler.runAt(deadline, internal.rules.timeIsUp, { id, limit });
}

export const timeIsUp = internalMutation({
  args: { id: v.id("games"), limit: v.number() },
  handler: async (ctx, { id, limit }) => {
    const game = await ctx.db.get("games", id);
    if (game === null || game.status === "over" || game.limit !== limit) {
      return;
    }
    if (game.status === "playing") {
      await strike(ctx, game);
    } else {
      const ready = game.boards.findIndex(({ treasures }) => treasures);
      await finish(ctx, game, ready < 0 ? null : nameOf(game, ready));
    }
  },
});

async function strike(ctx: MutationCtx, game: Game): Promise<void> {
  const { turn } = game;
  const boards = game.boards.map((board, player) =>
    player === turn ? { ...board, strikes: board.strikes + 1 } : board,
  );
  if (boards[turn].strikes === MOST_STRIKES) {
    await finish(ctx, game, nameOf(game, 1 - turn), boards);
  } else {
    await goOn(ctx, game, { status: "playing", turn: 1 - turn, boards });
  }
}
