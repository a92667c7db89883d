import { httpRouter } from "convex/server";
import { ConvexError } from "convex/values";
import { internal } from "./_generated/api";
import { httpAction } from "./_generated/server";

const http = httpRouter();

http.route({
  path: "/events",
  method: "POST",
  handler: httpAction(async (ctx, request) => {
    const { PUBLISH_KEY } = process.env;
    const given = request.headers.get("authorization");
    if (!PUBLISH_KEY || given !== ["Bearer", PUBLISH_KEY].join(" ")) return new Response("no", { status: 401 });
    const owner = request.headers.get("x-owner");
    try {
      const { type, payload, key } = (await request.json()) as Record<string, unknown>;
      if (owner === null || typeof type !== "string" || typeof payload !== "string") throw new ConvexError("bad");
      if (key !== undefined && typeof key !== "string") throw new ConvexError("bad");
      const news = key === undefined ? { type, payload } : { type, payload, key };
      const { isNew, ...rest } = await ctx.runMutation(internal.events.posted, { owner, news });
      return Response.json(rest, { status: isNew ? 202 : 200 });
    } catch {
      return new Response("bad", { status: 400 });
    }
  }),
});

export default http;
