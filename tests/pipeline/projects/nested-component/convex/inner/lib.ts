import { query } from "./_generated/server";

export const nothing = query({ args: {}, handler: () => null });
