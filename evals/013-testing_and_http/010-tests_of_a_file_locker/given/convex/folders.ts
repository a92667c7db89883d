import { v } from "convex/values";
import { mutation } from "./_generated/server";
import { failure, requireOwner } from "./access";
import { filesOf } from "./files";
import { isInFolder, isName } from "./names";

export const rename = mutation({
  args: { from: v.string(), to: v.string() },
  returns: v.number(),
  handler: async (ctx, { from, to }) => {
    const owner = await requireOwner(ctx);
    if (!isName(from) || !isName(to) || to === from || isInFolder(to, from)) throw failure("INVALID");
    const files = await filesOf(ctx, owner);
    const moved = files.filter(({ name }) => isInFolder(name, from));
    if (moved.length === 0) throw failure("EMPTY");
    const staying = new Set(files.filter((file) => !moved.includes(file)).map(({ name }) => name));
    const renamed = moved.map(({ _id, name }) => ({ _id, name: to + name.slice(from.length) }));
    if (renamed.some(({ name }) => staying.has(name))) throw failure("EXISTS");
    for (const { _id, name } of renamed) await ctx.db.patch("files", _id, { name });
    return renamed.length;
  },
});
