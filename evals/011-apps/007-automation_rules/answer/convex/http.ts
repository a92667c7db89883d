import { httpRouter } from "convex/server";
import { internal } from "./_generated/api";
import { httpAction } from "./_generated/server";

const http = httpRouter();

http.route({
  path: "/rules",
  method: "POST",
  handler: httpAction(async (ctx, request) => {
    const mistakes = await ctx.runMutation(internal.tracker.importRules, { text: await request.text() });
    return Response.json({ mistakes }, { status: mistakes.length === 0 ? 200 : 400 });
  }),
});

export default http;
