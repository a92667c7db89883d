import { httpRouter } from "convex/server";
import { internal } from "./_generated/api";
import { httpAction } from "./_generated/server";

const PREFIX = "/d/";

const http = httpRouter();

http.route({
  pathPrefix: PREFIX,
  method: "GET",
  handler: httpAction(async (ctx, request) => {
    const token = new URL(request.url).pathname.slice(PREFIX.length);
    const claimed = await ctx.runMutation(internal.model.claim, { token });
    if (claimed.status !== 200) {
      return new Response(null, { status: claimed.status });
    }
    const content = await ctx.storage.get(claimed.storageId);
    if (content === null) {
      return new Response(null, { status: 404 });
    }
    const headers = new Headers({
      "Content-Disposition": `attachment; filename="${claimed.name}"`,
    });
    if (claimed.contentType !== undefined) {
      headers.set("Content-Type", claimed.contentType);
    }
    return new Response(content, { status: 200, headers });
  }),
});

export default http;
