import { ConvexError, v } from "convex/values";
import { memberMutation } from "./functions";

export const write = memberMutation({
  action: "write post",
  args: { topic: v.string(), text: v.string() },
  handler: async (ctx, { topic, text }) =>
    await ctx.db.insert("posts", {
      author: ctx.member._id,
      topic,
      text,
      at: Date.now(),
      state: "visible",
    }),
});

export const remove = memberMutation({
  action: "remove post",
  args: { post: v.id("posts") },
  handler: async (ctx, { post }) => {
    const found = await ctx.db.get("posts", post);
    if (found === null || found.state === "removed") {
      throw new ConvexError({ code: "NO_SUCH_POST" });
    }
    if (found.author !== ctx.member._id && ctx.member.role !== "moderator") {
      throw new ConvexError({ code: "FORBIDDEN" });
    }
    await ctx.db.patch("posts", post, { state: "removed" });
    return null;
  },
});

export const publishNotice = memberMutation({
  action: "publish notice",
  only: "moderator",
  args: { text: v.string() },
  handler: async (ctx, { text }) =>
    await ctx.db.insert("notices", { text, at: Date.now() }),
});
