"use node";

import { createHash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { ConvexError, v } from "convex/values";
import { internal } from "./_generated/api";
import { action } from "./_generated/server";

export const pack = action({
  args: { name: v.string(), text: v.string() },
  handler: async (ctx, { name, text }) => {
    const bytes = Buffer.from(text, "utf8");
    const size = bytes.length;
    const sha256 = digest(bytes);
    // A Buffer is a view into a larger ArrayBuffer; the copy is not.
    const data = new Uint8Array(gzipSync(bytes)).buffer;
    await ctx.runMutation(internal.archives.save, { name, data, size, sha256 });
    return { size, sha256 };
  },
});

export const unpack = action({
  args: { name: v.string() },
  handler: async (ctx, { name }): Promise<string | null> => {
    const archive = await ctx.runQuery(internal.archives.find, { name });
    if (archive === null) {
      return null;
    }
    const bytes = gunzipSync(archive.data);
    if (digest(bytes) !== archive.sha256) {
      throw new ConvexError({ code: "CORRUPTED" });
    }
    return bytes.toString("utf8");
  },
});

function digest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
