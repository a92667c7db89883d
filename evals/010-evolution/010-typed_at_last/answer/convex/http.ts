import { httpRouter } from "convex/server";
import { ConvexError } from "convex/values";
import { internal } from "./_generated/api";
import { httpAction } from "./_generated/server";

const http = httpRouter();

/** Suppliers tell us what they have delivered: [{ "sku": "bridge-4", "count": 3, … }, …]. They send other fields, too. */
http.route({
  path: "/deliveries",
  method: "POST",
  handler: httpAction(async (ctx, request) => {
    let body: unknown;
    try {
      body = await request.json();
    } catch {
      return new Response("not JSON", { status: 400 });
    }
    if (!Array.isArray(body) || body.length === 0) return new Response("no items", { status: 400 });
    const received: unknown[] = body;
    const items: { sku: string; count: number }[] = [];
    for (const each of received) {
      const item = delivered(each);
      if (item === null) return new Response("bad item", { status: 400 });
      items.push(item);
    }
    try {
      return Response.json({ items: await ctx.runMutation(internal.parts.deliver, { items }) });
    } catch (error) {
      const data: unknown = error instanceof ConvexError ? error.data : undefined;
      const isMissing = typeof data === "object" && data !== null && "code" in data && data.code === "NOT_FOUND";
      return Response.json(data ?? { code: "UNKNOWN" }, { status: isMissing ? 404 : 500 });
    }
  }),
});

function delivered(item: unknown): { sku: string; count: number } | null {
  if (typeof item !== "object" || item === null || !("sku" in item) || !("count" in item)) return null;
  const { sku, count } = item;
  return typeof sku === "string" && typeof count === "number" && Number.isInteger(count) && count >= 1
    ? { sku, count }
    : null;
}

export default http;
