import { query } from "./server";
import { Thing, fail } from "./helpers";

export const direct = query({
  args: {},
  handler: async () => {
    throw new Error("boom");
  },
});

export const inHelper = query({
  args: {},
  handler: async () => {
    fail("in a helper");
  },
});

export const inConstructor = query({
  args: {},
  handler: async () => new Thing(1).grow(-5),
});

export const inDatabase = query({
  args: {},
  handler: async (ctx) => {
    await ctx.db.get("nonsense" as never);
  },
});

async function slowly(): Promise<never> {
  await Promise.resolve();
  throw new TypeError("later");
}

export const afterAwait = query({
  args: {},
  handler: async () => {
    await slowly();
  },
});

export const stack = query({
  args: {},
  handler: async () => new Error("not thrown").stack,
});
