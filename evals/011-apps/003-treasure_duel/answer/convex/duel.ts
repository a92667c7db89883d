import { ConvexError, v } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { mutation, query, type QueryCtx } from "./_generated/server";
import { createGame, finish, goOn, nameOf, type Game } from "./rules";

const CELLS = 25;
const TREASURES = 3;

const inGame = { game: v.id("games") };

export const create = mutation({
  args: {},
  handler: async (ctx) => await createGame(ctx, await requireUser(ctx)),
});

export const join = mutation({
  args: inGame,
  handler: async (ctx, { game: id }) => {
    const user = await requireUser(ctx);
    const game = await requireGame(ctx, id);
    if (game.first === user) {
      refuse("OWN_GAME");
    }
    requireStatus(game, "open");
    await goOn(ctx, game, { status: "hiding", second: user });
    return null;
  },
});

export const hide = mutation({
  args: { ...inGame, cells: v.array(v.number()) },
  handler: async (ctx, { game: id, cells }) => {
    const { game, player } = await requirePlayer(ctx, id);
    requireStatus(game, "hiding");
    if (
      cells.length !== TREASURES ||
      new Set(cells).size !== TREASURES ||
      !cells.every(isCell)
    ) {
      refuse("INVALID");
    }
    if (game.boards[player].treasures !== null) {
      refuse("ALREADY_DONE");
    }
    const treasures = [...cells].sort((a, b) => a - b);
    const boards = game.boards.map((board, index) =>
      index === player ? { ...board, treasures } : board,
    );
    if (boards.every((board) => board.treasures !== null)) {
      await goOn(ctx, game, { status: "playing", turn: 0, boards });
    } else {
      await ctx.db.patch("games", id, { boards });
    }
    return null;
  },
});

export const dig = mutation({
  args: { ...inGame, cell: v.number() },
  handler: async (ctx, { game: id, cell }) => {
    const { game, player } = await requirePlayer(ctx, id);
    requireStatus(game, "playing");
    if (game.turn !== player) {
      refuse("NOT_YOUR_TURN");
    }
    if (!isCell(cell)) {
      refuse("INVALID");
    }
    const target = game.boards[1 - player];
    if (target.digs.some((each) => each.cell === cell)) {
      refuse("ALREADY_DONE");
    }
    const found = target.treasures?.includes(cell) ?? false;
    const digs = [...target.digs, { cell, found }];
    const boards = game.boards.map((board, index) =>
      index === player ? board : { ...board, digs },
    );
    if (digs.filter((each) => each.found).length === TREASURES) {
      await finish(ctx, game, nameOf(game, player), boards);
    } else {
      const turn = found ? player : 1 - player;
      await goOn(ctx, game, { status: "playing", turn, boards });
    }
    return found;
  },
});

export const resign = mutation({
  args: inGame,
  handler: async (ctx, { game: id }) => {
    const { game, player } = await requirePlayer(ctx, id);
    requireStatus(game, "hiding", "playing");
    await finish(ctx, game, nameOf(game, 1 - player));
    return null;
  },
});

export const view = query({
  args: inGame,
  handler: async (ctx, { game: id }) => {
    const game = await requireGame(ctx, id);
    const { status, deadline, winner } = game;
    const viewer = (await ctx.auth.getUserIdentity())?.subject ?? null;
    return {
      status,
      players: [game.first, game.second],
      turn: status === "playing" ? nameOf(game, game.turn) : null,
      deadline,
      strikes: game.boards.map(({ strikes }) => strikes),
      winner,
      boards: game.boards.map(({ treasures, digs }, player) => ({
        isReady: treasures !== null,
        treasures: maySee(game, player, viewer) ? treasures : null,
        digs,
      })),
    };
  },
});

export const mine = query({
  args: {},
  handler: async (ctx) => {
    const user = await requireUser(ctx);
    const games = await gamesOf(ctx, user);
    return games
      .sort((a, b) => b._creationTime - a._creationTime)
      .map(({ _id, status, first, second }) => ({
        game: _id,
        status,
        opponent: first === user ? second : first,
      }));
  },
});

export const record = query({
  args: { user: v.string() },
  handler: async (ctx, { user }) => {
    const counts = { won: 0, lost: 0, drawn: 0 };
    for (const { status, second, winner } of await gamesOf(ctx, user)) {
      if (status === "over" && second !== null) {
        const result =
          winner === null ? "drawn" : winner === user ? "won" : "lost";
        counts[result] += 1;
      }
    }
    return counts;
  },
});

function refuse(code: string): never {
  throw new ConvexError({ code });
}

function isCell(cell: number): boolean {
  return Number.isInteger(cell) && cell >= 0 && cell < CELLS;
}

function maySee(game: Game, player: number, viewer: string | null): boolean {
  return (
    game.status === "over" ||
    (viewer !== null && nameOf(game, player) === viewer)
  );
}

function requireStatus(game: Game, ...allowed: Game["status"][]): void {
  if (!allowed.includes(game.status)) {
    refuse("WRONG_STATUS");
  }
}

async function requireUser(ctx: QueryCtx): Promise<string> {
  const identity = await ctx.auth.getUserIdentity();
  return identity?.subject ?? refuse("NOT_LOGGED_IN");
}

async function requireGame(ctx: QueryCtx, id: Id<"games">): Promise<Game> {
  const game = await ctx.db.get("games", id);
  if (game === null) {
    throw new Error("There is no such game.");
  }
  return game;
}

async function requirePlayer(
  ctx: QueryCtx,
  id: Id<"games">,
): Promise<{ game: Game; player: number }> {
  const user = await requireUser(ctx);
  const game = await requireGame(ctx, id);
  const player = [game.first, game.second].indexOf(user);
  if (player < 0) {
    refuse("NOT_A_PLAYER");
  }
  return { game, player };
}

async function gamesOf(ctx: QueryCtx, user: string): Promise<Game[]> {
  const asFirst = await ctx.db
    .query("games")
    .withIndex("by_first", (q) => q.eq("first", user))
    .collect();
  const asSecond = await ctx.db
    .query("games")
    .withIndex("by_second", (q) => q.eq("second", user))
    .collect();
  return [...asFirst, ...asSecond];
}
