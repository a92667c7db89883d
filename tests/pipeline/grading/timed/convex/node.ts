"use node";
import { action } from "./_generated/server";

export const time = action({ args: {}, handler: async () => [Date.now(), new Date().getTime(), Date.parse(Date())] });
