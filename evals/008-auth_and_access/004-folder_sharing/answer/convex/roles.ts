import { ConvexError } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import type { QueryCtx } from "./_generated/server";

export const RANKS = { viewer: 1, editor: 2, owner: 3 };
export type Role = keyof typeof RANKS;

export function failure(
  code: "UNAUTHENTICATED" | "NOT_FOUND" | "FORBIDDEN" | "INVALID",
) {
  return new ConvexError({ code });
}

export async function callerOrNull(ctx: QueryCtx): Promise<string | null> {
  return (await ctx.auth.getUserIdentity())?.subject ?? null;
}

/** The item and what it is in, from the item upwards. */
export async function lineage(
  ctx: QueryCtx,
  item: Doc<"items">,
): Promise<Doc<"items">[]> {
  const items = [item];
  let parentId = item.parentId;
  while (parentId !== null) {
    const parent = await ctx.db.get("items", parentId);
    if (parent === null) {
      break;
    }
    items.push(parent);
    parentId = parent.parentId;
  }
  return items;
}

export async function findShare(
  ctx: QueryCtx,
  itemId: Id<"items">,
  user: string,
) {
  return await ctx.db
    .query("shares")
    .withIndex("by_item_and_user", (q) =>
      q.eq("itemId", itemId).eq("user", user),
    )
    .unique();
}

/** The role of a user for the first of these items; they are a lineage. */
export async function roleIn(
  ctx: QueryCtx,
  items: Doc<"items">[],
  user: string | null,
): Promise<Role | null> {
  if (user === null) {
    return null;
  }
  let best: Role | null = null;
  for (const item of items) {
    if (item.owner === user) {
      return "owner";
    }
    const share = await findShare(ctx, item._id, user);
    if (share !== null && (best === null || RANKS[share.role] > RANKS[best])) {
      best = share.role;
    }
    if (item.restricted) {
      break;
    }
  }
  return best;
}

export async function roleFor(
  ctx: QueryCtx,
  item: Doc<"items">,
  user: string | null,
): Promise<Role | null> {
  return await roleIn(ctx, await lineage(ctx, item), user);
}

/** The items, if the caller has this role for each of them. */
export async function requireRole(
  ctx: QueryCtx,
  role: Role,
  ...ids: Id<"items">[]
): Promise<Doc<"items">[]> {
  const user = await callerOrNull(ctx);
  const found: Doc<"items">[] = [];
  let isEnough = true;
  for (const id of ids) {
    const item = await ctx.db.get("items", id);
    const own = item === null ? null : await roleFor(ctx, item, user);
    if (item === null || own === null) {
      throw failure("NOT_FOUND");
    }
    isEnough = isEnough && RANKS[own] >= RANKS[role];
    found.push(item);
  }
  if (!isEnough) {
    throw failure("FORBIDDEN");
  }
  return found;
}
