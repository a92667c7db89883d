import { action } from "./_generated/server";
import { shorten } from "lib/text";

export const fetchTitle = action({
  args: {},
  handler: async () => {
    const response = await fetch("http://127.0.0.1:1/");
    return shorten(await response.text());
  },
});
