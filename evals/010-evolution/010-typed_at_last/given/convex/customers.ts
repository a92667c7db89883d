import { mutation, query } from "./_generated/server";
import { must } from "./lib/util";

export const add = mutation(async (ctx, args: any) => {
  const row: any = { name: args.name, contact: args.contact, note: args.note ?? null };
  if (args.discountPercent !== undefined && args.discountPercent !== null) row.discountPercent = args.discountPercent;
  return await ctx.db.insert("customers", row);
});

export const get = query(async (ctx, args: any): Promise<any> => {
  const row: any = await ctx.db.get("customers", args.customerId);
  if (!row) return null;
  const { _id, _creationTime, ...rest } = row;
  return {
    ...rest,
    customerId: _id,
    contact: typeof row.contact === "string" ? { kind: "email", address: row.contact } : row.contact,
    note: row.note ?? null,
  };
});

/** What is not among the changes stays. A discount that is null is removed. */
export const change = mutation(async (ctx, args: any) => {
  await must(ctx, "customers", args.customerId);
  const changes = { ...args.changes };
  if (changes.discountPercent === null) changes.discountPercent = undefined;
  await ctx.db.patch("customers", args.customerId, changes);
  return null;
});
