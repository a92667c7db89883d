import type {
  ActionBuilder,
  FunctionVisibility,
  GenericActionCtx,
  GenericMutationCtx,
  GenericQueryCtx,
  MutationBuilder,
  QueryBuilder,
  RegisteredAction,
  RegisteredMutation,
  RegisteredQuery,
  ValidatorTypeToReturnType,
} from "convex/server";
import type { GenericValidator, Infer, ObjectType, PropertyValidators } from "convex/values";

type Kind = "query" | "mutation" | "action";
type NoFields = Record<never, never>;
type MaybePromise<T> = T | Promise<T>;
type Simplify<T> = { [K in keyof T]: T[K] };

/** What `use` gives: an addition to the context and, if wanted, something to do once the handler has ended. */
export type Given = { ctx: object; done?: (result: unknown) => MaybePromise<void> };

export interface Layer<Args extends PropertyValidators, Needs, Options, Gives extends Given> {
  args: Args;
  use: (ctx: Needs, args: ObjectType<Args>, options: Options) => MaybePromise<Gives>;
}

export function layer<
  Needs,
  Gives extends Given,
  Args extends PropertyValidators = NoFields,
  Options = NoFields,
>(definition: {
  args?: Args;
  use: (ctx: Needs, args: ObjectType<Args>, options: Options) => MaybePromise<Gives>;
}): Layer<Args, Needs, Options, Gives> {
  return { args: definition.args ?? ({} as Args), use: definition.use };
}

type Override<Base, Added> = Added extends unknown ? Simplify<Omit<Base, keyof Added> & Added> : never;
/** For each way in which the context can look, and each way in which the layer can change it. */
type ContextAfter<Ctx, Gives extends Given> = Ctx extends unknown ? Override<Ctx, Gives["ctx"]> : never;

/** What the compiler knows about a builder. */
type Traits = {
  kind: Kind;
  visibility: FunctionVisibility;
  ctx: unknown;
  /** The arguments of its layers, which nobody else may declare. */
  taken: PropertyValidators;
  options: unknown;
};

type Registered<T extends Traits, Args extends Record<string, unknown>, Result> = T["kind"] extends "query"
  ? RegisteredQuery<T["visibility"], Args, Result>
  : T["kind"] extends "mutation"
    ? RegisteredMutation<T["visibility"], Args, Result>
    : RegisteredAction<T["visibility"], Args, Result>;

/** No name that is taken already. */
type Free<Taken> = { [Name in keyof Taken]?: never };

type Definition<T extends Traits, Args extends PropertyValidators, Result> = T["options"] & {
  args?: Args & Free<T["taken"]>;
  handler: (ctx: T["ctx"], args: ObjectType<Args>) => Result;
};

export interface Builder<T extends Traits> {
  <Returns extends GenericValidator, Args extends PropertyValidators = NoFields>(
    definition: Definition<T, Args, ValidatorTypeToReturnType<Infer<Returns>>> & { returns: Returns },
  ): Registered<T, ObjectType<Simplify<T["taken"] & Args>>, Infer<Returns>>;
  <Result, Args extends PropertyValidators = NoFields>(
    definition: Definition<T, Args, Result> & { returns?: undefined },
  ): Registered<T, ObjectType<Simplify<T["taken"] & Args>>, Result>;
  readonly built: Built;
}

type Bare<K extends Kind, V extends FunctionVisibility, Ctx> = {
  kind: K;
  visibility: V;
  ctx: Ctx;
  taken: NoFields;
  options: NoFields;
};

type TraitsOf<B> =
  B extends Builder<infer T>
    ? T
    : B extends QueryBuilder<infer DataModel, infer V>
      ? Bare<"query", V, GenericQueryCtx<DataModel>>
      : B extends MutationBuilder<infer DataModel, infer V>
        ? Bare<"mutation", V, GenericMutationCtx<DataModel>>
        : B extends ActionBuilder<infer DataModel, infer V>
          ? Bare<"action", V, GenericActionCtx<DataModel>>
          : never;

/** Refuses a layer that takes an argument which is taken already, or needs what the context does not have. */
type Fitting<T, Args, Needs> = T extends Traits
  ? [keyof Args & keyof T["taken"], T["ctx"]] extends [never, Needs]
    ? unknown
    : never
  : never;

/** The condition holds for all builders. Without it, the compiler loses the type of one `extend` within another. */
type Extended<T, Args extends PropertyValidators, Options, Gives extends Given> = T extends Traits
  ? Builder<{
      kind: T["kind"];
      visibility: T["visibility"];
      ctx: ContextAfter<T["ctx"], Gives>;
      taken: Simplify<T["taken"] & Args>;
      options: T["options"] & Options;
    }>
  : never;

export function extend<B extends object, Args extends PropertyValidators, Needs, Options, Gives extends Given>(
  builder: B,
  added: Layer<Args, Needs, Options, Gives> & Fitting<TraitsOf<B>, Args, Needs>,
): Extended<TraitsOf<B>, Args, Options, Gives>;
export function extend(builder: object, added: object): unknown {
  const before = "built" in builder ? (builder.built as Built) : { base: builder as Base, layers: [] };
  return build({ base: before.base, layers: [...before.layers, added as AnyLayer] });
}

type Fields = Record<string, unknown>;
/** The layers with everything forgotten that only the compiler needs. */
type AnyLayer = { args: PropertyValidators; use: (ctx: Fields, args: Fields, options: Fields) => MaybePromise<Given> };
type Handler = (ctx: Fields, args: Fields) => unknown;
type Base = (definition: { args: PropertyValidators; returns?: GenericValidator; handler: Handler }) => unknown;
type Built = { base: Base; layers: AnyLayer[] };
type AnyDefinition = Fields & { args?: PropertyValidators; returns?: GenericValidator; handler: Handler };

function build(built: Built) {
  const { base, layers } = built;
  const builder = ({ args: own = {}, returns, handler, ...options }: AnyDefinition) =>
    base({
      args: Object.assign({}, ...layers.map((each) => each.args), own) as PropertyValidators,
      ...(returns === undefined ? {} : { returns }),
      handler: async (baseCtx, given) => {
        let ctx = baseCtx;
        const endings: Given["done"][] = [];
        for (const { args, use } of layers) {
          const { ctx: more, done } = await use(ctx, select(given, args), options);
          ctx = { ...ctx, ...more };
          endings.unshift(done);
        }
        const result = await handler(ctx, select(given, own));
        for (const done of endings) await done?.(result);
        return result;
      },
    });
  return Object.assign(builder, { built });
}

function select(given: Fields, wanted: PropertyValidators): Fields {
  return Object.fromEntries(Object.entries(given).filter(([name]) => Object.hasOwn(wanted, name)));
}
