import { query } from "./_generated/server";
import { creditOf, memberCalled } from "./access";
import { caller } from "./calendar";

export const mine = query({
  args: {},
  handler: async (ctx) => {
    const name = await caller(ctx);
    const member = await memberCalled(ctx, name);
    const lastDate = member?.end ?? null;
    return { creditCents: await creditOf(ctx, name), suspended: member?.isSuspended === true, lastDate };
  },
});
