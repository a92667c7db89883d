import { convexTest } from "convex-test";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { api } from "./_generated/api";
import schema from "./schema";
import { modules } from "./test.setup";

const MINUTE = 60 * 1000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const TEN = "0123456789";

type Locker = ReturnType<typeof open>;
type Owner = Locker["ada"];

let locker: Locker;

function open() {
  const t = convexTest(schema, modules);
  return { t, ada: t.withIdentity({ subject: "ada" }), ben: t.withIdentity({ subject: "ben" }) };
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.setSystemTime(new Date("2026-05-04T08:07:00Z"));
  locker = open();
});

afterEach(() => {
  vi.useRealTimers();
});

/** Lets time pass; what was planned until then happens. */
async function pass(milliseconds: number) {
  vi.advanceTimersByTime(milliseconds);
  await locker.t.finishInProgressScheduledFunctions();
}

async function refused(call: Promise<unknown>, code: string) {
  await expect(call).rejects.toEqual(expect.objectContaining({ data: { code } }));
}

async function hashOf(content: string) {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(content));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function begin(name: string, size: number, owner: Owner = locker.ada) {
  return await owner.mutation(api.uploads.begin, { name, size });
}

async function finish(token: string, body: string) {
  return await locker.t.fetch("/files", { method: "POST", headers: { "X-Upload": token }, body });
}

/** Uploads a file, in one go: the status and the version. */
async function put(name: string, content: string, owner: Owner = locker.ada) {
  const response = await finish(await begin(name, content.length, owner), content);
  const { name: uploaded, version } = (await response.json()) as { name: string; version: number };
  expect(uploaded).toBe(name);
  return [response.status, version];
}

async function remove(name: string, owner: Owner = locker.ada) {
  return await owner.mutation(api.files.remove, { name });
}

async function rename(from: string, to: string) {
  return await locker.ada.mutation(api.folders.rename, { from, to });
}

async function revert(name: string, version: number) {
  return await locker.ada.mutation(api.files.revert, { name, version });
}

async function names(owner: Owner = locker.ada, folder?: string) {
  return (await owner.query(api.files.list, folder === undefined ? {} : { folder })).map(({ name }) => name);
}

async function versions(name: string) {
  const all = await locker.ada.query(api.files.versions, { name });
  return all.map(({ version, hash }) => [version, hash]);
}

async function numbers(name: string) {
  return (await versions(name)).map(([version]) => version);
}

async function binned(owner: Owner = locker.ada) {
  return await owner.query(api.bin.list, {});
}

async function restore(id: string, owner: Owner = locker.ada) {
  return await owner.mutation(api.bin.restore, { id });
}

async function usage(owner: Owner = locker.ada) {
  const { used, reserved } = await owner.query(api.account.usage, {});
  return [used, reserved];
}

async function share(name: string, downloads = 100, minutes = 10_000, owner: Owner = locker.ada) {
  return await owner.mutation(api.shares.create, { name, downloads, minutes });
}

async function remaining(name: string) {
  return (await locker.ada.query(api.shares.list, { name })).map((each) => each.remaining);
}

async function get(token: string, headers: Record<string, string> = {}) {
  const response = await locker.t.fetch(`/d/${token}`, { headers });
  const content = await response.text();
  const header = (name: string) => response.headers.get(name);
  return { status: response.status, content, tag: header("ETag"), part: header("Content-Range") };
}

/** What a new link to the file gives. */
async function read(name: string) {
  const { status, content } = await get(await share(name));
  expect(status).toBe(200);
  return content;
}

describe("owners", () => {
  test("must be logged in", async () => {
    const { t } = locker;
    for (const call of [
      () => t.query(api.account.usage, {}),
      () => t.query(api.files.list, { folder: "A" }),
      () => t.query(api.files.versions, { name: "a" }),
      () => t.mutation(api.files.revert, { name: "a", version: 1 }),
      () => t.mutation(api.files.remove, { name: "a" }),
      () => t.mutation(api.folders.rename, { from: "A", to: "A" }),
      () => t.query(api.bin.list, {}),
      () => t.mutation(api.bin.restore, { id: "a" }),
      () => t.mutation(api.bin.empty, {}),
      () => t.mutation(api.uploads.begin, { name: "A", size: 0 }),
      () => t.mutation(api.uploads.cancel, { token: "a" }),
      () => t.mutation(api.shares.create, { name: "a", downloads: 0, minutes: 0 }),
      () => t.query(api.shares.list, { name: "a" }),
      () => t.mutation(api.shares.revoke, { token: "a" }),
    ]) {
      await refused(call(), "UNAUTHENTICATED");
    }
  });

  test("see and change only what is theirs", async () => {
    const { ada, ben } = locker;
    await put("a", "secret");
    await put("b/b", "binned");
    const link = await share("a");
    const token = await begin("c", 1);
    await remove("b/b");
    const [{ id }] = await binned();
    expect(await names(ben)).toEqual([]);
    expect(await binned(ben)).toEqual([]);
    expect(await usage(ben)).toEqual([0, 0]);
    for (const owner of [ben, ada]) {
      const name = owner === ben ? "a" : "b/b";
      await refused(owner.query(api.files.versions, { name }), "NOT_FOUND");
      await refused(owner.mutation(api.files.revert, { name, version: 1 }), "NOT_FOUND");
      await refused(owner.mutation(api.files.remove, { name }), "NOT_FOUND");
      await refused(owner.mutation(api.shares.create, { name, downloads: 0, minutes: 1 }), "NOT_FOUND");
      await refused(owner.query(api.shares.list, { name }), "NOT_FOUND");
    }
    await refused(restore(id, ben), "NOT_FOUND");
    await refused(restore("nonsense"), "NOT_FOUND");
    await refused(ben.mutation(api.uploads.cancel, { token }), "NOT_FOUND");
    await refused(ben.mutation(api.shares.revoke, { token: link }), "NOT_FOUND");
    await refused(ben.mutation(api.folders.rename, { from: "b", to: "d" }), "EMPTY");
    expect(await ben.mutation(api.bin.empty, {})).toBe(0);
    expect((await get(link)).content).toBe("secret");
    expect((await finish(token, "c")).status).toBe(201);
    expect(await restore(id)).toBe("b/b");
    await refused(restore(id), "NOT_FOUND");
  });

  test("have contents of their own", async () => {
    await put("a", TEN);
    await put("x", TEN, locker.ben);
    expect(await usage(locker.ben)).toEqual([10, 0]);
    await remove("a");
    await locker.ada.mutation(api.bin.empty, {});
    expect(await usage()).toEqual([0, 0]);
    expect(await usage(locker.ben)).toEqual([10, 0]);
    expect((await get(await share("x", 1, 1, locker.ben))).content).toBe(TEN);
  });
});

describe("names", () => {
  test.each(["a", "a/b", "0.-9", "a/b/c.d/e", ".", "a/../b"])("%s is one", async (name) => {
    expect(await put(name, "x")).toEqual([201, 1]);
    expect(await names()).toEqual([name]);
  });

  test.each(["", "A", "a b", "/a", "a/", "a//b", "/", "ä", "a_b", "a\n"])("%j is none", async (name) => {
    await put("f/a", "x");
    await refused(begin(name, 1), "INVALID");
    await refused(names(locker.ada, name), "INVALID");
    await refused(rename("f", name), "INVALID");
    await refused(rename(name, "g"), "INVALID");
  });
});

describe("uploads", () => {
  test("have a size", async () => {
    for (const size of [0, -1, 1.5, 5001, Number.NaN]) await refused(begin("a", size), "INVALID");
    expect(await usage()).toEqual([0, 0]);
    expect(await put("a", "x".repeat(5000))).toEqual([201, 1]);
    expect(await usage()).toEqual([5000, 0]);
  });

  test("are three at most", async () => {
    const token = await begin("a", 4);
    const other = await begin("a", 4);
    await begin("b", 4);
    await refused(begin("c", 5000), "TOO_MANY");
    await refused(begin("C", 1), "INVALID");
    expect(await usage()).toEqual([0, 12]);
    expect((await finish(token, "four")).status).toBe(201);
    expect(await usage()).toEqual([4, 8]);
    const next = await begin("c", 5);
    await refused(begin("d", 1), "TOO_MANY");
    await locker.ada.mutation(api.uploads.cancel, { token: other });
    expect(await usage()).toEqual([4, 9]);
    expect((await finish(other, "four")).status).toBe(404);
    expect((await finish(token, "four")).status).toBe(404);
    await refused(locker.ada.mutation(api.uploads.cancel, { token }), "NOT_FOUND");
    await refused(locker.ada.mutation(api.uploads.cancel, { token: other }), "NOT_FOUND");
    expect((await finish(next, "fives")).status).toBe(201);
    expect((await finish("nonsense", "x")).status).toBe(404);
    const response = await locker.t.fetch("/files", { method: "POST", body: "x" });
    expect(response.status).toBe(404);
    expect(await names()).toEqual(["a", "c"]);
  });

  test("too many comes before the quota", async () => {
    await begin("a", 5000);
    await begin("a", 4000);
    await begin("a", 1000);
    await refused(begin("a", 1), "TOO_MANY");
    await refused(begin("a", 0), "INVALID");
  });

  test("are three at most for each owner", async () => {
    for (const owner of [locker.ada, locker.ben]) {
      for (const name of ["a", "b", "c"]) await begin(name, 3000, owner);
      expect(await usage(owner)).toEqual([0, 9000]);
    }
  });

  test("and contents share the quota", async () => {
    await put("a", "a".repeat(5000));
    await put("b", "b".repeat(2000));
    await begin("c", 2000);
    await refused(begin("d", 1001), "QUOTA");
    const token = await begin("d", 1000);
    await refused(begin("e", 1), "QUOTA");
    expect((await finish(token, "b".repeat(1000))).status).toBe(201);
    await refused(begin("e", 1), "QUOTA");
    expect(await usage()).toEqual([8000, 2000]);
    await begin("e", 5000, locker.ben);
  });

  test("need exactly their size, but can be tried again", async () => {
    const token = await begin("a", 5);
    for (const body of ["four", "sixsix", ""]) expect((await finish(token, body)).status).toBe(400);
    expect(await usage()).toEqual([0, 5]);
    expect(await names()).toEqual([]);
    expect((await finish(token, "fives")).status).toBe(201);
    expect(await usage()).toEqual([5, 0]);
  });

  test("sizes are bytes", async () => {
    expect((await finish(await begin("a", 3), "äö")).status).toBe(400);
    expect((await finish(await begin("a", 4), "äö")).status).toBe(201);
  });

  test("can be finished for 60 minutes", async () => {
    const first = await begin("a", 1);
    await pass(1);
    const second = await begin("b", 2);
    const third = await begin("c", 3);
    await pass(HOUR - 2);
    expect(await usage()).toEqual([0, 6]);
    expect((await finish(first, "a")).status).toBe(201);
    await pass(1);
    expect((await finish(third, "a")).status).toBe(400);
    await pass(1);
    expect((await finish(second, "bb")).status).toBe(404);
    expect((await finish(second, "wrong size")).status).toBe(404);
    await refused(locker.ada.mutation(api.uploads.cancel, { token: third }), "NOT_FOUND");
    await pass(HOUR);
    expect(await usage()).toEqual([1, 0]);
    expect(await names()).toEqual(["a"]);
    for (const name of ["a", "b", "c"]) await begin(name, 3);
  });

  test("that expire leave the others alone", async () => {
    await begin("a", 1);
    await pass(50 * MINUTE);
    const token = await begin("b", 2);
    await pass(59 * MINUTE + 59_999);
    expect((await finish(token, "bb")).status).toBe(201);
    await pass(HOUR);
    expect(await usage()).toEqual([2, 0]);
  });
});

describe("versions", () => {
  test("are described, the newest first", async () => {
    const first = Date.now();
    expect(await put("a", "one")).toEqual([201, 1]);
    await pass(MINUTE);
    const token = await begin("a", 4);
    await pass(MINUTE);
    expect((await finish(token, "four")).status).toBe(201);
    const [one, four] = [await hashOf("one"), await hashOf("four")];
    const newest = { version: 2, size: 4, hash: four, at: first + 2 * MINUTE };
    const all = [newest, { version: 1, size: 3, hash: one, at: first }];
    expect(await locker.ada.query(api.files.versions, { name: "a" })).toEqual(all);
    expect(await locker.ada.query(api.files.list, {})).toEqual([{ name: "a", ...newest }]);
    expect(await usage()).toEqual([7, 0]);
    await pass(MINUTE);
    expect(await put("a", "four")).toEqual([200, 2]);
    expect(await locker.ada.query(api.files.versions, { name: "a" })).toEqual(all);
  });

  test("are three at most", async () => {
    for (const version of [1, 2, 3, 4, 5, 6]) {
      expect(await put("a", String(version).repeat(version))).toEqual([201, version]);
    }
    expect(await numbers("a")).toEqual([6, 5, 4]);
    expect(await usage()).toEqual([15, 0]);
    expect(await read("a")).toBe("666666");
    await refused(revert("a", 3), "NOT_FOUND");
    await refused(revert("a", 7), "NOT_FOUND");
  });

  test("are not added if nothing changes", async () => {
    const [a, b] = [await hashOf("a"), await hashOf("b")];
    expect(await put("f", "a")).toEqual([201, 1]);
    expect(await put("f", "a")).toEqual([200, 1]);
    expect(await usage()).toEqual([1, 0]);
    expect(await put("f", "b")).toEqual([201, 2]);
    expect(await put("f", "a")).toEqual([201, 3]);
    expect(await versions("f")).toEqual([[3, a], [2, b], [1, a]]);
    expect(await usage()).toEqual([2, 0]);
    expect(await revert("f", 1)).toBe(3);
    expect(await numbers("f")).toEqual([3, 2, 1]);
    expect(await put("f", "c")).toEqual([201, 4]);
    expect(await usage()).toEqual([3, 0]);
    expect(await revert("f", 3)).toBe(5);
    expect(await read("f")).toBe("a");
  });

  test("can be reverted to", async () => {
    for (const content of ["a", "bb", "ccc"]) await put("f", content);
    expect(await revert("f", 3)).toBe(3);
    const at = Date.now() + MINUTE;
    await pass(MINUTE);
    expect(await revert("f", 1)).toBe(4);
    const [newest] = await locker.ada.query(api.files.versions, { name: "f" });
    expect(newest).toEqual({ version: 4, size: 1, hash: await hashOf("a"), at });
    expect(await numbers("f")).toEqual([4, 3, 2]);
    expect(await read("f")).toBe("a");
    expect(await usage()).toEqual([6, 0]);
    expect(await put("f", "bb")).toEqual([201, 5]);
    expect(await read("f")).toBe("bb");
    expect(await put("f", "dddd")).toEqual([201, 6]);
    expect(await usage()).toEqual([7, 0]);
  });

  test("can be uploaded again when they are about to go", async () => {
    for (const content of ["a", "bb", "ccc", "a"]) await put("f", content);
    expect(await numbers("f")).toEqual([4, 3, 2]);
    expect(await read("f")).toBe("a");
    expect(await usage()).toEqual([6, 0]);
  });

  test("can be reverted to with a full quota", async () => {
    await put("f", "a".repeat(5000));
    await put("f", "b".repeat(5000));
    expect(await revert("f", 1)).toBe(3);
    expect(await usage()).toEqual([10_000, 0]);
  });
});

describe("contents", () => {
  test("are kept for other files", async () => {
    await put("a", TEN);
    await put("b", TEN);
    await put("c", TEN);
    expect(await usage()).toEqual([10, 0]);
    for (const content of ["x", "y", "z"]) await put("a", content);
    expect(await usage()).toEqual([13, 0]);
    expect(await read("b")).toBe(TEN);
    await remove("b");
    await put("b", "b");
    await put("b", "bb");
    await remove("b");
    expect(await usage()).toEqual([16, 0]);
    expect(await locker.ada.mutation(api.bin.empty, {})).toBe(2);
    expect(await usage()).toEqual([13, 0]);
    expect(await read("c")).toBe(TEN);
    for (const content of ["x", "y", "z"]) await put("c", content);
    expect(await usage()).toEqual([3, 0]);
  });

  test("are kept for the bin", async () => {
    await put("a", TEN);
    await put("b", TEN);
    await remove("b");
    expect(await usage()).toEqual([10, 0]);
    for (const content of ["x", "y", "z"]) await put("a", content);
    expect(await usage()).toEqual([13, 0]);
    await begin("c", 5000);
    await refused(begin("c", 4988), "QUOTA");
    const [{ id }] = await binned();
    await restore(id);
    expect(await read("b")).toBe(TEN);
    await remove("a");
    expect(await usage()).toEqual([13, 5000]);
  });

  test("are kept in the clean-up, too", async () => {
    await put("a", TEN);
    await put("b", TEN);
    await put("b", "more");
    await remove("b");
    await pass(14 * DAY + HOUR);
    expect(await binned()).toEqual([]);
    expect(await usage()).toEqual([10, 0]);
    expect(await read("a")).toBe(TEN);
  });
});

describe("folders", () => {
  test("are listed", async () => {
    for (const name of ["b", "a/c", "ab/x", "a", "a/b/d", "a-b", "c/a/x"]) await put(name, name);
    expect(await names()).toEqual(["a", "a-b", "a/b/d", "a/c", "ab/x", "b", "c/a/x"]);
    expect(await names(locker.ada, "a")).toEqual(["a/b/d", "a/c"]);
    expect(await names(locker.ada, "a/b")).toEqual(["a/b/d"]);
    expect(await names(locker.ada, "b")).toEqual([]);
  });

  test("are renamed", async () => {
    for (const name of ["a", "a/a/x", "a/y", "ab/z", "c/a/x"]) await put(name, name);
    await put("a/y", "second");
    expect(await rename("a", "n/m")).toBe(2);
    expect(await names()).toEqual(["a", "ab/z", "c/a/x", "n/m/a/x", "n/m/y"]);
    expect(await numbers("n/m/y")).toEqual([2, 1]);
    expect(await read("n/m/a/x")).toBe("a/a/x");
    await refused(rename("a", "q"), "EMPTY");
    await refused(rename("a", "ab"), "EMPTY");
    expect(await rename("n", "na")).toBe(2);
    expect(await rename("na/m/a", "na/m")).toBe(1);
  });

  test("not into themselves", async () => {
    await put("a/x", "1");
    await refused(rename("a", "a"), "INVALID");
    await refused(rename("a", "a/b"), "INVALID");
    await refused(rename("none", "none"), "INVALID");
    expect(await rename("a", "ab")).toBe(1);
    expect(await names()).toEqual(["ab/x"]);
  });

  test("not over other files", async () => {
    for (const name of ["a/1", "a/2", "a/3", "b/2"]) await put(name, name);
    await refused(rename("a", "b"), "EXISTS");
    expect(await names()).toEqual(["a/1", "a/2", "a/3", "b/2"]);
    await put("b/4", "4");
    await remove("b/2");
    expect(await rename("a", "b")).toBe(3);
    expect(await names()).toEqual(["b/1", "b/2", "b/3", "b/4"]);
  });

  test("but over files that move, too", async () => {
    for (const name of ["a/b/x", "a/b/b/x"]) await put(name, name);
    expect(await rename("a/b", "a")).toBe(2);
    expect(await names()).toEqual(["a/b/x", "a/x"]);
    expect(await read("a/b/x")).toBe("a/b/b/x");
    expect(await read("a/x")).toBe("a/b/x");
  });

  test("uploads go to what has their name then", async () => {
    await put("a/x", "x");
    await put("b", "b");
    const [first, second] = [await begin("a/x", 1), await begin("b", 1)];
    await rename("a", "c");
    await remove("b");
    for (const token of [first, second]) {
      const response = await finish(token, "y");
      expect([response.status, await response.json()]).toMatchObject([201, { version: 1 }]);
    }
    expect(await names()).toEqual(["a/x", "b", "c/x"]);
    expect(await numbers("c/x")).toEqual([1]);
  });

  test("uploads and the bin keep their names", async () => {
    await put("a/x", "x");
    await put("a/y", "y");
    await remove("a/y");
    const token = await begin("a/z", 1);
    expect(await rename("a", "b")).toBe(1);
    expect((await finish(token, "z")).status).toBe(201);
    const [{ id, name }] = await binned();
    expect(name).toBe("a/y");
    expect(await restore(id)).toBe("a/y");
    expect(await names()).toEqual(["a/y", "a/z", "b/x"]);
  });
});

describe("the bin", () => {
  test("lists what was removed last first", async () => {
    const start = Date.now();
    for (const name of ["b", "a", "c"]) {
      await put(name, name);
      await remove(name);
      await pass(1000);
    }
    expect((await binned()).map(({ name, deletedAt }) => [name, deletedAt - start])).toEqual([
      ["c", 2000],
      ["a", 1000],
      ["b", 0],
    ]);
    expect(await names()).toEqual([]);
    expect(await usage()).toEqual([3, 0]);
    expect(await locker.ada.mutation(api.bin.empty, {})).toBe(3);
    expect(await usage()).toEqual([0, 0]);
    expect(await binned()).toEqual([]);
  });

  test("restores under names that are free", async () => {
    for (const content of ["one", "two", "three"]) {
      expect(await put("a", content)).toEqual([201, 1]);
      await remove("a");
      await pass(1000);
    }
    const [three, two, one] = await binned();
    await put("a.2", "other");
    expect(await restore(two.id)).toBe("a");
    expect(await restore(one.id)).toBe("a.1");
    expect(await restore(three.id)).toBe("a.3");
    expect(await read("a")).toBe("two");
    expect(await read("a.1")).toBe("one");
    expect(await read("a.3")).toBe("three");
    expect(await binned()).toEqual([]);
    await remove("a.1");
    await put("b", "b");
    await remove("b");
    await begin("b.1", 1);
    await put("b", "new");
    const [{ id }] = (await binned()).filter(({ name }) => name === "b");
    await put("b.1", "x");
    await remove("b.1");
    expect(await restore(id)).toBe("b.1");
  });

  test("keeps versions and links", async () => {
    await put("a", "one");
    await put("a", "two");
    const link = await share("a", 3);
    expect((await get(link)).content).toBe("two");
    await remove("a");
    expect((await get(link)).status).toBe(404);
    await put("a", "new");
    expect((await get(link)).status).toBe(404);
    expect(await remaining("a")).toEqual([]);
    const [{ id }] = await binned();
    expect(await restore(id)).toBe("a.1");
    expect(await numbers("a.1")).toEqual([2, 1]);
    expect((await get(link)).content).toBe("two");
    expect(await remaining("a.1")).toEqual([1]);
  });

  test("is emptied after 14 days", async () => {
    await put("a", "one");
    await pass(DAY);
    const link = await share("a");
    await remove("a");
    await put("other", "other");
    await pass(10 * DAY);
    await remove("other");
    await pass(4 * DAY - 1);
    expect((await binned()).map(({ name }) => name)).toEqual(["other", "a"]);
    expect(await usage()).toEqual([8, 0]);
    await pass(HOUR + 1);
    expect((await binned()).map(({ name }) => name)).toEqual(["other"]);
    expect(await usage()).toEqual([5, 0]);
    expect((await get(link)).status).toBe(404);
    const [{ id }] = await binned();
    expect(await restore(id)).toBe("other");
    await pass(14 * DAY);
    expect(await read("other")).toBe("other");
  });

  test("counts from the last removal", async () => {
    await put("a", "one");
    await remove("a");
    await pass(10 * DAY);
    const [first] = await binned();
    await restore(first.id);
    await pass(DAY);
    const deletedAt = Date.now();
    await remove("a");
    await pass(4 * DAY);
    expect((await binned()).map((each) => each.deletedAt)).toEqual([deletedAt]);
    await pass(10 * DAY - 1);
    const [again] = await binned();
    expect(await restore(again.id)).toBe("a");
    await remove("a");
    await pass(14 * DAY - 1);
    expect((await binned()).length).toBe(1);
    await pass(HOUR + 1);
    expect(await binned()).toEqual([]);
    expect(await usage()).toEqual([0, 0]);
  });
});

describe("links", () => {
  test("have limits", async () => {
    await put("a", "one");
    for (const limit of [0, -1, 1.5]) {
      await refused(share("a", limit, 1), "INVALID");
      await refused(share("a", 1, limit), "INVALID");
    }
    await refused(share("a", 101, 1), "INVALID");
    await refused(share("a", 1, 10_001), "INVALID");
    const first = await share("a", 100, 10_000);
    await pass(1000);
    const second = await share("a", 1, 1);
    const expiresAt = Date.now() + MINUTE;
    expect(await locker.ada.query(api.shares.list, { name: "a" })).toEqual([
      { token: first, remaining: 100, expiresAt: expiresAt - 1000 + 9999 * MINUTE },
      { token: second, remaining: 1, expiresAt },
    ]);
  });

  test("expire to the millisecond", async () => {
    await put("a", "one");
    const link = await share("a", 5, 2);
    const other = await share("a", 5, 3);
    await pass(2 * MINUTE - 1);
    expect((await get(link)).status).toBe(200);
    await pass(1);
    expect((await get(link)).status).toBe(410);
    expect((await get(link, { "If-None-Match": "*" })).status).toBe(410);
    expect((await get(other)).status).toBe(200);
    expect(await remaining("a")).toEqual([4, 4]);
    await remove("a");
    expect((await get(link)).status).toBe(404);
    await locker.ada.mutation(api.shares.revoke, { token: link });
    await refused(locker.ada.mutation(api.shares.revoke, { token: link }), "NOT_FOUND");
  });

  test("count downloads", async () => {
    await put("a", TEN);
    const link = await share("a", 2);
    const tag = `"${await hashOf(TEN)}"`;
    expect(await get(link, { "If-None-Match": tag })).toEqual({ status: 304, content: "", tag, part: null });
    expect((await get(link, { Range: "bytes=10-" })).status).toBe(416);
    expect((await get(link, { Range: "bytes=1-" })).status).toBe(206);
    expect((await get(link, { Range: "bytes=-9" })).status).toBe(206);
    expect(await remaining("a")).toEqual([2]);
    expect((await get(link, { Range: "bytes=0-0" })).content).toBe("0");
    expect(await remaining("a")).toEqual([1]);
    expect((await get(link, { Range: "bytes=-10" })).content).toBe(TEN);
    expect(await remaining("a")).toEqual([0]);
    for (const headers of [{}, { "If-None-Match": tag }, { Range: "bytes=1-" }, { Range: "bytes=99-" }]) {
      expect((await get(link, headers as Record<string, string>)).status).toBe(410);
    }
    expect(await remaining("a")).toEqual([0]);
    await remove("a");
    expect((await get(link)).status).toBe(404);
  });

  test("follow their files", async () => {
    await put("f/a", "one");
    const link = await share("f/a");
    await rename("f", "g");
    await put("f/a", "other");
    await put("g/a", "two");
    expect((await get(link)).content).toBe("two");
    await revert("g/a", 1);
    expect((await get(link)).content).toBe("one");
    expect(await remaining("g/a")).toEqual([98]);
    expect(await remaining("f/a")).toEqual([]);
  });

  test("can be revoked", async () => {
    await put("a", "one");
    const [first, second] = [await share("a"), await share("a")];
    await locker.ada.mutation(api.shares.revoke, { token: first });
    await refused(locker.ada.mutation(api.shares.revoke, { token: first }), "NOT_FOUND");
    expect((await get(first)).status).toBe(404);
    expect((await get("nonsense")).status).toBe(404);
    expect((await get(second)).status).toBe(200);
    await remove("a");
    await locker.ada.mutation(api.shares.revoke, { token: second });
    const [{ id }] = await binned();
    await restore(id);
    expect(await remaining("a")).toEqual([]);
    expect((await get(second)).status).toBe(404);
  });
});

describe("downloads", () => {
  test("are conditional", async () => {
    await put("a", TEN);
    const link = await share("a", 50);
    const tag = `"${await hashOf(TEN)}"`;
    for (const known of [tag, `W/${tag}`, "*", `"x", ${tag}`, `"x",W/${tag},"y"`]) {
      expect(await get(link, { "If-None-Match": known })).toEqual({ status: 304, content: "", tag, part: null });
    }
    expect((await get(link, { "If-None-Match": tag, Range: "bytes=0-1" })).status).toBe(304);
    expect((await get(link, { "If-None-Match": tag, Range: "bytes=99-" })).status).toBe(304);
    expect(await remaining("a")).toEqual([50]);
    for (const known of ['"x"', tag.slice(1, -1), `${tag.slice(0, -2)}"`]) {
      expect(await get(link, { "If-None-Match": known })).toEqual({ status: 200, content: TEN, tag, part: null });
    }
    await put("a", "new");
    expect((await get(link, { "If-None-Match": tag })).content).toBe("new");
    expect(await remaining("a")).toEqual([46]);
  });

  test.each([
    ["bytes=0-3", 0, 3],
    ["bytes=4-4", 4, 4],
    ["bytes=4-", 4, 9],
    ["bytes=4-9", 4, 9],
    ["bytes=4-10", 4, 9],
    ["bytes=9-99", 9, 9],
    ["bytes=0-", 0, 9],
    ["bytes=0-9", 0, 9],
    ["bytes=-1", 9, 9],
    ["bytes=-4", 6, 9],
    ["bytes=-10", 0, 9],
    ["bytes=-11", 0, 9],
    ["bytes=-99", 0, 9],
  ])("%s", async (range, first, last) => {
    await put("a", TEN);
    expect(await get(await share("a"), { Range: range })).toEqual({
      status: 206,
      content: TEN.slice(first, last + 1),
      tag: `"${await hashOf(TEN)}"`,
      part: `bytes ${String(first)}-${String(last)}/10`,
    });
    expect(await remaining("a")).toEqual([first === 0 ? 99 : 100]);
  });

  test.each(["bytes=10-", "bytes=10-12", "bytes=99-", "bytes=-0"])("%s is not there", async (range) => {
    await put("a", TEN);
    const { status, tag, part } = await get(await share("a"), { Range: range });
    expect([status, tag, part]).toEqual([416, `"${await hashOf(TEN)}"`, "bytes */10"]);
    expect(await remaining("a")).toEqual([100]);
  });

  test.each(["bytes=0-1,3-4", "bytes=3-2", "bytes=99-98", "bytes=-", "bytes=a-b", "lines=1-2", "bytes=1", "bytes=-3-5"])(
    "%s is nonsense",
    async (range) => {
      await put("a", TEN);
      const { status, content, part } = await get(await share("a"), { Range: range });
      expect([status, content, part]).toEqual([200, TEN, null]);
      expect(await remaining("a")).toEqual([99]);
    },
  );
});
