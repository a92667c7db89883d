import { httpRouter } from "convex/server";
import { internal } from "./_generated/api";
import { httpAction, type ActionCtx } from "./_generated/server";

const http = httpRouter();

http.route({
  path: "/files",
  method: "POST",
  handler: httpAction(async (ctx, request) => {
    const name = nameIn(request);
    if (!name) {
      return new Response("name is required", { status: 400 });
    }
    const storageId = await ctx.storage.store(await request.blob());
    await ctx.runMutation(internal.files.save, { name, storageId });
    return Response.json({ storageId }, { status: 201 });
  }),
});

http.route({
  path: "/files",
  method: "GET",
  handler: httpAction(async (ctx, request) => {
    const name = nameIn(request);
    const file = name ? await fileNamed(ctx, name) : null;
    if (file === null) {
      return new Response("There is no such file", { status: 404 });
    }
    return new Response(file, {
      headers: { "Content-Type": file.type || "application/octet-stream" },
    });
  }),
});

function nameIn(request: Request): string | null {
  return new URL(request.url).searchParams.get("name");
}

async function fileNamed(ctx: ActionCtx, name: string): Promise<Blob | null> {
  const storageId = await ctx.runQuery(internal.files.find, { name });
  return storageId === null ? null : await ctx.storage.get(storageId);
}

export default http;
