import { convexTest } from "convex-test";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { api } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import schema from "./schema";
import { modules } from "./test.setup";

const MINUTE = 60 * 1000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

type Notebook = Id<"notebooks">;
type Operations = (typeof api.sync.push)["_args"]["operations"];
type Content = { notebookId: Notebook; title: string; body: string; version: number };
type Client = ReturnType<ReturnType<typeof convexTest>["withIdentity"]>;

let t: ReturnType<typeof open>;
let ada: Client;
let ben: Client;

function open() {
  return convexTest(schema, modules);
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.setSystemTime(new Date("2026-05-04T08:00:00Z"));
  t = open();
  ada = t.withIdentity({ subject: "ada" });
  ben = t.withIdentity({ subject: "ben" });
});

afterEach(() => {
  vi.useRealTimers();
});

async function pass(milliseconds: number) {
  vi.advanceTimersByTime(milliseconds);
  await t.finishInProgressScheduledFunctions();
}

async function refused(call: Promise<unknown>, code: string) {
  await expect(call).rejects.toEqual(expect.objectContaining({ data: { code } }));
}

/** A device, which applies what it pulls to what it has. */
class Device {
  has = new Map<string, Content>();
  cursor: string | null = null;
  next = 1;

  constructor(
    readonly client: Client,
    readonly name: string,
  ) {}

  async send(from: number, ...operations: Operations) {
    return await this.client.mutation(api.sync.push, { device: this.name, from, operations });
  }

  async push(...operations: Operations) {
    const { done, results } = await this.send(this.next, ...operations);
    this.next += operations.length;
    expect(done).toBe(this.next - 1);
    return results;
  }

  async fetch(cursor: string | null, limit = 50) {
    return await this.client.mutation(api.sync.pull, { device: this.name, cursor, limit });
  }

  async page(limit = 50) {
    const { changes, cursor, more } = await this.fetch(this.cursor, limit);
    expect(changes.length).toBeLessThanOrEqual(limit);
    expect(new Set(changes.map(({ noteId }) => noteId)).size).toBe(changes.length);
    for (const change of changes) {
      if (change.removed) {
        this.has.delete(change.noteId);
      } else {
        const { notebookId, title, body, version } = change;
        this.has.set(change.noteId, { notebookId, title, body, version });
      }
    }
    this.cursor = cursor;
    const ids = changes.filter(({ removed }) => !removed).map(({ noteId }) => noteId);
    return { ids, more };
  }

  /** Pulls everything. Returns the IDs of the notes that came, without removals. */
  async pull(limit = 50) {
    const all: string[] = [];
    for (let pages = 0; pages < 100; pages += 1) {
      const { ids, more } = await this.page(limit);
      all.push(...ids);
      if (!more) return all.sort();
    }
    throw new Error("The pages never end.");
  }

  /** What the user sees of a note now: title, body, version. */
  async look(noteId: string) {
    await this.pull();
    const note = this.has.get(noteId);
    return note === undefined ? null : [note.title, note.body, note.version];
  }

  /** Titles and bodies of all notes but one. */
  async others(noteId: string) {
    await this.pull();
    return [...this.has].filter(([id]) => id !== noteId).map(([, { title, body }]) => [title, body]);
  }
}

async function register(name: string, client = ada) {
  await client.mutation(api.devices.register, { name });
  return new Device(client, name);
}

async function notebook(client = ada) {
  return await client.mutation(api.notebooks.create, { name: "Notebook" });
}

async function share(notebookId: Notebook, role: "reader" | "writer", user = "ben", client = ada) {
  await client.mutation(api.notebooks.share, { notebookId, user, role });
}

async function unshare(notebookId: Notebook, user = "ben", client = ada) {
  await client.mutation(api.notebooks.unshare, { notebookId, user });
}

async function devices(client = ada) {
  return await client.query(api.devices.list, {});
}

function create(noteId: string, notebookId: Notebook, at = Date.now()) {
  return { kind: "create" as const, noteId, notebookId, title: "Title", body: "Body", at };
}

function edit(field: "title" | "body", value: string, base: number, at = Date.now(), noteId = "n") {
  return { kind: "edit" as const, noteId, field, value, base, at };
}

function move(notebookId: Notebook, base: number, at = Date.now(), noteId = "n") {
  return { kind: "move" as const, noteId, notebookId, base, at };
}

function remove(base: number, at = Date.now(), noteId = "n") {
  return { kind: "delete" as const, noteId, base, at };
}

function restore(noteId = "n") {
  return { kind: "restore" as const, noteId };
}

/** A notebook with the note "n" in version 1, made by the phone, and known to the laptop. Two hours ago. */
async function scene() {
  const home = await notebook();
  const phone = await register("phone");
  const laptop = await register("laptop");
  expect(await phone.push(create("n", home))).toEqual(["done"]);
  await laptop.pull();
  await pass(2 * HOUR);
  return { home, phone, laptop };
}

/** The same, with the phone of another user, who writes. */
async function sharedScene() {
  const all = await scene();
  await share(all.home, "writer");
  return { ...all, bens: await register("phone", ben) };
}

describe("users", () => {
  test("must be logged in", async () => {
    const notebookId = await notebook();
    for (const call of [
      t.mutation(api.devices.register, { name: "" }),
      t.query(api.devices.list, {}),
      t.mutation(api.notebooks.create, { name: "" }),
      t.mutation(api.notebooks.share, { notebookId, user: "ben", role: "reader" as const }),
      t.mutation(api.notebooks.unshare, { notebookId, user: "ben" }),
      t.mutation(api.sync.push, { device: "phone", from: 0, operations: [] }),
      t.mutation(api.sync.pull, { device: "phone", cursor: null, limit: 0 }),
    ]) {
      await refused(call, "UNAUTHENTICATED");
    }
  });
});

describe("devices", () => {
  test("names and numbers", async () => {
    await refused(register(""), "INVALID");
    await refused(register("x".repeat(21)), "INVALID");
    await register("x".repeat(20));
    await refused(register("x".repeat(20)), "TAKEN");
    await register("b");
    await register("a");
    await refused(register("c"), "TOO_MANY");
    await refused(register("b"), "TAKEN");
    await refused(register(""), "INVALID");
    await register("b", ben);
    const syncedAt = Date.now();
    expect(await devices()).toEqual(["a", "b", "x".repeat(20)].map((name) => ({ name, done: 0, syncedAt })));
    expect(await devices(ben)).toEqual([{ name: "b", done: 0, syncedAt }]);
  });

  test("of others are unknown, even with the same name", async () => {
    const { home } = await scene();
    const stranger = new Device(ben, "laptop");
    await refused(stranger.send(0), "UNKNOWN_DEVICE");
    await refused(stranger.fetch(null, 0), "UNKNOWN_DEVICE");
    const phone = await register("phone", ben);
    expect(await phone.push(create("m", home))).toEqual(["forbidden"]);
    expect(await devices(ben)).toMatchObject([{ name: "phone", done: 1 }]);
    expect(await phone.pull()).toEqual([]);
  });

  test("every success is a sync", async () => {
    const home = await notebook();
    const phone = await register("phone");
    const syncedAt = async () => (await devices())[0].syncedAt;
    for (const action of [
      () => phone.push(create("n", home)),
      () => phone.send(1, create("n", home)),
      () => phone.push(),
      () => phone.pull(),
      () => phone.pull(),
    ]) {
      await pass(MINUTE);
      await action();
      expect(await syncedAt()).toBe(Date.now());
    }
    const last = Date.now();
    await pass(MINUTE);
    await refused(phone.send(3), "GAP");
    await refused(phone.fetch(null, 51), "INVALID");
    expect(await syncedAt()).toBe(last);
  });

  test("are forgotten 20 days after the last sync", async () => {
    const home = await notebook();
    const phone = await register("phone");
    const tablet = await register("tablet");
    await phone.push(create("n", home));
    await pass(15 * DAY);
    await phone.pull();
    await pass(5 * DAY - 1);
    expect((await devices()).length).toBe(2);
    await pass(2);
    expect((await devices()).map(({ name }) => name)).toEqual(["phone"]);
    await refused(tablet.send(0), "UNKNOWN_DEVICE");
    await pass(15 * DAY - 2);
    expect((await devices()).map(({ name }) => name)).toEqual(["phone"]);
    await pass(2);
    expect(await devices()).toEqual([]);
    await refused(phone.fetch(null), "UNKNOWN_DEVICE");
    for (const name of ["a", "b"]) await register(name);
    const again = await register("phone");
    await refused(again.send(2), "GAP");
    expect(await again.push(create("n", home))).toEqual(["taken"]);
    expect(await again.pull()).toEqual(["n"]);
  });
});

describe("sharing", () => {
  test("who may do what", async () => {
    const home = await notebook();
    await refused(share(home, "reader", "ada", ben), "NOT_FOUND");
    await refused(unshare(home, "carl", ben), "NOT_FOUND");
    await refused(share(home, "reader", "ada"), "INVALID");
    await refused(unshare(home), "INVALID");
    await refused(unshare(home, "ada"), "INVALID");
    for (const role of ["reader", "writer"] as const) {
      await share(home, role);
      await refused(share(home, "writer", "ben", ben), "FORBIDDEN");
      await refused(share(home, "writer", "ada", ben), "FORBIDDEN");
      await refused(unshare(home, "carl", ben), "FORBIDDEN");
    }
    await unshare(home, "ben", ben);
    await refused(unshare(home, "ben", ben), "NOT_FOUND");
    await refused(unshare(home), "INVALID");
  });

  test("notes appear, vanish and appear again", async () => {
    const { home, phone } = await scene();
    await phone.push(create("m", home), create("gone", home), remove(1, Date.now(), "gone"));
    const bens = await register("tablet", ben);
    expect(await bens.pull()).toEqual([]);
    await share(home, "reader");
    expect(await bens.pull()).toEqual(["m", "n"]);
    await share(home, "writer");
    expect(await bens.pull()).toEqual([]);
    await phone.push(edit("title", "New", 1));
    expect(await bens.look("n")).toEqual(["New", "Body", 2]);
    await unshare(home);
    await bens.pull();
    expect([...bens.has.keys()]).toEqual([]);
    await phone.push(edit("title", "Newer", 2));
    expect(await bens.pull()).toEqual([]);
    await share(home, "reader");
    expect(await bens.pull()).toEqual(["m", "n"]);
    expect(await bens.look("n")).toEqual(["Newer", "Body", 3]);
    await unshare(home, "ben", ben);
    await bens.pull();
    expect([...bens.has.keys()]).toEqual([]);
  });

  test("readers write nothing", async () => {
    const { home, phone } = await scene();
    const own = await notebook(ben);
    await share(home, "reader");
    const bens = await register("phone", ben);
    await bens.push(create("m", own));
    await phone.push(create("bin", home), remove(1, Date.now(), "bin"));
    expect(
      await bens.push(
        create("x", home),
        create("n", home),
        edit("title", "Ben", 1),
        edit("body", "Ben", 1, Date.now(), "bin"),
        move(own, 1),
        move(home, 1, Date.now(), "m"),
        remove(1),
        restore("bin"),
        restore(),
      ),
    ).toEqual(Array(9).fill("forbidden"));
    expect(await phone.look("n")).toEqual(["Title", "Body", 1]);
    expect(await phone.others("n")).toEqual([]);
    await share(home, "writer");
    expect((await bens.send(2, create("x", home), create("n", home))).results).toEqual(["repeated", "repeated"]);
    expect(await bens.push(create("n", home), edit("title", "Ben", 1))).toEqual(["taken", "done"]);
    expect(await phone.look("n")).toEqual(["Ben", "Body", 2]);
    await unshare(home);
    const operations = [edit("title", "?", 2), create("y", home), move(home, 1, Date.now(), "m"), restore()];
    expect(await bens.push(...operations)).toEqual(["unknown", "forbidden", "forbidden", "unknown"]);
  });

  test("moving between notebooks with different readers", async () => {
    const { home, phone } = await scene();
    const shared = await notebook();
    await share(shared, "reader");
    await share(home, "writer", "carl");
    const bens = await register("phone", ben);
    const carls = await register("phone", t.withIdentity({ subject: "carl" }));
    expect([await bens.pull(), await carls.pull()]).toEqual([[], ["n"]]);
    expect(await carls.push(move(shared, 1))).toEqual(["forbidden"]);
    expect(await phone.push(move(shared, 1))).toEqual(["done"]);
    expect([await bens.look("n"), await carls.look("n")]).toEqual([["Title", "Body", 2], null]);
    expect(bens.has.get("n")?.notebookId).toBe(shared);
    expect(await phone.push(move(home, 2))).toEqual(["done"]);
    expect([await bens.look("n"), await carls.look("n")]).toEqual([null, ["Title", "Body", 3]]);
    expect(await bens.push(edit("body", "?", 3))).toEqual(["unknown"]);
  });
});

describe("pushing", () => {
  test("order of errors and limits", async () => {
    const home = await notebook();
    const phone = await register("phone");
    const batch = Array.from({ length: 21 }, (_, index) => create(`n${String(index)}`, home));
    await refused(phone.send(1, ...batch), "INVALID");
    await refused(phone.send(9, ...batch), "INVALID");
    for (const from of [0, -1, 1.5, 9.5]) await refused(phone.send(from), "INVALID");
    await refused(phone.send(2), "GAP");
    expect(await phone.push(...batch.slice(0, 20))).toEqual(Array(20).fill("done"));
    await refused(phone.send(22, batch[20]), "GAP");
    expect((await phone.pull()).length).toBe(20);
  });

  test("batches that are repeated or overlap", async () => {
    const { phone } = await scene();
    expect(await phone.push(edit("title", "A", 1), edit("title", "B", 2))).toEqual(["done", "done"]);
    expect(await phone.send(1, create("n", await notebook()), edit("title", "C", 1))).toEqual({
      done: 3,
      results: ["repeated", "repeated"],
    });
    expect(await phone.send(3, edit("title", "C", 1))).toEqual({ done: 3, results: ["repeated"] });
    expect(await phone.look("n")).toEqual(["B", "Body", 3]);
    const overlapping = [edit("title", "A", 1), edit("title", "B", 2), edit("title", "C", 3), restore("x")];
    expect(await phone.send(2, ...overlapping)).toEqual({
      done: 5,
      results: ["repeated", "repeated", "done", "unknown"],
    });
    expect(await phone.look("n")).toEqual(["C", "Body", 4]);
    expect(await phone.send(1)).toEqual({ done: 5, results: [] });
    expect(await devices()).toMatchObject([{ done: 0 }, { done: 5 }]);
    expect(await phone.send(6, edit("title", "D", 4))).toEqual({ done: 6, results: ["done"] });
  });

  test("failures do not stop a batch, and are not tried again", async () => {
    const { home, phone } = await scene();
    const foreign = await notebook(ben);
    const missing = edit("title", "?", 1, Date.now(), "x");
    const operations = [missing, create("y", foreign), create("n", home), create("x", home)];
    expect(await phone.push(...operations)).toEqual(["unknown", "forbidden", "taken", "done"]);
    const { results } = await phone.send(2, missing);
    expect(results).toEqual(["repeated"]);
    expect(await phone.look("x")).toEqual(["Title", "Body", 1]);
  });

  test("IDs belong to one note", async () => {
    const { home, phone } = await scene();
    const bens = await register("phone", ben);
    const own = await notebook(ben);
    expect(await bens.push(create("n", home), create("n", own))).toEqual(["forbidden", "taken"]);
    expect(await phone.push(remove(1), create("n", home), restore())).toEqual(["done", "taken", "done"]);
    expect(await phone.look("n")).toEqual(["Title", "Body", 3]);
  });
});

describe("conflicts", () => {
  test("the later time wins, whoever comes first", async () => {
    const { phone, laptop } = await scene();
    const now = Date.now();
    expect(await phone.push(edit("title", "P", 1, now - 10))).toEqual(["done"]);
    expect(await laptop.push(edit("title", "L", 1, now - 11))).toEqual(["lost"]);
    expect(await phone.look("n")).toEqual(["P", "Body", 2]);
    expect(await laptop.push(edit("title", "L", 1, now - 9))).toEqual(["done"]);
    expect(await phone.look("n")).toEqual(["L", "Body", 3]);
    expect(await phone.push(edit("title", "P", 2, now - 9 - 1))).toEqual(["lost"]);
    expect(await phone.push(edit("title", "P", 2, now - 8))).toEqual(["done"]);
    expect(await phone.look("n")).toEqual(["P", "Body", 4]);
    expect(await phone.others("n")).toEqual([]);
  });

  test("ties are decided by names", async () => {
    const { phone, laptop } = await scene();
    const now = Date.now();
    await phone.push(edit("title", "P", 1, now));
    expect(await laptop.push(edit("title", "L", 1, now))).toEqual(["lost"]);
    await laptop.push(edit("body", "L", 1, now));
    expect(await phone.push(edit("body", "P", 1, now))).toEqual(["done"]);
    expect(await phone.look("n")).toEqual(["P", "P", 4]);
  });

  test("devices of two users with one name", async () => {
    const { phone, bens } = await sharedScene();
    const now = Date.now();
    await phone.push(edit("title", "Ada", 1, now));
    expect(await bens.push(edit("title", "Early", 1, now - 1))).toEqual(["lost"]);
    expect(await bens.push(edit("title", "Ben", 1, now))).toEqual(["done"]);
    expect(await phone.push(edit("title", "Ada", 1, now - 1))).toEqual(["lost"]);
    expect(await phone.look("n")).toEqual(["Ben", "Body", 3]);
  });

  test("only the same field, and only what was not known", async () => {
    const { phone, laptop } = await scene();
    const now = Date.now();
    await phone.push(edit("title", "P", 1, now));
    expect(await laptop.push(edit("body", "L", 1, now - HOUR))).toEqual(["done"]);
    expect(await laptop.push(edit("title", "L", 2, now - HOUR))).toEqual(["done"]);
    expect(await phone.look("n")).toEqual(["L", "L", 4]);
    expect(await phone.others("n")).toEqual([]);
  });

  test("nobody is in conflict with themselves", async () => {
    const { phone, laptop } = await scene();
    const now = Date.now();
    expect(await phone.push(edit("body", "1", 1, now), edit("body", "2", 1, now - 1))).toEqual(["done", "done"]);
    expect(await laptop.push(edit("body", "3", 3, now - 2))).toEqual(["done"]);
    expect(await phone.look("n")).toEqual(["Title", "3", 4]);
    expect(await phone.others("n")).toEqual([]);
    expect(await phone.push(edit("body", "4", 3, now - 3))).toEqual(["lost"]);
    expect(await phone.others("n")).toEqual([["Title (phone)", "4"]]);
  });

  test("the body that loses is kept", async () => {
    const { phone, laptop, bens } = await sharedScene();
    const now = Date.now();
    await phone.push(edit("body", "P", 1, now - 10), edit("title", "Plans", 1));
    expect(await laptop.push(edit("body", "early", 1, now - 20))).toEqual(["lost"]);
    for (const device of [phone, laptop, bens]) expect(await device.others("n")).toEqual([["Plans (laptop)", "early"]]);
    expect(await bens.push(edit("body", "late", 1, now - 5))).toEqual(["done"]);
    const expected = [
      ["Plans (laptop)", "early"],
      ["Plans (phone)", "P"],
    ];
    for (const device of [phone, laptop, bens]) {
      expect((await device.others("n")).sort()).toEqual(expected);
      expect(await device.look("n")).toEqual(["Plans", "late", 4]);
    }
    const same = [edit("body", "late", 1, now - 20), edit("body", "late", 1, now)];
    expect(await laptop.push(...same)).toEqual(["lost", "done"]);
    expect((await phone.others("n")).length).toBe(2);
    expect(await bens.push(edit("body", "x", 4, now))).toEqual(["done"]);
    expect(await phone.others("n")).toContainEqual(["Plans (laptop)", "late"]);
    expect([...phone.has.values()].map(({ version }) => version).sort()).toEqual([1, 1, 1, 6]);
  });

  test("moves", async () => {
    const { phone, laptop } = await scene();
    const [a, b] = [await notebook(), await notebook()];
    const now = Date.now();
    await phone.push(move(a, 1, now - 1));
    expect(await laptop.push(move(b, 1, now - 2))).toEqual(["lost"]);
    await phone.pull();
    expect(phone.has.get("n")).toMatchObject({ notebookId: a, version: 2 });
    expect(await laptop.push(move(b, 1, now), edit("title", "L", 1, now - 10))).toEqual(["done", "done"]);
    await phone.pull();
    expect(phone.has.get("n")).toMatchObject({ notebookId: b, version: 4, title: "L" });
  });

  test("times in the future", async () => {
    const { phone, laptop } = await scene();
    await phone.push(edit("title", "P", 1, Date.now() + DAY));
    await pass(1);
    expect(await laptop.push(edit("title", "L", 1))).toEqual(["done"]);
    await phone.push(remove(3, Date.now() + DAY));
    await pass(HOUR);
    expect(await laptop.push(edit("title", "M", 3))).toEqual(["deleted"]);
    await pass(1);
    expect(await laptop.push(edit("title", "M", 3))).toEqual(["done"]);
  });
});

describe("deleting", () => {
  test("edits within an hour of the delete are ignored", async () => {
    const { home, phone, laptop } = await scene();
    const now = Date.now();
    await phone.push(remove(1, now - HOUR - MINUTE));
    expect(await laptop.look("n")).toBeNull();
    expect(await laptop.push(edit("body", "L", 1, now - MINUTE), move(home, 2, now - MINUTE))).toEqual([
      "deleted",
      "deleted",
    ]);
    expect(await laptop.others("n")).toEqual([]);
    expect(await laptop.push(edit("body", "L", 1, now - MINUTE + 1))).toEqual(["done"]);
    expect(await phone.look("n")).toEqual(["Title", "L", 3]);
    await phone.push(remove(3, now - HOUR - MINUTE));
    expect(await laptop.push(move(home, 4, now - MINUTE + 1))).toEqual(["done"]);
    expect(await phone.look("n")).toEqual(["Title", "L", 5]);
  });

  test("an edit can restore and still be lost", async () => {
    const { phone, laptop } = await scene();
    const now = Date.now();
    await phone.push(edit("title", "P", 1, now), remove(2, now - HOUR - MINUTE));
    expect(await laptop.push(edit("title", "L", 1, now - 1))).toEqual(["lost"]);
    expect(await phone.look("n")).toEqual(["P", "Body", 4]);
  });

  test("a delete loses against newer changes that it does not know", async () => {
    const elsewhere = await notebook();
    const { phone, laptop } = await scene();
    const now = Date.now();
    const changes = [edit("title", "P", 1, now), edit("body", "P", 2, now), move(elsewhere, 3, now)];
    for (const [index, change] of changes.entries()) {
      expect(await phone.push(change)).toEqual(["done"]);
      expect(await laptop.push(remove(index + 1, now - HOUR - 1))).toEqual(["lost"]);
    }
    expect(await phone.look("n")).toEqual(["P", "P", 4]);
    expect(await laptop.push(remove(3, now - HOUR))).toEqual(["done"]);
    expect(await phone.look("n")).toBeNull();
    expect(await phone.push(restore())).toEqual(["done"]);
    expect(await laptop.push(remove(4, now - DAY))).toEqual(["done"]);
    expect(await phone.push(restore(), remove(1, now - DAY))).toEqual(["done", "done"]);
  });

  test("again, and restoring", async () => {
    const { phone, laptop } = await scene();
    const now = Date.now();
    expect(await phone.push(restore(), remove(1, now - HOUR))).toEqual(["unchanged", "done"]);
    expect(await laptop.push(remove(1, now))).toEqual(["unchanged"]);
    await pass(1);
    expect(await laptop.push(edit("title", "L", 1))).toEqual(["done"]);
    expect(await phone.look("n")).toEqual(["L", "Body", 3]);
    expect(await phone.push(remove(3))).toEqual(["done"]);
    expect(await laptop.look("n")).toBeNull();
    expect(await phone.push(restore(), restore())).toEqual(["done", "unchanged"]);
    expect(await laptop.look("n")).toEqual(["L", "Body", 5]);
  });

  test("notes are purged after 10 days", async () => {
    const { home, phone, laptop } = await scene();
    const laptopsTime = Date.now() - 5 * DAY;
    await phone.push(remove(1, laptopsTime));
    await pass(5 * DAY);
    expect(await laptop.push(remove(1))).toEqual(["unchanged"]);
    await pass(5 * DAY - 1);
    expect(await phone.push(create("n", home), restore(), remove(3))).toEqual(["taken", "done", "done"]);
    await pass(2);
    expect(await laptop.push(restore(), remove(1))).toEqual(["done", "done"]);
    await pass(10 * DAY - 1);
    expect(await phone.push(create("n", home))).toEqual(["taken"]);
    await pass(2);
    expect(await phone.push(restore(), create("n", home))).toEqual(["unknown", "done"]);
    expect(await phone.look("n")).toEqual(["Title", "Body", 1]);
  });

  test("notes that were restored stay", async () => {
    const { phone, laptop } = await scene();
    await phone.push(create("m", await notebook()), remove(1), remove(1, Date.now() - 2 * HOUR, "m"));
    await phone.push(restore());
    expect(await laptop.push(edit("title", "L", 1, Date.now(), "m"))).toEqual(["done"]);
    await pass(10 * DAY + 1);
    expect(await new Device(ada, "phone").pull()).toEqual(["m", "n"]);
  });
});

describe("pulling", () => {
  test("pages", async () => {
    const home = await notebook();
    const phone = await register("phone");
    for (const limit of [0, -1, 1.5, 51]) await refused(phone.fetch(null, limit), "INVALID");
    const ids = ["a", "b", "c", "d"];
    await phone.push(...ids.map((id) => create(id, home)));
    expect((await phone.fetch(null, 50)).more).toBe(false);
    expect((await phone.fetch(null, 4)).more).toBe(false);
    expect((await phone.fetch(null, 3)).more).toBe(true);
    for (const limit of [1, 2, 3]) expect(await new Device(ada, "phone").pull(limit)).toEqual(ids);
    expect(await phone.pull()).toEqual(ids);
    expect(phone.has.get("a")).toEqual({ notebookId: home, title: "Title", body: "Body", version: 1 });
    expect(await phone.pull()).toEqual([]);
  });

  test("changes between pages", async () => {
    const home = await notebook();
    const phone = await register("phone");
    const laptop = await register("laptop");
    await phone.push(...["a", "b", "c", "d", "e"].map((id) => create(id, home)));
    await laptop.page(2);
    await phone.push(
      ...["a", "c", "e"].map((id) => edit("title", "New", 1, Date.now(), id)),
      ...["b", "d"].map((id) => remove(1, Date.now(), id)),
    );
    const before = laptop.cursor;
    await laptop.pull(2);
    expect([...laptop.has].map(([id, { title }]) => [id, title]).sort()).toEqual([
      ["a", "New"],
      ["c", "New"],
      ["e", "New"],
    ]);
    const again = await laptop.fetch(before, 50);
    expect(again.changes.length).toBeGreaterThan(0);
    expect(await laptop.pull()).toEqual([]);
  });

  test("cursors last for 10 days", async () => {
    const { phone } = await scene();
    await phone.pull();
    await pass(10 * DAY - 1);
    await phone.fetch(phone.cursor);
    await pass(1);
    await refused(phone.fetch(phone.cursor), "RESET");
    await refused(phone.fetch(phone.cursor, 51), "INVALID");
    expect(await new Device(ada, "phone").pull()).toEqual(["n"]);
  });

  test("cursors become younger when there is no more", async () => {
    const { phone } = await scene();
    for (let count = 0; count < 4; count += 1) {
      await phone.pull();
      await pass(6 * DAY);
    }
    expect(await phone.pull()).toEqual([]);
  });

  test("cursors in the middle are as old as their beginning", async () => {
    const { home, phone } = await scene();
    const tablet = await register("tablet");
    await phone.push(...["a", "b", "c"].map((id) => create(id, home)));
    await tablet.page(1);
    const start = tablet.cursor;
    await pass(6 * DAY);
    await tablet.page(1);
    await pass(4 * DAY - 1);
    await tablet.fetch(tablet.cursor, 1);
    await pass(1);
    await refused(tablet.fetch(tablet.cursor, 1), "RESET");
    await refused(tablet.fetch(start, 1), "RESET");

    tablet.cursor = null;
    await tablet.pull(2);
    await pass(6 * DAY);
    await phone.push(...["d", "e"].map((id) => create(id, home)));
    await tablet.page(1);
    await pass(4 * DAY - 1);
    await tablet.fetch(tablet.cursor, 1);
    await pass(1);
    await refused(tablet.fetch(tablet.cursor), "RESET");
  });

  test("nothing is missed after a purge", async () => {
    const { home, phone, laptop } = await scene();
    await phone.push(create("m", home), create("o", home), remove(1, Date.now(), "o"), remove(1, Date.now(), "m"));
    await pass(5 * DAY);
    await laptop.pull();
    await pass(5 * DAY + 1);
    await phone.push(create("m", home));
    expect(await laptop.pull()).toEqual(["m"]);
    expect([...laptop.has.keys()].sort()).toEqual(["m", "n"]);
  });
});
