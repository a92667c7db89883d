import { v } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { mutation } from "./_generated/server";
import { partBySku } from "./lib/commands";
import { fail, insertAll } from "./lib/util";
import { contact, part } from "./lib/validators";

const customer = v.object({
  name: v.string(),
  contact,
  discountPercent: v.optional(v.number()),
  note: v.nullable(v.string()),
});

/** From the spreadsheets of the time before. All or nothing. */
export const load = mutation({
  args: {
    batch: v.union(
      v.object({ table: v.literal("customers"), rows: v.array(customer) }),
      v.object({ table: v.literal("parts"), rows: v.array(part) }),
    ),
  },
  returns: v.array(v.union(v.id("customers"), v.id("parts"))),
  handler: async (ctx, { batch }): Promise<(Id<"customers"> | Id<"parts">)[]> => {
    if (batch.table === "customers") return await insertAll(ctx, batch.table, batch.rows);
    for (const { sku } of batch.rows) if ((await partBySku(ctx, sku)) !== null) throw fail("TAKEN", { sku });
    return await insertAll(ctx, batch.table, batch.rows);
  },
});
