import { ConvexHttpClient } from "convex/browser";
import { anyApi } from "convex/server";
import { expect, test } from "vitest";

const client = new ConvexHttpClient(`http://127.0.0.1:${process.env.CONVEX_PORT}`);
const api = anyApi.index!;

test("a note is created, read, changed and removed", async () => {
  const id = await client.mutation(api.create as any, { text: "first" });
  expect((await client.query(api.read as any, { id })).text).toBe("first");
  await client.mutation(api.update as any, { id, text: "second" });
  expect((await client.query(api.read as any, { id })).text).toBe("second");
  await client.mutation(api.remove as any, { id });
  expect(await client.query(api.read as any, { id })).toBe(null);
});

test("text must be a string", async () => {
  await expect(client.mutation(api.create as any, { text: 5 })).rejects.toThrow("ArgumentValidationError");
});
