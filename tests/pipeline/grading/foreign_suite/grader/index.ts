import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ConvexClient, ConvexHttpClient } from "convex/browser";
import { makeFunctionReference } from "convex/server";
import { expect } from "vitest";

const ADMIN_KEY =
  "0135d8598650f8f5cb0f30c34ec2e2bb62793bc28717c8eb6fb577996d50be5f4281b59181095065c5d0f86a2c31ddbe9b597ec62b47ded69782cd";

const address = (port: string | undefined) => `http://0.0.0.0:${port}`;
export const projectUrl = address(process.env.CONVEX_PORT);
export const siteUrl = address(process.env.CONVEX_SITE_PORT);
export const answerUrl = address(process.env.CONVEX_ANSWER_PORT);
export const outputFolder = process.env.MODEL_OUTPUT_DIR ?? "";

export const client = new ConvexHttpClient(projectUrl);
export const projectAdmin = admin(projectUrl);
export const answerAdmin = admin(answerUrl);

interface AdminClient extends ConvexHttpClient {
  setAdminAuth(key: string): void;
}

function admin(url: string): ConvexHttpClient {
  const made = new ConvexHttpClient(url) as AdminClient;
  made.setAdminAuth(ADMIN_KEY);
  return made;
}

export const query = (name: string) => makeFunctionReference<"query">(name);
export const mutation = (name: string) => makeFunctionReference<"mutation">(name);

export async function addDocuments(table: string, documents: object[]): Promise<void> {
  await projectAdmin.mutation(mutation("_system/frontend/addDocument"), { table, documents });
}

export async function listTable(table: string, limit = 100): Promise<Record<string, unknown>[]> {
  return await projectAdmin.query(query("_system/frontend/listTableScan"), { table, limit });
}

export async function clearTable(tableName: string): Promise<void> {
  let cursor: string | null = null;
  for (;;) {
    const page: { hasMore: boolean; continueCursor: string } = await projectAdmin.mutation(
      mutation("_system/frontend/clearTablePage"),
      { tableName, cursor },
    );
    if (!page.hasMore) return;
    cursor = page.continueCursor;
  }
}

async function schemaOf(deployment: ConvexHttpClient): Promise<unknown> {
  const schemas = await deployment.query(query("_system/frontend/getSchemas"), {});
  return schemas.active === undefined ? null : JSON.parse(schemas.active);
}

export async function compareSchema(): Promise<void> {
  expect(await schemaOf(projectAdmin)).toEqual(await schemaOf(answerAdmin));
}

async function specOf(url: string): Promise<unknown> {
  const folder = await mkdtemp(join(tmpdir(), "spec-"));
  try {
    const run = promisify(execFile);
    const { stdout } = await run("npx", ["convex", "function-spec", "--url", url, "--admin-key", ADMIN_KEY], {
      cwd: folder,
    });
    return (JSON.parse(stdout) as { functions: unknown }).functions;
  } finally {
    await rm(folder, { recursive: true });
  }
}

export async function compareFunctionSpec(): Promise<void> {
  expect(await specOf(projectUrl)).toEqual(await specOf(answerUrl));
}

export async function firstUpdate(name: string, isWanted: (value: unknown) => boolean): Promise<unknown> {
  const live = new ConvexClient(projectUrl);
  try {
    return await new Promise((resolve) => live.onUpdate(query(name), {}, (value) => isWanted(value) && resolve(value)));
  } finally {
    await live.close();
  }
}
