import { query } from "./_generated/server";

const loose: any = 1;
export const bad = query({ args: {}, handler: (): number => "text" });
