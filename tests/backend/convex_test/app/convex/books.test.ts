import { convexTest } from "convex-test";
import { expect, test } from "vitest";
import { api } from "./_generated/api";
import schema from "./schema";

const modules = import.meta.glob("./**/*.ts");

test("tests look into the database themselves", async () => {
  const library = convexTest(schema, modules);
  await library.mutation(api.books.add, { title: "Emma", author: "Austen", year: 1815 });
  const stored = await library.run((ctx) => ctx.db.query("books").unique());
  expect(stored).toMatchObject({ title: "Emma", author: "Austen", year: 1815 });
});

test("every test has a library of its own, and the schema is kept", async () => {
  const library = convexTest(schema, modules);
  expect(await library.query(api.books.shelf)).toEqual([]);
  await expect(library.run((ctx) => ctx.db.insert("books", { title: 1 } as any))).rejects.toThrow("Validator error");
});
