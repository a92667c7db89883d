import { httpRouter } from "convex/server";
import { internal } from "./_generated/api";
import { httpAction } from "./_generated/server";

const http = httpRouter();

function json(body: unknown, status: number) {
  return new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json" } });
}

async function hashOf(content: Blob) {
  const digest = await crypto.subtle.digest("SHA-256", await content.arrayBuffer());
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

http.route({
  path: "/files",
  method: "POST",
  handler: httpAction(async (ctx, request) => {
    const token = request.headers.get("X-Upload") ?? "";
    const size = await ctx.runQuery(internal.uploads.wanted, { token });
    if (size === null) return json({ error: "NOT_FOUND" }, 404);
    const content = await request.blob();
    if (content.size !== size) return json({ error: "WRONG_SIZE" }, 400);
    const hash = await hashOf(content);
    const storageId = await ctx.storage.store(content);
    const finished = await ctx.runMutation(internal.uploads.finish, { token, storageId, hash });
    if (finished === null) return json({ error: "NOT_FOUND" }, 404);
    const { name, version, isNew } = finished;
    return json({ name, version }, isNew ? 201 : 200);
  }),
});

http.route({
  pathPrefix: "/d/",
  method: "GET",
  handler: httpAction(async (ctx, request) => {
    const token = new URL(request.url).pathname.slice("/d/".length);
    const ifNoneMatch = request.headers.get("If-None-Match");
    const range = request.headers.get("Range");
    const served = await ctx.runMutation(internal.shares.serve, { token, ifNoneMatch, range });
    if (served.status === 404 || served.status === 410) return json({ error: "GONE" }, served.status);
    const headers = new Headers({ ETag: `"${served.hash}"` });
    if (served.status === 304) return new Response(null, { status: 304, headers });
    if (served.status === 416) {
      headers.set("Content-Range", `bytes */${String(served.size)}`);
      return new Response(null, { status: 416, headers });
    }
    const content = await ctx.storage.get(served.storageId);
    if (content === null) throw new Error("A content is not in the storage.");
    if (served.status === 200) return new Response(content, { status: 200, headers });
    const { first, last } = served.part;
    headers.set("Content-Range", `bytes ${String(first)}-${String(last)}/${String(served.size)}`);
    return new Response(content.slice(first, last + 1), { status: 206, headers });
  }),
});

export default http;
