import { httpRouter } from "convex/server";
import { internal } from "./_generated/api";
import { httpAction } from "./_generated/server";

const http = httpRouter();

const upload = httpAction(async (ctx, request) => {
  const content = await request.arrayBuffer();
  const digest = await crypto.subtle.digest("SHA-256", content);
  let hash = "";
  for (const byte of new Uint8Array(digest)) hash += (byte < 16 ? "0" : "") + byte.toString(16);
  const { status, body } = await ctx.runMutation(internal.uploads.receive, {
    token: request.headers.get("X-Upload") ?? "none",
    hash,
    bytes: content.byteLength,
    stored: await ctx.storage.store(new Blob([content])),
  });
  return new Response(body === undefined ? null : JSON.stringify(body), { status });
});

const download = httpAction(async (ctx, request) => {
  const tags = (request.headers.get("If-None-Match") ?? "").split(/\s*,\s*/);
  const result = await ctx.runMutation(internal.shares.download, {
    token: new URL(request.url).pathname.replace("/d/", ""),
    tags: tags.map((tag) => (tag.startsWith("W/") ? tag.slice(2) : tag)),
    range: request.headers.get("Range") ?? undefined,
  });
  const headers = new Headers();
  if ("hash" in result && result.hash !== undefined) headers.set("etag", `"${result.hash}"`);
  if ("range" in result && result.range !== undefined) headers.set("content-range", result.range);
  const { status } = result;
  if (!("stored" in result) || result.stored === undefined) return new Response(null, { status, headers });
  const bytes = await ((await ctx.storage.get(result.stored)) as Blob).arrayBuffer();
  return new Response(bytes.slice(result.from, result.to), { status, headers });
});

http.route({ path: "/files", method: "POST", handler: upload });
http.route({ pathPrefix: "/d/", method: "GET", handler: download });

export default http;
