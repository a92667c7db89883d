import { api } from "./_generated/api";
import { action, mutation, query } from "./_generated/server";

const syscall = async (name: string) => JSON.parse(await (globalThis as any).Convex.asyncSyscall(name, "{}"));

export const inQuery = query({ args: {}, handler: async (ctx) => (await ctx.auth.getUserIdentity()) as any });

export const inMutation = mutation({ args: {}, handler: async (ctx) => (await ctx.auth.getUserIdentity()) as any });

export const inAction = action({ args: {}, handler: async (ctx) => (await ctx.auth.getUserIdentity()) as any });

export const nestedInMutation = mutation({
  args: {},
  handler: async (ctx): Promise<string | null> => (await ctx.runQuery(api.identity.inQuery, {}))?.subject ?? null,
});

export const nestedInAction = action({
  args: {},
  handler: async (ctx): Promise<(string | null)[]> => [
    (await ctx.runQuery(api.identity.inQuery, {}))?.subject ?? null,
    (await ctx.runMutation(api.identity.inMutation, {}))?.subject ?? null,
    (await ctx.runAction(api.identity.inAction, {}))?.subject ?? null,
  ],
});

export const functionMetadata = query({ args: {}, handler: async () => await syscall("1.0/getFunctionMetadata") });

export const requestMetadata = mutation({ args: {}, handler: async () => await syscall("1.0/getRequestMetadata") });

export const requestMetadataInQuery = query({ args: {}, handler: async () => await syscall("1.0/getRequestMetadata") });

export const addDocument = mutation({ args: {}, handler: async (ctx) => await ctx.db.insert("calling_others", { body: "x" }) });

export const metrics = query({
  handler: async (ctx, args: { id: string }) => {
    await ctx.db.get(args.id as never);
    return await syscall("1.0/getTransactionMetrics");
  },
});
