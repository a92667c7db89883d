import { httpRouter } from "convex/server";
import { internal } from "./_generated/api";
import { httpAction } from "./_generated/server";

const http = httpRouter();

http.route({
  path: "/results",
  method: "GET",
  handler: httpAction(async (ctx, request) => {
    const { searchParams } = new URL(request.url);
    const [user, form] = [searchParams.get("user") ?? "", searchParams.get("form") ?? ""];
    const { status, csv } = await ctx.runQuery(internal.forms.table, { user, form });
    return new Response(csv, { status, headers: { "Content-Type": "text/csv" } });
  }),
});

export default http;
