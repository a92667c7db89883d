import type { GenericDatabaseWriter, GenericDataModel } from "convex/server";
import type { GenericId, Validator, Value } from "convex/values";
import type { Doc, Id, TableNames } from "../_generated/dataModel";
import type { MutationCtx, QueryCtx } from "../_generated/server";

type SystemField = "_id" | "_creationTime";
type Fields = Record<string, Value | undefined>;
type Flat<T> = { [K in keyof T]: T[K] };

// All of these distribute over unions: the shapes of a document change one by one.
type FieldOf<S> = S extends unknown ? keyof S & string : never;
type Stored<T extends TableNames, S> = S extends unknown ? Flat<{ _id: Id<T>; _creationTime: number } & S> : never;
type Without<S, F> = S extends unknown ? { [K in keyof S as K extends F ? never : K]: S[K] } : never;
type Renamed<S, From, To extends string> = S extends unknown
  ? { [K in keyof S as K extends From ? To : K]: S[K] }
  : never;
type WithField<S, F extends string, R> = S extends unknown
  ? Flat<
      { [K in keyof S as K extends F ? never : K]: S[K] } & (undefined extends R
        ? { [K in F]?: Exclude<R, undefined> }
        : { [K in F]: R })
    >
  : never;
/** What a step returned: system fields do not count, and a field that can only be undefined is none. */
type Returned<R> = R extends unknown
  ? { -readonly [K in keyof R as K extends SystemField ? never : [R[K]] extends [undefined] ? never : K]: R[K] }
  : never;
type TagOf<S, F extends string> = S extends { [K in F]: infer Tag extends string } ? Tag : never;
type Tagged<S, F extends string, Tag> = S extends { [K in F]: Tag } ? S : never;
type Untagged<S, F extends string, Tag> = S extends { [K in F]: Tag } ? never : S;

type NewName<Name extends string, Steps> = Name extends keyof Steps ? never : Name;
type NewField<Field extends string, S> = Field extends FieldOf<S> | SystemField ? never : Field;

type Step = { name: string; run: (document: Fields) => Fields };

class Chain<T extends TableNames, S, Names extends readonly string[], After> {
  declare readonly shape: S;
  declare readonly after: After;

  constructor(
    readonly table: T,
    readonly steps: Names,
    readonly implementation: readonly Step[],
  ) {}

  map<const Name extends string, const R extends Fields>(
    name: NewName<Name, After>,
    change: (document: Stored<T, S>) => R,
  ) {
    return this.then<Name, Returned<R>>(name, (document) => change(document as Stored<T, S>));
  }

  set<const Name extends string, const Field extends string, const R extends Value | undefined>(
    name: NewName<Name, After>,
    field: Field extends SystemField ? never : Field,
    value: (document: Stored<T, S>) => R,
  ) {
    return this.then<Name, WithField<S, Field, R>>(name, (document) => ({
      ...document,
      [field]: value(document as Stored<T, S>),
    }));
  }

  rename<const Name extends string, const From extends FieldOf<S>, const To extends string>(
    name: NewName<Name, After>,
    from: From,
    to: NewField<To, S>,
  ) {
    return this.then<Name, Renamed<S, From, To>>(name, ({ [from]: value, ...rest }) =>
      value === undefined ? rest : { ...rest, [to]: value },
    );
  }

  drop<const Name extends string, const Field extends FieldOf<S>>(name: NewName<Name, After>, ...fields: Field[]) {
    const dropped: string[] = fields;
    return this.then<Name, Without<S, Field>>(name, (document) =>
      Object.fromEntries(Object.entries(document).filter(([field]) => !dropped.includes(field))),
    );
  }

  only<
    const Name extends string,
    const Field extends FieldOf<S>,
    const Tag extends TagOf<S, Field>,
    const R extends Fields,
  >(
    name: NewName<Name, After>,
    field: Field,
    tag: Tag,
    change: (document: Stored<T, Tagged<S, Field, Tag>>) => R,
  ) {
    return this.then<Name, Untagged<S, Field, Tag> | Returned<R>>(name, (document) =>
      document[field] === tag ? change(document as Stored<T, Tagged<S, Field, Tag>>) : document,
    );
  }

  upgrade(document: Stored<T, After["" & keyof After]>): Stored<T, S>;
  upgrade<Name extends Names[number] & keyof After>(document: Stored<T, After[Name]>, after: Name): Stored<T, S>;
  upgrade(document: object, after?: string): Stored<T, S> {
    const first = after === undefined ? 0 : this.steps.indexOf(after) + 1;
    const upgraded = this.implementation
      .slice(first)
      .reduce((fields, step) => applied(step, fields), document as Fields);
    return upgraded as Stored<T, S>;
  }

  private then<Name extends string, Next>(name: Name, run: (document: Fields) => Fields) {
    return new Chain<T, Next, readonly [...Names, Name], After & Record<Name, Next>>(
      this.table,
      [...this.steps, name],
      [...this.implementation, { name, run }],
    );
  }
}

/** What is undefined is not stored, and system fields stay what they are. The same document, if the step is not for it. */
function applied(step: Step, document: Fields): Fields {
  const { _id, _creationTime } = document;
  const changed = step.run(document);
  if (changed === document) return document;
  const entries = Object.entries(changed).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(entries), _id, _creationTime };
}

/** The documents of a table as they were before the first step. */
export function startFrom<const T extends TableNames, S extends Record<string, unknown>>(
  table: T,
  _oldest: Validator<S, "required", string>,
) {
  return new Chain<T, S, readonly [], Record<"", S>>(table, [], []);
}

type AnyChain = {
  readonly table: TableNames;
  readonly shape: unknown;
  readonly after: unknown;
  readonly steps: readonly string[];
  readonly implementation: readonly Step[];
};

export type ShapeOf<C extends AnyChain> = C["shape"];
export type StepOf<C extends AnyChain> = C["steps"][number];
export type ShapeAfter<C extends AnyChain, Name extends StepOf<C>> = C["after"][Name & keyof C["after"]];

type Fitting<F, S> = S extends unknown
  ? [F] extends [S]
    ? [Exclude<keyof F, keyof S>] extends [never]
      ? S
      : never
    : never
  : never;
type Misfit<F, S> = F extends unknown ? ([Fitting<F, S>] extends [never] ? F : never) : never;
type Checked<K, C extends AnyChain> = K extends C["table"]
  ? C["table"] extends K
    ? [Misfit<C["shape"], Without<Doc<C["table"]>, SystemField>>] extends [never]
      ? C
      : { "these shapes are not in the schema": Misfit<C["shape"], Without<Doc<C["table"]>, SystemField>> }
    : never
  : never;

export type Progress<T extends string, Name extends string> = {
  table: T;
  completed: Name[];
  current: Name | null;
  processed: number;
  isDone: boolean;
};

export function defineMigrations<const C extends Record<string, AnyChain>>(chains: {
  [K in keyof C]: C[K] & Checked<K, C[K]>;
}) {
  async function stateOf(ctx: QueryCtx, table: string) {
    return await ctx.db
      .query("migrationStates")
      .withIndex("by_table", (q) => q.eq("table", table))
      .unique();
  }

  async function progress<T extends keyof C & string>(ctx: QueryCtx, table: T): Promise<Progress<T, StepOf<C[T]>>> {
    const state = await stateOf(ctx, table);
    const steps: readonly StepOf<C[T]>[] = chains[table].steps;
    const completed = steps.slice(0, state?.completed ?? 0);
    const isDone = completed.length === steps.length;
    return {
      table,
      completed,
      current: isDone ? null : steps[completed.length],
      processed: state?.processed ?? 0,
      isDone,
    };
  }

  async function runBatch<T extends keyof C & string>(
    ctx: MutationCtx,
    table: T,
    options: { batchSize: number; upTo?: StepOf<C[T]> },
  ): Promise<Progress<T, StepOf<C[T]>>> {
    const { batchSize, upTo } = options;
    if (!Number.isInteger(batchSize) || batchSize < 1) throw new Error("batchSize must be a whole number from 1");
    const { implementation, steps } = chains[table];
    const state = await stateOf(ctx, table);
    const completed = state?.completed ?? 0;
    const end = upTo === undefined ? steps.length : steps.indexOf(upTo) + 1;
    if (completed >= end) return await progress(ctx, table);

    // Documents are not yet what the schema says.
    const db = ctx.db as unknown as GenericDatabaseWriter<GenericDataModel>;
    const name: string = table;
    const found = await db
      .query(name)
      .withIndex("by_creation_time", (q) => q.gt("_creationTime", state?.position ?? 0))
      .take(batchSize + 1);
    const batch = found.slice(0, batchSize);
    for (const document of batch) {
      const changed = applied(implementation[completed], document);
      if (changed !== document) {
        await db.replace(name, document._id as GenericId<string>, changed as Record<string, Value>);
      }
    }
    const next =
      found.length > batchSize
        ? {
            table,
            completed,
            processed: (state?.processed ?? 0) + batch.length,
            position: batch[batch.length - 1]._creationTime as number,
          }
        : { table, completed: completed + 1, processed: 0, position: 0 };
    if (state === null) await ctx.db.insert("migrationStates", next);
    else await ctx.db.replace("migrationStates", state._id, next);
    return await progress(ctx, table);
  }

  return { progress, runBatch };
}
