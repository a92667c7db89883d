import {
  getFunctionName,
  type FunctionArgs,
  type FunctionReference,
  type FunctionReturnType,
  type FunctionType,
  type SystemDataModel,
} from "convex/server";
import { ConvexError, type Value } from "convex/values";
import type { Id } from "../_generated/dataModel";
import type { ActionCtx, MutationCtx, QueryCtx } from "../_generated/server";

type Ref<Kind extends FunctionType = FunctionType> = FunctionReference<
  Kind,
  "public" | "internal"
>;
type Schedulable = "mutation" | "action";

/** What follows a reference: its arguments, which may be left out if none of them is required. */
type Rest<R> = R extends Ref
  ? [keyof FunctionArgs<R>] extends [never]
    ? [args?: Record<string, never>]
    : Record<never, never> extends FunctionArgs<R>
      ? [args?: FunctionArgs<R>]
      : [args: FunctionArgs<R>]
  : never;

/** A function and the arguments to call it with. */
export type Call<R> = readonly [reference: R, ...args: Rest<R>];

/** The functions of a batch, by position or by name. */
type Batch<Kind extends FunctionType> =
  | readonly []
  | readonly Ref<Kind>[]
  | { readonly [name: string]: Ref<Kind> };

// `B` is inferred from the references alone, so that the arguments are checked like those of any call.
type Calls<B> = {
  readonly [K in keyof B]: readonly [
    reference: B[K],
    ...args: Rest<NoInfer<B[K]>>,
  ];
};

type ValueOf<R> = R extends Ref ? FunctionReturnType<R> : never;
type Values<B> = { -readonly [K in keyof B]: ValueOf<B[K]> };

export type Outcome<T> =
  | { ok: true; value: T }
  | { ok: false; message: string; data?: Value };
type Outcomes<B> = { -readonly [K in keyof B]: Outcome<ValueOf<B[K]>> };

/** The ID of a scheduled call, which remembers the function. */
export type ScheduledId<R> = Id<"_scheduled_functions"> & {
  readonly __scheduled: R;
};
type ScheduledIds<B> = { -readonly [K in keyof B]: ScheduledId<B[K]> };

export type ScheduledCall<R extends Ref<Schedulable>> = {
  id: ScheduledId<R>;
  args: FunctionArgs<R>;
  state: SystemDataModel["_scheduled_functions"]["document"]["state"];
};

type QueryRunner = Pick<ActionCtx, "runQuery">;
type MutationRunner = Pick<ActionCtx, "runMutation">;
type ActionRunner = Pick<ActionCtx, "runAction">;

/** One call, where it need not have a type of its own. */
export function call<R extends Ref>(reference: R, ...args: Rest<R>): Call<R> {
  return [reference, ...args];
}

/** All values, or the first failure. */
export async function runQueries<B extends Batch<"query">>(
  ctx: QueryRunner,
  calls: Calls<B>,
): Promise<Values<B>> {
  const run = (reference: Ref<"query">, args: Args) =>
    ctx.runQuery(reference, args);
  return (await atOnce<"query">(calls, run)) as Values<B>;
}

export async function runMutations<B extends Batch<"mutation">>(
  ctx: MutationRunner,
  calls: Calls<B>,
): Promise<Values<B>> {
  const run = (reference: Ref<"mutation">, args: Args) =>
    ctx.runMutation(reference, args);
  return (await inOrder<"mutation">(calls, run)) as Values<B>;
}

export async function runActions<B extends Batch<"action">>(
  ctx: ActionRunner,
  calls: Calls<B>,
): Promise<Values<B>> {
  const run = (reference: Ref<"action">, args: Args) =>
    ctx.runAction(reference, args);
  return (await atOnce<"action">(calls, run)) as Values<B>;
}

/** What came of each call. */
export async function settleQueries<B extends Batch<"query">>(
  ctx: QueryRunner,
  calls: Calls<B>,
): Promise<Outcomes<B>> {
  const run = (reference: Ref<"query">, args: Args) =>
    settle(ctx.runQuery(reference, args));
  return (await atOnce<"query">(calls, run)) as Outcomes<B>;
}

export async function settleMutations<B extends Batch<"mutation">>(
  ctx: MutationRunner,
  calls: Calls<B>,
): Promise<Outcomes<B>> {
  const run = (reference: Ref<"mutation">, args: Args) =>
    settle(ctx.runMutation(reference, args));
  return (await inOrder<"mutation">(calls, run)) as Outcomes<B>;
}

export async function settleActions<B extends Batch<"action">>(
  ctx: ActionRunner,
  calls: Calls<B>,
): Promise<Outcomes<B>> {
  const run = (reference: Ref<"action">, args: Args) =>
    settle(ctx.runAction(reference, args));
  return (await atOnce<"action">(calls, run)) as Outcomes<B>;
}

/** Plans all calls for the same delay from now. */
export async function scheduleAll<B extends Batch<Schedulable>>(
  ctx: Pick<MutationCtx, "scheduler">,
  delayMs: number,
  calls: Calls<B>,
): Promise<ScheduledIds<B>> {
  const run = (reference: Ref<Schedulable>, args: Args) =>
    ctx.scheduler.runAfter(delayMs, reference, args);
  return (await inOrder<Schedulable>(calls, run)) as ScheduledIds<B>;
}

/** The scheduled call with this ID, or null if there is none of this function. */
export async function scheduledCall<R extends Ref<Schedulable>>(
  ctx: Pick<QueryCtx, "db">,
  reference: R,
  id: Id<"_scheduled_functions"> & { readonly __scheduled?: R },
): Promise<ScheduledCall<R> | null> {
  const found = await ctx.db.system.get("_scheduled_functions", id);
  if (found === null) return null;
  const name = found.name.replace(/\.js(?=:|$)/, "");
  if (name !== getFunctionName(reference)) return null;
  const [args = {}] = found.args as [FunctionArgs<R>?];
  return {
    id: id as ScheduledId<R>,
    args: args as FunctionArgs<R>,
    state: found.state,
  };
}

// Below here, calls are all alike: what they have to do with each other is known above.

type Args = Record<string, unknown>;
type AnyCall<Kind extends FunctionType> = readonly [
  reference: Ref<Kind>,
  args?: Args,
];
type Run<Kind extends FunctionType> = (
  reference: Ref<Kind>,
  args: Args,
) => Promise<unknown>;

async function atOnce<Kind extends FunctionType>(
  calls: unknown,
  run: Run<Kind>,
): Promise<unknown> {
  const named = Object.entries(calls as Record<string, AnyCall<Kind>>);
  const values = await Promise.all(
    named.map(([, [reference, args = {}]]) => run(reference, args)),
  );
  return inTheShapeOf(calls, values);
}

async function inOrder<Kind extends FunctionType>(
  calls: unknown,
  run: Run<Kind>,
): Promise<unknown> {
  const values: unknown[] = [];
  const all = Object.values(calls as Record<string, AnyCall<Kind>>);
  for (const [reference, args = {}] of all)
    values.push(await run(reference, args));
  return inTheShapeOf(calls, values);
}

function inTheShapeOf(calls: unknown, values: unknown[]): unknown {
  if (Array.isArray(calls)) return values;
  const names = Object.keys(calls as Record<string, unknown>);
  return Object.fromEntries(names.map((name, index) => [name, values[index]]));
}

async function settle(result: Promise<unknown>): Promise<Outcome<unknown>> {
  try {
    return { ok: true, value: await result };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return error instanceof ConvexError
      ? { ok: false, message, data: error.data as Value }
      : { ok: false, message };
  }
}
