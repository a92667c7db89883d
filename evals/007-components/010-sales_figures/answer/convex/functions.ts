import { TableAggregate } from "@convex-dev/aggregate";
import { ShardedCounter } from "@convex-dev/sharded-counter";
import {
  customCtx,
  customMutation,
} from "convex-helpers/server/customFunctions";
import { Triggers } from "convex-helpers/server/triggers";
import { components } from "./_generated/api";
import type { DataModel, Doc } from "./_generated/dataModel";
import {
  internalMutation as rawInternalMutation,
  mutation as rawMutation,
} from "./_generated/server";

/** The amounts of each shop, in order. */
export const amounts = new TableAggregate<{
  Namespace: string;
  Key: number;
  DataModel: DataModel;
  TableName: "sales";
}>(components.aggregate, {
  namespace: ({ shop }) => shop,
  sortKey: ({ amount }) => amount,
  sumValue: ({ amount }) => amount,
});

/** The same for each cashier of a shop. */
export const cashierAmounts = new TableAggregate<{
  Namespace: string;
  Key: [cashier: string, amount: number];
  DataModel: DataModel;
  TableName: "sales";
}>(components.cashiers, {
  namespace: ({ shop }) => shop,
  sortKey: ({ cashier, amount }) => [cashier, amount],
  sumValue: ({ amount }) => amount,
});

export const counter = new ShardedCounter(components.shardedCounter, {
  shards: { sales: 10 },
});

const triggers = new Triggers<DataModel>();

triggers.register("sales", async (ctx, { oldDoc, newDoc }) => {
  const before = counted(oldDoc);
  const after = counted(newDoc);
  if (before !== null && after !== null) {
    await amounts.replace(ctx, before, after);
    await cashierAmounts.replace(ctx, before, after);
  } else if (after !== null) {
    await amounts.insert(ctx, after);
    await cashierAmounts.insert(ctx, after);
    await counter.inc(ctx, "sales");
  } else if (before !== null) {
    await amounts.delete(ctx, before);
    await cashierAmounts.delete(ctx, before);
    await counter.dec(ctx, "sales");
  }
});

function counted(sale: Doc<"sales"> | null): Doc<"sales"> | null {
  return sale?.counted === true ? sale : null;
}

/** All mutations are made with these two, so that the figures are right. */
export const mutation = customMutation(rawMutation, customCtx(triggers.wrapDB));
export const internalMutation = customMutation(
  rawInternalMutation,
  customCtx(triggers.wrapDB),
);
