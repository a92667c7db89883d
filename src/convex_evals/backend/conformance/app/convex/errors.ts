import { ConvexError, v } from "convex/values";
import { internal } from "./_generated/api";
import { action, internalQuery, query } from "./_generated/server";

class MyErr extends Error {
  constructor(message: string) {
    super(message);
    this.name = "MyErr";
  }
}

export const boom = query({
  args: {},
  handler: async () => {
    throw new Error("boom");
  },
});

export const custom = query({
  args: {},
  handler: async () => {
    throw new MyErr("msg");
  },
});

export const throwsString = query({
  args: {},
  handler: async () => {
    throw "foo";
  },
});

export const badId = query({ args: {}, handler: async (ctx) => await ctx.db.get("garbage" as never) });

export const convexText = query({
  args: {},
  handler: async () => {
    throw new ConvexError("x");
  },
});

export const convexObject = query({
  args: {},
  handler: async () => {
    throw new ConvexError({ code: 1 });
  },
});

export const convexInvalid = query({
  args: {},
  handler: async () => {
    throw new ConvexError(new Date(0) as unknown as string);
  },
});

export const calleeConvexError = internalQuery({
  args: {},
  handler: async () => {
    throw new ConvexError({ kind: "callee", n: 7n });
  },
});

export const calleeError = internalQuery({
  args: {},
  handler: async () => {
    throw new Error("from the callee");
  },
});

export const catchesConvexError = query({
  args: {},
  handler: async (ctx): Promise<unknown> => {
    try {
      await ctx.runQuery(internal.errors.calleeConvexError, {});
    } catch (error) {
      return { isConvexError: error instanceof ConvexError, data: (error as ConvexError<any>).data };
    }
    return null;
  },
});

export const catchesError = query({
  args: {},
  handler: async (ctx): Promise<string> => {
    try {
      await ctx.runQuery(internal.errors.calleeError, {});
    } catch (error) {
      return (error as Error).message;
    }
    return "";
  },
});

export const logs = query({
  args: {},
  handler: async () => {
    console.log("hi", { a: 1 });
  },
});

export const levels = query({
  args: {},
  handler: async () => {
    console.warn("w");
    console.error("e");
    console.info("i");
    console.debug("d");
  },
});

export const timers = query({
  args: {},
  handler: async () => {
    console.time("x");
    console.timeEnd("x");
    console.timeEnd("y");
  },
});

export const manyLines = query({
  args: {},
  handler: async () => {
    for (let line = 0; line < 300; line++) console.log(line);
  },
});

export const longLine = query({
  args: {},
  handler: async () => {
    console.log("x".repeat(40_000));
  },
});

export const logThenThrow = query({
  args: {},
  handler: async () => {
    console.log("before");
    throw new Error("after");
  },
});

export const innerLog = internalQuery({
  args: {},
  handler: async () => {
    console.log("inner");
  },
});

export const nestedLogs = query({
  args: {},
  handler: async (ctx): Promise<null> => {
    console.log("first");
    await ctx.runQuery(internal.errors.innerLog, {});
    console.log("last");
    return null;
  },
});

export const longMessage = query({
  args: { length: v.number() },
  handler: async (_ctx, args) => {
    throw new Error("m".repeat(args.length));
  },
});

export const actionBoom = action({
  args: {},
  handler: async () => {
    throw new Error("boom");
  },
});
