import type {
  FunctionArgs,
  FunctionReference,
  FunctionReturnType,
} from "convex/server";
import {
  v,
  type GenericValidator,
  type Infer,
  type Validator,
} from "convex/values";
import { internal } from "../_generated/api";
import type { Doc, Id } from "../_generated/dataModel";
import {
  internalMutation,
  internalQuery,
  type ActionCtx,
  type MutationCtx,
  type QueryCtx,
} from "../_generated/server";
import schema from "../schema";

// Jobs

type Kind = "mutation" | "action";
type ObjectValidator = GenericValidator & {
  kind: "object";
  isOptional: "required";
};
type OldVersion = {
  payload: ObjectValidator;
  upgrade: (old: never) => unknown;
};

type JobSettings<
  K extends Kind,
  V extends number,
  P extends ObjectValidator,
  R extends GenericValidator,
> = {
  /** Of the function that does the job. */
  kind: K;
  /** Of the payload. */
  version: V;
  payload: P;
  result: R;
  /** How many at most. */
  attempts: number;
  /** How long to wait after the first failure. It is doubled after each further one. */
  backoffMs: number;
};

export interface Job<
  K extends Kind,
  V extends number,
  P extends ObjectValidator,
  R extends GenericValidator,
  Old extends { [version: number]: ObjectValidator },
> {
  readonly settings: JobSettings<K, V, P, R>;
  readonly older: { readonly [version: number]: OldVersion };
  /** Only for the compiler. */
  readonly __old?: Old;
  /** The same job, which also takes payloads of an older version. */
  from<const O extends number, OP extends ObjectValidator>(
    version: O & (O extends V | keyof Old ? never : unknown),
    payload: OP,
    upgrade: (old: Infer<OP>) => Infer<P>,
  ): Job<K, V, P, R, Old & { [version in O]: OP }>;
}

type AnyJob = {
  readonly settings: JobSettings<
    Kind,
    number,
    ObjectValidator,
    GenericValidator
  >;
  readonly older: { readonly [version: number]: OldVersion };
};

export function job<
  K extends Kind,
  const V extends number,
  P extends ObjectValidator,
  R extends GenericValidator,
>(
  settings: JobSettings<K, V, P, R>,
): Job<K, V, P, R, Record<never, ObjectValidator>> {
  return newJob(settings, {});
}

function newJob<
  K extends Kind,
  V extends number,
  P extends ObjectValidator,
  R extends GenericValidator,
  Old extends { [version: number]: ObjectValidator },
>(
  settings: JobSettings<K, V, P, R>,
  older: { readonly [version: number]: OldVersion },
): Job<K, V, P, R, Old> {
  return {
    settings,
    older,
    from: (version, payload, upgrade) =>
      newJob(settings, { ...older, [version]: { payload, upgrade } }),
  };
}

// What the compiler knows about them

type Jobs = { readonly [name: string]: AnyJob };
type Name<J> = keyof J & string;
type Payload<J> = J extends AnyJob ? Infer<J["settings"]["payload"]> : never;
type Result<J> = J extends AnyJob ? Infer<J["settings"]["result"]> : never;
type Versions<J> =
  J extends Job<Kind, infer V, infer P, GenericValidator, infer Old>
    ? { [version in V]: P } & Old
    : never;

/** What clients can ask for: all versions of all jobs. */
type Request<J> = {
  [N in Name<J>]: {
    [V in keyof Versions<J[N]>]: {
      name: N;
      version: V;
      payload: Versions<J[N]>[V] extends GenericValidator
        ? Infer<Versions<J[N]>[V]>
        : never;
    };
  }[keyof Versions<J[N]>];
}[Name<J>];

// A payload for a name that may be one of several must be right for each of them.
type ForEach<J, N extends Name<J>> = (
  N extends unknown ? (payload: Payload<J[N]>) => void : never
) extends (payload: infer All) => void
  ? All
  : never;
type Exact<P> = [keyof P] extends [never] ? Record<string, never> : P;
type Rest<P> =
  Record<never, never> extends P
    ? [payload?: Exact<P>, options?: EnqueueOptions]
    : [payload: P, options?: EnqueueOptions];

export type EnqueueOptions = { delayMs?: number };

/** The ID of a job, which remembers its name. */
export type JobId<N extends string> = Id<"jobs"> & { readonly __job: N };

export type JobState<R> =
  | { status: "waiting"; attempts: number }
  | { status: "done"; attempts: number; result: R }
  | { status: "failed"; attempts: number; error: string };

type AnyHandler = FunctionReference<Kind, "internal">;
/** The handler, if it can be called with the job's payload and returns its result. */
type Fitting<J, H> = H extends AnyHandler
  ? J extends AnyJob
    ? H["_type"] extends J["settings"]["kind"]
      ? [Payload<J>] extends [FunctionArgs<H>]
        ? [keyof Payload<J>] extends [keyof FunctionArgs<H>]
          ? [FunctionReturnType<H>] extends [Result<J>]
            ? H
            : never
          : never
        : never
      : never
    : never
  : never;
type Handlers<J, H> = {
  [N in Name<J>]: N extends keyof H ? Fitting<J[N], H[N]> : AnyHandler;
} & { [N in Exclude<keyof H, Name<J>>]: never };

export interface Outbox<J extends Jobs> {
  /** Accepts all versions of all jobs. */
  readonly request: Validator<Request<J>, "required", string>;
  enqueue<N extends Name<J>>(
    ctx: MutationCtx,
    name: N,
    ...rest: Rest<ForEach<J, N>>
  ): Promise<JobId<N>>;
  enqueueRequest<R extends Request<J>>(
    ctx: MutationCtx,
    request: R,
    options?: EnqueueOptions,
  ): Promise<JobId<R["name"]>>;
  getResult<N extends Name<J>>(
    ctx: QueryCtx,
    name: N,
    id: Id<"jobs"> & { readonly __job?: NoInfer<N> },
  ): Promise<JobState<Result<J[N]>> | null>;
  run<H extends { readonly [N in Name<J>]: AnyHandler }>(
    ctx: ActionCtx,
    id: Id<"jobs">,
    handlers: H & Handlers<J, H>,
  ): Promise<void>;
}

export type JobName<O> = O extends Outbox<infer J> ? Name<J> : never;
export type PayloadOf<O, N extends JobName<O>> =
  O extends Outbox<infer J> ? Payload<J[N]> : never;
export type ResultOf<O, N extends JobName<O>> =
  O extends Outbox<infer J> ? Result<J[N]> : never;
export type RequestOf<O> = O extends Outbox<infer J> ? Request<J> : never;

// What they do

export function createOutbox<J extends Jobs>(jobs: J): Outbox<J> {
  const enqueue = async (
    ctx: MutationCtx,
    name: string,
    version: number,
    payload: object,
    options?: EnqueueOptions,
  ): Promise<Id<"jobs">> => {
    const id = await ctx.db.insert("jobs", {
      name,
      version,
      payload,
      attempts: 0,
      outcome: { status: "waiting" },
    });
    const delayMs = options?.delayMs ?? 0;
    await ctx.scheduler.runAfter(delayMs, internal.runner.run, { id });
    return id;
  };
  const jobOf = (name: string): AnyJob => {
    const found = jobs[name];
    if (found === undefined) throw new Error(`There is no job ${name}`);
    return found;
  };

  return {
    request: requestValidator(jobs) as Validator<
      Request<J>,
      "required",
      string
    >,
    enqueue: async <N extends Name<J>>(
      ctx: MutationCtx,
      name: N,
      payload?: unknown,
      options?: EnqueueOptions,
    ) => {
      const { version } = jobOf(name).settings;
      const fields = (payload ?? {}) as object;
      const id = await enqueue(ctx, name, version, fields, options);
      return id as JobId<N>;
    },
    enqueueRequest: async <R extends Request<J>>(
      ctx: MutationCtx,
      request: R,
      options?: EnqueueOptions,
    ) => {
      const { name, version, payload } = request as AnyRequest;
      const id = await enqueue(ctx, name, version, payload, options);
      return id as JobId<R["name"]>;
    },
    getResult: async <N extends Name<J>>(
      ctx: QueryCtx,
      name: N,
      id: Id<"jobs">,
    ) => {
      const found = await ctx.db.get("jobs", id);
      if (found?.name !== name) return null;
      const { attempts, outcome } = found;
      return { ...outcome, attempts } as JobState<Result<J[N]>>;
    },
    run: async (ctx, id, handlers) => {
      const found: Doc<"jobs"> | null = await ctx.runQuery(
        internal.lib.outbox.load,
        { id },
      );
      if (found?.outcome.status !== "waiting") return;
      const { settings, older } = jobOf(found.name);
      const handler = (handlers as { [name: string]: AnyHandler })[found.name];
      try {
        const payload = upgraded(found, settings.version, older);
        const result: unknown =
          settings.kind === "action"
            ? await ctx.runAction(handler as ActionHandler, payload)
            : await ctx.runMutation(handler as MutationHandler, payload);
        await ctx.runMutation(internal.lib.outbox.finish, { id, result });
      } catch (error) {
        await ctx.runMutation(internal.lib.outbox.fail, {
          id,
          error: error instanceof Error ? error.message : String(error),
          attempts: settings.attempts,
          backoffMs: settings.backoffMs,
        });
      }
    },
  };
}

type AnyRequest = { name: string; version: number; payload: object };
type ActionHandler = FunctionReference<"action", "internal">;
type MutationHandler = FunctionReference<"mutation", "internal">;
type Args = Record<string, unknown>;

function requestValidator(jobs: Jobs): unknown {
  const requests = Object.entries(jobs).flatMap(
    ([name, { settings, older }]) => {
      const request = (version: number, payload: ObjectValidator) =>
        v.object({
          name: v.literal(name),
          version: v.literal(version),
          payload,
        });
      return [
        request(settings.version, settings.payload),
        ...Object.entries(older).map(([version, { payload }]) =>
          request(Number(version), payload),
        ),
      ];
    },
  );
  return v.union(...requests);
}

function upgraded(
  found: Doc<"jobs">,
  current: number,
  older: AnyJob["older"],
): Args {
  const payload = found.payload as Args;
  if (found.version === current) return payload;
  const old = older[found.version];
  if (old === undefined)
    throw new Error(`${found.name} has no version ${found.version}`);
  return old.upgrade(payload as never) as Args;
}

export const load = internalQuery({
  args: { id: v.id("jobs") },
  returns: v.nullable(schema.doc("jobs")),
  handler: async (ctx, { id }) => await ctx.db.get("jobs", id),
});

export const finish = internalMutation({
  args: { id: v.id("jobs"), result: v.any() },
  returns: v.null(),
  handler: async (ctx, { id, result }) => {
    const found = await ctx.db.get("jobs", id);
    if (found === null) return null;
    await ctx.db.patch("jobs", id, {
      attempts: found.attempts + 1,
      outcome: { status: "done", result: result as unknown },
    });
    return null;
  },
});

export const fail = internalMutation({
  args: {
    id: v.id("jobs"),
    error: v.string(),
    attempts: v.number(),
    backoffMs: v.number(),
  },
  returns: v.null(),
  handler: async (ctx, { id, error, attempts, backoffMs }) => {
    const found = await ctx.db.get("jobs", id);
    if (found === null) return null;
    const made = found.attempts + 1;
    if (made >= attempts) {
      await ctx.db.patch("jobs", id, {
        attempts: made,
        outcome: { status: "failed", error },
      });
      return null;
    }
    await ctx.db.patch("jobs", id, { attempts: made });
    const delayMs = backoffMs * 2 ** found.attempts;
    await ctx.scheduler.runAfter(delayMs, internal.runner.run, { id });
    return null;
  },
});
