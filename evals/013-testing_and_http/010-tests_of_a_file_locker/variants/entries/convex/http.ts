import { httpRouter } from "convex/server";
import { internal } from "./_generated/api";
import { httpAction } from "./_generated/server";

const http = httpRouter();

http.route({
  path: "/files",
  method: "POST",
  handler: httpAction(async (ctx, request) => {
    const token = request.headers.get("x-upload");
    const ticket = token === null ? null : await ctx.runQuery(internal.uploads.look, { token });
    if (token === null || ticket === null) return new Response("no such upload", { status: 404 });
    const bytes = await request.arrayBuffer();
    if (bytes.byteLength !== ticket.bytes) return new Response("another size", { status: 400 });
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    const hash = Array.from(digest, (byte) => (256 + byte).toString(16).slice(1)).join("");
    const stored = await ctx.storage.store(new Blob([bytes]));
    const { body, status } = await ctx.runMutation(internal.uploads.store, { token, hash, stored });
    return Response.json(body, { status });
  }),
});

/** First and last position, or null for everything. */
function positions(range: string, size: number): [number, number] | null {
  if (!/^bytes=([0-9]+-[0-9]*|-[0-9]+)$/.test(range)) return null;
  const [from, to] = range.slice(6).split("-");
  if (from === "") return [Math.max(0, size - Number(to)), size - 1];
  if (to !== "" && Number(from) > Number(to)) return null;
  return [Number(from), to === "" ? size - 1 : Math.min(size - 1, Number(to))];
}

http.route({
  pathPrefix: "/d/",
  method: "GET",
  handler: httpAction(async (ctx, request) => {
    const token = new URL(request.url).pathname.split("/")[2];
    const found = await ctx.runQuery(internal.shares.open, { token });
    if (typeof found === "number") return new Response("nothing here", { status: found });
    const { hash, size, stored, link } = found;
    const headers: Record<string, string> = { etag: `"${hash}"`, "accept-ranges": "bytes" };
    const known = request.headers.get("if-none-match") ?? "";
    if (known.split(",").some((tag) => tag.trim() === "*" || tag.trim().replace(/^W\//, "") === headers.etag)) {
      return new Response(null, { status: 304, headers });
    }
    const range = positions(request.headers.get("range") ?? "", size);
    if (range !== null && range[0] >= size) {
      headers["content-range"] = `bytes */${size.toString()}`;
      return new Response("nothing there", { status: 416, headers });
    }
    const [first, last] = range ?? [0, size - 1];
    if (first === 0) await ctx.runMutation(internal.shares.count, { link });
    const blob = await ctx.storage.get(stored);
    const bytes = await (blob as Blob).arrayBuffer();
    if (range === null) return new Response(bytes, { headers });
    headers["content-range"] = `bytes ${first.toString()}-${last.toString()}/${size.toString()}`;
    return new Response(bytes.slice(first, last + 1), { status: 206, headers });
  }),
});

export default http;
