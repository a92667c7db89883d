import { query } from "./_generated/server";

export const answer = query({ args: {}, handler: () => 42 });
