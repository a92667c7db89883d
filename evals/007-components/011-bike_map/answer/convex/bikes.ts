import { GeospatialIndex, point, rectangle } from "@convex-dev/geospatial";
import { mergedStream, stream } from "convex-helpers/server/stream";
import { paginationOptsValidator } from "convex/server";
import { ConvexError, v, type Infer } from "convex/values";
import { components } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import {
  mutation,
  query,
  type MutationCtx,
  type QueryCtx,
} from "./_generated/server";
import schema, { kind, state } from "./schema";

const LARGEST_PAGE = 200;

/** Where all bikes are, with what they can be searched by. */
const positions = new GeospatialIndex<
  Id<"bikes">,
  {
    kind: Infer<typeof kind>;
    extras: string[];
    state: Infer<typeof state>;
  }
>(components.geospatial);

export const add = mutation({
  args: {
    name: v.string(),
    kind,
    extras: v.array(v.string()),
    position: point,
  },
  handler: async (ctx, { position, extras, ...bike }) => {
    const id = await ctx.db.insert("bikes", {
      ...bike,
      extras: [...new Set(extras)],
      state: "free",
    });
    await place(ctx, (await ctx.db.get("bikes", id))!, position);
    return id;
  },
});

export const move = mutation({
  args: { bike: v.id("bikes"), position: point },
  handler: async (ctx, { bike, position }) => {
    await place(ctx, await existing(ctx, bike), position);
    return null;
  },
});

export const change = mutation({
  args: { bike: v.id("bikes"), state },
  handler: async (ctx, { bike, state }) => {
    const before = await existing(ctx, bike);
    const { coordinates } = (await positions.get(ctx, bike))!;
    await ctx.db.patch("bikes", bike, { state });
    await place(ctx, { ...before, state }, coordinates);
    await ctx.db.insert("events", { bike, state });
    return null;
  },
});

export const remove = mutation({
  args: { bike: v.id("bikes") },
  handler: async (ctx, { bike }) => {
    await existing(ctx, bike);
    await ctx.db.delete("bikes", bike);
    await positions.remove(ctx, bike);
    return null;
  },
});

export const where = query({
  args: { bike: v.id("bikes") },
  handler: async (ctx, { bike }) => {
    return (await positions.get(ctx, bike))?.coordinates ?? null;
  },
});

export const nearest = query({
  args: {
    position: point,
    metres: v.number(),
    kinds: v.array(kind),
    extra: v.optional(v.string()),
    limit: v.number(),
  },
  handler: async (ctx, { position, metres, kinds, extra, limit }) => {
    if (kinds.length === 0) {
      return [];
    }
    const found = await positions.nearest(ctx, {
      point: position,
      limit,
      maxDistance: metres,
      filter: (q) => {
        const free = q.eq("state", "free");
        const wanted = extra === undefined ? free : free.eq("extras", extra);
        return wanted.in("kind", kinds);
      },
    });
    return await Promise.all(
      found.map(async ({ key, distance }) => {
        const { name } = (await ctx.db.get("bikes", key))!;
        return { bike: key, name, distance };
      }),
    );
  },
});

export const inArea = query({
  args: {
    area: rectangle,
    kind: v.optional(kind),
    limit: v.number(),
    cursor: v.union(v.string(), v.null()),
  },
  handler: async (ctx, { area, kind, limit, cursor }) => {
    const { results, nextCursor } = await positions.query(
      ctx,
      {
        shape: { type: "rectangle", rectangle: area },
        filter: (q) => {
          const free = q.eq("state", "free");
          return kind === undefined ? free : free.eq("kind", kind);
        },
        limit,
      },
      cursor ?? undefined,
    );
    const bikes = await Promise.all(
      results.map(async ({ key, coordinates }) => {
        const { name } = (await ctx.db.get("bikes", key))!;
        return { bike: key, name, position: coordinates };
      }),
    );
    return { bikes, cursor: nextCursor ?? null };
  },
});

export const countInArea = query({
  args: { area: rectangle },
  handler: async (ctx, { area }) => {
    let count = 0;
    let cursor: string | undefined;
    do {
      const page = await positions.query(
        ctx,
        {
          shape: { type: "rectangle", rectangle: area },
          filter: (q) => q.eq("state", "free"),
          limit: LARGEST_PAGE,
        },
        cursor,
      );
      count += page.results.length;
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return count;
  },
});

export const journal = query({
  args: {
    bikes: v.array(v.id("bikes")),
    paginationOpts: paginationOptsValidator,
  },
  handler: async (ctx, { bikes, paginationOpts }) => {
    if (bikes.length === 0) {
      return { page: [], isDone: true, continueCursor: "" };
    }
    const streams = [...new Set(bikes)].map((bike) =>
      stream(ctx.db, schema)
        .query("events")
        .withIndex("by_bike", (q) => q.eq("bike", bike))
        .order("desc"),
    );
    return await mergedStream(streams, ["_creationTime"]).paginate(
      paginationOpts,
    );
  },
});

/** Puts a bike there, or anew if it is somewhere already. */
async function place(
  ctx: MutationCtx,
  { _id, kind, extras, state }: Doc<"bikes">,
  position: Infer<typeof point>,
) {
  await positions.insert(ctx, _id, position, { kind, extras, state });
}

async function existing(
  ctx: QueryCtx,
  bike: Id<"bikes">,
): Promise<Doc<"bikes">> {
  const found = await ctx.db.get("bikes", bike);
  if (found === null) {
    throw new ConvexError({ code: "NO_SUCH_BIKE" });
  }
  return found;
}
