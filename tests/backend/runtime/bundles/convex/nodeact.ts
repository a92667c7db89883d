"use node";
import { createHash } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { v } from "convex/values";
import { anyApi } from "convex/server";
import { action } from "./server";

let calls = 0;

export const hash = action({
  args: { text: v.string() },
  handler: async (_, { text }) => {
    console.log("hashing", { text });
    return createHash("sha256").update(text).digest("hex");
  },
});

export const count = action({ args: {}, handler: async () => ++calls });

export const environment = action({
  args: {},
  handler: async () => ({
    mine: process.env.MY_VAR ?? null,
    names: Object.keys(process.env).sort(),
    require: typeof require,
    buffer: typeof Buffer,
    file: typeof __filename,
  }),
});

export const callQuery = action({
  args: {},
  handler: async (ctx) => await ctx.runQuery(anyApi.messages.list, {}),
});

export const exits = action({
  args: {},
  handler: async () => {
    process.exit(3);
  },
});

export const rejects = action({
  args: {},
  handler: async () => {
    void Promise.reject(new Error("nobody listens"));
    await new Promise((resolve) => setTimeout(resolve, 50));
  },
});

export const throws = action({
  args: {},
  handler: async () => {
    throw new Error("node boom");
  },
});

export const scratch = action({
  args: {},
  handler: async () => {
    const file = path.join(os.tmpdir(), "note.txt");
    fs.writeFileSync(file, "kept");
    return fs.readFileSync(file, "utf8");
  },
});

export const readPassword = action({ args: {}, handler: async () => fs.readFileSync("/etc/passwd", "utf8") });

export const store = action({
  args: {},
  handler: async (ctx) => {
    const id = await ctx.storage.store(new Blob(["from node"], { type: "text/x" }));
    const blob = await ctx.storage.get(id);
    return { id, text: await blob!.text(), type: blob!.type };
  },
});
