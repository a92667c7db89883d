import { v } from "convex/values";
import { action } from "./_generated/server";

export const title = action({
  args: { url: v.string() },
  handler: async (_ctx, args) => {
    const response = await fetch(args.url);
    return ((await response.json()) as { title: string }).title;
  },
});
