import { convexTest } from "convex-test";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { api } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import schema from "./schema";
import { modules } from "./test.setup";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const START = Date.UTC(2026, 4, 4, 8);
const END = START + DAY;

type LotId = Id<"lots">;
type Reply = number | Error | "never";
type Sent = { url: string; method: string; headers: Headers; body: string; at: number };
type Call = Sent & { answer: (status: number) => void };

const realSetTimeout = globalThis.setTimeout;
let t: ReturnType<typeof open>;
let calls: Call[];
let unanswered: number;
let reply: () => Reply;

function open() {
  return convexTest(schema, modules);
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.setSystemTime(START);
  vi.stubEnv("PAYMENTS_KEY", "the-key");
  t = open();
  calls = [];
  unanswered = 0;
  reply = () => 200;
  vi.stubGlobal("fetch", async (input: string | URL | Request, init?: RequestInit) => {
    const request = new Request(input, init);
    const { url, method, headers } = request;
    let answer: (status: number) => void = () => undefined;
    const late = new Promise<number>((resolve) => (answer = resolve));
    calls.push({ url, method, headers, body: await request.text(), at: Date.now(), answer });
    const planned = reply();
    if (planned instanceof Error) throw planned;
    if (planned !== "never") return new Response(null, { status: planned });
    unanswered += 1;
    const status = await late;
    unanswered -= 1;
    return new Response(null, { status });
  });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

/** All functions that are due have run, or wait for an answer. */
async function settle() {
  for (let round = 0; round < 4; round += 1) {
    vi.advanceTimersByTime(0);
    let done = false;
    const finished = t.finishInProgressScheduledFunctions().then(() => (done = true));
    for (let idle = 0; !done && idle < 12; idle = unanswered > 0 ? idle + 1 : 0) {
      await Promise.race([finished, new Promise((resolve) => realSetTimeout(resolve, 0))]);
    }
  }
}

async function pass(milliseconds: number) {
  vi.advanceTimersByTime(milliseconds);
  await settle();
}

async function passUntil(time: number) {
  await pass(time - Date.now());
}

async function answer(index: number, status: number) {
  calls[index].answer(status);
  for (let tick = 0; tick < 5; tick += 1) await new Promise((resolve) => realSetTimeout(resolve, 0));
  await settle();
}

function as(subject: string) {
  return t.withIdentity({ subject });
}

async function refused(call: Promise<unknown>, code: string) {
  await expect(call).rejects.toEqual(expect.objectContaining({ data: { code } }));
}

type Terms = { title?: string; startCents?: number; stepCents?: number; reserveCents?: number; buyNowCents?: number };

/** Of Sam, from 100 in steps of 10, for a day. */
async function putUp(terms: Terms & { endsAt?: number } = {}, seller = "sam") {
  const usual = { title: "Chair", startCents: 100, stepCents: 10, endsAt: Date.now() + DAY };
  return await as(seller).mutation(api.lots.create, { ...usual, ...terms });
}

async function bid(member: string, lotId: LotId, maxCents: number) {
  return await as(member).mutation(api.bids.place, { lotId, maxCents });
}

async function buy(member: string, lotId: LotId) {
  return await as(member).mutation(api.bids.buyNow, { lotId });
}

async function pay(member: string, lotId: LotId) {
  await as(member).mutation(api.offers.pay, { lotId });
  await settle();
}

async function decline(member: string, lotId: LotId) {
  await as(member).mutation(api.offers.decline, { lotId });
  await settle();
}

async function withdraw(member: string, lotId: LotId) {
  return await as(member).mutation(api.lots.withdraw, { lotId });
}

async function get(lotId: LotId, member = "zoe") {
  return await as(member).query(api.lots.get, { lotId });
}

async function stateOf(lotId: LotId) {
  return (await get(lotId)).state;
}

async function newestOffer(member: string, lotId?: LotId) {
  const offers = await as(member).query(api.offers.mine, {});
  return offers.find((offer) => lotId === undefined || offer.lotId === lotId);
}

async function openLots(numItems: number) {
  const found = [];
  let cursor: string | null = null;
  for (;;) {
    const paginationOpts: { numItems: number; cursor: string | null } = { numItems, cursor };
    const result = await as("zoe").query(api.lots.open, { paginationOpts });
    found.push(...result.page);
    if (result.isDone) return found;
    cursor = result.continueCursor;
  }
}

async function history(lotId: LotId, numItems = 100) {
  const found = [];
  let cursor: string | null = null;
  for (;;) {
    const paginationOpts: { numItems: number; cursor: string | null } = { numItems, cursor };
    const result = await as("zoe").query(api.bids.history, { lotId, paginationOpts });
    found.push(...result.page);
    if (result.isDone) return found;
    cursor = result.continueCursor;
  }
}

async function watched(member: string) {
  const lots = await as(member).query(api.watching.list, {});
  return lots.map(({ title }) => title);
}

/** Somebody leads with 500; the lot has ended, and is offered. */
async function sold(bids: [string, number][] = [["ada", 500]], terms: Terms = {}) {
  const lotId = await putUp(terms);
  const endsAt = Date.now() + DAY;
  for (const [member, maxCents] of bids) await bid(member, lotId, maxCents);
  await passUntil(endsAt + 1);
  return { lotId, endsAt, dueAt: endsAt + 2 * DAY };
}

/** Ada lets two offers lapse, the second of them an hour after the first. */
async function blockAda() {
  const first = await putUp();
  const second = await putUp({ endsAt: Date.now() + DAY + HOUR });
  await bid("ada", first, 100);
  await bid("ada", second, 100);
  const lapsedAt = Date.now() + 3 * DAY;
  await passUntil(lapsedAt - DAY);
  await passUntil(lapsedAt + HOUR + 1);
  return lapsedAt;
}

test("members must be logged in", async () => {
  const lotId = await putUp();
  const paginationOpts = { numItems: 1, cursor: null };
  for (const call of [
    t.mutation(api.lots.create, { title: "", startCents: 0, stepCents: 0, endsAt: 0 }),
    t.mutation(api.lots.withdraw, { lotId }),
    t.query(api.lots.get, { lotId }),
    t.query(api.lots.open, { paginationOpts }),
    t.mutation(api.bids.place, { lotId, maxCents: 0 }),
    t.mutation(api.bids.buyNow, { lotId }),
    t.query(api.bids.history, { lotId, paginationOpts }),
    t.mutation(api.offers.pay, { lotId }),
    t.mutation(api.offers.decline, { lotId }),
    t.query(api.offers.mine, {}),
    t.mutation(api.watching.add, { lotId }),
    t.mutation(api.watching.remove, { lotId }),
    t.query(api.watching.list, {}),
  ]) {
    await refused(call, "UNAUTHENTICATED");
  }
});

describe("lots", () => {
  test("have valid terms", async () => {
    for (const terms of [
      { title: "" },
      { title: " \n" },
      { startCents: 0 },
      { startCents: 1.5 },
      { stepCents: 0 },
      { stepCents: -1 },
      { reserveCents: 200.5 },
      { buyNowCents: 200.5 },
      { endsAt: START + HOUR - 1 },
      { endsAt: START + 14 * DAY + 1 },
      { reserveCents: 100 },
      { buyNowCents: 100 },
      { reserveCents: 200, buyNowCents: 200 },
      { reserveCents: 200, buyNowCents: 150 },
    ]) {
      await refused(putUp(terms), "INVALID");
    }
    expect(await openLots(10)).toEqual([]);
    const short = await putUp({ title: "Lamp", endsAt: START + HOUR, reserveCents: 101, buyNowCents: 102 });
    const long = await putUp({ endsAt: START + 14 * DAY, startCents: 1, stepCents: 1, buyNowCents: 2 });
    expect(await get(short)).toEqual({
      title: "Lamp",
      state: "open",
      endsAt: START + HOUR,
      bids: 0,
      leader: null,
      priceCents: 100,
      reserveMet: false,
      maxCents: null,
    });
    expect((await get(long)).priceCents).toBe(1);
  });

  test("can be withdrawn before there are bids", async () => {
    const [withdrawn, wanted, other] = [await putUp(), await putUp({ reserveCents: 900 }), await putUp()];
    await bid("ada", wanted, 100);
    await refused(withdraw("ada", withdrawn), "FORBIDDEN");
    await refused(withdraw("ada", wanted), "FORBIDDEN");
    await refused(withdraw("sam", wanted), "HAS_BIDS");
    await withdraw("sam", withdrawn);
    await refused(withdraw("sam", withdrawn), "ENDED");
    await refused(bid("ada", withdrawn, 100), "ENDED");
    await bid("ada", other, 100);
    await passUntil(END + 1);
    expect([await stateOf(withdrawn), await stateOf(wanted), await stateOf(other)]).toEqual([
      "withdrawn",
      "unsold",
      "offered",
    ]);
    await refused(withdraw("ada", other), "FORBIDDEN");
    await refused(withdraw("sam", other), "ENDED");
    await refused(withdraw("sam", wanted), "ENDED");
  });

  test("end when their time is up", async () => {
    const lotId = await putUp();
    await passUntil(END - 1);
    expect(await stateOf(lotId)).toBe("open");
    await passUntil(END + 1);
    expect(await stateOf(lotId)).toBe("unsold");
    await refused(bid("ada", lotId, 500), "ENDED");
    await pass(5 * DAY);
    expect(await stateOf(lotId)).toBe("unsold");
  });

  test("are listed by their ends", async () => {
    for (const [title, days] of [["C", 3], ["A", 1], ["D", 4], ["B", 2], ["X", 5]] as const) {
      await putUp({ title, endsAt: START + days * DAY });
    }
    const [, , , , x] = await openLots(10);
    await withdraw("sam", x.lotId);
    for (const numItems of [1, 2, 10]) {
      expect((await openLots(numItems)).map(({ title }) => title)).toEqual(["A", "B", "C", "D"]);
    }
    const [a] = await openLots(1);
    expect(a).toMatchObject({ title: "A", endsAt: END });
    await putUp({ title: "E", endsAt: END + MINUTE });
    await passUntil(END - MINUTE);
    await bid("ada", a.lotId, 100);
    expect((await openLots(2)).map(({ title }) => title)).toEqual(["E", "A", "B", "C", "D"]);
    await passUntil(END + MINUTE + 1);
    expect((await openLots(2)).map(({ title }) => title)).toEqual(["A", "B", "C", "D"]);
  });
});

describe("bids", () => {
  test("are checked, one thing after another", async () => {
    const lotId = await putUp();
    for (const maxCents of [0, -1, 100.5, NaN]) await refused(bid("sam", lotId, maxCents), "INVALID");
    await refused(bid("sam", lotId, 1), "OWN_LOT");
    await refused(bid("ada", lotId, 99), "TOO_LOW");
    expect(await bid("ada", lotId, 100)).toEqual({ leads: true, priceCents: 100, endsAt: END });
    await refused(bid("ada", lotId, 100), "TOO_LOW");
    await refused(bid("ben", lotId, 109), "TOO_LOW");
    expect(await bid("ada", lotId, 101)).toEqual({ leads: true, priceCents: 100, endsAt: END });
    await refused(bid("ada", lotId, 99), "TOO_LOW");
    await passUntil(END + 1);
    await refused(bid("ada", lotId, 0), "INVALID");
    await refused(bid("sam", lotId, 1), "OWN_LOT");
    await refused(bid("ada", lotId, 1), "ENDED");
    expect((await get(lotId)).bids).toBe(2);
  });

  test("set the price", async () => {
    const lotId = await putUp();
    const steps: [string, number, boolean, number][] = [
      ["ada", 300, true, 100],
      ["ada", 400, true, 100],
      ["ben", 200, false, 210],
      ["ben", 395, false, 400],
      ["ada", 405, true, 405],
      ["ada", 500, true, 405],
      ["cem", 500, false, 500],
      ["ben", 510, true, 510],
      ["ada", 600, true, 520],
    ];
    for (const [member, maxCents, leads, priceCents] of steps) {
      expect([maxCents, await bid(member, lotId, maxCents)]).toEqual([maxCents, { leads, priceCents, endsAt: END }]);
      expect(await get(lotId, member)).toMatchObject({ priceCents, maxCents, reserveMet: true });
    }
    expect(await get(lotId)).toMatchObject({ bids: 9, leader: "ada", maxCents: null });
    const expected = steps.map(([member, , , priceCents]) => ({ member, priceCents, at: START })).reverse();
    for (const numItems of [2, 20]) expect(await history(lotId, numItems)).toEqual(expected);
  });

  test("of equal amounts are in the order in which they were made", async () => {
    const lotId = await putUp();
    await bid("ada", lotId, 200);
    await bid("ben", lotId, 300);
    expect(await bid("ada", lotId, 310)).toMatchObject({ leads: true, priceCents: 310 });
    await bid("ben", lotId, 400);
    expect(await bid("ada", lotId, 400)).toMatchObject({ leads: false, priceCents: 400 });
    expect(await bid("cem", lotId, 500)).toMatchObject({ leads: true, priceCents: 410 });
  });

  test("of the one who came back lose against an equal one", async () => {
    const lotId = await putUp();
    await bid("ada", lotId, 200);
    await bid("ben", lotId, 300);
    expect(await bid("ada", lotId, 300)).toEqual({ leads: false, priceCents: 300, endsAt: END });
    expect((await get(lotId)).leader).toBe("ben");
  });

  test("meet the reserve or not", async () => {
    const lotId = await putUp({ reserveCents: 300 });
    expect((await bid("ada", lotId, 299)).priceCents).toBe(100);
    expect(await get(lotId)).toMatchObject({ leader: "ada", reserveMet: false });
    expect((await bid("ada", lotId, 300)).priceCents).toBe(300);
    expect(await get(lotId)).toMatchObject({ leader: "ada", reserveMet: true });
    await refused(bid("ben", lotId, 309), "TOO_LOW");
    expect((await bid("ben", lotId, 400)).priceCents).toBe(310);
    const other = await putUp({ reserveCents: 300 });
    await bid("ada", other, 150);
    expect((await bid("ben", other, 250)).priceCents).toBe(160);
    expect((await bid("ben", other, 350)).priceCents).toBe(300);
    await passUntil(END + 1);
    expect(await newestOffer("ben", lotId)).toMatchObject({ priceCents: 310 });
    expect(await newestOffer("ben", other)).toMatchObject({ priceCents: 300 });
  });
});

describe("extensions", () => {
  test("of 5 minutes, less than 5 minutes before the end", async () => {
    const lotId = await putUp();
    await passUntil(END - 5 * MINUTE);
    expect((await bid("ada", lotId, 500)).endsAt).toBe(END);
    await pass(1);
    expect((await bid("ada", lotId, 600)).endsAt).toBe(END);
    expect((await bid("ben", lotId, 200)).endsAt).toBe(END + 5 * MINUTE);
    expect((await get(lotId)).endsAt).toBe(END + 5 * MINUTE);
    await passUntil(END + SECOND);
    expect(await stateOf(lotId)).toBe("open");
    await passUntil(END + 5 * MINUTE - 1);
    expect(await stateOf(lotId)).toBe("open");
    expect((await bid("ben", lotId, 300)).endsAt).toBe(END + 10 * MINUTE);
    await passUntil(END + 10 * MINUTE + 1);
    expect(await stateOf(lotId)).toBe("offered");
    expect(await newestOffer("ada")).toMatchObject({ dueAt: END + 10 * MINUTE + 2 * DAY });
  });

  test("by the first bid, too, and three at most", async () => {
    const lotId = await putUp();
    await passUntil(END - 1);
    const ends = [];
    for (const [index, member] of ["ada", "ben", "ada", "ben", "ada"].entries()) {
      ends.push((await bid(member, lotId, (index + 1) * 100)).endsAt - END);
      await passUntil(END + Math.min(index + 1, 3) * 5 * MINUTE - 1);
    }
    expect(ends).toEqual([5, 10, 15, 15, 15].map((minutes) => minutes * MINUTE));
    await pass(2);
    expect(await stateOf(lotId)).toBe("offered");
  });
});

describe("buying", () => {
  test("ends the lot", async () => {
    const lotId = await putUp({ reserveCents: 200, buyNowCents: 900 });
    await refused(buy("sam", lotId), "OWN_LOT");
    await bid("ada", lotId, 150);
    await pass(HOUR);
    await buy("ben", lotId);
    const dueAt = START + HOUR + 2 * DAY;
    expect(await get(lotId)).toMatchObject({ state: "offered", endsAt: START + HOUR, leader: "ada", priceCents: 100 });
    expect(await as("ben").query(api.offers.mine, {})).toEqual([{ lotId, priceCents: 900, dueAt, state: "open" }]);
    await refused(buy("cem", lotId), "ENDED");
    await refused(buy("sam", lotId), "OWN_LOT");
    await refused(bid("cem", lotId, 1000), "ENDED");
    await refused(decline("ben", lotId), "BINDING");
    await passUntil(END + 1);
    expect(await as("ada").query(api.offers.mine, {})).toEqual([]);
    await passUntil(dueAt - 1);
    expect(await stateOf(lotId)).toBe("offered");
    await pass(2);
    expect(await stateOf(lotId)).toBe("open");
  });

  test("is possible below its price", async () => {
    const lotId = await putUp({ buyNowCents: 300 });
    await refused(buy("ada", await putUp()), "GONE");
    await bid("ada", lotId, 1000);
    await bid("ben", lotId, 289);
    expect((await get(lotId)).priceCents).toBe(299);
    const other = await putUp({ buyNowCents: 300 });
    await bid("ada", other, 1000);
    await bid("ben", other, 290);
    await refused(buy("ada", other), "GONE");
    await bid("ben", other, 400);
    await refused(buy("ben", other), "GONE");
    await buy("ben", lotId);
    expect(await newestOffer("ben")).toMatchObject({ lotId, priceCents: 300 });
  });

  test("and not paying gives the lot to the bidders", async () => {
    const lotId = await putUp({ buyNowCents: 900 });
    await bid("ada", lotId, 300);
    await bid("ben", lotId, 400);
    await bid("cem", lotId, 450);
    await buy("ben", lotId);
    await passUntil(START + 2 * DAY + 1);
    expect(await newestOffer("cem")).toEqual({ lotId, priceCents: 310, dueAt: START + 3 * DAY, state: "open" });
    expect(await newestOffer("ben")).toMatchObject({ priceCents: 900, state: "lapsed" });
    await passUntil(START + 3 * DAY + 1);
    expect(await newestOffer("ada")).toEqual({ lotId, priceCents: 100, dueAt: START + 4 * DAY, state: "open" });
    await passUntil(START + 4 * DAY + 1);
    expect(await get(lotId)).toMatchObject({ state: "open", endsAt: START + 5 * DAY });
  });
});

describe("offers", () => {
  test("go from one to the next", async () => {
    const { lotId, dueAt } = await sold([["dan", 250], ["ada", 500], ["cem", 300], ["ben", 400], ["eva", 500]]);
    expect(await as("ada").query(api.offers.mine, {})).toEqual([{ lotId, priceCents: 500, dueAt, state: "open" }]);
    await refused(decline("ada", lotId), "BINDING");
    await refused(decline("eva", lotId), "NOT_OFFERED");
    await refused(pay("eva", lotId), "NOT_OFFERED");
    await passUntil(dueAt - 1);
    expect(await newestOffer("ada")).toMatchObject({ state: "open" });
    await passUntil(dueAt + 1);
    expect(await newestOffer("ada")).toMatchObject({ state: "lapsed" });
    await refused(pay("ada", lotId), "NOT_OFFERED");
    await refused(decline("ada", lotId), "NOT_OFFERED");
    expect(await newestOffer("eva")).toEqual({ lotId, priceCents: 410, dueAt: dueAt + DAY, state: "open" });
    await passUntil(dueAt + DAY - 1);
    expect(await newestOffer("eva")).toMatchObject({ state: "open" });
    await passUntil(dueAt + DAY + 1);
    expect(await newestOffer("ben")).toEqual({ lotId, priceCents: 310, dueAt: dueAt + 2 * DAY, state: "open" });
    await passUntil(dueAt + DAY + HOUR);
    await decline("ben", lotId);
    expect(await newestOffer("ben")).toMatchObject({ state: "declined" });
    const next = dueAt + 2 * DAY + HOUR;
    expect(await newestOffer("cem")).toEqual({ lotId, priceCents: 260, dueAt: next, state: "open" });
    await passUntil(next - 1);
    expect(await newestOffer("cem")).toMatchObject({ state: "open" });
    expect(await get(lotId)).toMatchObject({ state: "offered", leader: "ada", priceCents: 500 });
    await pay("cem", lotId);
    expect(JSON.parse(calls[0].body)).toEqual({ lot: lotId, member: "cem", cents: 260 });
    expect(await newestOffer("cem")).toMatchObject({ state: "paid" });
    expect(await stateOf(lotId)).toBe("sold");
    await pass(5 * DAY);
    expect(await stateOf(lotId)).toBe("sold");
    expect(await as("dan").query(api.offers.mine, {})).toEqual([]);
    expect(calls.length).toBe(1);
  });

  test("need the reserve", async () => {
    const bids: [string, number][] = [["ada", 250], ["ben", 300], ["cem", 400], ["dan", 450]];
    const { lotId, dueAt } = await sold(bids, { reserveCents: 300 });
    expect(await newestOffer("dan")).toMatchObject({ priceCents: 410 });
    await passUntil(dueAt + 1);
    expect(await newestOffer("cem")).toMatchObject({ priceCents: 310 });
    await passUntil(dueAt + DAY + 1);
    expect(await newestOffer("ben")).toMatchObject({ priceCents: 300 });
    await passUntil(dueAt + 2 * DAY + 1);
    expect(await as("ada").query(api.offers.mine, {})).toEqual([]);
    expect(await stateOf(lotId)).toBe("open");
  });

  test("are not made if the reserve is not met", async () => {
    const lotId = await putUp({ reserveCents: 300 });
    await bid("ada", lotId, 299);
    await passUntil(END + 1);
    expect(await stateOf(lotId)).toBe("unsold");
    expect(await as("ada").query(api.offers.mine, {})).toEqual([]);
  });
});

describe("again", () => {
  test("once, for the time that was planned, as if it were new", async () => {
    const lotId = await putUp({ endsAt: START + 10 * DAY, reserveCents: 200, buyNowCents: 900 });
    await passUntil(START + 10 * DAY - 1);
    for (const [index, member] of ["ada", "ben", "ada", "ben"].entries()) {
      await bid(member, lotId, (index + 1) * 100);
      await passUntil(START + 10 * DAY + Math.min(index + 1, 3) * 5 * MINUTE - 1);
    }
    const firstEnd = START + 10 * DAY + 15 * MINUTE;
    await passUntil(firstEnd + 1);
    await passUntil(firstEnd + 2 * DAY + 1);
    await passUntil(firstEnd + 3 * DAY + 1);
    const end = firstEnd + 13 * DAY;
    expect(await get(lotId, "ada")).toEqual({
      title: "Chair",
      state: "open",
      endsAt: end,
      bids: 0,
      leader: null,
      priceCents: 100,
      reserveMet: false,
      maxCents: null,
    });
    expect(await history(lotId)).toEqual([]);
    expect((await openLots(1)).map((lot) => lot.lotId)).toEqual([lotId]);
    await passUntil(end - 1);
    expect(await bid("ben", lotId, 150)).toEqual({ leads: true, priceCents: 100, endsAt: end + 5 * MINUTE });
    await pass(MINUTE);
    expect(await bid("ada", lotId, 220)).toEqual({ leads: true, priceCents: 200, endsAt: end + 10 * MINUTE });
    expect(await bid("ben", lotId, 250)).toEqual({ leads: true, priceCents: 230, endsAt: end + 10 * MINUTE });
    await passUntil(end + 6 * MINUTE);
    expect(await bid("cem", lotId, 240)).toEqual({ leads: false, priceCents: 250, endsAt: end + 15 * MINUTE });
    const dueAt = end + 15 * MINUTE + 2 * DAY;
    await passUntil(end + 15 * MINUTE + 1);
    expect(await newestOffer("ben")).toEqual({ lotId, priceCents: 250, dueAt, state: "open" });
    await refused(decline("ben", lotId), "BINDING");
    await passUntil(dueAt + 1);
    expect(await newestOffer("cem")).toEqual({ lotId, priceCents: 230, dueAt: dueAt + DAY, state: "open" });
    await decline("cem", lotId);
    expect(await newestOffer("ada")).toMatchObject({ priceCents: 200, state: "open" });
    await decline("ada", lotId);
    expect(await stateOf(lotId)).toBe("closed");
    expect((await as("ada").query(api.offers.mine, {})).map(({ state }) => state)).toEqual(["declined", "lapsed"]);
    await pass(40 * DAY);
    expect(await stateOf(lotId)).toBe("closed");
    await refused(bid("zoe", lotId, 500), "ENDED");
  });

  test("it can be withdrawn", async () => {
    const { lotId, dueAt } = await sold();
    await passUntil(dueAt + 1);
    expect(await get(lotId)).toMatchObject({ state: "open", endsAt: dueAt + DAY });
    await withdraw("sam", lotId);
    expect(await stateOf(lotId)).toBe("withdrawn");
  });

  test("it can be unsold", async () => {
    const { lotId, dueAt } = await sold();
    await passUntil(dueAt + DAY - 1);
    expect(await stateOf(lotId)).toBe("open");
    await pass(2);
    expect(await stateOf(lotId)).toBe("unsold");
  });

  test("nothing is left of what ended early", async () => {
    const lotId = await putUp({ endsAt: START + 10 * DAY, buyNowCents: 500 });
    await bid("ada", lotId, 300);
    await buy("ada", lotId);
    await passUntil(START + 2 * DAY + 1);
    expect(await get(lotId)).toMatchObject({ state: "open", bids: 0, endsAt: START + 12 * DAY });
    await bid("ben", lotId, 100);
    await passUntil(START + 10 * DAY + 1);
    expect(await stateOf(lotId)).toBe("open");
    await buy("cem", lotId);
    expect(await stateOf(lotId)).toBe("offered");
  });
});

describe("blocked", () => {
  test("are those of whom two offers have lapsed in 30 days", async () => {
    const one = await putUp();
    await bid("ada", one, 100);
    await passUntil(START + 3 * DAY + 1);
    const lotId = await putUp({ reserveCents: 300, buyNowCents: 500, endsAt: Date.now() + 13 * DAY });
    await bid("ada", lotId, 100);
    const lapsedAt = await blockAda();
    await refused(bid("ada", lotId, 1), "BLOCKED");
    await refused(buy("ada", lotId), "BLOCKED");
    await bid("ben", lotId, 250);
    await refused(buy("ada", await putUp()), "BLOCKED");
    await passUntil(lapsedAt + 20 * DAY);
    const other = await putUp({ endsAt: lapsedAt + 30 * DAY + HOUR, buyNowCents: 200 });
    await passUntil(lapsedAt + 30 * DAY - 1);
    await refused(bid("ada", other, 100), "BLOCKED");
    await pass(1);
    await bid("ada", other, 100);
    await buy("ada", other);
  });

  test("still bid with what they have bid, and get offers", async () => {
    const lots = [await putUp({ endsAt: START + 5 * DAY }), await putUp({ endsAt: START + 5 * DAY })];
    for (const lotId of lots) await bid("ada", lotId, 300);
    await bid("ben", lots[0], 500);
    await blockAda();
    await passUntil(START + 5 * DAY + 1);
    expect((await get(lots[0])).priceCents).toBe(310);
    expect(await newestOffer("ada")).toMatchObject({ lotId: lots[1], priceCents: 100 });
    await passUntil(START + 7 * DAY + 1);
    expect(await newestOffer("ada")).toMatchObject({ lotId: lots[0], priceCents: 100, state: "open" });
  });

  test("not because they declined or paid late", async () => {
    const lots = [await putUp(), await putUp(), await putUp()];
    for (const lotId of lots) {
      await bid("ada", lotId, 300);
      await bid("ben", lotId, 500);
    }
    await passUntil(END + 1);
    await passUntil(END + 2 * DAY + 1);
    for (const lotId of lots) await decline("ada", lotId);
    const lotId = await putUp();
    await bid("ada", lotId, 100);
    await refused(bid("ben", lotId, 500), "BLOCKED");
  });
});

describe("payments", () => {
  test("are calls with all that is needed", async () => {
    const { lotId } = await sold([["ada", 500], ["ben", 200]]);
    vi.stubEnv("PAYMENTS_KEY", "another-key");
    await pay("ada", lotId);
    expect(calls.length).toBe(1);
    const [{ url, method, headers, body }] = calls;
    expect([url, method]).toEqual(["https://payments.example/charges", "POST"]);
    expect(JSON.parse(body)).toEqual({ lot: lotId, member: "ada", cents: 210 });
    expect(headers.get("Authorization")).toBe("Bearer another-key");
    expect(await stateOf(lotId)).toBe("sold");
    await refused(pay("ada", lotId), "NOT_OFFERED");
    await pass(5 * DAY);
    expect(calls.length).toBe(1);
    expect(await stateOf(lotId)).toBe("sold");
  });

  test.each([299, 204])("%i is a success", async (status) => {
    const { lotId } = await sold();
    reply = () => status;
    await pay("ada", lotId);
    expect(await stateOf(lotId)).toBe("sold");
  });

  test("402 is final, but there can be another payment", async () => {
    const { lotId } = await sold();
    reply = () => 402;
    await pay("ada", lotId);
    await pass(HOUR);
    expect(calls.length).toBe(1);
    expect(await newestOffer("ada")).toMatchObject({ state: "open" });
    reply = () => 200;
    await pay("ada", lotId);
    expect(await stateOf(lotId)).toBe("sold");
    const keys = calls.map(({ headers }) => headers.get("Idempotency-Key"));
    expect(new Set(keys).size).toBe(2);
    expect(keys).not.toContain(null);
  });

  test.each([300, 404, 429, 500, new TypeError("nobody there")])("%s is tried three times", async (failed) => {
    const { lotId, dueAt } = await sold();
    reply = () => failed;
    await pay("ada", lotId);
    expect(calls.length).toBe(1);
    await pass(MINUTE - 10);
    expect(calls.length).toBe(1);
    await refused(pay("ada", lotId), "PENDING");
    await refused(decline("ada", lotId), "PENDING");
    await pass(11);
    expect(calls.length).toBe(2);
    await passUntil(calls[1].at + 5 * MINUTE - 10);
    expect(calls.length).toBe(2);
    await pass(11);
    expect(calls.length).toBe(3);
    expect(await stateOf(lotId)).toBe("offered");
    await pass(HOUR);
    expect(calls.length).toBe(3);
    expect(new Set(calls.map(({ headers }) => headers.get("Idempotency-Key"))).size).toBe(1);
    expect(new Set(calls.map(({ body }) => body)).size).toBe(1);
    reply = () => 201;
    await pay("ada", lotId);
    expect(calls.length).toBe(4);
    expect(calls[3].headers.get("Idempotency-Key")).not.toBe(calls[0].headers.get("Idempotency-Key"));
    await passUntil(dueAt + 1);
    expect(await stateOf(lotId)).toBe("sold");
  });

  test("hold up the end of an offer", async () => {
    const { lotId, dueAt } = await sold([["ada", 500], ["ben", 200]]);
    reply = () => 500;
    await passUntil(dueAt - 2 * MINUTE);
    await pay("ada", lotId);
    await passUntil(dueAt - 30 * SECOND);
    expect(calls.length).toBe(2);
    await passUntil(dueAt + 1);
    expect(await newestOffer("ada")).toMatchObject({ state: "open" });
    await pass(MINUTE);
    await refused(pay("ada", lotId), "PENDING");
    await refused(decline("ada", lotId), "PENDING");
    await passUntil(calls[1].at + 5 * MINUTE + 1);
    expect(calls.length).toBe(3);
    expect(await newestOffer("ada")).toMatchObject({ state: "lapsed" });
    const offer = await newestOffer("ben");
    expect(offer).toMatchObject({ priceCents: 100, state: "open" });
    expect(Math.abs((offer?.dueAt ?? 0) - calls[2].at - DAY)).toBeLessThan(SECOND);
    await refused(pay("ada", lotId), "NOT_OFFERED");
  });

  test("can succeed after the time of the offer", async () => {
    const { lotId, dueAt } = await sold([["ada", 500], ["ben", 200]]);
    reply = () => 500;
    await passUntil(dueAt - 10 * SECOND);
    await pay("ada", lotId);
    reply = () => 200;
    await passUntil(dueAt + 1);
    expect(await stateOf(lotId)).toBe("offered");
    await pass(MINUTE);
    expect(await stateOf(lotId)).toBe("sold");
    expect(await newestOffer("ada")).toMatchObject({ state: "paid" });
    await pass(DAY);
    expect(await newestOffer("ben")).toBeUndefined();
  });
});

describe("late answers", () => {
  async function unansweredCall() {
    const lot = await sold([["ada", 500], ["ben", 200]]);
    reply = () => "never";
    await pay("ada", lot.lotId);
    expect(calls.length).toBe(1);
    return lot;
  }

  test("no answer is a failed call, after 30 seconds", async () => {
    const { lotId } = await unansweredCall();
    const [{ at }] = calls;
    await passUntil(at + MINUTE);
    expect(calls.length).toBe(1);
    await passUntil(at + 90 * SECOND - 10);
    expect(calls.length).toBe(1);
    reply = () => 500;
    await passUntil(at + 90 * SECOND + 10);
    expect(calls.length).toBe(2);
    await passUntil(calls[1].at + 5 * MINUTE + 10);
    expect(calls.length).toBe(3);
    await pass(HOUR);
    expect(calls.length).toBe(3);
    await pay("ada", lotId);
    expect(calls.length).toBe(4);
  });

  test("an answer after 29 seconds is in time", async () => {
    const { lotId } = await unansweredCall();
    await pass(29 * SECOND);
    await answer(0, 500);
    await pass(59 * SECOND);
    expect(calls.length).toBe(1);
    reply = () => 500;
    await pass(2 * SECOND);
    expect(calls.length).toBe(2);
    expect(await stateOf(lotId)).toBe("offered");
  });

  test("success counts, and ends the calls", async () => {
    const { lotId } = await unansweredCall();
    await pass(45 * SECOND);
    await answer(0, 200);
    expect(await stateOf(lotId)).toBe("sold");
    reply = () => 200;
    await pass(HOUR);
    expect(calls.length).toBe(1);
    expect(await newestOffer("ada")).toMatchObject({ state: "paid" });
  });

  test.each([402, 500])("%i does not count", async (status) => {
    const { lotId } = await unansweredCall();
    await pass(45 * SECOND);
    await answer(0, status);
    await refused(pay("ada", lotId), "PENDING");
    reply = () => 500;
    await pass(46 * SECOND);
    expect(calls.length).toBe(2);
    await pass(15 * SECOND);
    expect(calls.length).toBe(2);
    await passUntil(calls[1].at + 5 * MINUTE + 10);
    expect(calls.length).toBe(3);
    await pass(HOUR);
    expect(calls.length).toBe(3);
  });

  test("success counts after the payment has failed, while the next is pending", async () => {
    const { lotId } = await unansweredCall();
    reply = () => 402;
    await pass(2 * MINUTE);
    expect(calls.length).toBe(2);
    await answer(0, 200);
    expect(await stateOf(lotId)).toBe("sold");

    const second = await unansweredSecond();
    await answer(second.index, 200);
    expect(await stateOf(second.lotId)).toBe("sold");
    const { length } = calls;
    await pass(HOUR);
    expect(calls.length).toBe(length);
  });

  /** The first payment has failed without an answer; the second waits for its second call. */
  async function unansweredSecond() {
    const { lotId } = await sold();
    const index = calls.length;
    reply = () => "never";
    await pay("ada", lotId);
    reply = () => 402;
    await pass(2 * MINUTE);
    reply = () => 500;
    await pay("ada", lotId);
    expect(calls.length).toBe(index + 3);
    return { lotId, index };
  }

  test("success does not count after the offer has ended", async () => {
    const { lotId, dueAt } = await unansweredCall();
    reply = () => 402;
    await pass(2 * MINUTE);
    await passUntil(dueAt + 1);
    expect(await newestOffer("ben")).toMatchObject({ state: "open" });
    await answer(0, 200);
    expect(await stateOf(lotId)).toBe("offered");
    expect(await newestOffer("ada")).toMatchObject({ state: "lapsed" });
    expect(await newestOffer("ben")).toMatchObject({ state: "open" });
    reply = () => 200;
    await pay("ben", lotId);
    expect(await stateOf(lotId)).toBe("sold");
  });

  test("no answer at all, after the time of the offer", async () => {
    const { lotId, dueAt } = await sold([["ada", 500], ["ben", 200]]);
    await passUntil(dueAt - SECOND);
    reply = () => "never";
    await pay("ada", lotId);
    for (const seconds of [31, 61, 31, 301]) await pass(seconds * SECOND);
    expect(calls.length).toBe(3);
    expect(await newestOffer("ada")).toMatchObject({ state: "open" });
    await pass(31 * SECOND);
    expect(await newestOffer("ada")).toMatchObject({ state: "lapsed" });
    expect(await newestOffer("ben")).toMatchObject({ state: "open" });
  });
});

describe("watching", () => {
  test("is a list of one's own, the newest first", async () => {
    const [a, b, c] = [await putUp({ title: "A" }), await putUp({ title: "B" }), await putUp({ title: "C" })];
    for (const lotId of [b, a]) await as("ada").mutation(api.watching.add, { lotId });
    expect(await watched("ada")).toEqual(["A", "B"]);
    await bid("ada", c, 100);
    await as("ada").mutation(api.watching.add, { lotId: b });
    await bid("ada", a, 100);
    expect(await watched("ada")).toEqual(["C", "A", "B"]);
    for (const lotId of [a, a]) await as("ada").mutation(api.watching.remove, { lotId });
    expect(await watched("ada")).toEqual(["C", "B"]);
    expect(await watched("ben")).toEqual([]);
    await bid("ada", a, 200);
    await withdraw("sam", b);
    expect(await as("ada").query(api.watching.list, {})).toEqual([
      { lotId: a, title: "A", state: "open" },
      { lotId: c, title: "C", state: "open" },
      { lotId: b, title: "B", state: "withdrawn" },
    ]);
  });
});
