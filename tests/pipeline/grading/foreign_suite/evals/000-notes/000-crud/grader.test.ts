import { existsSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import {
  addDocuments,
  clearTable,
  client,
  compareFunctionSpec,
  compareSchema,
  firstUpdate,
  listTable,
  mutation,
  outputFolder,
  query,
  siteUrl,
} from "../../../grader";

beforeEach(() => clearTable("notes"));

test("writes its functions", () => {
  expect(existsSync(join(outputFolder, "convex/notes.ts"))).toBe(true);
});

describe("declarations", () => {
  test("schema", compareSchema);
  test("functions", compareFunctionSpec);
});

describe("notes", () => {
  test("are added", async () => {
    const id: unknown = await client.mutation(mutation("notes:add"), { text: "one" });
    expect(await listTable("notes")).toMatchObject([{ _id: id, text: "one" }]);
  });

  test.each([["a"], ["b"]])("are listed, oldest first, like %s", async (text) => {
    await addDocuments("notes", [{ text }, { text: "second" }]);
    const texts = (await client.query(query("notes:list"), {})).map((note: { text: string }) => note.text);
    expect(texts).toEqual([text, "second"]);
  });

  test("are followed", async () => {
    const update = firstUpdate("notes:list", (value) => (value as unknown[]).length === 1);
    await client.mutation(mutation("notes:add"), { text: "live" });
    expect(await update).toMatchObject([{ text: "live" }]);
  });
});

test("has no endpoints", async () => {
  expect((await fetch(`${siteUrl}/anything`)).status).toBe(404);
});
