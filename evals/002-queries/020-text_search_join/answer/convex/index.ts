import { v } from "convex/values";
import { query } from "./_generated/server";

export const searchMessages = query({
  args: { text: v.string() },
  handler: async (ctx, args) => {
    const messages = await ctx.db
      .query("messages")
      .withSearchIndex("search_body", (q) => q.search("body", args.text))
      .take(5);
    return await Promise.all(
      messages.map(async (message) => {
        const [author, channel] = await Promise.all([
          ctx.db.get("users", message.authorId),
          ctx.db.get("channels", message.channelId),
        ]);
        return {
          messageId: message._id,
          body: message.body,
          author: author?.name ?? null,
          channel: channel?.title ?? null,
        };
      }),
    );
  },
});
