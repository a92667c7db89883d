import { ConvexHttpClient } from "convex/browser";
import { anyApi } from "convex/server";
import { expect, test } from "vitest";

const client = new ConvexHttpClient(`http://127.0.0.1:${process.env.CONVEX_PORT}`);
const api = anyApi.index!;

test("pages follow each other by rank", async () => {
  await client.mutation(api.add as any, { ranks: [5, 3, 1, 4, 2] });
  const seen: number[] = [];
  let cursor: string | null = null;
  for (let n = 0; n < 3; n++) {
    const page: any = await client.query(api.page as any, { paginationOpts: { numItems: 2, cursor } });
    seen.push(...page.page.map((item: { rank: number }) => item.rank));
    cursor = page.continueCursor;
  }
  expect(seen).toEqual([1, 2, 3, 4, 5]);
});
