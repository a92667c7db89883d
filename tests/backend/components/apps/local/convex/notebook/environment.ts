import { env, query } from "./_generated/server";

const seenAtImport = env.OWNER ?? null;

export const show = query({
  args: {},
  handler: async () => ({
    owner: env.OWNER,
    plan: env.PLAN,
    key: env.KEY ?? null,
    undeclared: process.env.API_KEY ?? null,
    site: env.CONVEX_SITE_URL,
    cloud: env.CONVEX_CLOUD_URL,
    seenAtImport,
  }),
});
