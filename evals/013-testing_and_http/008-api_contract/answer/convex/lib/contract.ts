import { httpRouter, ROUTABLE_HTTP_METHODS, type FunctionReference, type HttpRouter } from "convex/server";
import { v, type GenericValidator, type Infer, type ObjectType, type PropertyValidators, type Validator } from "convex/values";
import { httpAction, type ActionCtx } from "../_generated/server";

type Flat<T> = { [K in keyof T]: T[K] };
type Awaitable<T> = T | Promise<T>;
type None = Record<never, never>;

// ---------------------------------------------------------------- contracts

type Text = string | number | bigint | boolean;
type Required = Validator<unknown, "required", string>;
type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

type Operation = {
  readonly method: Method;
  readonly path: `/${string}`;
  readonly params?: { readonly [name: string]: Validator<Text, "required", string> };
  readonly query?: { readonly [name: string]: Validator<Text | Text[] | undefined, "required" | "optional", string> };
  readonly headers?: { readonly [name: string]: Validator<Text | undefined, "required" | "optional", string> };
  readonly body?: Required;
  readonly maxBytes?: number;
  readonly responses: { readonly [status: number]: Required };
  readonly etag?: true;
  readonly ifMatch?: string;
  readonly idempotent?: true;
  readonly paginated?: { readonly default: number; readonly max: number };
};
export type Contract = { readonly [name: string]: Operation };

type PathNames<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | PathNames<Rest> : never;
type Reserved<O> =
  | 304 | 400 | 405 | 406 | 413 | 415 | 500
  | (O extends { ifMatch: string } ? 412 | 428 : never)
  | (O extends { idempotent: true } ? 409 | 422 : never);

/** The operations by whose tag a change can be guarded. */
type Guards<C, Path> = {
  [Name in keyof C]: C[Name] extends { method: "GET"; path: Path; etag: true }
    ? Extract<keyof C[Name], "query" | "headers" | "paginated"> extends never
      ? Name
      : never
    : never;
}[keyof C];

type Allowed<Condition> = Condition extends true ? unknown : never;
type IsGetWith200<O> = O extends { method: "GET"; responses: { 200: unknown } } ? true : false;
type TakesBody<O> = O extends { method: "POST" | "PUT" | "PATCH" } ? true : false;
type Only<T, Names> = { [Name in keyof T]: Name extends Names ? unknown : never };
type Without<T, Names> = { [Name in keyof T]: Name extends Names ? never : unknown };

type CheckedOperation<C, O> = {
  [Name in keyof O]: Name extends "method" | "path" | "query"
    ? unknown
    : Name extends "headers"
      ? { [Header in keyof O[Name]]: Header extends Lowercase<Header & string> ? unknown : never }
    : Name extends "params"
      ? Only<O[Name], PathNames<O[keyof O & "path"]>>
      : Name extends "responses"
        ? Without<O[Name], Reserved<O>>
        : Name extends "body"
          ? Allowed<TakesBody<O>>
          : Name extends "maxBytes"
            ? Allowed<O extends { body: unknown } ? true : false>
            : Name extends "etag" | "paginated"
              ? Allowed<IsGetWith200<O>>
              : Name extends "ifMatch"
                ? O extends { method: "PUT" | "PATCH" | "DELETE" }
                  ? Guards<C, O[keyof O & "path"]>
                  : never
                : Name extends "idempotent"
                  ? Allowed<O extends { method: "POST" } ? true : false>
                  : never;
} & (PathNames<O[keyof O & "path"]> extends never
  ? unknown
  : { params: { [Name in PathNames<O[keyof O & "path"]>]: unknown } });
type Checked<C> = { [Name in keyof C]: CheckedOperation<C, C[Name]> };

export function defineContract<const C extends Contract>(contract: C & Checked<C>): C {
  return contract;
}

// ---------------------------------------------------------------- handlers

type Fields<O, Name extends string> = O extends { readonly [N in Name]: infer F extends PropertyValidators }
  ? ObjectType<{ -readonly [K in keyof F]: F[K] }>
  : None;
type BodyOf<O> = O extends { readonly body: infer B extends Required } ? { body: Infer<B> } : unknown;
type Page = { limit: number; cursor: string | null };

export type HandlerInput<C extends Contract, Name extends keyof C> = Flat<
  {
    ctx: ActionCtx;
    request: Request;
    params: Fields<C[Name], "params">;
    query: Fields<C[Name], "query">;
    headers: Fields<C[Name], "headers">;
  } & BodyOf<C[Name]> &
    (C[Name] extends { paginated: object } ? { page: Page } : unknown)
>;

type ResponseBody<O extends Operation, Status> = Status extends keyof O["responses"]
  ? O["responses"][Status] extends Required
    ? Status extends 200
      ? O extends { paginated: object }
        ? { items: Infer<O["responses"][Status]>[]; next: string | null }
        : Infer<O["responses"][Status]>
      : Infer<O["responses"][Status]>
    : never
  : never;
type StatusOf<O extends Operation> = keyof O["responses"] & number;

export type HandlerResult<C extends Contract, Name extends keyof C> = {
  [Status in StatusOf<C[Name]>]: ResponseBody<C[Name], Status> extends null
    ? { status: Status; body?: null }
    : { status: Status; body: ResponseBody<C[Name], Status> };
}[StatusOf<C[Name]>];

export type Handlers<C extends Contract> = {
  [Name in keyof C]: (input: HandlerInput<C, Name>) => Awaitable<HandlerResult<C, Name>>;
};

// ---------------------------------------------------------------- clients

export type Mistake = {
  in: "path" | "query" | "header" | "body";
  at: string;
  problem: "missing" | "invalid" | "repeated" | "unknown";
};

type InputPart<O, Name extends "params" | "query" | "headers", More = unknown> = keyof (Fields<O, Name> & More) extends never
  ? unknown
  : None extends Fields<O, Name> & More
    ? { [N in Name]?: Flat<Fields<O, Name> & More> }
    : { [N in Name]: Flat<Fields<O, Name> & More> };
export type ClientInput<C extends Contract, Name extends keyof C> = Flat<
  InputPart<C[Name], "params"> &
    InputPart<C[Name], "query", C[Name] extends { paginated: object } ? { limit?: number; cursor?: string } : unknown> &
    InputPart<C[Name], "headers"> &
    BodyOf<C[Name]> &
    (C[Name] extends { idempotent: true } ? { idempotencyKey: string } : unknown) &
    (C[Name] extends { ifMatch: string } ? { ifMatch: string } : unknown) &
    (C[Name] extends { etag: true } ? { ifNoneMatch?: string } : unknown)
>;
type ClientArgs<Input> = keyof Input extends never ? [] : None extends Input ? [input?: Input] : [input: Input];

type Failure<Status> = Status extends number ? { status: Status; body: { error: string } } : never;
type DeclaredResult<O extends Operation> = {
  [Status in StatusOf<O>]: Flat<
    { status: Status; body: ResponseBody<O, Status> } & (Status extends 200
      ? O extends { etag: true }
        ? { etag: string }
        : unknown
      : unknown) &
      (O extends { idempotent: true } ? { replayed: boolean } : unknown)
  >;
}[StatusOf<O>];
export type ClientResult<C extends Contract, Name extends keyof C> =
  | DeclaredResult<C[Name]>
  | { status: 400; body: { error: string; mistakes: Mistake[] } }
  | (C[Name] extends { etag: true } ? { status: 304; body: null; etag: string } : never)
  | (C[Name] extends { ifMatch: string } ? Failure<412 | 428> : never)
  | (C[Name] extends { idempotent: true } ? Failure<409 | 422> : never)
  | (C[Name] extends { body: unknown } ? Failure<413> : never);

export type Client<C extends Contract> = {
  [Name in keyof C]: (...args: ClientArgs<ClientInput<C, Name>>) => Promise<ClientResult<C, Name>>;
};

/** A response that the contract does not provide for. */
export class ContractError extends Error {
  constructor(
    readonly operation: string,
    readonly status: number,
  ) {
    super(`${operation}: a response with the status ${status} that is not in the contract`);
    this.name = "ContractError";
  }
}

type Init = { method: string; headers: Record<string, string>; body?: string };
type PlainInput = {
  params?: Record<string, unknown>;
  query?: Record<string, unknown>;
  headers?: Record<string, unknown>;
  body?: unknown;
  idempotencyKey?: string;
  ifMatch?: string;
  ifNoneMatch?: string;
};

const failure = v.object({ error: v.string() });
const invalid = v.object({
  error: v.string(),
  mistakes: v.array(
    v.object({
      in: v.union(v.literal("path"), v.literal("query"), v.literal("header"), v.literal("body")),
      at: v.string(),
      problem: v.union(v.literal("missing"), v.literal("invalid"), v.literal("repeated"), v.literal("unknown")),
    }),
  ),
});

export function createClient<const C extends Contract>(
  contract: C,
  { baseUrl, fetch }: { baseUrl: string; fetch: (url: string, init: Init) => Promise<Response> },
): Client<C> {
  const call = async (name: string, operation: Operation, input: PlainInput) => {
    const response = await fetch(baseUrl + urlOf(operation, input), initOf(operation, input));
    const text = await response.text();
    const { status } = response;
    const validator = expectedBody(operation, status);
    const etag = response.headers.get("ETag");
    const isTagged = operation.etag === true && (status === 200 || status === 304);
    const body = validator && readBody(validator, text);
    if (body === undefined || body === INVALID || (isTagged && etag === null)) throw new ContractError(name, status);
    return {
      status,
      body,
      ...(isTagged ? { etag } : {}),
      ...(operation.idempotent === true && Object.hasOwn(operation.responses, status)
        ? { replayed: response.headers.get("Idempotent-Replayed") === "true" }
        : {}),
    };
  };
  const calls = Object.entries<Operation>(contract).map(
    ([name, operation]) => [name, (input: PlainInput = {}) => call(name, operation, input)] as const,
  );
  return Object.fromEntries(calls) as unknown as Client<C>;
}

function urlOf(operation: Operation, { params = {}, query = {} }: PlainInput): string {
  const path = operation.path.replace(PARAMETER, (_, name: string) => encodeURIComponent(textOf(params[name])));
  const search = new URLSearchParams();
  for (const name of [...Object.keys(operation.query ?? {}), ...(operation.paginated ? ["limit", "cursor"] : [])]) {
    const value = query[name];
    const values: unknown[] = Array.isArray(value) ? value : value === undefined ? [] : [value];
    for (const each of values) search.append(name, textOf(each));
  }
  return search.size === 0 ? path : `${path}?${search.toString()}`;
}

function initOf(operation: Operation, input: PlainInput): Init {
  const headers: Record<string, string> = { Accept: "application/json" };
  for (const name of Object.keys(operation.headers ?? {})) {
    const value = input.headers?.[name];
    if (value !== undefined) headers[name] = textOf(value);
  }
  if (input.idempotencyKey !== undefined) headers["Idempotency-Key"] = input.idempotencyKey;
  if (input.ifMatch !== undefined) headers["If-Match"] = input.ifMatch;
  if (input.ifNoneMatch !== undefined) headers["If-None-Match"] = input.ifNoneMatch;
  if (operation.body === undefined) return { method: operation.method, headers };
  headers["Content-Type"] = "application/json";
  return { method: operation.method, headers, body: JSON.stringify(encode(operation.body, input.body)) };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : String(value as number | bigint | boolean);
}

/** The validator of a response's body, or undefined if there is no such response. */
function expectedBody(operation: Operation, status: number): GenericValidator | undefined {
  if (Object.hasOwn(operation.responses, status)) return responseValidator(operation, status);
  if (status === 400) return invalid;
  if (status === 304) return operation.etag && v.null();
  if (status === 412 || status === 428) return operation.ifMatch === undefined ? undefined : failure;
  if (status === 409 || status === 422) return operation.idempotent && failure;
  return status === 413 && operation.body !== undefined ? failure : undefined;
}

function responseValidator(operation: Operation, status: number): GenericValidator {
  const validator = operation.responses[status];
  return status === 200 && operation.paginated !== undefined
    ? v.object({ items: v.array(validator), next: v.nullable(v.string()) })
    : validator;
}

function readBody(validator: GenericValidator, text: string): unknown {
  if (validator.kind === "null") return text === "" ? null : INVALID;
  const json = parse(text);
  const decoder = new Decoder();
  const value = decoder.decode(validator, json, "");
  return json === INVALID || decoder.mistakes.length > 0 ? INVALID : value;
}

// ---------------------------------------------------------------- the server

type Claim =
  | { state: "new" }
  | { state: "other" }
  | { state: "running" }
  | { state: "done"; status: number; body: string | null };
type Key = { operation: string; key: string };
export type Keys = {
  claim: FunctionReference<"mutation", "internal", Key & { fingerprint: string }, Claim>;
  finish: FunctionReference<"mutation", "internal", Key & { status: number; body: string | null }, null>;
  release: FunctionReference<"mutation", "internal", Key, null>;
};

type Result = { status: number; body?: unknown };
type PlainHandler = (input: Record<string, unknown>) => Awaitable<Result>;
type Sent = { status: number; body: string | null };

const PARAMETER = /\{([^}]*)\}/g;
const DEFAULT_MAX_BYTES = 100_000;

export function implement<const C extends Contract>(contract: C, keys: Keys) {
  return (handlers: Handlers<C>): HttpRouter =>
    routerOf(contract, handlers as unknown as Record<string, PlainHandler>, keys);
}

function routerOf(contract: Contract, handlers: Record<string, PlainHandler>, keys: Keys): HttpRouter {
  const operations = Object.entries(contract);

  async function run(name: string, input: Record<string, unknown>): Promise<Sent> {
    const { status, body } = await handlers[name](input);
    const validator = responseValidator(contract[name], status);
    return { status, body: validator.kind === "null" ? null : JSON.stringify(encode(validator, body)) };
  }

  async function runOnce(name: string, key: string, input: Record<string, unknown> & { ctx: ActionCtx }): Promise<Response> {
    const { ctx, params, query, headers, body } = input;
    const fingerprint = canonical({ params, query, headers, body });
    const claim = await ctx.runMutation(keys.claim, { operation: name, key, fingerprint });
    switch (claim.state) {
      case "other":
        return json(422, { error: "key in use" });
      case "running":
        return json(409, { error: "in progress" });
      case "done":
        return send(claim, { "Idempotent-Replayed": "true" });
      case "new":
        try {
          const sent = await run(name, input);
          await ctx.runMutation(keys.finish, { operation: name, key, ...sent });
          return send(sent);
        } catch (error) {
          await ctx.runMutation(keys.release, { operation: name, key });
          throw error;
        }
    }
  }

  async function respond(ctx: ActionCtx, request: Request): Promise<Response> {
    const url = new URL(request.url);
    const matching = operations.flatMap(([name, operation]) => {
      const texts = match(operation.path, url.pathname);
      return texts === null ? [] : [{ name, operation, texts }];
    });
    if (matching.length === 0) return json(404, { error: "not found" });
    const method = request.method === "HEAD" ? "GET" : request.method;
    const found = matching.find(({ operation }) => operation.method === method);
    if (found === undefined) {
      const methods = matching.flatMap((each) => (each.operation.method === "GET" ? ["GET", "HEAD"] : [each.operation.method]));
      const headers = { Allow: [...new Set([...methods, "OPTIONS"])].sort().join(", ") };
      return method === "OPTIONS"
        ? new Response(null, { status: 204, headers })
        : json(405, { error: "method not allowed" }, headers);
    }
    const { name, operation, texts } = found;
    if (!acceptsJson(request.headers.get("Accept"))) return json(406, { error: "not acceptable" });

    const text = operation.body === undefined ? "" : await request.text();
    if (text !== "") {
      const [type] = (request.headers.get("Content-Type") ?? "").split(";");
      if (type.trim().toLowerCase() !== "application/json") return json(415, { error: "unsupported media type" });
      const size = new TextEncoder().encode(text).length;
      if (size > (operation.maxBytes ?? DEFAULT_MAX_BYTES)) return json(413, { error: "too large" });
    }

    const decoder = new Decoder();
    const params = decoder.params(operation.params ?? {}, texts);
    const { query, page } = decoder.query(operation, url.searchParams);
    const headers = decoder.headers(operation.headers ?? {}, request.headers);
    const key = decoder.key(operation, request.headers);
    const body = decoder.body(operation.body, text);
    if (decoder.mistakes.length > 0) return json(400, { error: "invalid", mistakes: decoder.mistakes });

    const input = { ctx, request, params, query, headers, ...body, ...page };
    if (operation.ifMatch !== undefined) {
      const wanted = request.headers.get("If-Match");
      if (wanted === null) return json(428, { error: "precondition required" });
      const current = await run(operation.ifMatch, { ctx, request, params, query: {}, headers: {} });
      const isFitting = wanted.trim() === "*" || tagsOf(wanted).includes(await tagOf(current.body));
      if (current.status !== 200 || !isFitting) return json(412, { error: "precondition failed" });
    }
    if (key !== null) return await runOnce(name, key, input);
    const sent = await run(name, input);
    if (operation.etag !== true || sent.status !== 200) return send(sent);
    const tag = await tagOf(sent.body);
    const known = request.headers.get("If-None-Match");
    const isKnown = known !== null && (known.trim() === "*" || tagsOf(known).some((each) => each.replace(/^W\//, "") === tag));
    return isKnown ? new Response(null, { status: 304, headers: { ETag: tag } }) : send(sent, { ETag: tag });
  }

  const http = httpRouter();
  const handler = httpAction(async (ctx, request) => {
    try {
      return await respond(ctx, request);
    } catch {
      return json(500, { error: "internal" });
    }
  });
  for (const method of ROUTABLE_HTTP_METHODS) http.route({ pathPrefix: "/", method, handler });
  return http;
}

function json(status: number, body: object, headers: Record<string, string> = {}): Response {
  return Response.json(body, { status, headers });
}

function send({ status, body }: Sent, headers: Record<string, string> = {}): Response {
  return new Response(body, {
    status,
    headers: body === null ? headers : { ...headers, "Content-Type": "application/json" },
  });
}

function match(path: string, pathname: string): Record<string, string> | null {
  const [wanted, given] = [path.split("/"), pathname.split("/")];
  if (wanted.length !== given.length) return null;
  const texts: Record<string, string> = {};
  for (const [index, segment] of wanted.entries()) {
    const text = decodeSegment(given[index]);
    if (text === null) return null;
    if (segment.startsWith("{")) {
      if (text === "") return null;
      texts[segment.slice(1, -1)] = text;
    } else if (segment !== text) {
      return null;
    }
  }
  return texts;
}

function decodeSegment(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** By the most specific media range of the header that JSON is in. */
function acceptsJson(accept: string | null): boolean {
  if (accept === null || accept.trim() === "") return true;
  const quality = new Map<string, number>();
  for (const range of accept.split(",")) {
    const [type, ...parameters] = range.split(";").map((each) => each.trim().toLowerCase());
    const q = parameters.find((each) => each.startsWith("q="));
    quality.set(type, q === undefined ? 1 : Number(q.slice(2)));
  }
  for (const range of ["application/json", "application/*", "*/*"]) {
    const found = quality.get(range);
    if (found !== undefined) return found > 0;
  }
  return false;
}

async function tagOf(body: string | null): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(body ?? ""));
  const hex = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return `"${hex}"`;
}

function tagsOf(header: string): string[] {
  return header.split(",").map((each) => each.trim());
}

/** The same text for the same values, whatever the order of fields. */
function canonical(value: unknown): string {
  if (typeof value === "bigint") return `${value}n`;
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "undefined";
  const fields = Object.keys(value).sort().filter((name) => value[name] !== undefined);
  return `{${fields.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join()}}`;
}

// ---------------------------------------------------------------- values

const INVALID = Symbol("invalid");
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const INTEGER = /^(0|-?[1-9]\d*)$/;
const LARGEST = 2n ** 63n;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return INVALID;
  }
}

function toBigint(text: unknown): bigint | typeof INVALID {
  if (typeof text !== "string" || !INTEGER.test(text)) return INVALID;
  const value = BigInt(text);
  return value >= -LARGEST && value < LARGEST ? value : INVALID;
}

function decodeText(validator: GenericValidator, text: string): unknown {
  switch (validator.kind) {
    case "string":
      return text;
    case "float64":
      return NUMBER.test(text) && Number.isFinite(Number(text)) ? Number(text) : INVALID;
    case "int64":
      return toBigint(text);
    case "boolean":
      return text === "true" ? true : text === "false" ? false : INVALID;
    case "literal": {
      const value: unknown = validator.value;
      return textOf(value) === text ? value : INVALID;
    }
    case "union":
      return validator.members.map((member) => decodeText(member, text)).find((each) => each !== INVALID) ?? INVALID;
    default:
      return INVALID;
  }
}

/** The member of a union that the `type` of a value names, if all of its objects have one. */
function namedMember(members: GenericValidator[], value: unknown): GenericValidator | undefined {
  const objects = members.filter((member) => member.kind === "object");
  const types = objects.map(({ fields }) => {
    const type: GenericValidator | undefined = Object.hasOwn(fields, "type") ? fields.type : undefined;
    return type?.kind === "literal" && type.isOptional === "required" ? (type.value as unknown) : INVALID;
  });
  if (!isObject(value) || types.includes(INVALID) || !Object.hasOwn(value, "type")) return undefined;
  return objects[types.indexOf(value.type)];
}

/** Reads values as validators describe them, and notes what is wrong with them. */
class Decoder {
  readonly mistakes: Mistake[] = [];

  #note(part: Mistake["in"], at: string, problem: Mistake["problem"]): undefined {
    this.mistakes.push({ in: part, at, problem });
    return undefined;
  }

  #text(part: Mistake["in"], validator: GenericValidator, text: string, at: string): unknown {
    const value = decodeText(validator, text);
    return value === INVALID ? this.#note(part, at, "invalid") : value;
  }

  params(fields: PropertyValidators, texts: Record<string, string>): object {
    const names = Object.keys(texts);
    return Object.fromEntries(
      names.map((name) => [name, this.#text("path", fields[name], texts[name], pointer("", name))] as const),
    );
  }

  query({ query = {}, paginated }: Operation, search: URLSearchParams) {
    const found: Record<string, unknown> = {};
    for (const [name, validator] of Object.entries<GenericValidator>(query)) {
      const value = this.#queryField(name, validator, search.getAll(name));
      if (value !== undefined) found[name] = value;
    }
    let page: { page?: Page } = {};
    if (paginated !== undefined) {
      const limit = this.#limit(search.getAll("limit"), paginated);
      const cursor = this.#queryField("cursor", v.optional(v.string()), search.getAll("cursor")) ?? null;
      page = { page: { limit, cursor: cursor as string | null } };
    }
    const known = [...Object.keys(query), ...(paginated === undefined ? [] : ["limit", "cursor"])];
    const unknown = [...new Set(search.keys())].filter((name) => !known.includes(name));
    for (const name of unknown.sort()) this.#note("query", pointer("", name), "unknown");
    return { query: found, page };
  }

  #limit(texts: string[], { default: usual, max }: { default: number; max: number }): number {
    const limit = this.#queryField("limit", v.optional(v.number()), texts) as number | undefined;
    if (limit !== undefined && !(Number.isInteger(limit) && limit >= 1 && limit <= max)) {
      this.#note("query", "/limit", "invalid");
    }
    return limit ?? usual;
  }

  #queryField(name: string, validator: GenericValidator, texts: string[]): unknown {
    const at = pointer("", name);
    if (validator.kind === "array") {
      if (texts.length === 0 && validator.isOptional === "optional") return undefined;
      return texts.map((text, index) => this.#text("query", validator.element, text, pointer(at, index)));
    }
    if (texts.length > 1) return this.#note("query", at, "repeated");
    if (texts.length === 1) return this.#text("query", validator, texts[0], at);
    return validator.isOptional === "optional" ? undefined : this.#note("query", at, "missing");
  }

  headers(fields: PropertyValidators, headers: Headers): object {
    const found: Record<string, unknown> = {};
    for (const [name, validator] of Object.entries<GenericValidator>(fields)) {
      const text = headers.get(name);
      if (text !== null) found[name] = this.#text("header", validator, text, pointer("", name));
      else if (validator.isOptional === "required") this.#note("header", pointer("", name), "missing");
    }
    return found;
  }

  key({ idempotent }: Operation, headers: Headers): string | null {
    if (idempotent !== true) return null;
    const key = headers.get("Idempotency-Key");
    if (key === null) this.#note("header", "/idempotency-key", "missing");
    else if (key.length < 1 || key.length > 100) this.#note("header", "/idempotency-key", "invalid");
    return key;
  }

  body(validator: GenericValidator | undefined, text: string): { body?: unknown } {
    if (validator === undefined) return {};
    if (text === "") return { body: this.#note("body", "", "missing") };
    return { body: this.decode(validator, parse(text), "") };
  }

  decode(validator: GenericValidator, value: unknown, at: string): unknown {
    switch (validator.kind) {
      case "string":
        return typeof value === "string" ? value : this.#invalid(at);
      case "float64":
        return typeof value === "number" ? value : this.#invalid(at);
      case "boolean":
        return typeof value === "boolean" ? value : this.#invalid(at);
      case "null":
        return value === null ? value : this.#invalid(at);
      case "literal":
        return value === validator.value ? value : this.#invalid(at);
      case "int64": {
        const integer = toBigint(value);
        return integer === INVALID ? this.#invalid(at) : integer;
      }
      case "array":
        if (!Array.isArray(value)) return this.#invalid(at);
        return value.map((each: unknown, index) => this.decode(validator.element, each, pointer(at, index)));
      case "record":
        if (!isObject(value)) return this.#invalid(at);
        return Object.fromEntries(
          Object.keys(value)
            .sort()
            .map((key) => [key, this.decode(validator.value, value[key], pointer(at, key))] as const),
        );
      case "object":
        return isObject(value) ? this.#object(validator.fields, value, at) : this.#invalid(at);
      case "union":
        return this.#union(validator.members, value, at);
      default:
        return this.#invalid(at);
    }
  }

  #invalid(at: string): undefined {
    return this.#note("body", at, "invalid");
  }

  #object(fields: PropertyValidators, value: Record<string, unknown>, at: string): object {
    const found: Record<string, unknown> = {};
    for (const [name, validator] of Object.entries<GenericValidator>(fields)) {
      if (Object.hasOwn(value, name)) found[name] = this.decode(validator, value[name], pointer(at, name));
      else if (validator.isOptional === "required") this.#note("body", pointer(at, name), "missing");
    }
    const unknown = Object.keys(value).filter((name) => !Object.hasOwn(fields, name));
    for (const name of unknown.sort()) this.#note("body", pointer(at, name), "unknown");
    return found;
  }

  #union(members: GenericValidator[], value: unknown, at: string): unknown {
    const named = namedMember(members, value);
    if (named !== undefined) return this.decode(named, value, at);
    for (const member of members) {
      const attempt = new Decoder();
      const found = attempt.decode(member, value, at);
      if (attempt.mistakes.length === 0) return found;
    }
    return this.#invalid(at);
  }
}

function pointer(at: string, step: string | number): string {
  return `${at}/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** The JSON of a value, with those fields only that its validator has. */
function encode(validator: GenericValidator, value: unknown): unknown {
  switch (validator.kind) {
    case "int64":
      return textOf(value);
    case "array":
      return (value as unknown[]).map((each) => encode(validator.element, each));
    case "record": {
      const entries = Object.entries(value as Record<string, unknown>);
      return Object.fromEntries(entries.map(([key, each]) => [key, encode(validator.value, each)] as const));
    }
    case "object": {
      const fields = value as Record<string, unknown>;
      const known = Object.entries(validator.fields).filter(([name]) => fields[name] !== undefined);
      return Object.fromEntries(known.map(([name, each]) => [name, encode(each, fields[name])] as const));
    }
    case "union": {
      const member = namedMember(validator.members, value) ?? validator.members.find((each) => isOf(each, value));
      return member === undefined ? value : encode(member, value);
    }
    default:
      return value;
  }
}

/** Whether a value is one that a validator describes, apart from fields that it does not have. */
function isOf(validator: GenericValidator, value: unknown): boolean {
  switch (validator.kind) {
    case "string":
      return typeof value === "string";
    case "float64":
      return typeof value === "number";
    case "int64":
      return typeof value === "bigint";
    case "boolean":
      return typeof value === "boolean";
    case "null":
      return value === null;
    case "literal":
      return value === validator.value;
    case "array":
      return Array.isArray(value) && value.every((each) => isOf(validator.element, each));
    case "record":
      return isObject(value) && Object.values(value).every((each) => isOf(validator.value, each));
    case "object":
      return (
        isObject(value) &&
        Object.entries(validator.fields).every(([name, each]) =>
          value[name] === undefined ? each.isOptional === "optional" : isOf(each, value[name]),
        )
      );
    case "union":
      return validator.members.some((member) => isOf(member, value));
    default:
      return false;
  }
}
