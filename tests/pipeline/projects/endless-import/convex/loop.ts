import { query } from "./_generated/server";

while (Date.now() >= 0) {
  // never ends
}
export const nothing = query({ args: {}, handler: () => null });
