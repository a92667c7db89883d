import { v } from "convex/values";
import { mutation } from "./_generated/server";
import { partBySku } from "./lib/commands";
import { fail, insertAll } from "./lib/util";

/** From the spreadsheets of the time before. All or nothing. */
export const load = mutation({
  args: { batch: v.any() },
  handler: async (ctx, { batch }): Promise<any> => {
    if (batch.table === "parts") {
      for (const { sku } of batch.rows) if (await partBySku(ctx, sku)) throw fail("TAKEN", { sku });
    }
    return await insertAll(ctx, batch.table, batch.rows);
  },
});
