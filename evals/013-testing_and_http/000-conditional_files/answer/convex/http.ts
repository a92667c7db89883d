import { httpRouter } from "convex/server";
import { internal } from "./_generated/api";
import { httpAction } from "./_generated/server";
import { namesTag, parseRange } from "./ranges";

const PREFIX = "/files/";

function nameOf(request: Request): string {
  return new URL(request.url).pathname.slice(PREFIX.length);
}

const get = httpAction(async (ctx, request) => {
  const name = nameOf(request);
  const file = await ctx.runQuery(internal.files.find, { name });
  const content = file && (await ctx.storage.get(file.storageId));
  if (file === null || content === null) {
    return new Response(null, { status: 404 });
  }
  const header = (name: string) => request.headers.get(name);
  const { tag, type } = file;
  if (namesTag(header("If-None-Match"), tag)) {
    return new Response(null, { status: 304, headers: { ETag: tag } });
  }
  const { size } = content;
  const isStale = (header("If-Range") ?? tag) !== tag;
  const part = isStale ? null : parseRange(header("Range"), size);
  if (part === "unsatisfiable") {
    const headers = { "Content-Range": `bytes */${size}` };
    return new Response(null, { status: 416, headers });
  }
  const headers = new Headers({
    "Content-Type": type,
    ETag: tag,
    "Accept-Ranges": "bytes",
  });
  // Bytes, because a Blob would bring its own content type.
  const bytes = await content.arrayBuffer();
  if (part === null) {
    return new Response(bytes, { headers });
  }
  const { first, last } = part;
  headers.set("Content-Range", `bytes ${first}-${last}/${size}`);
  return new Response(bytes.slice(first, last + 1), { status: 206, headers });
});

const put = httpAction(async (ctx, request) => {
  const bytes = await request.arrayBuffer();
  const type = request.headers.get("Content-Type") ?? "application/octet-stream";
  const tag = `"${await sha256(bytes)}"`;
  const storageId = await ctx.storage.store(new Blob([bytes], { type }));
  const status = await ctx.runMutation(internal.files.put, {
    name: nameOf(request),
    type,
    tag,
    storageId,
    ifMatch: request.headers.get("If-Match"),
    ifNoneMatch: request.headers.get("If-None-Match"),
  });
  const headers: Record<string, string> = status === 412 ? {} : { ETag: tag };
  return new Response(null, { status, headers });
});

const remove = httpAction(async (ctx, request) => {
  const status = await ctx.runMutation(internal.files.remove, {
    name: nameOf(request),
    ifMatch: request.headers.get("If-Match"),
  });
  return new Response(null, { status });
});

async function sha256(bytes: ArrayBuffer): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

const http = httpRouter();
http.route({ pathPrefix: PREFIX, method: "GET", handler: get });
http.route({ pathPrefix: PREFIX, method: "PUT", handler: put });
http.route({ pathPrefix: PREFIX, method: "DELETE", handler: remove });
export default http;
