import { query } from "../_generated/server";

export const deep = query({ args: {}, handler: async () => "deep" });
