import { v } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import {
  mutation,
  query,
  type MutationCtx,
  type QueryCtx,
} from "./_generated/server";
import {
  callerOrNull,
  failure,
  findShare,
  lineage,
  requireRole,
  roleFor,
  roleIn,
} from "./roles";
import { kind as kindValidator, sharedRole } from "./schema";

export const create = mutation({
  args: {
    parentId: v.nullable(v.id("items")),
    name: v.string(),
    kind: kindValidator,
  },
  handler: async (ctx, { parentId, name, kind }) => {
    const owner = await ownerIn(ctx, parentId);
    const fields = { parentId, owner, name, kind, restricted: false };
    return await ctx.db.insert("items", fields);
  },
});

async function ownerIn(
  ctx: MutationCtx,
  parentId: Id<"items"> | null,
): Promise<string> {
  if (parentId === null) {
    const user = await callerOrNull(ctx);
    if (user === null) {
      throw failure("UNAUTHENTICATED");
    }
    return user;
  }
  const [parent] = await requireRole(ctx, "editor", parentId);
  if (parent?.kind !== "folder") {
    throw failure("INVALID");
  }
  return parent.owner;
}

export const share = mutation({
  args: {
    itemId: v.id("items"),
    user: v.string(),
    role: v.nullable(sharedRole),
  },
  handler: async (ctx, { itemId, user, role }) => {
    await requireRole(ctx, "owner", itemId);
    const before = await findShare(ctx, itemId, user);
    if (before !== null) {
      await ctx.db.delete("shares", before._id);
    }
    if (role !== null) {
      await ctx.db.insert("shares", { itemId, user, role });
    }
    return null;
  },
});

export const restrict = mutation({
  args: { itemId: v.id("items"), restricted: v.boolean() },
  handler: async (ctx, { itemId, restricted }) => {
    await requireRole(ctx, "owner", itemId);
    await ctx.db.patch("items", itemId, { restricted });
    return null;
  },
});

export const move = mutation({
  args: { itemId: v.id("items"), parentId: v.id("items") },
  handler: async (ctx, { itemId, parentId }) => {
    const [item, parent] = await requireRole(ctx, "editor", itemId, parentId);
    if (
      item === undefined ||
      parent?.kind !== "folder" ||
      item.parentId === null ||
      item.owner !== parent.owner ||
      (await lineage(ctx, parent)).some(({ _id }) => _id === itemId)
    ) {
      throw failure("INVALID");
    }
    await ctx.db.patch("items", itemId, { parentId });
    return null;
  },
});

export const remove = mutation({
  args: { itemId: v.id("items") },
  handler: async (ctx, { itemId }) => {
    const items = await requireRole(ctx, "editor", itemId);
    for (const item of items) {
      items.push(...(await childrenOf(ctx, item._id)));
      const shares = await ctx.db
        .query("shares")
        .withIndex("by_item_and_user", (q) => q.eq("itemId", item._id))
        .collect();
      for (const { _id } of shares) {
        await ctx.db.delete("shares", _id);
      }
      await ctx.db.delete("items", item._id);
    }
    return null;
  },
});

export const get = query({
  args: { itemId: v.id("items") },
  handler: async (ctx, { itemId }) => {
    const user = await callerOrNull(ctx);
    const item = await ctx.db.get("items", itemId);
    const items = item === null ? [] : await lineage(ctx, item);
    const role = await roleIn(ctx, items, user);
    if (item === null || role === null) {
      return null;
    }
    const path: string[] = [];
    for (let i = items.length - 1; i > 0; i--) {
      const [folder, ...above] = items.slice(i);
      if (folder && (await roleIn(ctx, [folder, ...above], user)) !== null) {
        path.push(folder.name);
      }
    }
    return { name: item.name, kind: item.kind, role, path };
  },
});

export const children = query({
  args: { itemId: v.id("items") },
  handler: async (ctx, { itemId }) => {
    const user = await callerOrNull(ctx);
    if (!(await sees(ctx, itemId, user))) {
      return null;
    }
    const seen: { itemId: Id<"items">; name: string }[] = [];
    for (const child of await childrenOf(ctx, itemId)) {
      if ((await roleFor(ctx, child, user)) !== null) {
        seen.push({ itemId: child._id, name: child.name });
      }
    }
    return seen;
  },
});

export const count = query({
  args: { itemId: v.id("items") },
  handler: async (ctx, { itemId }) => {
    const user = await callerOrNull(ctx);
    if (!(await sees(ctx, itemId, user))) {
      return null;
    }
    let documents = 0;
    const items = await childrenOf(ctx, itemId);
    for (const item of items) {
      if (item.kind === "folder") {
        items.push(...(await childrenOf(ctx, item._id)));
      } else if ((await roleFor(ctx, item, user)) !== null) {
        documents += 1;
      }
    }
    return documents;
  },
});

export const shared = query({
  args: {},
  handler: async (ctx) => {
    const user = await callerOrNull(ctx);
    if (user === null) {
      return [];
    }
    const shares = await ctx.db
      .query("shares")
      .withIndex("by_user", (q) => q.eq("user", user))
      .collect();
    const found: Doc<"items">[] = [];
    for (const { itemId } of shares) {
      const item = await ctx.db.get("items", itemId);
      // Of what somebody sees, only an item that is shared itself can be in a folder that they do not see.
      if (
        item !== null &&
        item.owner !== user &&
        (item.parentId === null || !(await sees(ctx, item.parentId, user)))
      ) {
        found.push(item);
      }
    }
    found.sort((a, b) => compare(a, b));
    return found.map(({ _id, name }) => ({ itemId: _id, name }));
  },
});

function compare(a: Doc<"items">, b: Doc<"items">): number {
  if (a.name !== b.name) {
    return a.name < b.name ? -1 : 1;
  }
  return a._creationTime - b._creationTime;
}

async function sees(
  ctx: QueryCtx,
  itemId: Id<"items">,
  user: string | null,
): Promise<boolean> {
  const item = await ctx.db.get("items", itemId);
  return item !== null && (await roleFor(ctx, item, user)) !== null;
}

async function childrenOf(ctx: QueryCtx, itemId: Id<"items">) {
  return await ctx.db
    .query("items")
    .withIndex("by_parent_and_name", (q) => q.eq("parentId", itemId))
    .collect();
}
