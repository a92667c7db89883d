import type { WithoutSystemFields } from "convex/server";
import type { Doc, Id } from "./_generated/dataModel";
import type { MutationCtx, QueryCtx } from "./_generated/server";

type Entry = Omit<WithoutSystemFields<Doc<"entries">>, "isCounted">;

/** All entries are inserted, changed and deleted here, so that totals stay right. */
export async function insertEntry(ctx: MutationCtx, entry: Entry) {
  await addToTotal(ctx, entry.accountId, entry.cents);
  return await ctx.db.insert("entries", { ...entry, isCounted: true });
}

export async function changeEntry(
  ctx: MutationCtx,
  entryId: Id<"entries">,
  changes: Partial<Entry>,
) {
  const before = await ctx.db.get("entries", entryId);
  if (!before) throw new Error("The entry is gone");
  if (before.isCounted) {
    const after = { ...before, ...changes };
    await addToTotal(ctx, before.accountId, -before.cents);
    await addToTotal(ctx, after.accountId, after.cents);
  }
  await ctx.db.patch("entries", entryId, changes);
}

export async function deleteEntry(ctx: MutationCtx, entryId: Id<"entries">) {
  const entry = await ctx.db.get("entries", entryId);
  if (entry?.isCounted) await addToTotal(ctx, entry.accountId, -entry.cents);
  await ctx.db.delete("entries", entryId);
}

export async function addToTotal(
  ctx: MutationCtx,
  accountId: Id<"accounts">,
  cents: number,
) {
  const account = await ctx.db.get("accounts", accountId);
  if (!account) throw new Error("The account is gone");
  const negativeTotal = (account.negativeTotal ?? 0) - cents;
  await ctx.db.patch("accounts", accountId, { negativeTotal });
}

export async function balanceOf(ctx: QueryCtx, accountId: Id<"accounts">) {
  const account = await ctx.db.get("accounts", accountId);
  const uncounted = await ctx.db
    .query("entries")
    .withIndex("by_account_and_counted", (q) =>
      q.eq("accountId", accountId).eq("isCounted", undefined),
    )
    .collect();
  return uncounted.reduce(
    (sum, entry) => sum + entry.cents,
    0 - (account?.negativeTotal ?? 0),
  );
}

export async function isMigrated(ctx: QueryCtx) {
  const uncounted = await ctx.db
    .query("entries")
    .withIndex("by_counted", (q) => q.eq("isCounted", undefined))
    .first();
  const withoutTotal = await ctx.db
    .query("accounts")
    .withIndex("by_negative_total_and_name", (q) =>
      q.eq("negativeTotal", undefined),
    )
    .first();
  return uncounted === null && withoutTotal === null;
}
