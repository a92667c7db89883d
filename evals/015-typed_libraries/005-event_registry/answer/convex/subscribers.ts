import type { Infer } from "convex/values";
import type { Doc } from "./_generated/dataModel";
import type { MutationCtx, QueryCtx } from "./_generated/server";
import type { EventOf } from "./lib/events";
import { registry } from "./registry";
import type { account } from "./schema";

export type Account = Infer<typeof account>;

export async function eventsOf(ctx: QueryCtx, stream: string): Promise<Doc<"events">[]> {
  return await ctx.db
    .query("events")
    .withIndex("by_stream", (q) => q.eq("stream", stream))
    .collect();
}

export function replay(stored: Doc<"events">[]): Account | null {
  return registry.replay<Account | null>(stored, null, {
    "account.opened": (state, { payload }) => state ?? { ...payload, cents: 0, open: true },
    "money.deposited": (state, { payload }) => state && { ...state, cents: state.cents + payload.cents },
    "money.withdrawn": (state, { payload }) => state && { ...state, cents: state.cents - payload.cents },
    "account.closed": (state) => state && { ...state, open: false },
  });
}

export type InStream = MutationCtx & { stream: string };

async function remember(ctx: InStream): Promise<void> {
  const { stream } = ctx;
  const state = replay(await eventsOf(ctx, stream));
  const row = await ctx.db
    .query("accounts")
    .withIndex("by_stream", (q) => q.eq("stream", stream))
    .unique();
  if (row !== null) await ctx.db.delete("accounts", row._id);
  if (state !== null) await ctx.db.insert("accounts", { ...state, stream });
}

export function describe(event: EventOf<typeof registry>): string {
  return registry.match(
    event,
    {
      "money.deposited": ({ payload: { cents, source } }) =>
        source.kind === "card" ? `+${cents} by card ${source.last4}` : `+${cents} in cash`,
      "money.withdrawn": ({ payload }) => `-${payload.cents}`,
    },
    (rest) =>
      rest.name === "account.opened"
        ? `opened for ${rest.payload.owner}`
        : `closed: ${rest.payload.reason ?? "no reason"}`,
  );
}

export const subscribers = [
  registry.on(registry.names, async (ctx: InStream) => await remember(ctx)),
  registry.on(["account.opened", "account.closed"], async (ctx: InStream, event) => {
    await ctx.db.insert("notices", { stream: ctx.stream, text: describe(event) });
  }),
  registry.on(["money.deposited"], async (ctx: InStream, { payload }) => {
    if (payload.cents >= 100_000)
      await ctx.db.insert("notices", { stream: ctx.stream, text: `large deposit: ${payload.cents}` });
  }),
];
