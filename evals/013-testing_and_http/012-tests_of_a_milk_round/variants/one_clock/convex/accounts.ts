import { query } from "./_generated/server";
import { household, me } from "./calendar";

export const mine = query({
  args: {},
  handler: async (ctx) => {
    const found = await household(ctx, await me(ctx));
    const suspended = found?.blocked.some(({ until }) => until === null) ?? false;
    return { suspended, creditCents: found?.credit ?? 0, lastDate: found?.lastDate ?? null };
  },
});
