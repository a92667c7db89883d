import { ConvexError, v } from "convex/values";
import type { Doc } from "./_generated/dataModel";
import {
  mutation,
  query,
  type MutationCtx,
  type QueryCtx,
} from "./_generated/server";

type Balance = { available: number; held: number };

export const deposit = mutation({
  args: {
    user: v.string(),
    amount: v.number(),
    memo: v.string(),
    key: v.string(),
  },
  returns: v.number(),
  handler: async (ctx, { user, amount, memo, key }) => {
    const known = await ctx.db
      .query("deposits")
      .withIndex("by_user_and_key", (q) => q.eq("user", user).eq("key", key))
      .unique();
    if (known === null) {
      await ctx.db.insert("deposits", { user, key });
      const { available, held } = await balanceOf(ctx, user);
      await setBalance(ctx, user, { available: available + amount, held });
      await addEntry(ctx, user, amount, memo);
    }
    return (await balanceOf(ctx, user)).available;
  },
});

export const charge = mutation({
  args: { user: v.string(), amount: v.number(), memo: v.string() },
  returns: v.null(),
  handler: async (ctx, { user, amount, memo }) => {
    const { available, held } = await balanceOf(ctx, user);
    if (available < amount) {
      throw new ConvexError({ code: "INSUFFICIENT" });
    }
    await setBalance(ctx, user, { available: available - amount, held });
    await addEntry(ctx, user, -amount, memo);
    return null;
  },
});

export const hold = mutation({
  args: { user: v.string(), amount: v.number() },
  returns: v.string(),
  handler: async (ctx, { user, amount }) => {
    const { available, held } = await balanceOf(ctx, user);
    if (available < amount) {
      throw new ConvexError({ code: "INSUFFICIENT" });
    }
    await setBalance(ctx, user, {
      available: available - amount,
      held: held + amount,
    });
    return await ctx.db.insert("holds", { user, amount });
  },
});

export const capture = mutation({
  args: { hold: v.string(), memo: v.string() },
  returns: v.null(),
  handler: async (ctx, { hold, memo }) => {
    const { user, amount } = await endHold(ctx, hold);
    const { available, held } = await balanceOf(ctx, user);
    await setBalance(ctx, user, { available, held: held - amount });
    await addEntry(ctx, user, -amount, memo);
    return null;
  },
});

export const release = mutation({
  args: { hold: v.string() },
  returns: v.null(),
  handler: async (ctx, { hold }) => {
    const { user, amount } = await endHold(ctx, hold);
    const { available, held } = await balanceOf(ctx, user);
    await setBalance(ctx, user, {
      available: available + amount,
      held: held - amount,
    });
    return null;
  },
});

export const balance = query({
  args: { user: v.string() },
  returns: v.object({ available: v.number(), held: v.number() }),
  handler: async (ctx, { user }) => await balanceOf(ctx, user),
});

export const history = query({
  args: { user: v.string(), count: v.number(), before: v.number() },
  returns: v.array(
    v.object({
      number: v.number(),
      amount: v.number(),
      memo: v.string(),
      owned: v.number(),
    }),
  ),
  handler: async (ctx, { user, count, before }) => {
    const entries = await ctx.db
      .query("entries")
      .withIndex("by_user_and_number", (q) =>
        q.eq("user", user).lt("number", before),
      )
      .order("desc")
      .take(count);
    return entries.map(({ number, amount, memo, owned }) => ({
      number,
      amount,
      memo,
      owned,
    }));
  },
});

async function findAccount(
  ctx: QueryCtx,
  user: string,
): Promise<Doc<"accounts"> | null> {
  return await ctx.db
    .query("accounts")
    .withIndex("by_user", (q) => q.eq("user", user))
    .unique();
}

async function balanceOf(ctx: QueryCtx, user: string): Promise<Balance> {
  const account = await findAccount(ctx, user);
  return { available: account?.available ?? 0, held: account?.held ?? 0 };
}

async function setBalance(
  ctx: MutationCtx,
  user: string,
  balance: Balance,
): Promise<void> {
  const account = await findAccount(ctx, user);
  if (account === null) {
    await ctx.db.insert("accounts", { user, ...balance, entries: 0 });
  } else {
    await ctx.db.patch("accounts", account._id, balance);
  }
}

async function addEntry(
  ctx: MutationCtx,
  user: string,
  amount: number,
  memo: string,
): Promise<void> {
  const account = await findAccount(ctx, user);
  if (account === null) {
    throw new Error(`${user} has no account`);
  }
  const number = account.entries + 1;
  const owned = account.available + account.held;
  await ctx.db.patch("accounts", account._id, { entries: number });
  await ctx.db.insert("entries", { user, number, amount, memo, owned });
}

async function endHold(ctx: MutationCtx, text: string): Promise<Doc<"holds">> {
  const id = ctx.db.normalizeId("holds", text);
  const found = id === null ? null : await ctx.db.get("holds", id);
  if (found === null) {
    throw new ConvexError({ code: "NO_HOLD" });
  }
  await ctx.db.delete("holds", found._id);
  return found;
}
