import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { note, record, withLabel } from "./journal";
import { countTickets, inspect, prepareOrder } from "./recipes";

const orders = v.array(
  v.object({ table: v.string(), dishes: v.array(v.string()) }),
);

export const learn = mutation({
  args: { name: v.string(), minutes: v.number(), parts: v.array(v.string()) },
  handler: async (ctx, dish) => {
    await ctx.db.insert("dishes", dish);
    return null;
  },
});

/** All orders at the same time. If one of them fails, its time is null. */
export const estimate = query({
  args: { orders },
  handler: async (ctx, { orders }) => {
    return await record(async () => {
      note("open");
      const outcomes = await Promise.allSettled(
        orders.map(({ table, dishes }) =>
          withLabel(table, () => prepareOrder(ctx, dishes)),
        ),
      );
      note("closed");
      return outcomes.map((outcome) =>
        outcome.status === "fulfilled" ? outcome.value : null,
      );
    });
  },
});

/** Each order has a record of its own, and all of them are made at the same time. */
export const separately = query({
  args: { orders },
  handler: async (ctx, { orders }) => {
    return await record(async () => {
      note("before");
      const records = await withLabel("all", () =>
        Promise.all(
          orders.map(({ table, dishes }) =>
            record(() => withLabel(table, () => prepareOrder(ctx, dishes))),
          ),
        ),
      );
      note("after");
      return records;
    });
  },
});

/** Tells what was found when everything has been found, the last first. The report has a record of its own. */
export const audit = query({
  args: { lists: v.array(v.array(v.string())) },
  handler: async (ctx, { lists }) => {
    return await record(async () => {
      const tellers: (() => void)[] = [];
      await Promise.all(
        lists.map((names, index) =>
          withLabel(`list ${index}`, () => inspect(ctx, names, tellers)),
        ),
      );
      const report = await record(() =>
        withLabel("report", () => {
          note("now");
          for (const tell of tellers.reverse()) tell();
          note("done");
        }),
      );
      return { count: tellers.length, report: report.notes };
    });
  },
});

/** Writes a ticket for each dish and counts all there are, for all tables at the same time. */
export const order = mutation({
  args: { orders },
  handler: async (ctx, { orders }) => {
    note("nobody records this");
    return await record(async () => {
      const counts = await Promise.all(
        orders.map(({ table, dishes }) =>
          withLabel(table, async () => {
            for (const dish of dishes) {
              await ctx.db.insert("tickets", { table, dish });
              note(dish);
            }
            const count = await withLabel("count", () => countTickets(ctx));
            note("ordered");
            return count;
          }),
        ),
      );
      note(`${counts.length} tables`);
      return counts;
    });
  },
});
