import { query } from "./_generated/server";

export const all = query({
  args: {},
  handler: async (ctx) => {
    const found: string[] = [];
    for await (const message of ctx.db.query("messages").iter()) {
      found.push(message.body);
    }
    return found;
  },
});
