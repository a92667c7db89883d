import { httpRouter } from "convex/server";
import { api, internal } from "./_generated/api";
import { httpAction } from "./_generated/server";

const http = httpRouter();

http.route({
  path: "/payments",
  method: "POST",
  handler: httpAction(async (ctx, request) => {
    const key = process.env.PAYMENTS_KEY ?? "";
    if (key === "" || request.headers.get("authorization") !== "Bearer " + key) {
      return Response.json({}, { status: 401 });
    }
    try {
      const { reference, member, cents } = (await request.json()) as Record<string, unknown>;
      if (typeof reference !== "string" || typeof member !== "string" || typeof cents !== "number") throw new Error();
      if (reference.length === 0 || cents <= 0 || cents % 1 !== 0) throw new Error();
      const { status, owedCents } = await ctx.runMutation(internal.accounts.pay, { reference, member, cents });
      return Response.json({ owedCents }, { status });
    } catch {
      return Response.json({}, { status: 400 });
    }
  }),
});

http.route({
  path: "/tools",
  method: "GET",
  handler: httpAction(async (ctx, request) => {
    const isWanted = new URL(request.url).search.includes("free=1");
    const all = await ctx.runQuery(api.tools.list, {});
    const shown = isWanted ? all.filter((tool) => tool.free !== 0) : all;
    return Response.json(shown.map((tool) => ({ name: tool.name, free: tool.free, waiting: tool.waiting })));
  }),
});

export default http;
