import { ConvexError, v } from "convex/values";
import { mutation, query } from "./_generated/server";

/** The messages of a room, oldest first. Reading a broken room fails. */
export const list = query({
  args: { roomId: v.id("rooms") },
  handler: async (ctx, { roomId }) => {
    const room = await ctx.db.get("rooms", roomId);
    if (room?.isBroken) throw new ConvexError(`${room.name} cannot be read`);
    return await ctx.db
      .query("messages")
      .withIndex("by_room", (q) => q.eq("roomId", roomId))
      .collect();
  },
});

export const send = mutation({
  args: { roomId: v.id("rooms"), text: v.string() },
  handler: async (ctx, { roomId, text }) => {
    if (text.length > 30) throw new ConvexError(`${text} is too long`);
    await ctx.db.insert("messages", { roomId, text, likes: 0 });
  },
});

export const like = mutation({
  args: { messageId: v.id("messages") },
  handler: async (ctx, { messageId }) => {
    const message = await ctx.db.get("messages", messageId);
    if (message === null) throw new ConvexError("This message has been removed");
    await ctx.db.patch("messages", messageId, { likes: message.likes + 1 });
  },
});

/** Removing a message that does not exist any more is fine. */
export const remove = mutation({
  args: { messageId: v.id("messages") },
  handler: async (ctx, { messageId }) => {
    if ((await ctx.db.get("messages", messageId)) !== null) await ctx.db.delete("messages", messageId);
  },
});
