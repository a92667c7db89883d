import { httpRouter } from "convex/server";
import { internal } from "./_generated/api";
import { httpAction } from "./_generated/server";

const http = httpRouter();

http.route({
  path: "/posts",
  method: "POST",
  handler: httpAction(async (ctx, request) => {
    const body = (await request.json()) as { author?: string; text?: string };
    if (body.author === undefined || body.text === undefined) {
      return new Response(null, { status: 400 });
    }
    await ctx.runMutation(internal.posts.add, { author: body.author, text: body.text });
    return new Response(null, { status: 201 });
  }),
});

http.route({
  path: "/posts",
  method: "GET",
  handler: httpAction(async (ctx) => {
    const posts = await ctx.runQuery(internal.posts.list, {});
    return new Response(JSON.stringify(posts), { headers: { "Content-Type": "application/json" } });
  }),
});

export default http;
