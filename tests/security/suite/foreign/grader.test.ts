import { ConvexHttpClient } from "convex/browser";
import { makeFunctionReference } from "convex/server";
import { expect, test } from "vitest";

const ADMIN_KEY =
  "0135d8598650f8f5cb0f30c34ec2e2bb62793bc28717c8eb6fb577996d50be5f4281b59181095065c5d0f86a2c31ddbe9b597ec62b47ded69782cd";

interface AdminClient extends ConvexHttpClient {
  setAdminAuth(key: string): void;
}

function open(port: string | undefined): ConvexHttpClient {
  const client = new ConvexHttpClient(`http://127.0.0.1:${port}`) as AdminClient;
  client.setAdminAuth(ADMIN_KEY);
  return client;
}

const project = open(process.env.CONVEX_PORT);
const answer = open(process.env.CONVEX_ANSWER_PORT);
const schemas = makeFunctionReference<"query">("_system/frontend/getSchemas");

test("the schema is the answer's", async () => {
  expect(JSON.parse((await project.query(schemas, {})).active)).toEqual(
    JSON.parse((await answer.query(schemas, {})).active),
  );
});

test("notes are added and listed", async () => {
  await project.mutation(makeFunctionReference<"mutation">("notes:add"), { text: "one" });
  await project.mutation(makeFunctionReference<"mutation">("notes:add"), { text: "two" });
  const notes: { text: string }[] = await project.query(makeFunctionReference<"query">("notes:list"), {});
  expect(notes.map((note) => note.text)).toEqual(["one", "two"]);
});
