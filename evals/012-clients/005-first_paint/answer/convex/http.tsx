import { ConvexProvider, ConvexReactClient } from "convex/react";
import { httpRouter } from "convex/server";
import { convexToJson } from "convex/values";
// `react-dom/server` needs a MessageChannel here, which Convex's runtime does not have.
import { renderToString } from "react-dom/server.edge";
import App from "../src/App";
import { internal } from "./_generated/api";
import { env, httpAction } from "./_generated/server";

const http = httpRouter();

http.route({
  path: "/board",
  method: "GET",
  handler: httpAction(async (ctx) => {
    const board = await ctx.runQuery(internal.load.board, {});
    // It connects to nothing before an effect runs, and none does here.
    const client = new ConvexReactClient(env.CONVEX_CLOUD_URL);
    const page = renderToString(
      <ConvexProvider client={client}>
        <App board={board} />
      </ConvexProvider>,
    );
    const data = JSON.stringify(convexToJson(board)).replaceAll("<", "\\u003c");
    const document = `<!doctype html>
<html lang="en">
  <head><meta charset="utf-8"><title>Board</title></head>
  <body>
    <div id="root">${page}</div>
    <script id="data" type="application/json">${data}</script>
    <script type="module" src="/app.js"></script>
  </body>
</html>
`;
    return new Response(document, {
      headers: { "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store" },
    });
  }),
});

export default http;
