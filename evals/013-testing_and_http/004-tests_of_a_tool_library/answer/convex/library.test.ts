import { convexTest } from "convex-test";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { api } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import schema from "./schema";
import { modules } from "./test.setup";

const HOUR = 60 * 60 * 1000;
const DAY = 24 * HOUR;
const KEY = "bank-key";

type Library = ReturnType<typeof open>;

function open() {
  const t = convexTest(schema, modules);
  return {
    t,
    staff: t.withIdentity({ subject: "desk", role: "staff" }),
    ada: t.withIdentity({ subject: "ada" }),
    ben: t.withIdentity({ subject: "ben" }),
    cleo: t.withIdentity({ subject: "cleo", role: "member" }),
  };
}

async function pass(library: Library, milliseconds: number) {
  vi.advanceTimersByTime(milliseconds);
  await library.t.finishInProgressScheduledFunctions();
}

function code(data: string) {
  return expect.objectContaining({ data: { code: data } }) as unknown;
}

async function refused(call: Promise<unknown>, expected: string) {
  await expect(call).rejects.toEqual(code(expected));
}

async function addTool(library: Library, name: string, copies = 1, depositCents = 5000) {
  return await library.staff.mutation(api.tools.add, { name, copies, depositCents });
}

async function listed(library: Library, name: string) {
  const tools = await library.t.query(api.tools.list, {});
  const found = tools.find((tool) => tool.name === name);
  return found && [found.copies, found.free, found.waiting];
}

type Member = Library["ada"];

async function reserve(member: Member, toolId: Id<"tools">, days = 3) {
  return await member.mutation(api.loans.reserve, { toolId, days });
}

async function loan(member: Member, loanId: Id<"loans">) {
  const loans = await member.query(api.loans.mine, { closed: true });
  const found = loans.find((each) => each.loanId === loanId);
  return found && [found.status, found.until, found.position];
}

async function status(member: Member, loanId: Id<"loans">) {
  return (await loan(member, loanId))?.[0];
}

async function borrow(library: Library, member: Member, toolId: Id<"tools">, days = 3) {
  const loanId = await reserve(member, toolId, days);
  await library.staff.mutation(api.loans.pickUp, { loanId });
  return loanId;
}

async function giveBack(library: Library, loanId: Id<"loans">) {
  return await library.staff.mutation(api.loans.giveBack, { loanId });
}

async function pay(library: Library, body: unknown, authorization: string | null = `Bearer ${KEY}`) {
  const headers: Record<string, string> = authorization === null ? {} : { Authorization: authorization };
  const response = await library.t.fetch("/payments", {
    method: "POST",
    headers,
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, body: response.ok ? (JSON.parse(text) as unknown) : null };
}

/** Makes a member owe this many cents, 150 at a time. */
async function makeDebt(library: Library, member: Member, cents: number) {
  const toolId = await addTool(library, `debt of ${String(cents)}`, 1, cents);
  const loanId = await borrow(library, member, toolId, 1);
  await pass(library, 100 * DAY);
  expect(await giveBack(library, loanId)).toBe(cents);
}

let library: Library;

beforeEach(() => {
  vi.useFakeTimers();
  vi.setSystemTime(new Date("2026-03-02T10:00:00Z"));
  vi.stubEnv("PAYMENTS_KEY", KEY);
  library = open();
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

describe("callers", () => {
  test("without an identity, only the list of tools can be seen", async () => {
    const toolId = await addTool(library, "Saw");
    const loanId = await reserve(library.ada, toolId);
    const { t } = library;
    await refused(t.mutation(api.tools.add, { name: "Drill", copies: 1, depositCents: 0 }), "UNAUTHENTICATED");
    await refused(t.mutation(api.tools.setCopies, { toolId, copies: 3 }), "UNAUTHENTICATED");
    await refused(t.mutation(api.loans.reserve, { toolId, days: 1 }), "UNAUTHENTICATED");
    await refused(t.mutation(api.loans.pickUp, { loanId }), "UNAUTHENTICATED");
    await refused(t.mutation(api.loans.giveBack, { loanId }), "UNAUTHENTICATED");
    await refused(t.mutation(api.loans.extend, { loanId, days: 1 }), "UNAUTHENTICATED");
    await refused(t.mutation(api.loans.cancel, { loanId }), "UNAUTHENTICATED");
    await refused(t.query(api.loans.mine, {}), "UNAUTHENTICATED");
    await refused(t.query(api.accounts.balance, {}), "UNAUTHENTICATED");
    expect((await t.query(api.tools.list, {})).length).toBe(1);
  });

  test("members cannot do what only staff can", async () => {
    const toolId = await addTool(library, "Saw");
    const loanId = await reserve(library.ada, toolId);
    for (const member of [library.ada, library.cleo]) {
      await refused(member.mutation(api.tools.add, { name: "Drill", copies: 1, depositCents: 0 }), "FORBIDDEN");
      await refused(member.mutation(api.tools.setCopies, { toolId, copies: 3 }), "FORBIDDEN");
      await refused(member.mutation(api.loans.pickUp, { loanId }), "FORBIDDEN");
    }
    await library.staff.mutation(api.loans.pickUp, { loanId });
    await refused(library.ada.mutation(api.loans.giveBack, { loanId }), "FORBIDDEN");
    await refused(library.ada.mutation(api.loans.pickUp, { loanId }), "FORBIDDEN");
  });
});

describe("tools", () => {
  test("are listed by name", async () => {
    for (const name of ["Saw", "Drill", "Plane"]) await addTool(library, name, 2);
    const tools = await library.t.query(api.tools.list, {});
    expect(tools.map(({ name }) => name)).toEqual(["Drill", "Plane", "Saw"]);
    expect(tools.map(({ copies, free, waiting }) => [copies, free, waiting])).toEqual([
      [2, 2, 0],
      [2, 2, 0],
      [2, 2, 0],
    ]);
  });

  test("names are trimmed and unique", async () => {
    await addTool(library, "  Saw ");
    expect(await listed(library, "Saw")).toEqual([1, 1, 0]);
    await refused(addTool(library, "Saw"), "NAME_TAKEN");
    await refused(addTool(library, " Saw"), "NAME_TAKEN");
    await refused(addTool(library, "  "), "INVALID");
    await refused(addTool(library, ""), "INVALID");
    expect((await library.t.query(api.tools.list, {})).length).toBe(1);
  });

  test("numbers are integers of 0 or more", async () => {
    for (const bad of [-1, 1.5]) {
      await refused(addTool(library, "Saw", bad), "INVALID");
      await refused(addTool(library, "Saw", 1, bad), "INVALID");
    }
    const toolId = await addTool(library, "Saw", 0, 0);
    for (const copies of [-1, 0.5]) {
      await refused(library.staff.mutation(api.tools.setCopies, { toolId, copies }), "INVALID");
    }
    await library.staff.mutation(api.tools.setCopies, { toolId, copies: 4 });
    expect(await listed(library, "Saw")).toEqual([4, 4, 0]);
    await library.staff.mutation(api.tools.setCopies, { toolId, copies: 0 });
    expect(await listed(library, "Saw")).toEqual([0, 0, 0]);
  });

  test("more copies serve the queue in its order, fewer take nothing away", async () => {
    const toolId = await addTool(library, "Saw", 0);
    const first = await reserve(library.ben, toolId);
    await pass(library, 1000);
    const second = await reserve(library.ada, toolId);
    await pass(library, 1000);
    const third = await reserve(library.cleo, toolId);
    await library.staff.mutation(api.tools.setCopies, { toolId, copies: 2 });
    expect(await status(library.ben, first)).toBe("held");
    expect(await status(library.ada, second)).toBe("held");
    expect(await loan(library.cleo, third)).toEqual(["queued", null, 1]);
    expect(await listed(library, "Saw")).toEqual([2, 0, 1]);
    await library.staff.mutation(api.loans.pickUp, { loanId: first });
    await library.staff.mutation(api.tools.setCopies, { toolId, copies: 1 });
    expect(await listed(library, "Saw")).toEqual([1, 0, 1]);
    expect(await status(library.ben, first)).toBe("out");
    expect(await status(library.ada, second)).toBe("held");
    await library.ada.mutation(api.loans.cancel, { loanId: second });
    expect(await status(library.cleo, third)).toBe("queued");
    await giveBack(library, first);
    expect(await status(library.cleo, third)).toBe("held");
  });
});

describe("reservations", () => {
  test("days are integers from 1 to 14", async () => {
    const toolId = await addTool(library, "Saw", 5);
    for (const days of [0, -1, 15, 2.5]) await refused(reserve(library.ada, toolId, days), "INVALID");
    expect(await library.ada.query(api.loans.mine, { closed: true })).toEqual([]);
    await reserve(library.ada, toolId, 1);
    await reserve(library.ben, toolId, 14);
  });

  test("a tool must exist", async () => {
    const elsewhere = open();
    await addTool(elsewhere, "Saw");
    const toolId = await addTool(elsewhere, "Drill");
    await refused(reserve(library.ada, toolId, 0), "INVALID");
    await refused(reserve(library.ada, toolId), "NOT_FOUND");
  });

  test("hold a copy, or queue in the order of arrival", async () => {
    const toolId = await addTool(library, "Saw", 1);
    const now = Date.now();
    const first = await reserve(library.ada, toolId);
    expect(await loan(library.ada, first)).toEqual(["held", now + 48 * HOUR, null]);
    expect(await listed(library, "Saw")).toEqual([1, 0, 0]);
    await pass(library, 1);
    const second = await reserve(library.ben, toolId);
    await pass(library, 1);
    const third = await reserve(library.cleo, toolId);
    expect(await loan(library.ben, second)).toEqual(["queued", null, 1]);
    expect(await loan(library.cleo, third)).toEqual(["queued", null, 2]);
    expect(await listed(library, "Saw")).toEqual([1, 0, 2]);
    await library.ben.mutation(api.loans.cancel, { loanId: second });
    expect(await loan(library.cleo, third)).toEqual(["queued", null, 1]);
    expect(await status(library.ada, first)).toBe("held");
  });

  test("one open loan per tool, in any open status", async () => {
    const toolId = await addTool(library, "Saw", 1);
    const held = await reserve(library.ada, toolId);
    await refused(reserve(library.ada, toolId), "ALREADY_RESERVED");
    await reserve(library.ben, toolId);
    await refused(reserve(library.ben, toolId), "ALREADY_RESERVED");
    await library.staff.mutation(api.loans.pickUp, { loanId: held });
    await refused(reserve(library.ada, toolId), "ALREADY_RESERVED");
    await giveBack(library, held);
    await reserve(library.ada, toolId);
  });

  test("three open loans, whatever their status; closed ones do not count", async () => {
    const tools = [];
    for (const name of ["A", "B", "C", "D", "E"]) tools.push(await addTool(library, name, 1));
    const [a, b, c, d, e] = tools;
    await borrow(library, library.ben, b);
    const cancelled = await reserve(library.ada, e);
    await library.ada.mutation(api.loans.cancel, { loanId: cancelled });
    const out = await borrow(library, library.ada, a);
    await reserve(library.ada, b);
    await reserve(library.ada, c);
    await refused(reserve(library.ada, c), "ALREADY_RESERVED");
    await refused(reserve(library.ada, d), "TOO_MANY");
    expect(await listed(library, "D")).toEqual([1, 1, 0]);
    await giveBack(library, out);
    await reserve(library.ada, d);
    await refused(reserve(library.ada, e), "TOO_MANY");
  });

  test("more than 1000 cents of debt is too much", async () => {
    const toolId = await addTool(library, "Saw", 3);
    await makeDebt(library, library.ada, 1000);
    const loanId = await reserve(library.ada, toolId);
    await library.ada.mutation(api.loans.cancel, { loanId });
    await makeDebt(library, library.ben, 1001);
    await refused(reserve(library.ben, toolId), "DEBT");
    await pay(library, { reference: "p1", member: "ben", cents: 1 });
    await reserve(library.ben, toolId);
  });

  test("a member with three loans and debt has too many", async () => {
    await makeDebt(library, library.ada, 900);
    const tools = [];
    for (const name of ["A", "B", "C", "D"]) tools.push(await addTool(library, name, 1, 300));
    const late = await borrow(library, library.ada, tools[0], 1);
    await borrow(library, library.ada, tools[1], 14);
    await borrow(library, library.ada, tools[2], 14);
    await pass(library, 3 * DAY);
    await giveBack(library, late);
    await refused(reserve(library.ada, tools[3]), "DEBT");
  });
});

describe("holds", () => {
  test("end after exactly 48 hours, and the copy goes to the next one for 48 hours", async () => {
    const toolId = await addTool(library, "Saw");
    const start = Date.now();
    const first = await reserve(library.ada, toolId);
    await pass(library, HOUR);
    const second = await reserve(library.ben, toolId);
    await pass(library, HOUR);
    const third = await reserve(library.cleo, toolId);
    await pass(library, 46 * HOUR - 1);
    expect(await status(library.ada, first)).toBe("held");
    expect(await status(library.ben, second)).toBe("queued");
    await pass(library, 2);
    expect(await loan(library.ada, first)).toEqual(["expired", null, null]);
    const [state, until] = (await loan(library.ben, second)) ?? [];
    expect(state).toBe("held");
    expect(Math.abs(Number(until) - (start + 96 * HOUR))).toBeLessThan(10);
    expect(await loan(library.cleo, third)).toEqual(["queued", null, 1]);
    await pass(library, 48 * HOUR);
    expect(await status(library.ben, second)).toBe("expired");
    expect(await status(library.cleo, third)).toBe("held");
    await pass(library, 49 * HOUR);
    expect(await status(library.cleo, third)).toBe("expired");
    expect(await listed(library, "Saw")).toEqual([1, 1, 0]);
    await refused(library.staff.mutation(api.loans.pickUp, { loanId: third }), "WRONG_STATUS");
    await refused(library.cleo.mutation(api.loans.cancel, { loanId: third }), "WRONG_STATUS");
  });

  test("that were used do not end", async () => {
    const toolId = await addTool(library, "Saw", 2);
    const out = await borrow(library, library.ada, toolId, 14);
    const cancelled = await reserve(library.ben, toolId);
    await library.ben.mutation(api.loans.cancel, { loanId: cancelled });
    await pass(library, 50 * HOUR);
    expect(await status(library.ada, out)).toBe("out");
    expect(await status(library.ben, cancelled)).toBe("cancelled");
    expect(await listed(library, "Saw")).toEqual([2, 1, 0]);
  });
});

describe("lending", () => {
  test("is due so many days after it was picked up", async () => {
    const toolId = await addTool(library, "Saw");
    const loanId = await reserve(library.ada, toolId, 5);
    await pass(library, 10 * HOUR);
    const due = Date.now() + 5 * DAY;
    expect(await library.staff.mutation(api.loans.pickUp, { loanId })).toBe(due);
    expect(await loan(library.ada, loanId)).toEqual(["out", due, null]);
    expect(await listed(library, "Saw")).toEqual([1, 0, 0]);
    vi.setSystemTime(due);
    expect(await giveBack(library, loanId)).toBe(0);
    expect(await loan(library.ada, loanId)).toEqual(["returned", null, null]);
    expect(await listed(library, "Saw")).toEqual([1, 1, 0]);
    expect(await library.ada.query(api.accounts.balance, {})).toBe(0);
  });

  test("early is free of charge", async () => {
    const loanId = await borrow(library, library.ada, await addTool(library, "Saw"), 5);
    await pass(library, DAY);
    expect(await giveBack(library, loanId)).toBe(0);
    expect(await library.ada.query(api.accounts.balance, {})).toBe(0);
  });

  test("each day that has begun costs 150 cents, at most the deposit", async () => {
    for (const [late, deposit, fee] of [
      [1, 5000, 150],
      [DAY, 5000, 150],
      [DAY + 1, 5000, 300],
      [6.5 * DAY, 5000, 1050],
      [3 * DAY, 400, 400],
      [3 * DAY, 450, 450],
      [3 * DAY, 0, 0],
    ]) {
      const now = open();
      const toolId = await addTool(now, "Saw", 1, deposit);
      const loanId = await borrow(now, now.ada, toolId, 2);
      await pass(now, 2 * DAY + late);
      expect(await giveBack(now, loanId)).toBe(fee);
      expect(await now.ada.query(api.accounts.balance, {})).toBe(fee);
      expect(await now.staff.query(api.accounts.balance, {})).toBe(0);
    }
  });

  test("fees of several loans add up", async () => {
    await makeDebt(library, library.ada, 300);
    await makeDebt(library, library.ada, 450);
    expect(await library.ada.query(api.accounts.balance, {})).toBe(750);
    expect(await library.ben.query(api.accounts.balance, {})).toBe(0);
  });

  test("a copy that is back goes to the next one", async () => {
    const toolId = await addTool(library, "Saw");
    const first = await borrow(library, library.ada, toolId);
    const second = await reserve(library.ben, toolId);
    await pass(library, DAY);
    await giveBack(library, first);
    expect(await loan(library.ben, second)).toEqual(["held", Date.now() + 48 * HOUR, null]);
    expect(await listed(library, "Saw")).toEqual([1, 0, 0]);
    await pass(library, 49 * HOUR);
    expect(await status(library.ben, second)).toBe("expired");
  });

  test("only in the right status", async () => {
    const toolId = await addTool(library, "Saw");
    const first = await reserve(library.ada, toolId);
    const second = await reserve(library.ben, toolId);
    const { staff } = library;
    await refused(staff.mutation(api.loans.giveBack, { loanId: first }), "WRONG_STATUS");
    await refused(staff.mutation(api.loans.pickUp, { loanId: second }), "WRONG_STATUS");
    await staff.mutation(api.loans.pickUp, { loanId: first });
    await refused(staff.mutation(api.loans.pickUp, { loanId: first }), "WRONG_STATUS");
    await giveBack(library, first);
    await refused(staff.mutation(api.loans.giveBack, { loanId: first }), "WRONG_STATUS");
    await refused(staff.mutation(api.loans.pickUp, { loanId: first }), "WRONG_STATUS");
  });
});

describe("extensions", () => {
  async function extend(member: Member, loanId: Id<"loans">, days: number) {
    return await member.mutation(api.loans.extend, { loanId, days });
  }

  test("add days to the due time, up to it", async () => {
    const loanId = await borrow(library, library.ada, await addTool(library, "Saw"), 3);
    const due = Date.now() + 3 * DAY;
    await pass(library, DAY);
    expect(await extend(library.ada, loanId, 2)).toBe(due + 2 * DAY);
    expect(await loan(library.ada, loanId)).toEqual(["out", due + 2 * DAY, null]);
    vi.setSystemTime(due + 2 * DAY);
    expect(await extend(library.ada, loanId, 1)).toBe(due + 3 * DAY);
    await pass(library, 4 * DAY);
    expect(await giveBack(library, loanId)).toBe(450);
  });

  test("are refused when overdue", async () => {
    const loanId = await borrow(library, library.ada, await addTool(library, "Saw"), 3);
    await pass(library, 3 * DAY + 1);
    await refused(extend(library.ada, loanId, 1), "OVERDUE");
    await refused(extend(library.ben, loanId, 1), "FORBIDDEN");
    await refused(extend(library.ben, loanId, 0), "INVALID");
  });

  test("twice at most, 28 days in all", async () => {
    const a = await borrow(library, library.ada, await addTool(library, "Saw"), 1);
    await extend(library.ada, a, 1);
    await extend(library.ada, a, 1);
    await refused(extend(library.ada, a, 1), "TOO_LONG");
    const b = await borrow(library, library.ada, await addTool(library, "Drill"), 13);
    await extend(library.ada, b, 2);
    await refused(extend(library.ada, b, 14), "TOO_LONG");
    await extend(library.ada, b, 13);
    const c = await borrow(library, library.ben, await addTool(library, "Plane"), 14);
    await extend(library.ben, c, 14);
    await refused(extend(library.ben, c, 1), "TOO_LONG");
  });

  test("days are as in reservations", async () => {
    const loanId = await borrow(library, library.ada, await addTool(library, "Saw"), 3);
    for (const days of [0, -3, 1.5, 15]) await refused(extend(library.ada, loanId, days), "INVALID");
  });

  test("not if somebody waits, and only by the borrower", async () => {
    const toolId = await addTool(library, "Saw");
    const other = await addTool(library, "Drill");
    const loanId = await borrow(library, library.ada, toolId, 3);
    await borrow(library, library.cleo, other, 3);
    const elsewhere = await reserve(library.ben, other);
    await refused(extend(library.ben, loanId, 1), "FORBIDDEN");
    await refused(extend(library.staff, loanId, 1), "FORBIDDEN");
    await extend(library.ada, loanId, 1);
    const waiting = await reserve(library.ben, toolId);
    await refused(extend(library.ada, loanId, 1), "WANTED");
    await refused(extend(library.ada, loanId, 15), "INVALID");
    await library.ben.mutation(api.loans.cancel, { loanId: waiting });
    await extend(library.ada, loanId, 1);
    await reserve(library.ben, toolId);
    await refused(extend(library.ada, loanId, 1), "TOO_LONG");
    await refused(extend(library.ben, elsewhere, 1), "WRONG_STATUS");
    await refused(extend(library.ada, elsewhere, 1), "WRONG_STATUS");
    await giveBack(library, loanId);
    await refused(extend(library.ada, loanId, 1), "WRONG_STATUS");
  });
});

describe("cancelling", () => {
  test("frees the copy for the next one", async () => {
    const toolId = await addTool(library, "Saw");
    const first = await reserve(library.ada, toolId);
    const second = await reserve(library.ben, toolId);
    await refused(library.ben.mutation(api.loans.cancel, { loanId: first }), "FORBIDDEN");
    expect(await status(library.ada, first)).toBe("held");
    await pass(library, HOUR);
    await library.ada.mutation(api.loans.cancel, { loanId: first });
    expect(await loan(library.ada, first)).toEqual(["cancelled", null, null]);
    expect(await loan(library.ben, second)).toEqual(["held", Date.now() + 48 * HOUR, null]);
    await refused(library.ada.mutation(api.loans.cancel, { loanId: first }), "WRONG_STATUS");
    await library.staff.mutation(api.loans.cancel, { loanId: second });
    expect(await status(library.ben, second)).toBe("cancelled");
    expect(await listed(library, "Saw")).toEqual([1, 1, 0]);
  });

  test("only what is queued or held", async () => {
    const toolId = await addTool(library, "Saw");
    const loanId = await borrow(library, library.ada, toolId);
    await refused(library.ada.mutation(api.loans.cancel, { loanId }), "WRONG_STATUS");
    await refused(library.ben.mutation(api.loans.cancel, { loanId }), "WRONG_STATUS");
    await giveBack(library, loanId);
    await refused(library.staff.mutation(api.loans.cancel, { loanId }), "WRONG_STATUS");
  });
});

describe("own loans", () => {
  test("are listed newest first, closed ones only if asked for", async () => {
    const [saw, drill, plane] = [
      await addTool(library, "Saw"),
      await addTool(library, "Drill"),
      await addTool(library, "Plane"),
    ];
    await borrow(library, library.ben, plane);
    const cancelled = await reserve(library.ada, saw);
    await library.ada.mutation(api.loans.cancel, { loanId: cancelled });
    await pass(library, HOUR);
    const expired = await reserve(library.ada, saw);
    await pass(library, 49 * HOUR);
    const returned = await borrow(library, library.ada, saw);
    await giveBack(library, returned);
    const out = await borrow(library, library.ada, saw, 7);
    await pass(library, 1);
    const held = await reserve(library.ada, drill);
    await pass(library, 1);
    const queued = await reserve(library.ada, plane);
    const open = await library.ada.query(api.loans.mine, {});
    expect(open.map(({ loanId }) => loanId)).toEqual([queued, held, out]);
    expect(open.map(({ tool }) => tool)).toEqual(["Plane", "Drill", "Saw"]);
    expect(await library.ada.query(api.loans.mine, { closed: false })).toEqual(open);
    const all = await library.ada.query(api.loans.mine, { closed: true });
    expect(all.map(({ loanId }) => loanId)).toEqual([queued, held, out, returned, expired, cancelled]);
    expect(all.map((each) => each.status)).toEqual(["queued", "held", "out", "returned", "expired", "cancelled"]);
    expect((await library.ben.query(api.loans.mine, { closed: true })).length).toBe(1);
    expect(await library.cleo.query(api.loans.mine, { closed: true })).toEqual([]);
  });
});

describe("payments", () => {
  test("reduce what is owed, once per reference", async () => {
    await makeDebt(library, library.ada, 900);
    const payment = { reference: "p1", member: "ada", cents: 400 };
    expect(await pay(library, payment)).toEqual({ status: 201, body: { owedCents: 500 } });
    expect(await library.ada.query(api.accounts.balance, {})).toBe(500);
    expect(await pay(library, payment)).toEqual({ status: 200, body: { owedCents: 500 } });
    await makeDebt(library, library.ben, 150);
    expect(await pay(library, { reference: "p1", member: "ben", cents: 70 })).toEqual({
      status: 200,
      body: { owedCents: 500 },
    });
    expect(await library.ben.query(api.accounts.balance, {})).toBe(150);
    expect(await library.ada.query(api.accounts.balance, {})).toBe(500);
    expect(await pay(library, { reference: "p2", member: "ada", cents: 700 })).toEqual({
      status: 201,
      body: { owedCents: -200 },
    });
    expect(await pay(library, { reference: "p3", member: "new", cents: 1 })).toEqual({
      status: 201,
      body: { owedCents: -1 },
    });
    expect(await library.ada.query(api.accounts.balance, {})).toBe(-200);
  });

  test("need the key", async () => {
    const payment = { reference: "p1", member: "ada", cents: 400 };
    for (const authorization of [null, "", "Bearer ", "Bearer wrong", KEY, `Bearer ${KEY}x`]) {
      expect((await pay(library, payment, authorization)).status).toBe(401);
    }
    expect((await pay(library, "nonsense", null)).status).toBe(401);
    vi.stubEnv("PAYMENTS_KEY", undefined);
    for (const authorization of [null, "Bearer undefined", "Bearer ", `Bearer ${KEY}`]) {
      expect((await pay(library, payment, authorization)).status).toBe(401);
    }
    expect(await library.ada.query(api.accounts.balance, {})).toBe(0);
  });

  test("must be well-formed", async () => {
    const good = { reference: "p1", member: "ada", cents: 400 };
    for (const body of [
      "nonsense",
      "null",
      "[]",
      '"text"',
      {},
      { ...good, reference: "" },
      { ...good, reference: 5 },
      { ...good, reference: undefined },
      { ...good, member: 5 },
      { ...good, member: undefined },
      { ...good, cents: 0 },
      { ...good, cents: -5 },
      { ...good, cents: 1.5 },
      { ...good, cents: "400" },
      { ...good, cents: undefined },
    ]) {
      expect((await pay(library, body)).status).toBe(400);
    }
    expect(await library.ada.query(api.accounts.balance, {})).toBe(0);
    expect((await pay(library, good)).status).toBe(201);
  });
});

describe("the list of tools over HTTP", () => {
  test("has all tools, or those with free copies", async () => {
    const saw = await addTool(library, "Saw");
    await addTool(library, "Drill", 2);
    await reserve(library.ada, await addTool(library, "Plane"));
    await reserve(library.ada, saw);
    await reserve(library.ben, saw);
    const taken = { name: "Plane", free: 0, waiting: 0 };
    const wanted = { name: "Saw", free: 0, waiting: 1 };
    const free = { name: "Drill", free: 2, waiting: 0 };
    for (const [query, expected] of [
      ["", [free, taken, wanted]],
      ["?free=0", [free, taken, wanted]],
      ["?free=1", [free]],
    ] as const) {
      const response = await library.t.fetch(`/tools${query}`, { method: "GET" });
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual(expected);
    }
  });
});
