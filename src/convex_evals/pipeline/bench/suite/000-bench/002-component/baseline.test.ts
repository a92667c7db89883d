import { ConvexHttpClient } from "convex/browser";
import { anyApi } from "convex/server";
import { expect, test } from "vitest";

const client = new ConvexHttpClient(`http://127.0.0.1:${process.env.CONVEX_PORT}`);
const api = anyApi.index!;

test("hits are counted", async () => {
  const before = await client.query(api.hits as any, {});
  await client.mutation(api.hit as any, {});
  await client.mutation(api.hit as any, {});
  expect(await client.query(api.hits as any, {})).toBe(before + 2);
});
