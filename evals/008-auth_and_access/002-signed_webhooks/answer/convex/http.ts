import { httpRouter } from "convex/server";
import { internal } from "./_generated/api";
import { httpAction } from "./_generated/server";
import { isRecent, isSigned, parseSignatures } from "./signatures";

const PREFIX = "/hooks/";

const receive = httpAction(async (ctx, request) => {
  const bank = new URL(request.url).pathname.slice(PREFIX.length);
  // As bytes: decoding and encoding again does not always give the same ones.
  const body = await request.arrayBuffer();
  const signatures = parseSignatures(request.headers.get("X-Signature"));
  const secrets = await ctx.runQuery(internal.banks.secrets, { bank });
  if (
    signatures === null ||
    !isRecent(signatures.time) ||
    !(await isSigned(signatures, body, secrets))
  ) {
    return Response.json({ error: "unauthorized" }, { status: 401 });
  }
  const event = parseEvent(body);
  if (event === "malformed") {
    return Response.json({ error: event }, { status: 400 });
  }
  if (event === "ignored") {
    return Response.json({ status: event });
  }
  const status = await ctx.runMutation(internal.banks.receive, {
    bank,
    ...event,
  });
  return status === "unknown account"
    ? Response.json({ error: status }, { status: 422 })
    : Response.json({ status });
});

function parseEvent(body: ArrayBuffer) {
  const event = parseObject(body);
  if (event === null || typeof event.type !== "string") {
    return "malformed";
  }
  if (event.type !== "balance") {
    return "ignored";
  }
  const { id, account, sequence, balance } = event;
  if (
    typeof id !== "string" ||
    id === "" ||
    typeof account !== "string" ||
    typeof sequence !== "number" ||
    !Number.isInteger(sequence) ||
    sequence < 0 ||
    typeof balance !== "number"
  ) {
    return "malformed";
  }
  return { id, account, sequence, balance };
}

function parseObject(body: ArrayBuffer): Record<string, unknown> | null {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(body);
    const value = JSON.parse(text) as unknown;
    const isObject = typeof value === "object" && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown> | null) : null;
  } catch {
    return null;
  }
}

const http = httpRouter();
http.route({ pathPrefix: PREFIX, method: "POST", handler: receive });
export default http;
