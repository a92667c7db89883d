import { query } from "./_generated/server";
import { accountOf, caller } from "./base";

export const usage = query({
  args: {},
  handler: async (ctx) => {
    const account = await accountOf(ctx, await caller(ctx));
    return account === null ? { used: 0, reserved: 0 } : { used: account.used, reserved: account.reserved };
  },
});
