import { httpRouter } from "convex/server";
import { internal } from "./_generated/api";
import { httpAction } from "./_generated/server";

const http = httpRouter();

/** Suppliers tell us what they have delivered: [{ "sku": "bridge-4", "count": 3, … }, …]. They send other fields, too. */
http.route({
  path: "/deliveries",
  method: "POST",
  handler: httpAction(async (ctx, request) => {
    let body: any;
    try {
      body = await request.json();
    } catch {
      return new Response("not JSON", { status: 400 });
    }
    if (!Array.isArray(body) || body.length === 0) return new Response("no items", { status: 400 });
    for (const item of body) {
      if (typeof item?.sku !== "string" || !Number.isInteger(item.count) || item.count < 1) {
        return new Response("bad item", { status: 400 });
      }
    }
    try {
      const items = body.map(({ sku, count }: any) => ({ sku, count }));
      return Response.json({ items: await ctx.runMutation(internal.parts.deliver, { items }) });
    } catch (error: any) {
      return Response.json(error.data ?? { code: "UNKNOWN" }, { status: error.data?.code === "NOT_FOUND" ? 404 : 500 });
    }
  }),
});

export default http;
