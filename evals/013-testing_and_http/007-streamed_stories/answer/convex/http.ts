import type { StreamId } from "@convex-dev/persistent-text-streaming";
import { httpRouter } from "convex/server";
import { internal } from "./_generated/api";
import { httpAction } from "./_generated/server";
import { streaming } from "./stories";

const http = httpRouter();
const CORS = { "Access-Control-Allow-Origin": "*" };

async function storyIdOf(request: Request): Promise<string | null> {
  try {
    const body: unknown = await request.json();
    if (typeof body !== "object" || body === null || !("storyId" in body)) return null;
    return typeof body.storyId === "string" ? body.storyId : null;
  } catch {
    return null;
  }
}

async function* piecesOf(source: string) {
  for (let after = 0; ; after++) {
    const response = await fetch(`${source}?after=${after}`);
    if (response.status !== 200) throw new Error(`The source responded with ${response.status}`);
    const { text, isLast } = (await response.json()) as { text: string; isLast: boolean };
    yield text;
    if (isLast) return;
  }
}

http.route({
  path: "/write",
  method: "POST",
  handler: httpAction(async (ctx, request) => {
    const id = await storyIdOf(request);
    if (id === null) return new Response(null, { status: 400, headers: CORS });
    const begun = await ctx.runMutation(internal.stories.begin, { id });
    if (begun === null) {
      const story = await ctx.runQuery(internal.stories.find, { id });
      if (story === null) return new Response(null, { status: 404, headers: CORS });
      return Response.json(story, { status: 409, headers: CORS });
    }
    const response = await streaming.stream(
      ctx,
      request,
      begun.streamId as StreamId,
      async (_ctx, _request, _streamId, append) => {
        for await (const text of piecesOf(begun.source)) await append(text);
      },
    );
    response.headers.set("Access-Control-Allow-Origin", "*");
    response.headers.set("Content-Type", "text/plain; charset=utf-8");
    return response;
  }),
});

http.route({
  path: "/write",
  method: "OPTIONS",
  handler: httpAction(() =>
    Promise.resolve(
      new Response(null, {
        status: 204,
        headers: { ...CORS, "Access-Control-Allow-Methods": "POST", "Access-Control-Allow-Headers": "Content-Type" },
      }),
    ),
  ),
});

export default http;
