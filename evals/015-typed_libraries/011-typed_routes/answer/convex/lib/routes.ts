import { httpRouter, ROUTABLE_HTTP_METHODS, type HttpRouter } from "convex/server";
import type { GenericValidator, ObjectType, PropertyValidators, Validator } from "convex/values";
import { httpAction, type ActionCtx } from "../_generated/server";

type Flat<T> = { [K in keyof T]: T[K] };
type Awaitable<T> = T | Promise<T>;
type None = Record<never, never>;

// Paths

type Alternatives<Text extends string> = Text extends `${infer First}|${infer Rest}`
  ? First | Alternatives<Rest>
  : Text;
type Parameter<Text extends string> = Text extends `${infer Name}(number)`
  ? { [K in Name]: number }
  : Text extends `${infer Name}(${infer Choices})`
    ? { [K in Name]: Alternatives<Choices> }
    : { [K in Text]: string };
/** The parameters of a path, in order. */
type ParameterList<Path extends string> = Path extends `${infer Segment}/${infer Rest}`
  ? [...ParameterList<Segment>, ...ParameterList<Rest>]
  : Path extends `:${infer Text}`
    ? [Parameter<Text>]
    : [];
type Merged<List> = List extends [infer First, ...infer Rest] ? First & Merged<Rest> : unknown;
export type ParamsOf<Path extends string> = Flat<Merged<ParameterList<Path>>>;
type HasRepeated<List, Seen = never> = List extends [infer First, ...infer Rest]
  ? keyof First & Seen extends never
    ? HasRepeated<Rest, Seen | keyof First>
    : true
  : false;
type ValidPath<Path extends string> = Path extends `/${string}`
  ? HasRepeated<ParameterList<Path>> extends true
    ? never
    : Path
  : never;

// Routes

type Scalar = string | number | boolean;
type QueryFields = Record<string, Validator<Scalar | Scalar[] | undefined, "required" | "optional", string>>;
type BodyValidator = Validator<unknown, "required", string>;
type Responses = Record<number, Validator<unknown, "required", string>>;
type MethodWithBody = "POST" | "PUT" | "PATCH";
type Method = MethodWithBody | "GET" | "DELETE";

type Reply<R extends Responses> = {
  [S in keyof R & number]: R[S]["type"] extends null
    ? { status: S; body?: null }
    : { status: S; body: R[S]["type"] };
}[keyof R & number];

type Input<Context, Path extends string, Q extends PropertyValidators, B> = {
  ctx: ActionCtx;
  request: Request;
  context: Context;
  params: ParamsOf<Path>;
  query: ObjectType<Q>;
} & (B extends BodyValidator ? { body: B["type"] } : unknown);

type Prepared = { ctx: ActionCtx; request: Request; params: Record<string, string | number>; url: URL };

export type Route<Path extends string, Q extends PropertyValidators, R extends Responses> = {
  readonly method: Method;
  readonly path: Path;
  readonly query: Q;
  readonly responses: R;
  readonly respond: (prepared: Prepared) => Promise<Response>;
};
type AnyRoute = Route<string, PropertyValidators, Responses>;

export type ResponseOf<T extends AnyRoute> = Reply<T["responses"]>;

type Middleware = (input: { ctx: ActionCtx; request: Request; context: object }) => Awaitable<object>;

class Routes<Context extends object> {
  constructor(private readonly middlewares: readonly Middleware[]) {}

  use<Added extends object>(
    middleware: (input: { ctx: ActionCtx; request: Request; context: Context }) => Awaitable<Added>,
  ) {
    type New = Exclude<Added, Response>;
    return new Routes<Flat<Omit<Context, keyof New> & New>>([...this.middlewares, middleware as Middleware]);
  }

  route<
    const Path extends string,
    M extends Method,
    R extends Responses,
    Q extends QueryFields = None,
    B extends BodyValidator | undefined = undefined,
  >(
    definition: {
      method: M;
      path: ValidPath<Path>;
      query?: Q;
      responses: R;
    } & (M extends MethodWithBody ? { body?: B } : { body?: never }),
  ) {
    const { method, path, responses } = definition;
    const query = definition.query ?? ({} as Q);
    const body: GenericValidator | undefined = definition.body;

    const handle = (handler: (input: Input<Context, Path, Q, B>) => Awaitable<Reply<R>>): Route<Path, Q, R> => {
      const respond = async ({ ctx, request, params, url }: Prepared): Promise<Response> => {
        let context: object = {};
        for (const middleware of this.middlewares) {
          const added = await middleware({ ctx, request, context });
          if (added instanceof Response) return added;
          context = { ...context, ...added };
        }
        const asked: Record<string, unknown> = {};
        for (const [field, validator] of Object.entries<GenericValidator>(query)) {
          const read = readQuery(validator, url.searchParams.getAll(field));
          if (read === INVALID) return json(400, { error: "Invalid query", field });
          if (read !== undefined) asked[field] = read;
        }
        let sent: unknown;
        if (body !== undefined) {
          sent = await request.json().catch(() => INVALID);
          if (!fits(body, sent)) return json(400, { error: "Invalid body" });
        }
        const input = { ctx, request, context, params, query: asked, body: sent };
        const reply: { status: number; body?: unknown } = await handler(input as unknown as Input<Context, Path, Q, B>);
        return reply.body === undefined || reply.body === null
          ? new Response(null, { status: reply.status })
          : json(reply.status, reply.body);
      };
      return { method, path, query, responses, respond };
    };
    return { handle };
  }
}

export function createRoutes() {
  return new Routes<None>([]);
}

// URLs

type UrlInput<P, Q> = Flat<
  (keyof P extends never ? unknown : { params: P }) &
    (keyof Q extends never ? unknown : None extends Q ? { query?: Q } : { query: Q })
>;
type UrlArguments<I> = keyof I extends never ? [] : None extends I ? [input?: I] : [input: I];

export function urlFor<Path extends string, Q extends PropertyValidators, R extends Responses>(
  route: Route<Path, Q, R>,
  ...[input]: UrlArguments<UrlInput<ParamsOf<Path>, ObjectType<Q>>>
): string {
  const { params = {}, query = {} } = (input ?? {}) as {
    params?: Record<string, Scalar>;
    query?: Record<string, Scalar | Scalar[] | undefined>;
  };
  const path = route.path
    .split("/")
    .map((segment) => (segment.startsWith(":") ? encodeURIComponent(params[parameterOf(segment).name]) : segment))
    .join("/");
  const search = new URLSearchParams();
  for (const field of Object.keys(route.query)) {
    const value = query[field];
    for (const each of Array.isArray(value) ? value : value === undefined ? [] : [value]) {
      search.append(field, String(each));
    }
  }
  return search.size === 0 ? path : `${path}?${search.toString()}`;
}

// Requests

export function mount(routes: readonly AnyRoute[]): HttpRouter {
  const http = httpRouter();
  const handler = httpAction(async (ctx, request) => {
    const url = new URL(request.url);
    const matching = routes.flatMap((route) => {
      const params = match(route.path, url.pathname);
      return params === null ? [] : [{ route, params }];
    });
    const found = matching.find(({ route }) => route.method === request.method);
    if (found !== undefined) return await found.route.respond({ ctx, request, params: found.params, url });
    if (matching.length === 0) return json(404, { error: "Not found" });
    const methods = [...new Set(matching.map(({ route }) => route.method))].sort();
    return json(405, { error: "Method not allowed" }, { Allow: methods.join(", ") });
  });
  for (const method of ROUTABLE_HTTP_METHODS) http.route({ pathPrefix: "/", method, handler });
  return http;
}

function json(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  return Response.json(body, { status, headers });
}

function parameterOf(segment: string): { name: string; choices: string | null } {
  const [, name, choices] = /^:([^(]*)(?:\((.*)\))?$/.exec(segment) ?? [];
  return { name, choices: choices ?? null };
}

function match(path: string, pathname: string): Record<string, string | number> | null {
  const [wanted, given] = [path.split("/"), pathname.split("/")];
  if (wanted.length !== given.length) return null;
  const params: Record<string, string | number> = {};
  for (const [index, segment] of wanted.entries()) {
    const text = decoded(given[index]);
    if (text === null) return null;
    if (!segment.startsWith(":")) {
      if (segment !== text) return null;
      continue;
    }
    const { name, choices } = parameterOf(segment);
    if (text === "") return null;
    if (choices === "number" && !NUMBER.test(text)) return null;
    if (choices !== null && choices !== "number" && !choices.split("|").includes(text)) return null;
    params[name] = choices === "number" ? Number(text) : text;
  }
  return params;
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

// Values

const INVALID = Symbol("invalid");
const NUMBER = /^-?\d+(\.\d+)?$/;

function readQuery(validator: GenericValidator, texts: string[]): unknown {
  if (validator.kind === "array" && (texts.length > 0 || validator.isOptional === "required")) {
    const values = texts.map((text) => readScalar(validator.element, text));
    return values.includes(INVALID) ? INVALID : values;
  }
  if (texts.length === 0) return validator.isOptional === "optional" ? undefined : INVALID;
  return texts.length === 1 ? readScalar(validator, texts[0]) : INVALID;
}

function readScalar(validator: GenericValidator, text: string): unknown {
  switch (validator.kind) {
    case "float64":
      return NUMBER.test(text) ? Number(text) : INVALID;
    case "boolean":
      return text === "true" ? true : text === "false" ? false : INVALID;
    case "literal":
      return String(validator.value) === text ? (validator.value as Scalar) : INVALID;
    case "union":
      return validator.members.map((member) => readScalar(member, text)).find((each) => each !== INVALID) ?? INVALID;
    default:
      return text;
  }
}

function fits(validator: GenericValidator, value: unknown): boolean {
  switch (validator.kind) {
    case "any":
      return value !== INVALID;
    case "null":
      return value === null;
    case "string":
    case "id":
      return typeof value === "string";
    case "float64":
      return typeof value === "number";
    case "boolean":
      return typeof value === "boolean";
    case "literal":
      return value === validator.value;
    case "array":
      return Array.isArray(value) && value.every((each) => fits(validator.element, each));
    case "union":
      return validator.members.some((member) => fits(member, value));
    case "record":
      return isObject(value) && Object.values(value).every((each) => fits(validator.value, each));
    case "object":
      return (
        isObject(value) &&
        Object.keys(value).every((field) => Object.hasOwn(validator.fields, field)) &&
        Object.entries(validator.fields).every(([field, each]) =>
          Object.hasOwn(value, field) ? fits(each, value[field]) : each.isOptional === "optional",
        )
      );
    default:
      return false;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
