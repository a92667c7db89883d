/** The story that a deployment is told as well: each step builds on those before it. */
import { convexTest } from "convex-test";
import { makeFunctionReference } from "convex/server";
import { ConvexError } from "convex/values";
import { expect, test, vi } from "vitest";
import schema from "./schema";
import story from "./story.json";

type Kind = "query" | "mutation" | "action";
type Step = {
  name: string;
  call: Kind | "fetch" | "settle";
  path?: string;
  args?: object;
  as?: string;
  value?: unknown;
  error?: unknown;
  status?: number;
};
/** Functions are named by text here, so their types are out of reach. */
type Reader = Record<Kind, (reference: unknown, args?: object) => Promise<unknown>>;

vi.useFakeTimers();
const library = convexTest(schema, import.meta.glob("./**/*.ts"));

for (const step of story as Step[]) test(step.name, () => take(step));

async function take(step: Step) {
  if (step.call === "fetch") await fetchPage(step);
  else if (step.call === "settle") await library.finishAllScheduledFunctions(vi.runAllTimers);
  else await callFunction(step.call, step);
}

async function fetchPage({ path, status, value }: Step) {
  const response = await library.fetch(path!, { method: "GET" });
  expect(response.status).toBe(status);
  if (value !== undefined) expect(await response.json()).toEqual(value);
}

async function callFunction(kind: Kind, { path, args, as: name, value, error }: Step) {
  const reader = (name === undefined ? library : library.withIdentity({ name })) as unknown as Reader;
  const answer = reader[kind](makeFunctionReference(path!), args);
  if (error === undefined) {
    expect(await answer).toEqual(value);
  } else {
    const thrown = await answer.catch((thrown: unknown) => thrown);
    expect(thrown).toBeInstanceOf(ConvexError);
    expect((thrown as ConvexError<any>).data).toEqual(error);
  }
}
