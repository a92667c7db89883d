import { query } from "./_generated/server";
import { me, sum } from "./locker";

export const usage = query({ args: {}, handler: async (ctx) => sum(ctx, await me(ctx)) });
