import type { HttpRouter } from "convex/server";
import { internal } from "./_generated/api";
import { contract } from "./contract";
import { implement, type HandlerInput, type HandlerResult } from "./lib/contract";

async function replaceParcel({
  ctx,
  params,
  body,
}: HandlerInput<typeof contract, "replaceParcel">): Promise<HandlerResult<typeof contract, "replaceParcel">> {
  const parcel = await ctx.runMutation(internal.parcels.replace, { ...params, order: body });
  if (parcel === null) throw new Error("It has just been there");
  if (parcel.status !== "waiting") return { status: 409, body: { error: "It has left", status: parcel.status } };
  return { status: 200, body: parcel };
}

const http: HttpRouter = implement(contract, internal.keys)({
  health: () => ({ status: 200, body: { ok: true } }),

  listParcels: async ({ ctx, params, query, page }) => {
    if (params.depot === "nowhere") return { status: 404, body: { error: "No such depot" } };
    const { items, more } = await ctx.runQuery(internal.parcels.list, {
      depot: params.depot,
      after: BigInt(page.cursor ?? "0"),
      status: query.status,
      minWeight: query.minWeight ?? 0,
      tags: query.tag,
      limit: page.limit,
    });
    return { status: 200, body: { items, next: more ? String(items[items.length - 1].number) : null } };
  },

  createParcel: async ({ ctx, params, headers, body }) => {
    if (headers["x-agent"] === "stranger") return { status: 403, body: { error: "Who are you?" } };
    const number = await ctx.runMutation(internal.parcels.create, { depot: params.depot, order: body });
    const by = `${headers["x-agent"]}, ${headers["x-priority"] ?? "no"} priority`;
    return { status: 201, body: { number, by } };
  },

  getParcel: async ({ ctx, params }) => {
    const parcel = await ctx.runQuery(internal.parcels.get, params);
    return parcel === null ? { status: 404, body: { error: "No such parcel" } } : { status: 200, body: parcel };
  },

  replaceParcel,

  removeParcel: async ({ ctx, params, query }) => {
    const parcel = await ctx.runQuery(internal.parcels.get, params);
    if (parcel?.status === "on the way" && query.force !== true) return { status: 409, body: { error: "On the way" } };
    await ctx.runMutation(internal.parcels.remove, params);
    return { status: 204 };
  },

  moveParcel: async ({ ctx, params, body }) => {
    const status = body.type === "load" ? "on the way" : "delivered";
    const before = await ctx.runMutation(internal.parcels.move, { ...params, status });
    if (before === null) return { status: 404, body: { error: "No such parcel" } };
    if (before === "delivered") return { status: 409, body: { error: `It was ${before}` } };
    return { status: 200, body: { status, delivered: body.type === "deliver" ? body.to : null } };
  },

  echo: ({ params, query, headers, body }) => {
    const types = [params.ratio, params.big, params.view, query.size, headers["x-count"]].map((each) => typeof each);
    return { status: 200, body: { types, params, query, headers, body } };
  },

  fail: async ({ query }) => {
    if (query.how === "throw") throw new Error("This must not be seen");
    if (query.how === "wait") await new Promise((resolve) => setTimeout(resolve, 300));
    return query.how === "gone" ? { status: 410, body: { error: "Gone" } } : { status: 202 };
  },
});

export default http;
