import { v } from "convex/values";
import type { TableNames } from "./_generated/dataModel";
import { query, type QueryCtx } from "./_generated/server";
import { actorOf, type AppActor } from "./actors";
import { permissions } from "./permissions";

/** What the actor sees of the document, if it is one of the table and may be read. */
async function shown<Table extends TableNames>(
  ctx: QueryCtx,
  actor: AppActor,
  table: Table,
  text: string,
) {
  const id = ctx.db.normalizeId(table, text);
  const document = id && (await ctx.db.get(id));
  if (!document) return null;
  const access = permissions.on(table);
  if (!access.can(actor, "read", document)) return null;
  return access.view(document, actor.role);
}

async function allowed(
  ctx: QueryCtx,
  actor: AppActor,
  table: TableNames,
  text: string,
): Promise<string[]> {
  const id = ctx.db.normalizeId(table, text);
  const document = id && (await ctx.db.get(id));
  return document ? permissions.on(table).allowed(actor, document) : [];
}

export const show = query({
  args: { id: v.string() },
  returns: v.union(
    v.null(),
    permissions.on("users").validator(),
    permissions.on("posts").validator(),
    permissions.on("comments").validator(),
    permissions.on("files").validator(),
  ),
  handler: async (ctx, { id }) => {
    const actor = await actorOf(ctx);
    return (
      (await shown(ctx, actor, "users", id)) ??
      (await shown(ctx, actor, "posts", id)) ??
      (await shown(ctx, actor, "comments", id)) ??
      (await shown(ctx, actor, "files", id))
    );
  },
});

export const actions = query({
  args: { id: v.string() },
  returns: v.array(v.string()),
  handler: async (ctx, { id }) => {
    const actor = await actorOf(ctx);
    const tables = ["users", "posts", "comments", "files"] as const;
    const each = tables.map((table) => allowed(ctx, actor, table, id));
    return (await Promise.all(each)).flat();
  },
});
