import { convexTest } from "convex-test";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { api } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import schema from "./schema";
import { modules } from "./test.setup";

const HOUR = 60 * 60 * 1000;
const KEY = "round-key";
const PAYMENTS = "https://payments.example/collect";
const MAILS = "https://mails.example/send";
const DAILY = [1, 1, 1, 1, 1, 1, 1];

type Answer = Response | Error | Promise<Response>;
type Payment = { invoice: string; attempt: number; customer: string; cents: number };
type Sent<Body> = Body & { at: string };
type Dairy = ReturnType<typeof setUp>;
type Customer = Dairy["ada"];

let dairy: Dairy;
let payments: Sent<Payment>[];
let mails: Sent<{ customer: string; kind: string; invoice: string }>[];
let answer: () => Answer;
let hanging: number;

const paid = () => Response.json({ status: "paid" });
const declined = () => Response.json({ status: "declined" });

function setUp() {
  const t = convexTest(schema, modules);
  const customer = (subject: string) => t.withIdentity({ subject });
  return { t, staff: t.withIdentity({ subject: "boss", role: "staff" }), ada: customer("ada"), ben: customer("ben") };
}

function now() {
  return new Date().toISOString();
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubEnv("ROUND_KEY", KEY);
  vi.stubEnv("PAYMENTS_URL", PAYMENTS);
  vi.stubEnv("MAIL_URL", MAILS);
  payments = [];
  mails = [];
  hanging = 0;
  answer = paid;
  vi.stubGlobal("fetch", async (input: string | URL | Request, init?: RequestInit) => {
    const request = new Request(input, init);
    expect(request.method).toBe("POST");
    const body = { ...((await request.json()) as object), at: now() };
    if (request.url === MAILS) {
      mails.push(body as (typeof mails)[number]);
      throw new Error("the mail server is never there");
    }
    expect(request.url).toBe(PAYMENTS);
    payments.push(body as (typeof payments)[number]);
    const reply = answer();
    if (reply instanceof Error) throw reply;
    return await reply;
  });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

/** Answers of which the tests decide when they come. */
function late() {
  let give = async (_response: Response) => {};
  const promise = new Promise<Response>((resolve) => {
    give = async (response) => {
      hanging -= 1;
      resolve(response);
      await settle();
    };
  });
  hanging += 1;
  return { promise, give };
}

async function turns() {
  for (let turn = 0; turn < 20; turn += 1) await vi.advanceTimersByTimeAsync(0);
}

/** Everything that is due now happens, and what it leads to. */
async function settle() {
  for (let round = 0; round < 5; round += 1) {
    vi.advanceTimersByTime(0);
    const finished = dairy.t.finishInProgressScheduledFunctions();
    await (hanging === 0 ? finished : Promise.race([finished, turns()]));
  }
}

/** From one 06:00 or 18:00 to the next, until it is that time. */
async function until(time: string) {
  const end = Date.parse(time);
  expect(end).toBeGreaterThanOrEqual(Date.now());
  while (Date.now() < end) {
    const next = (Math.floor((Date.now() - 6 * HOUR) / (12 * HOUR)) + 1) * 12 * HOUR + 6 * HOUR;
    vi.advanceTimersByTime(Math.min(next, end) - Date.now());
    await settle();
  }
}

/** A dairy that sells milk and bread. */
async function open(time: string) {
  vi.setSystemTime(new Date(time));
  dairy = setUp();
  const milk = await dairy.staff.mutation(api.products.add, { name: "milk", cents: 100 });
  const bread = await dairy.staff.mutation(api.products.add, { name: "bread", cents: 300 });
  return { milk, bread };
}

/** Orders one bottle a day. */
async function subscribe(productId: Id<"products">, customer: Customer = dairy.ada, quantities = DAILY) {
  await customer.mutation(api.plans.set, { productId, quantities });
}

async function refused(call: Promise<unknown>, code: string) {
  const data: unknown = await call.then(
    () => "no error",
    (error: unknown) => (error as { data?: unknown }).data,
  );
  expect(data).toEqual({ code });
}

/** What somebody gets, such as `2 milk`. */
async function round(date: string, customer = "ada") {
  const { stops } = await dairy.staff.query(api.rounds.get, { date });
  const lines = stops.find((stop) => stop.customer === customer)?.lines ?? [];
  return lines.map(({ product, quantity }) => `${String(quantity)} ${product}`).join(", ");
}

async function missed(report: string, date: string, quantity = 1, more: Record<string, unknown> = {}, key = KEY) {
  const response = await dairy.t.fetch("/missed", {
    method: "POST",
    headers: { Authorization: `Bearer ${key}` },
    body: JSON.stringify({ report, customer: "ada", product: "milk", date, quantity, ...more }),
  });
  const text = await response.text();
  return response.ok ? [response.status, (JSON.parse(text) as { cents: number }).cents] : response.status;
}

async function invoices(customer: Customer = dairy.ada) {
  return await customer.query(api.invoices.mine, {});
}

async function amounts() {
  const found = await invoices();
  return found.map(({ month, cents, creditCents, dueCents, status }) => [month, cents, creditCents, dueCents, status]);
}

/** Status and attempts of the newest invoice. */
async function state() {
  const [{ status, attempts }] = await invoices();
  return [status, attempts];
}

async function pay(invoiceId: Id<"invoices">) {
  await dairy.ada.mutation(api.invoices.pay, { invoiceId });
  await settle();
}

async function account() {
  return await dairy.ada.query(api.accounts.mine, {});
}

/** Ada gets milk on the last days of May, and her invoice on the first of June. */
async function billed() {
  const { milk, bread } = await open("2026-05-29T08:00:00Z");
  await subscribe(milk);
  await until("2026-06-01T06:00:00Z");
  const [{ invoiceId }] = await invoices();
  return { milk, bread, invoiceId };
}

describe("callers", () => {
  test("must be logged in", async () => {
    const { milk, invoiceId } = await billed();
    const { t } = dairy;
    const date = "2026-02-30";
    for (const call of [
      t.mutation(api.products.add, { name: "", cents: 0 }),
      t.mutation(api.products.announce, { productId: milk, cents: 0, from: date }),
      t.mutation(api.plans.set, { productId: milk, quantities: [] }),
      t.mutation(api.plans.change, { productId: milk, date, quantity: -1 }),
      t.mutation(api.plans.pause, { from: date, to: date }),
      t.mutation(api.plans.endPause, { date }),
      t.mutation(api.plans.cancel, { date }),
      t.query(api.rounds.get, { date }),
      t.mutation(api.invoices.pay, { invoiceId }),
      t.query(api.invoices.mine, {}),
      t.query(api.accounts.mine, {}),
    ]) {
      await refused(call, "UNAUTHENTICATED");
    }
    expect(await t.query(api.products.list, { date: "2026-06-01" })).toHaveLength(2);
  });

  test("cannot do what staff do, nor pay for others", async () => {
    const { milk, invoiceId } = await billed();
    const { ada, ben } = dairy;
    await refused(ada.mutation(api.products.add, { name: "", cents: 1 }), "FORBIDDEN");
    await refused(ada.mutation(api.products.announce, { productId: milk, cents: 1, from: "" }), "FORBIDDEN");
    await refused(ada.query(api.rounds.get, { date: "" }), "FORBIDDEN");
    await refused(ben.mutation(api.invoices.pay, { invoiceId }), "NOT_FOUND");
    await subscribe(milk, ben);
    await refused(ben.mutation(api.invoices.pay, { invoiceId }), "NOT_FOUND");
    expect(await invoices(ben)).toEqual([]);
  });
});

describe("products", () => {
  test("have names and prices", async () => {
    const { milk } = await open("2026-05-04T08:00:00Z");
    const { staff } = dairy;
    for (const cents of [0, -1, 1.5]) {
      await refused(staff.mutation(api.products.add, { name: "eggs", cents }), "INVALID");
      await refused(staff.mutation(api.products.announce, { productId: milk, cents, from: "2026-05-10" }), "INVALID");
    }
    await refused(staff.mutation(api.products.add, { name: "", cents: 1 }), "INVALID");
    await refused(staff.mutation(api.products.add, { name: "milk", cents: 1 }), "NAME_TAKEN");
    for (const date of ["2026-02-29", "2026-04-31", "2026-13-01", "2026-5-10", "tomorrow", ""]) {
      await refused(staff.mutation(api.products.announce, { productId: milk, cents: 1, from: date }), "INVALID");
      await refused(staff.query(api.products.list, { date }), "INVALID");
    }
    const names = (await dairy.t.query(api.products.list, { date: "2028-02-29" })).map(({ name }) => name);
    expect(names).toEqual(["bread", "milk"]);
  });

  test("cost what was announced for the date", async () => {
    const { milk } = await open("2026-05-04T08:00:00Z");
    const announce = async (from: string, cents: number) => {
      await dairy.staff.mutation(api.products.announce, { productId: milk, cents, from });
    };
    const prices = async (...days: string[]) => {
      const lists = days.map(async (day) => await dairy.t.query(api.products.list, { date: `2026-05-${day}` }));
      return (await Promise.all(lists)).map((list) => list.find(({ productId }) => productId === milk)?.cents);
    };
    await announce("2026-05-20", 120);
    await announce("2026-05-10", 110);
    expect(await prices("04", "09", "10", "19", "20", "31")).toEqual([100, 100, 110, 110, 120, 120]);
    await announce("2026-05-10", 105);
    await announce("2026-05-20", 90);
    expect(await prices("09", "10", "19", "20")).toEqual([100, 105, 105, 90]);
    await refused(announce("2026-05-04", 1), "CLOSED");
    await until("2026-05-04T17:59:59.999Z");
    await announce("2026-05-05", 101);
    await until("2026-05-04T18:00:00Z");
    await refused(announce("2026-05-05", 1), "CLOSED");
    expect(await prices("05")).toEqual([101]);
  });

  test("are paid at the price of the date of the delivery", async () => {
    const { milk } = await open("2026-05-27T08:00:00Z");
    await subscribe(milk);
    for (const [from, cents] of [
      ["2026-05-29", 200],
      ["2026-05-30", 150],
      ["2026-06-01", 900],
    ] as const) {
      await dairy.staff.mutation(api.products.announce, { productId: milk, cents, from });
    }
    await until("2026-06-01T06:00:00Z");
    expect(await amounts()).toEqual([["2026-05", 100 + 200 + 150 + 150, 0, 600, "paid"]]);
    expect(await missed("a", "2026-05-28")).toEqual([201, 100]);
    expect(await missed("b", "2026-05-29")).toEqual([201, 200]);
  });
});

describe("plans", () => {
  test("count from the first date that is not closed", async () => {
    const { milk, bread } = await open("2026-05-04T08:00:00Z");
    await subscribe(milk, dairy.ada, [1, 2, 3, 4, 5, 6, 0]);
    const days = ["04", "05", "06", "07", "08", "09", "10", "11"];
    const week = async () => await Promise.all(days.map(async (day) => await round(`2026-05-${day}`)));
    expect(await week()).toEqual(["", "2 milk", "3 milk", "4 milk", "5 milk", "6 milk", "", "1 milk"]);
    await until("2026-05-04T17:59:59.999Z");
    await subscribe(bread);
    expect(await round("2026-05-05")).toBe("1 bread, 2 milk");
    await until("2026-05-04T18:00:00Z");
    await subscribe(bread, dairy.ada, [9, 9, 9, 99, 0, 0, 0]);
    const both = ["1 bread, 2 milk", "9 bread, 3 milk", "99 bread, 4 milk"];
    expect(await week()).toEqual(["", ...both, "5 milk", "6 milk", "", "9 bread, 1 milk"]);
    await until("2026-05-06T12:00:00Z");
    await subscribe(milk, dairy.ada, [0, 0, 0, 0, 0, 0, 0]);
    expect(await week()).toEqual(["", "1 bread, 2 milk", "9 bread, 3 milk", "99 bread", "", "", "", "9 bread"]);
    await subscribe(milk);
    expect(await round("2026-05-07")).toBe("99 bread, 1 milk");
  });

  test("have seven quantities", async () => {
    const { milk } = await open("2026-05-04T08:00:00Z");
    const six = [1, 1, 1, 1, 1, 1];
    for (const quantities of [[], six, [...DAILY, 1], [...six, 100], [-1, ...six], [0.5, ...six]]) {
      await refused(subscribe(milk, dairy.ada, quantities), "INVALID");
    }
    for (const quantity of [-1, 1.5, 100]) {
      await refused(dairy.ada.mutation(api.plans.change, { productId: milk, date: "2026-05-20", quantity }), "INVALID");
    }
    await dairy.ada.mutation(api.plans.change, { productId: milk, date: "2026-05-20", quantity: 99 });
    expect(await round("2026-05-20")).toBe("99 milk");
  });

  test("are changed for a date", async () => {
    const { milk, bread } = await open("2026-05-04T08:00:00Z");
    const change = async (date: string, quantity: number | null) => {
      await dairy.ada.mutation(api.plans.change, { productId: milk, date, quantity });
    };
    await subscribe(milk);
    await subscribe(bread);
    await change("2026-05-06", 5);
    await change("2026-05-07", 0);
    await change("2026-05-08", 0);
    await change("2026-05-08", null);
    await change("2026-05-09", null);
    await subscribe(milk, dairy.ada, [2, 2, 2, 2, 2, 2, 2]);
    expect(await round("2026-05-05")).toBe("1 bread, 2 milk");
    expect(await round("2026-05-06")).toBe("1 bread, 5 milk");
    expect(await round("2026-05-07")).toBe("1 bread");
    expect(await round("2026-05-08")).toBe("1 bread, 2 milk");
    expect(await round("2026-05-09")).toBe("1 bread, 2 milk");
    await refused(change("2026-05-32", 1), "INVALID");
    await refused(change("2026-05-04", 1), "CLOSED");
    await until("2026-05-05T17:59:59.999Z");
    await change("2026-05-06", 6);
    await until("2026-05-05T18:00:00Z");
    await refused(change("2026-05-06", 7), "CLOSED");
    await refused(change("2026-05-06", null), "CLOSED");
    expect(await round("2026-05-06")).toBe("1 bread, 6 milk");
    await until("2026-05-09T12:00:00Z");
    expect(await round("2026-05-06")).toBe("1 bread, 6 milk");
    expect(await round("2026-05-07")).toBe("1 bread");
  });
});

describe("pauses", () => {
  const pause = async (from: string, to: string) => await dairy.ada.mutation(api.plans.pause, { from, to });
  const end = async (date: string) => await dairy.ada.mutation(api.plans.endPause, { date });

  test("include both dates, whatever was changed", async () => {
    const { milk } = await open("2026-02-20T08:00:00Z");
    await subscribe(milk);
    await dairy.ada.mutation(api.plans.change, { productId: milk, date: "2026-02-28", quantity: 7 });
    await pause("2026-02-27", "2026-03-01");
    await dairy.ada.mutation(api.plans.change, { productId: milk, date: "2026-03-01", quantity: 8 });
    const days = ["2026-02-26", "2026-02-27", "2026-02-28", "2026-03-01", "2026-03-02"];
    const rounds = async () => await Promise.all(days.map(async (day) => await round(day)));
    expect(await rounds()).toEqual(["1 milk", "", "", "", "1 milk"]);
    await end("2026-02-28");
    expect(await rounds()).toEqual(["1 milk", "", "7 milk", "8 milk", "1 milk"]);
    await refused(end("2026-02-28"), "NOT_PAUSED");
    await end("2026-02-27");
    expect(await rounds()).toEqual(["1 milk", "1 milk", "7 milk", "8 milk", "1 milk"]);
    await pause("2026-02-28", "2026-02-28");
    await until("2026-03-02T06:00:00Z");
    expect(await rounds()).toEqual(["1 milk", "1 milk", "", "8 milk", "1 milk"]);
    expect(await amounts()).toEqual([["2026-02", 700, 0, 700, "paid"]]);
  });

  test("do not overlap, and have at most 28 dates", async () => {
    await open("2026-02-03T08:00:00Z");
    await refused(pause("2026-02-10", "2026-02-09"), "INVALID");
    await refused(pause("2026-02-10", "2026-02-29"), "INVALID");
    await refused(pause("2026-01-10", "2026-02-30"), "INVALID");
    await refused(pause("2026-02-03", "2026-02-05"), "CLOSED");
    await refused(pause("2026-01-01", "2026-03-05"), "CLOSED");
    await refused(pause("2026-02-10", "2026-03-10"), "TOO_LONG");
    await pause("2026-02-10", "2026-03-09");
    await refused(pause("2026-03-09", "2026-03-12"), "OVERLAP");
    await refused(pause("2026-02-06", "2026-02-10"), "OVERLAP");
    await refused(pause("2026-02-11", "2026-02-11"), "OVERLAP");
    await refused(pause("2026-02-06", "2026-03-20"), "TOO_LONG");
    await pause("2026-03-10", "2026-03-12");
    await pause("2026-02-07", "2026-02-09");
    await refused(pause("2026-03-06", "2026-03-16"), "OVERLAP");
    await pause("2026-03-20", "2026-03-21");
    await refused(pause("2026-03-19", "2026-03-22"), "OVERLAP");
    await end("2026-03-10");
    await pause("2026-03-10", "2026-03-19");
  });

  test("end before a date that is not closed", async () => {
    const { milk } = await open("2026-05-04T08:00:00Z");
    await subscribe(milk);
    await refused(end("2026-05-04"), "CLOSED");
    await refused(end("2026-05-08"), "NOT_PAUSED");
    await refused(end("2026-05-0"), "INVALID");
    await pause("2026-05-06", "2026-05-10");
    await until("2026-05-05T18:00:00Z");
    await refused(end("2026-05-06"), "CLOSED");
    await end("2026-05-07");
    expect(await round("2026-05-06")).toBe("");
    expect(await round("2026-05-07")).toBe("1 milk");
    await pause("2026-05-07", "2026-05-07");
    await until("2026-05-06T18:00:00Z");
    await refused(pause("2026-05-07", "2026-05-12"), "CLOSED");
    expect(await round("2026-05-07")).toBe("");
    expect(await round("2026-05-08")).toBe("1 milk");
  });
});

describe("rounds", () => {
  test("have stops and totals in order", async () => {
    const { milk, bread } = await open("2026-05-04T08:00:00Z");
    await subscribe(milk, dairy.ben);
    await subscribe(milk);
    await subscribe(bread, dairy.t.withIdentity({ subject: "cleo" }));
    await subscribe(bread, dairy.ben, [2, 2, 2, 2, 2, 0, 0]);
    const expected = {
      stops: [
        { customer: "ada", lines: [{ product: "milk", quantity: 1 }] },
        {
          customer: "ben",
          lines: [
            { product: "bread", quantity: 2 },
            { product: "milk", quantity: 1 },
          ],
        },
        { customer: "cleo", lines: [{ product: "bread", quantity: 1 }] },
      ],
      totals: [
        { product: "bread", quantity: 3 },
        { product: "milk", quantity: 2 },
      ],
    };
    expect(await dairy.staff.query(api.rounds.get, { date: "2026-05-05" })).toEqual(expected);
    await until("2026-05-04T18:00:00Z");
    expect(await dairy.staff.query(api.rounds.get, { date: "2026-05-05" })).toEqual(expected);
    await refused(dairy.staff.query(api.rounds.get, { date: "2026-05-32" }), "INVALID");
    expect(await dairy.staff.query(api.rounds.get, { date: "2026-05-04" })).toEqual({ stops: [], totals: [] });
  });
});

describe("missed deliveries", () => {
  test("are reported with the key and a valid body", async () => {
    const { milk } = await open("2026-05-04T08:00:00Z");
    await subscribe(milk);
    await until("2026-05-05T06:00:00Z");
    expect(await missed("a", "2026-05-05", 1, {}, "wrong")).toBe(401);
    expect(await missed("a", "2026-05-05", 1, { quantity: "x" }, "wrong")).toBe(401);
    for (const more of [
      { report: "" },
      { report: 1 },
      { customer: null },
      { product: 7 },
      { date: "2026-02-29" },
      { date: 5 },
      { quantity: 0 },
      { quantity: 0.5 },
      { quantity: "1" },
      { quantity: undefined },
    ]) {
      expect(await missed("a", "2026-05-05", 1, more)).toBe(400);
    }
    const headers = { Authorization: `Bearer ${KEY}` };
    expect((await dairy.t.fetch("/missed", { method: "POST", headers, body: "{" })).status).toBe(400);
    expect((await dairy.t.fetch("/missed", { method: "POST", body: "{" })).status).toBe(401);
    vi.stubEnv("ROUND_KEY", undefined);
    expect(await missed("a", "2026-05-05", 1, {}, "undefined")).toBe(401);
    expect(await account()).toEqual({ creditCents: 0, suspended: false, lastDate: null });
  });

  test("are credited once", async () => {
    const { milk, bread } = await open("2026-05-04T08:00:00Z");
    await subscribe(milk, dairy.ada, [3, 3, 3, 3, 3, 3, 3]);
    await subscribe(milk, dairy.ben);
    await until("2026-05-05T06:00:00Z");
    await subscribe(bread);
    expect(await missed("a", "2026-05-05", 1, { product: "bread" })).toBe(404);
    expect(await missed("a", "2026-05-05", 1, { customer: "zoe" })).toBe(404);
    expect(await missed("a", "2026-05-04")).toBe(404);
    expect(await missed("a", "2026-05-06")).toBe(404);
    expect(await missed("a", "2026-05-05", 4)).toBe(409);
    expect(await missed("a", "2026-05-05", 2)).toEqual([201, 200]);
    expect(await missed("a", "2026-05-05", 2)).toEqual([200, 200]);
    expect(await missed("a", "2026-01-01", 9, { customer: "ben", product: "x" })).toEqual([200, 200]);
    expect(await missed("b", "2026-05-05", 2)).toBe(409);
    expect((await account()).creditCents).toBe(200);
    expect(await missed("b", "2026-05-05", 1)).toEqual([201, 100]);
    expect(await missed("c", "2026-05-05", 1)).toBe(409);
    expect((await account()).creditCents).toBe(300);
    expect(await missed("c", "2026-05-05", 1, { customer: "ben" })).toEqual([201, 100]);
    expect(await round("2026-05-05")).toBe("3 milk");
  });

  test("are credited until the seventh day after the date is over", async () => {
    const { milk } = await open("2026-02-23T08:00:00Z");
    await subscribe(milk);
    await until("2026-03-04T23:59:59.999Z");
    expect(await missed("a", "2026-02-25", 9)).toBe(409);
    expect(await missed("a", "2026-02-25")).toEqual([201, 100]);
    expect(await missed("b", "2026-02-24", 9)).toBe(410);
    expect(await missed("c", "2026-02-26")).toEqual([201, 100]);
    await until("2026-03-06T00:00:00Z");
    expect(await missed("c", "2026-02-26")).toEqual([200, 100]);
    expect(await missed("d", "2026-02-26")).toBe(410);
    expect(await missed("d", "2026-02-27")).toEqual([201, 100]);
  });
});

describe("invoices", () => {
  test("are made for all days of a month, of whatever length", async () => {
    const { milk } = await open("2026-12-29T20:00:00Z");
    await subscribe(milk);
    await until("2027-01-01T05:59:59.999Z");
    expect(await invoices()).toEqual([]);
    await until("2027-01-01T06:00:00Z");
    expect(await amounts()).toEqual([["2026-12", 100, 0, 100, "paid"]]);
    await until("2027-03-01T06:00:00Z");
    expect(await amounts()).toEqual([
      ["2027-02", 2800, 0, 2800, "paid"],
      ["2027-01", 3100, 0, 3100, "paid"],
      ["2026-12", 100, 0, 100, "paid"],
    ]);
    const oldest = (await invoices()).reverse();
    expect(payments).toEqual(
      ["2027-01-01", "2027-02-01", "2027-03-01"].map((date, index) => {
        const { invoiceId, dueCents } = oldest[index];
        return { invoice: invoiceId, attempt: 1, customer: "ada", cents: dueCents, at: `${date}T06:00:00.000Z` };
      }),
    );
    expect(mails).toEqual([]);
  });

  test("are not made for months without deliveries, nor collected if nothing is due", async () => {
    const { milk } = await open("2026-05-29T08:00:00Z");
    await subscribe(milk, dairy.ada, [0, 0, 0, 0, 0, 9, 0]);
    await until("2026-05-30T10:00:00Z");
    await subscribe(milk, dairy.ada, [0, 0, 0, 0, 0, 0, 0]);
    await until("2026-06-01T10:00:00Z");
    expect(await amounts()).toEqual([["2026-05", 900, 0, 900, "paid"]]);
    expect(await missed("a", "2026-05-30", 8)).toEqual([201, 800]);
    await until("2026-06-29T10:00:00Z");
    await dairy.ada.mutation(api.plans.change, { productId: milk, date: "2026-07-01", quantity: 3 });
    await until("2026-07-30T10:00:00Z");
    await dairy.ada.mutation(api.plans.change, { productId: milk, date: "2026-08-01", quantity: 7 });
    await until("2026-08-01T06:00:00Z");
    expect(payments).toHaveLength(1);
    expect((await amounts())[0]).toEqual(["2026-07", 300, 300, 0, "paid"]);
    expect(await invoices()).toHaveLength(2);
    expect((await account()).creditCents).toBe(500);
    expect((await invoices())[0].attempts).toBe(0);
    const [{ invoiceId }] = await invoices();
    await refused(pay(invoiceId), "PAID");
    await until("2026-09-01T06:00:00Z");
    expect((await amounts())[0]).toEqual(["2026-08", 700, 500, 200, "paid"]);
    expect(payments.map(({ cents }) => cents)).toEqual([900, 200]);
    expect((await account()).creditCents).toBe(0);
  });
});

describe("cancellation", () => {
  const cancel = async (date: string) => await dairy.ada.mutation(api.plans.cancel, { date });

  test("ends the deliveries after a date, with a last invoice", async () => {
    const { milk } = await open("2026-05-30T08:00:00Z");
    await subscribe(milk);
    await refused(cancel("2026-06-31"), "INVALID");
    await refused(cancel("2026-05-29"), "CLOSED");
    await cancel("2026-06-02");
    expect(await account()).toEqual({ creditCents: 0, suspended: false, lastDate: "2026-06-02" });
    for (const [date, expected] of [
      ["2026-06-02", "1 milk"],
      ["2026-06-03", ""],
    ]) {
      expect(await round(date)).toBe(expected);
    }
    await until("2026-06-02T12:00:00Z");
    expect(await amounts()).toEqual([["2026-05", 100, 0, 100, "paid"]]);
    await until("2026-06-03T05:59:59.999Z");
    expect(await invoices()).toHaveLength(1);
    await until("2026-06-03T06:00:00Z");
    expect((await amounts())[0]).toEqual(["2026-06", 200, 0, 200, "paid"]);
    expect(await round("2026-06-02")).toBe("1 milk");
    expect(await round("2026-06-03")).toBe("");
    expect(await missed("a", "2026-06-02")).toEqual([201, 100]);
    await until("2026-07-02T06:00:00Z");
    expect(await invoices()).toHaveLength(2);
    expect(await account()).toEqual({ creditCents: 100, suspended: false, lastDate: "2026-06-02" });
  });

  test("at the end of a month leads to one invoice", async () => {
    const { milk } = await open("2026-05-30T08:00:00Z");
    await subscribe(milk);
    await until("2026-05-31T17:59:59.999Z");
    await cancel("2026-05-31");
    answer = declined;
    await until("2026-06-01T06:00:00Z");
    expect(await round("2026-06-01")).toBe("");
    expect(await amounts()).toEqual([["2026-05", 100, 0, 100, "open"]]);
    await until("2026-06-13T06:00:00Z");
    expect(payments.map(({ at }) => at.slice(0, 10))).toEqual(["2026-06-01", "2026-06-04", "2026-06-08"]);
    expect(await state()).toEqual(["overdue", 3]);
  });

  test("is possible for a date that is closed, if the next one is not", async () => {
    const { milk } = await open("2026-05-30T08:00:00Z");
    await subscribe(milk);
    await until("2026-05-31T18:00:00Z");
    await refused(cancel("2026-05-31"), "CLOSED");
    await cancel("2026-06-01");
    await until("2026-06-02T06:00:00Z");
    expect(await amounts()).toEqual([
      ["2026-06", 100, 0, 100, "paid"],
      ["2026-05", 100, 0, 100, "paid"],
    ]);
    expect(await round("2026-06-02")).toBe("");
  });

  test("is final", async () => {
    const { milk } = await open("2026-05-30T08:00:00Z");
    await subscribe(milk);
    await cancel("2026-06-10");
    const { ada } = dairy;
    const closed = "2026-05-30";
    await refused(subscribe(milk), "CANCELLED");
    await refused(ada.mutation(api.plans.change, { productId: milk, date: closed, quantity: 1 }), "CANCELLED");
    await refused(ada.mutation(api.plans.pause, { from: closed, to: closed }), "CANCELLED");
    await refused(ada.mutation(api.plans.endPause, { date: closed }), "CANCELLED");
    await refused(cancel("2026-05-01"), "CANCELLED");
    await refused(subscribe(milk, ada, []), "INVALID");
    await refused(ada.mutation(api.plans.change, { productId: milk, date: closed, quantity: 100 }), "INVALID");
    await refused(ada.mutation(api.plans.pause, { from: "2026-06-05", to: "2026-06-04" }), "INVALID");
    await refused(ada.mutation(api.plans.endPause, { date: "" }), "INVALID");
    await refused(cancel("2026-06-31"), "INVALID");
    expect(await round("2026-06-10")).toBe("1 milk");
  });
});

describe("payments", () => {
  test.each([
    ["declined", declined],
    ["pending", () => Response.json({ status: "pending" })],
    ["true", () => Response.json(true)],
    ["null", () => Response.json(null)],
    ["text", () => new Response("paid")],
    ["an error", () => new TypeError("no network")],
    ["202", () => Response.json({ status: "paid" }, { status: 202 })],
    ["500", () => Response.json({ status: "paid" }, { status: 500 })],
  ])("fail with %s and are attempted again", async (_name, failing) => {
    answer = failing;
    const { milk } = await open("2026-05-30T08:00:00Z");
    await subscribe(milk);
    await until("2026-06-01T06:00:00Z");
    expect(await state()).toEqual(["open", 1]);
    const [{ invoiceId }] = await invoices();
    await pay(invoiceId);
    expect(await state()).toEqual(["open", 2]);
    await until("2026-06-04T05:59:59.999Z");
    expect(payments).toHaveLength(2);
    answer = paid;
    await until("2026-06-04T06:00:00Z");
    expect(await state()).toEqual(["paid", 3]);
    await refused(pay(invoiceId), "PAID");
    await until("2026-06-14T06:00:00Z");
    expect(payments.map(({ attempt, cents, customer, invoice }) => [attempt, cents, customer, invoice])).toEqual(
      [1, 2, 3].map((attempt) => [attempt, 100, "ada", invoiceId]),
    );
    expect(mails).toEqual([]);
    expect(await account()).toEqual({ creditCents: 0, suspended: false, lastDate: null });
  });

  test("are attempted on given days, however often the customer tries", async () => {
    answer = declined;
    const { invoiceId } = await billed();
    for (const day of ["02", "03", "04", "05"]) {
      await until(`2026-06-${day}T10:00:00Z`);
      await pay(invoiceId);
    }
    await until("2026-06-30T10:00:00Z");
    const attempts = payments.map(({ at, attempt }) => `${at.slice(8, 13)} ${String(attempt)}`);
    expect(attempts).toEqual(["01T06 1", "02T10 2", "03T10 3", "04T06 4", "04T10 5", "05T10 6", "08T06 7"]);
    expect(await state()).toEqual(["overdue", 7]);
    expect(mails.map(({ at, kind }) => `${at} ${kind}`)).toEqual([
      "2026-06-06T06:00:00.000Z reminder",
      "2026-06-10T06:00:00.000Z reminder",
      "2026-06-13T06:00:00.000Z suspended",
    ]);
    for (const { customer, invoice } of mails) expect([customer, invoice]).toEqual(["ada", invoiceId]);
  });

  test("are in progress until the next 06:00 or 18:00", async () => {
    const first = late();
    answer = () => first.promise;
    const { invoiceId } = await billed();
    expect(await state()).toEqual(["open", 1]);
    await until("2026-06-01T17:59:59.999Z");
    await refused(pay(invoiceId), "BUSY");
    await until("2026-06-01T18:00:00Z");
    const second = late();
    answer = () => second.promise;
    await pay(invoiceId);
    await refused(pay(invoiceId), "BUSY");
    await first.give(declined());
    await refused(pay(invoiceId), "BUSY");
    await until("2026-06-02T05:59:59.999Z");
    await refused(pay(invoiceId), "BUSY");
    await until("2026-06-02T06:00:00Z");
    answer = declined;
    await pay(invoiceId);
    expect(await state()).toEqual(["open", 3]);
    await second.give(paid());
    expect(await state()).toEqual(["paid", 3]);
    expect((await account()).creditCents).toBe(0);
    await until("2026-06-14T06:00:00Z");
    expect(payments).toHaveLength(3);
    expect(mails).toEqual([]);
  });

  test("in progress are known at once", async () => {
    answer = declined;
    const { invoiceId } = await billed();
    await dairy.ada.mutation(api.invoices.pay, { invoiceId });
    await refused(dairy.ada.mutation(api.invoices.pay, { invoiceId }), "BUSY");
    await settle();
    await pay(invoiceId);
    expect(await state()).toEqual(["open", 3]);
  });

  test("that are collected twice are credited", async () => {
    const first = late();
    answer = () => first.promise;
    const { milk } = await open("2026-05-29T08:00:00Z");
    await subscribe(milk);
    await until("2026-05-31T08:00:00Z");
    expect(await missed("a", "2026-05-30")).toEqual([201, 100]);
    await dairy.ada.mutation(api.plans.pause, { from: "2026-06-02", to: "2026-06-29" });
    await until("2026-06-01T20:00:00Z");
    expect(await amounts()).toEqual([["2026-05", 200, 100, 100, "open"]]);
    const [{ invoiceId }] = await invoices();
    const second = late();
    answer = () => second.promise;
    await pay(invoiceId);
    await first.give(paid());
    expect(await state()).toEqual(["paid", 2]);
    await refused(pay(invoiceId), "PAID");
    expect((await account()).creditCents).toBe(0);
    await until("2026-06-03T20:00:00Z");
    await second.give(paid());
    expect(await state()).toEqual(["paid", 2]);
    expect((await account()).creditCents).toBe(100);
    answer = paid;
    await until("2026-07-01T06:00:00Z");
    expect((await amounts())[0]).toEqual(["2026-06", 200, 100, 100, "paid"]);
    expect((await account()).creditCents).toBe(0);
  });
});

describe("suspension", () => {
  test("begins on the twelfth day and ends with the payment", async () => {
    answer = declined;
    const { milk, invoiceId } = await billed();
    await until("2026-06-13T05:59:59.999Z");
    expect(await state()).toEqual(["open", 3]);
    expect(await round("2026-06-14")).toBe("1 milk");
    await until("2026-06-13T06:00:00Z");
    expect(await state()).toEqual(["overdue", 3]);
    expect((await account()).suspended).toBe(true);
    expect(await round("2026-06-12")).toBe("1 milk");
    expect(await round("2026-06-13")).toBe("1 milk");
    expect(await round("2026-06-14")).toBe("");
    expect(await missed("a", "2026-06-13")).toEqual([201, 100]);
    await dairy.ada.mutation(api.plans.change, { productId: milk, date: "2026-06-20", quantity: 4 });
    await pay(invoiceId);
    expect(await state()).toEqual(["overdue", 4]);
    await until("2026-06-14T20:00:00Z");
    answer = paid;
    await pay(invoiceId);
    expect(await state()).toEqual(["paid", 5]);
    expect((await account()).suspended).toBe(false);
    expect(mails.slice(2)).toEqual([
      { customer: "ada", kind: "suspended", invoice: invoiceId, at: "2026-06-13T06:00:00.000Z" },
      { customer: "ada", kind: "resumed", invoice: invoiceId, at: "2026-06-14T20:00:00.000Z" },
    ]);
    const days = ["12", "13", "14", "15", "16", "20", "21"];
    const rounds = async () => await Promise.all(days.map(async (day) => await round(`2026-06-${day}`)));
    const expected = ["1 milk", "1 milk", "", "", "1 milk", "4 milk", "1 milk"];
    expect(await rounds()).toEqual(expected);
    await until("2026-06-22T08:00:00Z");
    expect(await rounds()).toEqual(expected);
    await until("2026-07-01T06:00:00Z");
    expect((await amounts())[0]).toEqual(["2026-06", 3100, 100, 3000, "paid"]);
  });

  test("lasts while an invoice is overdue, and not longer", async () => {
    answer = declined;
    const { invoiceId: may } = await billed();
    await until("2026-07-01T06:00:00Z");
    expect(await amounts()).toEqual([
      ["2026-06", 1300, 0, 1300, "open"],
      ["2026-05", 200, 0, 200, "overdue"],
    ]);
    const [{ invoiceId: june }] = await invoices();
    await until("2026-07-13T06:00:00Z");
    expect(mails.map(({ kind }) => kind)).toEqual(["reminder", "reminder", "suspended", "reminder", "reminder"]);
    answer = paid;
    await pay(june);
    expect((await account()).suspended).toBe(true);
    expect(mails).toHaveLength(5);
    await pay(may);
    expect((await account()).suspended).toBe(false);
    expect(mails.slice(5).map(({ kind, invoice }) => [kind, invoice])).toEqual([["resumed", may]]);
  });

  test("is not prolonged by an invoice that is open", async () => {
    answer = declined;
    const { invoiceId: may } = await billed();
    await until("2026-07-02T08:00:00Z");
    answer = paid;
    await pay(may);
    expect((await account()).suspended).toBe(false);
    expect((await invoices()).map(({ status }) => status)).toEqual(["open", "paid"]);
    expect(mails.at(-1)).toMatchObject({ kind: "resumed", invoice: may });
    expect(await round("2026-07-04")).toBe("1 milk");
    await until("2026-07-04T06:00:00Z");
    expect(await state()).toEqual(["paid", 2]);
    expect(mails.filter(({ kind }) => kind === "resumed")).toHaveLength(1);
  });
});
