import { v } from "convex/values";
import { action } from "./_generated/server";
import { contract } from "./contract";
import { ContractError, createClient, type ClientResult } from "./lib/contract";

const describe = (result: ClientResult<typeof contract, "createParcel">): string => {
  switch (result.status) {
    case 201:
      return `${result.replayed ? "again " : ""}number ${result.body.number + 0n} by ${result.body.by}`;
    case 400:
      return result.body.mistakes.map((each) => `${each.in} ${each.at} ${each.problem}`).join(", ");
    case 403:
    case 409:
    case 413:
    case 422:
      return result.body.error;
  }
};

/** Sends a parcel, and changes it if nobody else did. */
export const send = action({
  args: { baseUrl: v.string(), depot: v.string(), key: v.string(), agent: v.string(), value: v.int64() },
  returns: v.array(v.string()),
  handler: async (_ctx, { baseUrl, depot, key, agent, value }) => {
    const client = createClient(contract, { baseUrl, fetch });
    const order = {
      weight: 5,
      content: { type: "goods" as const, items: [{ name: "pen & paper", value, size: 3 }] },
      tags: ["a b", "c"],
    };
    const input = { params: { depot }, headers: { "x-agent": agent, "x-priority": 2 as const }, body: order, idempotencyKey: key };
    const created = await client.createParcel(input);
    const said = [describe(created), describe(await client.createParcel(input))];
    if (created.status !== 201) return said;
    const params = { depot, number: created.body.number };
    const found = await client.getParcel({ params });
    if (found.status !== 200) return [...said, found.status === 404 ? found.body.error : "?"];
    const same = await client.getParcel({ params, ifNoneMatch: found.etag });
    const changed = await client.replaceParcel({ params, body: { ...order, insured: value * 2n }, ifMatch: found.etag });
    const late = await client.removeParcel({ params, ifMatch: found.etag, query: { force: true } });
    const insured = changed.status === 200 ? String(changed.body.insured) : "nothing";
    return [...said, `${same.status} ${changed.status} ${late.status}`, insured];
  },
});

export const heaviest = action({
  args: { baseUrl: v.string(), depot: v.string(), tag: v.array(v.string()) },
  returns: v.array(v.string()),
  handler: async (_ctx, { baseUrl, depot, tag }) => {
    const client = createClient(contract, { baseUrl, fetch });
    const { status } = await client.health();
    const found = [`${status}`];
    let cursor: string | undefined;
    for (;;) {
      const page = await client.listParcels({ params: { depot }, query: { tag, limit: 2, cursor, status: "waiting" } });
      if (page.status !== 200) return [...found, page.body.error];
      found.push(page.body.items.map((each) => `${each.number}: ${each.weight}`).join(", "));
      if (page.body.next === null) return found;
      cursor = page.body.next;
    }
  },
});

/** Tests see with this what a client sends, and how it understands a response. */
export const probe = action({
  args: {
    operation: v.string(),
    input: v.any(),
    status: v.number(),
    headers: v.record(v.string(), v.string()),
    body: v.nullable(v.string()),
  },
  handler: async (_ctx, { operation, input, status, headers, body }) => {
    const sent: { url: string; method: string; headers: Record<string, string>; body: string | null }[] = [];
    const client = createClient(contract, {
      baseUrl: "https://depots.example/v1",
      fetch: (url, init) => {
        sent.push({ url, method: init.method, headers: init.headers, body: init.body ?? null });
        return Promise.resolve(new Response(body, { status, headers }));
      },
    });
    const call = (client as unknown as Record<string, (input?: unknown) => Promise<unknown>>)[operation];
    try {
      const args: unknown[] = input === null ? [] : [input];
      return { sent, result: await call(...args) };
    } catch (error) {
      if (!(error instanceof ContractError)) throw error;
      return { sent, failed: { operation: error.operation, status: error.status } };
    }
  },
});
