import { convexTest } from "convex-test";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { api } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import schema from "./schema";
import { modules } from "./test.setup";

const MINUTE = 60 * 1000;
const DAY = 24 * 60 * MINUTE;
const KEY = "publish-key";
const URL_A = "https://a.example/hook";
const URL_B = "https://b.example/hook";

type Sent = { url: string; method: string; headers: Headers; body: string; at: number };
type Reply = number | Error | { status: number; retryAfter: string };
type Relay = ReturnType<typeof open>;
type Owner = Relay["ada"];

let relay: Relay;
let sent: Sent[];
let replies: (url: string) => Reply;

function open() {
  const t = convexTest(schema, modules);
  return { t, ada: t.withIdentity({ subject: "ada" }), ben: t.withIdentity({ subject: "ben" }) };
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.setSystemTime(new Date("2026-05-04T08:00:00Z"));
  vi.stubEnv("PUBLISH_KEY", KEY);
  relay = open();
  sent = [];
  replies = () => 200;
  vi.stubGlobal("fetch", async (input: string | URL | Request, init?: RequestInit) => {
    const request = new Request(input, init);
    const { url, method, headers } = request;
    sent.push({ url, method, headers, body: await request.text(), at: Date.now() });
    const reply = replies(url);
    if (reply instanceof Error) throw reply;
    const { status, retryAfter } = typeof reply === "number" ? { status: reply, retryAfter: null } : reply;
    return new Response(null, { status, headers: retryAfter === null ? {} : { "Retry-After": retryAfter } });
  });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

/** Lets time pass, in steps, so that what is planned on the way happens in its time. */
async function pass(milliseconds: number, step = milliseconds) {
  for (let rest = milliseconds; rest >= 0; rest -= Math.max(step, 1)) {
    vi.advanceTimersByTime(Math.min(Math.max(step, 1), Math.max(rest, 1)));
    await relay.t.finishInProgressScheduledFunctions();
    if (step >= milliseconds) break;
  }
}

/** What happens at once. */
async function settle() {
  await pass(1);
}

async function refused(call: Promise<unknown>, code: string) {
  await expect(call).rejects.toEqual(expect.objectContaining({ data: { code } }));
}

async function register(owner: Owner = relay.ada, url = URL_A, types = ["*"]) {
  return await owner.mutation(api.endpoints.register, { url, types });
}

async function publish(type = "order.paid", payload = "p", key?: string, owner: Owner = relay.ada) {
  return await owner.mutation(api.events.publish, key === undefined ? { type, payload } : { type, payload, key });
}

async function history(endpointId: Id<"endpoints">, count = 50) {
  return await relay.ada.query(api.deliveries.history, { endpointId, count });
}

async function latest(endpointId: Id<"endpoints">) {
  const [first] = await history(endpointId, 1);
  return [first.status, first.attempts, first.lastStatus];
}

async function stateOf(endpointId: Id<"endpoints">) {
  const endpoints = await relay.ada.query(api.endpoints.list, {});
  return endpoints.find((each) => each.endpointId === endpointId)?.state;
}

async function signature(secret: string, body: string) {
  const encoder = new TextEncoder();
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), algorithm, false, ["sign"]);
  const bytes = new Uint8Array(await crypto.subtle.sign("HMAC", key, encoder.encode(body)));
  return `sha256=${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** All four attempts of what was published last. */
async function failAll() {
  await settle();
  await pass(MINUTE);
  await pass(5 * MINUTE);
  await pass(30 * MINUTE);
}

async function post(body: unknown, headers: Record<string, string> = {}) {
  const response = await relay.t.fetch("/events", {
    method: "POST",
    headers: { Authorization: `Bearer ${KEY}`, "X-Owner": "ada", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return [response.status, response.ok ? (JSON.parse(text) as unknown) : null];
}

describe("owners", () => {
  test("must be logged in", async () => {
    const { endpointId } = await register();
    await publish();
    const [{ deliveryId }] = await history(endpointId);
    const { t } = relay;
    for (const call of [
      t.mutation(api.endpoints.register, { url: "nonsense", types: [] }),
      t.mutation(api.endpoints.pause, { endpointId }),
      t.mutation(api.endpoints.resume, { endpointId }),
      t.mutation(api.endpoints.rotate, { endpointId }),
      t.mutation(api.endpoints.remove, { endpointId }),
      t.query(api.endpoints.list, {}),
      t.mutation(api.events.publish, { type: "a", payload: "" }),
      t.mutation(api.deliveries.retry, { deliveryId }),
      t.query(api.deliveries.history, { endpointId, count: 1 }),
    ]) {
      await refused(call, "UNAUTHENTICATED");
    }
  });

  test("see and change only what is theirs", async () => {
    const { endpointId } = await register();
    replies = () => 410;
    await publish();
    await settle();
    const [{ deliveryId }] = await history(endpointId);
    const { ben } = relay;
    for (const call of [
      ben.mutation(api.endpoints.pause, { endpointId }),
      ben.mutation(api.endpoints.resume, { endpointId }),
      ben.mutation(api.endpoints.rotate, { endpointId }),
      ben.mutation(api.endpoints.remove, { endpointId }),
      ben.mutation(api.deliveries.retry, { deliveryId }),
      ben.query(api.deliveries.history, { endpointId, count: 1 }),
      ben.query(api.deliveries.history, { endpointId, count: 0 }),
    ]) {
      await refused(call, "NOT_FOUND");
    }
    expect(await ben.query(api.endpoints.list, {})).toEqual([]);
    expect(await publish("a", "", undefined, ben)).toMatchObject({ deliveries: 0 });
  });
});

describe("endpoints", () => {
  test("have a valid URL and valid patterns", async () => {
    for (const url of ["", "nonsense", "http://a.example", "ftp://a.example", "a.example"]) {
      await refused(register(relay.ada, url), "INVALID");
    }
    await refused(register(relay.ada, URL_A, []), "INVALID");
    for (const pattern of ["", ".", "a.", ".a", "a..b", "A", "a1", "a b", "a-b", "*.a", "a*", "a.*.b", "**", ".*", "a.*.*"]) {
      await refused(register(relay.ada, URL_A, ["a", pattern]), "INVALID");
    }
    expect(await relay.ada.query(api.endpoints.list, {})).toEqual([]);
    await register(relay.ada, URL_A, ["a", "a.b.c", "a.*", "a.b.*", "*"]);
  });

  test("are listed in order, without their secrets", async () => {
    const b = await register(relay.ada, URL_B, ["b"]);
    const a = await register(relay.ada, URL_A, ["a", "c.*"]);
    expect(a.secret).not.toBe(b.secret);
    expect(a.secret).not.toBe("");
    expect(await relay.ada.query(api.endpoints.list, {})).toEqual([
      { endpointId: b.endpointId, url: URL_B, types: ["b"], state: "active" },
      { endpointId: a.endpointId, url: URL_A, types: ["a", "c.*"], state: "active" },
    ]);
  });

  test("five at most, each URL once", async () => {
    const first = await register(relay.ada, "https://x.example/0");
    await refused(register(relay.ada, "https://x.example/0", ["a"]), "REGISTERED");
    await register(relay.ben, "https://x.example/0");
    for (const index of [1, 2, 3, 4]) await register(relay.ada, `https://x.example/${String(index)}`);
    await refused(register(relay.ada, "https://x.example/0"), "REGISTERED");
    await refused(register(relay.ada, "https://x.example/5"), "TOO_MANY");
    await refused(register(relay.ada, "nonsense"), "INVALID");
    await relay.ada.mutation(api.endpoints.remove, { endpointId: first.endpointId });
    await register(relay.ada, "https://x.example/0");
  });

  test("states", async () => {
    const { endpointId } = await register();
    await refused(relay.ada.mutation(api.endpoints.resume, { endpointId }), "WRONG_STATE");
    await relay.ada.mutation(api.endpoints.pause, { endpointId });
    expect(await stateOf(endpointId)).toBe("paused");
    await refused(relay.ada.mutation(api.endpoints.pause, { endpointId }), "WRONG_STATE");
    await relay.ada.mutation(api.endpoints.resume, { endpointId });
    expect(await stateOf(endpointId)).toBe("active");
    replies = () => 410;
    await publish();
    await settle();
    expect(await stateOf(endpointId)).toBe("disabled");
    await refused(relay.ada.mutation(api.endpoints.pause, { endpointId }), "WRONG_STATE");
    await relay.ada.mutation(api.endpoints.resume, { endpointId });
    expect(await stateOf(endpointId)).toBe("active");
  });

  test("that are removed get nothing", async () => {
    const { endpointId } = await register();
    replies = () => 500;
    await publish();
    await settle();
    const [{ deliveryId }] = await history(endpointId);
    await relay.ada.mutation(api.endpoints.remove, { endpointId });
    await pass(MINUTE);
    await pass(DAY);
    expect(sent.length).toBe(1);
    expect(await publish()).toMatchObject({ deliveries: 0 });
    await refused(relay.ada.mutation(api.endpoints.remove, { endpointId }), "NOT_FOUND");
    await refused(history(endpointId), "NOT_FOUND");
    await refused(relay.ada.mutation(api.deliveries.retry, { deliveryId }), "NOT_FOUND");
    expect(await relay.ada.query(api.endpoints.list, {})).toEqual([]);
  });

  test("sign with the newest secret", async () => {
    const { endpointId, secret } = await register();
    replies = () => 500;
    await publish();
    await settle();
    const rotated = await relay.ada.mutation(api.endpoints.rotate, { endpointId });
    expect(rotated).not.toBe(secret);
    await pass(MINUTE);
    expect(sent.map(({ headers }) => headers.get("X-Signature"))).toEqual([
      await signature(secret, sent[0].body),
      await signature(rotated, sent[1].body),
    ]);
  });
});

describe("events", () => {
  test("types and payloads are checked", async () => {
    await register();
    for (const type of ["", "A", "a.", ".a", "a..b", "a.*", "*", "a1", "a b", "a.b\n"]) {
      await refused(publish(type), "INVALID");
    }
    await refused(publish("a", "x".repeat(1001)), "INVALID");
    await settle();
    expect(sent).toEqual([]);
    await publish("a", "x".repeat(1000));
    await publish("a.b.c", "");
    await settle();
    expect(sent.length).toBe(2);
  });

  test.each([
    ["a", ["a"]],
    ["a.*", ["a.b", "a.b.c"]],
    ["a.b.*", ["a.b.c"]],
    ["*", ["a", "a.b", "a.b.c", "ab", "ab.c", "b.a"]],
    ["a.b", ["a.b"]],
  ])("%s stands for some types", async (pattern, expected) => {
    await register(relay.ada, URL_A, [pattern]);
    const wanted = [];
    for (const type of ["a", "a.b", "a.b.c", "ab", "ab.c", "b.a"]) {
      const { deliveries } = await publish(type);
      if (deliveries === 1) wanted.push(type);
    }
    expect(wanted).toEqual(expected);
    await settle();
    expect(sent.map(({ body }) => (JSON.parse(body) as { type: string }).type).sort()).toEqual(expected);
  });

  test("one delivery per endpoint", async () => {
    const a = await register(relay.ada, URL_A, ["order.*", "order.paid", "*"]);
    const b = await register(relay.ada, URL_B, ["order.sent", "order.paid"]);
    await register(relay.ada, "https://c.example", ["other"]);
    await register(relay.ben, "https://d.example", ["*"]);
    const published = await publish();
    expect(published).toMatchObject({ deliveries: 2, isNew: true });
    await settle();
    expect(sent.map(({ url }) => url).sort()).toEqual([URL_A, URL_B]);
    expect((await history(a.endpointId)).length).toBe(1);
    expect((await history(b.endpointId)).length).toBe(1);
  });

  test("keys are known for a day, from the first event", async () => {
    const { endpointId } = await register();
    const first = await publish("a", "1", "k");
    expect(first).toMatchObject({ deliveries: 1, isNew: true });
    await settle();
    await register(relay.ada, URL_B);
    expect(await publish("b", "2", "k")).toEqual({ ...first, isNew: false });
    expect(await publish("a", "1", "other")).toMatchObject({ deliveries: 2, isNew: true });
    expect(await publish("a", "1")).toMatchObject({ deliveries: 2, isNew: true });
    expect(await publish("a", "1")).toMatchObject({ deliveries: 2, isNew: true });
    expect(await publish("a", "1", "k", relay.ben)).toMatchObject({ deliveries: 0, isNew: true });
    await pass(DAY - 10);
    expect(await publish("a", "1", "k")).toEqual({ ...first, isNew: false });
    await pass(20);
    const second = await publish("a", "1", "k");
    expect(second).toMatchObject({ deliveries: 2, isNew: true });
    expect(second.eventId).not.toBe(first.eventId);
    await pass(10);
    expect(await publish("a", "1", "k")).toEqual({ ...second, isNew: false });
    expect((await history(endpointId)).length).toBe(5);
    await refused(publish("A", "1", "k"), "INVALID");
  });

  test("not to disabled endpoints, but to paused ones", async () => {
    const a = await register(relay.ada, URL_A);
    const b = await register(relay.ada, URL_B);
    replies = (url) => (url === URL_A ? 410 : 200);
    await publish();
    await settle();
    await relay.ada.mutation(api.endpoints.pause, { endpointId: b.endpointId });
    expect(await publish()).toMatchObject({ deliveries: 1 });
    expect((await history(a.endpointId)).length).toBe(1);
    expect((await history(b.endpointId)).length).toBe(2);
  });
});

describe("attempts", () => {
  test("have body, headers and signature", async () => {
    const { endpointId, secret } = await register();
    const at = Date.now();
    const { eventId } = await publish("order.paid", "grüße");
    expect(await latest(endpointId)).toEqual(["waiting", 0, null]);
    await settle();
    const [{ deliveryId }] = await history(endpointId);
    expect(sent.length).toBe(1);
    const [{ url, method, headers, body }] = sent;
    expect([url, method]).toEqual([URL_A, "POST"]);
    expect(JSON.parse(body)).toEqual({ id: eventId, type: "order.paid", payload: "grüße", at });
    expect(headers.get("X-Delivery")).toBe(deliveryId);
    expect(headers.get("X-Attempt")).toBe("1");
    expect(headers.get("X-Signature")).toBe(await signature(secret, body));
    expect(await history(endpointId)).toEqual([
      { deliveryId, type: "order.paid", status: "delivered", attempts: 1, lastStatus: 200, nextAt: null },
    ]);
  });

  test.each([200, 204, 299])("%i is a success", async (status) => {
    const { endpointId } = await register();
    replies = () => status;
    await publish();
    await settle();
    await pass(DAY);
    expect(await latest(endpointId)).toEqual(["delivered", 1, status]);
    expect(sent.length).toBe(1);
  });

  test.each([300, 302, 400, 404, 500, 503, 429])("%i is attempted four times", async (status) => {
    const { endpointId } = await register();
    replies = () => status;
    const { at } = { at: Date.now() };
    await publish();
    await settle();
    expect(await latest(endpointId)).toEqual(["waiting", 1, status]);
    await pass(MINUTE - 10);
    expect(sent.length).toBe(1);
    await pass(20);
    expect(sent.length).toBe(2);
    await pass(5 * MINUTE - 20);
    expect(sent.length).toBe(2);
    await pass(20);
    expect(sent.length).toBe(3);
    expect(await latest(endpointId)).toEqual(["waiting", 3, status]);
    await pass(30 * MINUTE - 30);
    expect(sent.length).toBe(3);
    await pass(30);
    expect(sent.length).toBe(4);
    expect(await latest(endpointId)).toEqual(["failed", 4, status]);
    await pass(DAY);
    expect(sent.length).toBe(4);
    expect(sent.map(({ headers }) => headers.get("X-Attempt"))).toEqual(["1", "2", "3", "4"]);
    expect(new Set(sent.map(({ body }) => body)).size).toBe(1);
    expect((JSON.parse(sent[3].body) as { at: number }).at).toBe(at);
    expect(await stateOf(endpointId)).toBe("active");
  });

  test("a network error is a failed attempt", async () => {
    const { endpointId } = await register();
    replies = () => 500;
    await publish();
    await settle();
    replies = () => new TypeError("nobody there");
    await pass(MINUTE);
    expect(await latest(endpointId)).toEqual(["waiting", 2, null]);
    replies = () => 201;
    await pass(5 * MINUTE);
    expect(await latest(endpointId)).toEqual(["delivered", 3, 201]);
    await pass(DAY);
    expect(sent.length).toBe(3);
  });

  test("the next attempt is in the history", async () => {
    const { endpointId } = await register();
    replies = () => 500;
    await publish();
    await settle();
    const [{ nextAt }] = await history(endpointId);
    expect(Math.abs((nextAt ?? 0) - (sent[0].at + MINUTE))).toBeLessThan(10);
  });

  test.each([
    ["90", 90],
    ["1", 1],
    ["3600", 3600],
    ["4000", 3600],
    ["0", 60],
    ["-5", 60],
    ["soon", 60],
  ])("Retry-After: %s", async (retryAfter, seconds) => {
    const { endpointId } = await register();
    replies = () => ({ status: 429, retryAfter });
    await publish();
    await settle();
    await pass(seconds * 1000 - 10);
    expect(sent.length).toBe(1);
    await pass(20);
    expect(sent.length).toBe(2);
    expect(await latest(endpointId)).toEqual(["waiting", 2, 429]);
  });

  test("Retry-After counts attempts and is only for 429", async () => {
    const { endpointId } = await register();
    replies = () => ({ status: 503, retryAfter: "10" });
    await publish();
    await settle();
    await pass(11_000);
    expect(sent.length).toBe(1);
    replies = () => ({ status: 429, retryAfter: "2" });
    await pass(MINUTE);
    expect(sent.length).toBe(2);
    for (const expected of [3, 4, 4]) {
      await pass(2001);
      expect(sent.length).toBe(expected);
    }
    expect(await latest(endpointId)).toEqual(["failed", 4, 429]);
  });
});

describe("disabling", () => {
  test("410 is final", async () => {
    const { endpointId } = await register();
    replies = () => 500;
    await publish("a");
    await settle();
    replies = () => 410;
    await publish("b");
    await settle();
    const deliveries = await history(endpointId);
    expect(deliveries.map(({ type, status, attempts }) => [type, status, attempts])).toEqual([
      ["b", "failed", 1],
      ["a", "dropped", 1],
    ]);
    expect(deliveries.map(({ nextAt }) => nextAt)).toEqual([null, null]);
    expect(await stateOf(endpointId)).toBe("disabled");
    await pass(MINUTE);
    await pass(DAY);
    expect(sent.length).toBe(2);
    replies = () => 200;
    await relay.ada.mutation(api.endpoints.resume, { endpointId });
    await settle();
    await pass(DAY);
    expect(sent.length).toBe(2);
    expect((await history(endpointId)).map(({ status }) => status)).toEqual(["failed", "dropped"]);
  });

  test("three failed deliveries in a row", async () => {
    const { endpointId } = await register();
    const other = await register(relay.ada, URL_B);
    replies = (url) => (url === URL_A ? 500 : 200);
    for (const expected of ["active", "active", "disabled"]) {
      await publish();
      await failAll();
      expect(await stateOf(endpointId)).toBe(expected);
    }
    expect(await stateOf(other.endpointId)).toBe("active");
    expect((await history(endpointId)).map(({ status }) => status)).toEqual(["failed", "failed", "failed"]);
    await relay.ada.mutation(api.endpoints.resume, { endpointId });
    for (const expected of ["active", "active", "disabled"]) {
      await publish();
      await failAll();
      expect(await stateOf(endpointId)).toBe(expected);
    }
  });

  test("a success in between", async () => {
    const { endpointId } = await register();
    for (const reply of [500, 500, 200, 500, 500]) {
      replies = () => reply;
      await publish();
      await failAll();
    }
    expect(await stateOf(endpointId)).toBe("active");
    replies = () => 500;
    await publish();
    await failAll();
    expect(await stateOf(endpointId)).toBe("disabled");
  });

  test("a pause forgets failures, too", async () => {
    const { endpointId } = await register();
    replies = () => 500;
    for (const expected of ["active", "active", "active"]) {
      await publish();
      await failAll();
      expect(await stateOf(endpointId)).toBe(expected);
      await relay.ada.mutation(api.endpoints.pause, { endpointId });
      await relay.ada.mutation(api.endpoints.resume, { endpointId });
    }
  });
});

describe("waiting", () => {
  test("paused endpoints get nothing until they are resumed, then one attempt at once", async () => {
    const { endpointId } = await register();
    replies = () => 500;
    await publish("a");
    await settle();
    await relay.ada.mutation(api.endpoints.pause, { endpointId });
    await publish("b");
    await settle();
    await pass(10_000);
    expect(sent.length).toBe(1);
    await relay.ada.mutation(api.endpoints.resume, { endpointId });
    await settle();
    expect(sent.slice(1).map(({ headers }) => headers.get("X-Attempt")).sort()).toEqual(["1", "2"]);
    await pass(MINUTE - 20_000);
    await pass(10_000);
    expect(sent.length).toBe(3);
    await pass(10_002);
    expect(sent.length).toBe(4);
    expect((await history(endpointId)).map(({ attempts }) => attempts)).toEqual([2, 2]);
  });

  test("long pauses lose nothing", async () => {
    const { endpointId } = await register();
    replies = () => 500;
    await publish();
    await settle();
    await relay.ada.mutation(api.endpoints.pause, { endpointId });
    await pass(MINUTE);
    await pass(DAY);
    expect(await latest(endpointId)).toEqual(["waiting", 1, 500]);
    expect(sent.length).toBe(1);
    replies = () => 200;
    await relay.ada.mutation(api.endpoints.resume, { endpointId });
    await settle();
    expect(await latest(endpointId)).toEqual(["delivered", 2, 200]);
    await pass(DAY);
    expect(sent.length).toBe(2);
  });

  test("a short pause does not send twice", async () => {
    const { endpointId } = await register();
    await publish();
    await relay.ada.mutation(api.endpoints.pause, { endpointId });
    await relay.ada.mutation(api.endpoints.resume, { endpointId });
    await settle();
    await pass(DAY);
    expect(sent.length).toBe(1);
  });
});

describe("deliveries", () => {
  test("failed ones can be started again", async () => {
    const { endpointId } = await register();
    replies = () => 500;
    await publish();
    await settle();
    const [{ deliveryId }] = await history(endpointId);
    await refused(relay.ada.mutation(api.deliveries.retry, { deliveryId }), "WRONG_STATUS");
    await pass(MINUTE);
    await pass(5 * MINUTE);
    await pass(30 * MINUTE);
    expect(sent.length).toBe(4);
    await relay.ada.mutation(api.deliveries.retry, { deliveryId });
    expect((await latest(endpointId)).slice(0, 2)).toEqual(["waiting", 0]);
    await settle();
    expect(sent.length).toBe(5);
    expect(sent[4].headers.get("X-Attempt")).toBe("1");
    await pass(MINUTE);
    expect(sent[5].headers.get("X-Attempt")).toBe("2");
    replies = () => 200;
    await pass(5 * MINUTE);
    expect(await latest(endpointId)).toEqual(["delivered", 3, 200]);
    await refused(relay.ada.mutation(api.deliveries.retry, { deliveryId }), "WRONG_STATUS");
    await pass(DAY);
    expect(sent.length).toBe(7);
  });

  test("not if the endpoint is disabled; later if it is paused", async () => {
    const { endpointId } = await register();
    replies = () => 500;
    await publish("a");
    await settle();
    replies = () => 410;
    await publish("b");
    await settle();
    const [failed, dropped] = await history(endpointId);
    await refused(relay.ada.mutation(api.deliveries.retry, { deliveryId: failed.deliveryId }), "DISABLED");
    await refused(relay.ada.mutation(api.deliveries.retry, { deliveryId: dropped.deliveryId }), "WRONG_STATUS");
    await relay.ada.mutation(api.endpoints.resume, { endpointId });
    await refused(relay.ada.mutation(api.deliveries.retry, { deliveryId: dropped.deliveryId }), "WRONG_STATUS");
    await relay.ada.mutation(api.endpoints.pause, { endpointId });
    await relay.ada.mutation(api.deliveries.retry, { deliveryId: failed.deliveryId });
    await settle();
    await pass(DAY);
    expect(sent.length).toBe(2);
    replies = () => 200;
    await relay.ada.mutation(api.endpoints.resume, { endpointId });
    await settle();
    expect(await latest(endpointId)).toEqual(["delivered", 1, 200]);
  });

  test("the newest come first, up to a count from 1 to 50", async () => {
    const { endpointId } = await register();
    const other = await register(relay.ada, URL_B, ["b"]);
    for (const type of ["a", "b", "c"]) {
      await publish(type);
      await settle();
    }
    expect((await history(endpointId, 2)).map(({ type }) => type)).toEqual(["c", "b"]);
    expect((await history(endpointId)).map(({ type }) => type)).toEqual(["c", "b", "a"]);
    expect((await history(endpointId, 1)).length).toBe(1);
    expect((await history(other.endpointId)).map(({ type }) => type)).toEqual(["b"]);
    for (const count of [0, -1, 1.5, 51]) await refused(history(endpointId, count), "INVALID");
  });
});

describe("HTTP", () => {
  test("publishes for an owner", async () => {
    const { endpointId } = await register();
    const [status, body] = await post({ type: "order.paid", payload: "p", key: "k" });
    expect(status).toBe(202);
    expect(body).toMatchObject({ deliveries: 1 });
    expect(await post({ type: "order.paid", payload: "p", key: "k" })).toEqual([200, body]);
    expect((await post({ type: "a", payload: "" }))[0]).toBe(202);
    expect((await post({ type: "a", payload: "" }, { "X-Owner": "ben" }))[1]).toMatchObject({ deliveries: 0 });
    await settle();
    expect(sent.length).toBe(2);
    expect(sent.map((each) => (JSON.parse(each.body) as { id: string }).id)).toContain((body as { eventId: string }).eventId);
    expect((await history(endpointId)).length).toBe(2);
    expect(await publish("order.paid", "p", "k")).toMatchObject({ isNew: false });
  });

  test("needs the key", async () => {
    const event = { type: "a", payload: "" };
    for (const authorization of ["", "Bearer", "Bearer wrong", KEY, `Bearer ${KEY}x`]) {
      expect((await post(event, { Authorization: authorization }))[0]).toBe(401);
    }
    expect((await post("nonsense", { Authorization: "Bearer wrong" }))[0]).toBe(401);
    const bare = await relay.t.fetch("/events", { method: "POST", headers: { "X-Owner": "ada" }, body: "{}" });
    expect(bare.status).toBe(401);
    vi.stubEnv("PUBLISH_KEY", undefined);
    expect((await post(event))[0]).toBe(401);
    expect((await post(event, { Authorization: "Bearer undefined" }))[0]).toBe(401);
  });

  test("needs a valid event and an owner", async () => {
    await register();
    for (const body of [
      "nonsense",
      "null",
      "5",
      {},
      { type: "a" },
      { payload: "" },
      { type: 5, payload: "" },
      { type: "a", payload: {} },
      { type: "a", payload: "", key: 5 },
      { type: "a", payload: "", key: null },
      { type: "A", payload: "" },
      { type: "a", payload: "x".repeat(1001) },
    ]) {
      expect((await post(body))[0]).toBe(400);
    }
    const headers = { Authorization: `Bearer ${KEY}` };
    const body = JSON.stringify({ type: "a", payload: "" });
    expect((await relay.t.fetch("/events", { method: "POST", headers, body })).status).toBe(400);
    await settle();
    expect(sent).toEqual([]);
  });
});
