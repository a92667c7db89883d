import { query } from "./_generated/server";

/** All rooms with the number of their messages, oldest first. */
export const list = query({
  args: {},
  handler: async (ctx) => {
    const rooms = await ctx.db.query("rooms").collect();
    return await Promise.all(
      rooms.map(async ({ _id, name }) => {
        const messages = await ctx.db
          .query("messages")
          .withIndex("by_room", (q) => q.eq("roomId", _id))
          .collect();
        return { roomId: _id, name, messages: messages.length };
      }),
    );
  },
});
