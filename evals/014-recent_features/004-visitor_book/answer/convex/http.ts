import { httpRouter } from "convex/server";
import { ConvexError } from "convex/values";
import { internal } from "./_generated/api";
import { httpAction } from "./_generated/server";

const http = httpRouter();

http.route({
  path: "/sign",
  method: "POST",
  handler: httpAction(async (ctx, request) => {
    const text = await request.text();
    try {
      await ctx.runMutation(internal.book.signAsVisitor, { text });
    } catch (error) {
      if (!(error instanceof ConvexError)) throw error;
      return Response.json({ error: "TOO_MANY" }, { status: 429 });
    }
    return Response.json({ ok: true }, { status: 201 });
  }),
});

export default http;
