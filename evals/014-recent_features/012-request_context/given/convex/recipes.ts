import type { QueryCtx } from "./_generated/server";
import { keep, note, withLabel } from "./journal";

/** How long an order takes: as long as its slowest dish. Dishes are prepared at the same time. */
export async function prepareOrder(
  ctx: QueryCtx,
  dishes: string[],
): Promise<number> {
  note(`${dishes.length} dishes`);
  const minutes = await Promise.all(
    dishes.map((dish) => withLabel(dish, () => prepareDish(ctx, dish))),
  );
  note("served");
  return Math.max(0, ...minutes);
}

/** The parts of a dish are prepared one after the other. */
async function prepareDish(ctx: QueryCtx, name: string): Promise<number> {
  note("begun");
  const dish = await findDish(ctx, name);
  if (dish === null) {
    note("unknown");
    throw new Error(`Nobody knows ${name}`);
  }
  let minutes = dish.minutes;
  for (const part of dish.parts) {
    minutes += await withLabel(part, () => prepareDish(ctx, part));
    note(`has ${part}`);
  }
  return await Promise.resolve(minutes).then((total) => {
    note(`${total} minutes`);
    return total;
  });
}

/** Looks for dishes by name; the tellers say later whether they were found. */
export async function inspect(
  ctx: QueryCtx,
  names: string[],
  tellers: (() => void)[],
): Promise<void> {
  for (const name of names) {
    await withLabel(name, async () => {
      const tell = keep((text: string) => note(text));
      const dish = await findDish(ctx, name);
      tellers.push(() => {
        tell(dish === null ? "missing" : "known");
      });
    });
  }
}

async function findDish(ctx: QueryCtx, name: string) {
  return await ctx.db
    .query("dishes")
    .withIndex("by_name", (q) => q.eq("name", name))
    .unique();
}

/** Writes a note for each ticket. */
export async function countTickets(ctx: QueryCtx): Promise<number> {
  let count = 0;
  for await (const ticket of ctx.db.query("tickets")) {
    note(`ticket for ${ticket.dish}`);
    count += 1;
  }
  return count;
}
