import { ConvexError, v, type Infer } from "convex/values";
import { internal } from "./_generated/api";
import {
  internalMutation,
  mutation,
  query,
  type MutationCtx,
  type QueryCtx,
} from "./_generated/server";
import type { result } from "./schema";

type Result = Infer<typeof result>;
type Transfer = { from: string; to: string; amount: number };
type Outcome =
  | { ok: true; balances: number[] }
  | { ok: false; reason: "NO_ACCOUNT" | "FUNDS"; position: number };

const KEY_MS = 24 * 60 * 60 * 1000;
const HISTORY_LENGTH = 50;
const keyed = { client: v.string(), key: v.string() };
const transferred = { from: v.string(), to: v.string(), amount: v.number() };

export const open = mutation({
  args: { account: v.string(), balance: v.number() },
  handler: async (ctx, { account, balance }) => {
    if ((await findAccount(ctx, account)) !== null) {
      throw new ConvexError({ code: "EXISTS" });
    }
    await ctx.db.insert("accounts", { account, balance });
    return null;
  },
});

export const transfer = mutation({
  args: { ...keyed, ...transferred },
  handler: async (ctx, { client, key, from, to, amount }) => {
    requireAmount(amount);
    const request = JSON.stringify(["transfer", from, to, amount]);
    return await once(ctx, client, key, request, async () => {
      const outcome = await execute(ctx, [{ from, to, amount }]);
      if (!outcome.ok) return { ok: false, reason: outcome.reason };
      return { ok: true, balance: outcome.balances[0] };
    });
  },
});

export const batch = mutation({
  args: { ...keyed, transfers: v.array(v.object(transferred)) },
  handler: async (ctx, { client, key, transfers }) => {
    for (const { amount } of transfers) requireAmount(amount);
    const parts = transfers.map(({ from, to, amount }) => [from, to, amount]);
    const request = JSON.stringify(["batch", ...parts]);
    return await once(ctx, client, key, request, () => execute(ctx, transfers));
  },
});

export const balance = query({
  args: { account: v.string() },
  handler: async (ctx, { account }) => {
    return (await findAccount(ctx, account))?.balance ?? null;
  },
});

export const history = query({
  args: { account: v.string() },
  handler: async (ctx, { account }) => {
    const entries = await ctx.db
      .query("entries")
      .withIndex("by_account", (q) => q.eq("account", account))
      .order("desc")
      .take(HISTORY_LENGTH);
    return entries.map(({ from, to, amount }) => ({ from, to, amount }));
  },
});

export const forget = internalMutation({
  args: { requestId: v.id("requests") },
  handler: async (ctx, { requestId }) => {
    if ((await ctx.db.get("requests", requestId)) !== null) {
      await ctx.db.delete("requests", requestId);
    }
  },
});

/** Does the work of a request, unless it was done before: then returns the earlier result. */
async function once(
  ctx: MutationCtx,
  client: string,
  key: string,
  request: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const earlier = await ctx.db
    .query("requests")
    .withIndex("by_key", (q) => q.eq("client", client).eq("key", key))
    .unique();
  if (earlier !== null && earlier.expires > Date.now()) {
    if (earlier.request === request) return earlier.result;
    throw new ConvexError({ code: "KEY_REUSED" });
  }
  if (earlier !== null) await ctx.db.delete("requests", earlier._id);
  const result = await work();
  const expires = Date.now() + KEY_MS;
  const requestId = await ctx.db.insert("requests", {
    client,
    key,
    request,
    result,
    expires,
  });
  await ctx.scheduler.runAt(expires, internal.ledger.forget, { requestId });
  return result;
}

/** Makes all transfers or none. Nothing is written before it is clear that all of them are possible. */
async function execute(
  ctx: MutationCtx,
  transfers: Transfer[],
): Promise<Outcome> {
  const balances = new Map<string, number>();
  const left: number[] = [];
  for (const [position, { from, to, amount }] of transfers.entries()) {
    for (const account of [from, to]) {
      if (balances.has(account)) continue;
      const found = await findAccount(ctx, account);
      if (found === null) return { ok: false, reason: "NO_ACCOUNT", position };
      balances.set(account, found.balance);
    }
    const available = balances.get(from) ?? 0;
    if (available < amount) return { ok: false, reason: "FUNDS", position };
    balances.set(from, available - amount);
    balances.set(to, (balances.get(to) ?? 0) + amount);
    left.push(balances.get(from) ?? 0);
  }
  await write(ctx, transfers, balances);
  return { ok: true, balances: left };
}

async function write(
  ctx: MutationCtx,
  transfers: Transfer[],
  balances: Map<string, number>,
): Promise<void> {
  for (const [account, balance] of balances) {
    const found = await findAccount(ctx, account);
    if (found) await ctx.db.patch("accounts", found._id, { balance });
  }
  for (const { from, to, amount } of transfers) {
    for (const account of new Set([from, to])) {
      await ctx.db.insert("entries", { account, from, to, amount });
    }
  }
}

function requireAmount(amount: number): void {
  if (!Number.isInteger(amount) || amount <= 0) {
    throw new ConvexError({ code: "BAD_AMOUNT" });
  }
}

async function findAccount(ctx: QueryCtx, account: string) {
  return await ctx.db
    .query("accounts")
    .withIndex("by_account", (q) => q.eq("account", account))
    .unique();
}
