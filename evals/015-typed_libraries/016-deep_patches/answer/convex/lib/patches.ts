import type { WithOptionalSystemFields } from "convex/server";
import { compareValues, ConvexError, v, type Value } from "convex/values";
import type { Doc, Id, TableNames } from "../_generated/dataModel";
import type { MutationCtx } from "../_generated/server";

// ---------------------------------------------------------------- types

type Leaf = string | number | bigint | boolean | null | undefined | ArrayBuffer;
type SystemField = "_id" | "_creationTime";

/** Marks a place that a document does not have. */
declare const nowhere: unique symbol;
type Nowhere = typeof nowhere;

type IsRecord<T> = string extends keyof T ? true : IdKeyed<keyof T>;
type IdKeyed<K> = [K] extends [never]
  ? false
  : [K] extends [{ __tableName: string }]
    ? true
    : false;

/**
 * What one step leads to, for each variant of `T`. `Absent` is what stands for
 * a field or an entry that need not be there.
 */
type Step<T, Key extends string, Absent> = T extends Leaf
  ? Nowhere
  : T extends readonly (infer Element)[]
    ? Key extends `${number}`
      ? Element | Absent
      : Nowhere
    : IsRecord<T> extends true
      ? T[keyof T] | Absent
      : Key extends keyof T
        ? undefined extends T[Key]
          ? Exclude<T[Key], undefined> | Absent
          : T[Key]
        : Nowhere;

/** All that a path leads to, with `Nowhere` for variants that do not have it. */
type Walk<
  T,
  Path extends string,
  Absent,
> = Path extends `${infer Key}.${infer Rest}`
  ? Walk<Step<T, Key, Absent>, Rest, Absent>
  : Step<T, Path, Absent>;

/** What can be written at a path: never for a path that there is not. */
type Written<T, Path extends string> = Path extends `${SystemField}${string}`
  ? never
  : Exclude<Walk<T, Path, never>, Nowhere>;

/** What can be read at a path: never for a path that there is not. */
type Read<T, Path extends string> = [
  Exclude<Walk<T, Path, never>, Nowhere>,
] extends [never]
  ? never
  : Present<Walk<T, Path, undefined>>;
type Present<T> = T extends Nowhere ? undefined : T;

/** Whether the last step of a path is optional in every variant that has it. */
type Removable<
  T,
  Path extends string,
> = Path extends `${infer Key}.${infer Rest}`
  ? Removable<Exclude<Step<T, Key, never>, Nowhere>, Rest>
  : [LastStep<T, Path>] extends [never]
    ? false
    : [LastStep<T, Path>] extends [true]
      ? true
      : false;
type LastStep<T, Key extends string> = T extends Leaf
  ? never
  : T extends readonly unknown[]
    ? Key extends `${number}`
      ? false
      : never
    : IsRecord<T> extends true
      ? true
      : Key extends keyof T
        ? undefined extends T[Key]
          ? true
          : false
        : never;

type Amount<T> = [T] extends [never]
  ? never
  : [T] extends [number]
    ? number extends T
      ? number
      : never
    : [T] extends [bigint]
      ? bigint extends T
        ? bigint
        : never
      : never;

type ElementOf<T> = [T] extends [never]
  ? never
  : [T] extends [readonly (infer Element)[]]
    ? Element
    : never;

/** `Path`, unless there is nothing that it can lead to. */
type Leading<T, Path> = [T] extends [never] ? never : Path;

/** What a document of the table can have at a path. */
export type ValueAt<Table extends TableNames, Path extends string> = Read<
  Doc<Table>,
  Path
>;

// ---------------------------------------------------------------- patches

export const operationValidator = v.union(
  v.object({ op: v.literal("set"), path: v.string(), value: v.any() }),
  v.object({ op: v.literal("unset"), path: v.string() }),
  v.object({
    op: v.literal("increment"),
    path: v.string(),
    by: v.union(v.number(), v.int64()),
  }),
  v.object({ op: v.literal("push"), path: v.string(), value: v.any() }),
  v.object({
    op: v.literal("expect"),
    path: v.string(),
    value: v.optional(v.any()),
  }),
);

/** What `operationValidator` describes. An expectation without a value is that there is none. */
export type Operation =
  | { op: "set" | "push"; path: string; value: Value }
  | { op: "unset"; path: string }
  | { op: "increment"; path: string; by: number | bigint }
  | { op: "expect"; path: string; value?: Value };

/** Changes of a document of one table. Each method returns a new patch. */
export class Patch<Table extends TableNames> {
  constructor(
    readonly table: Table,
    readonly operations: readonly Operation[] = [],
  ) {}

  set<Path extends string>(
    path: Leading<Written<Doc<Table>, Path>, Path>,
    value: Written<Doc<Table>, Path>,
  ): Patch<Table> {
    return this.with({ op: "set", path, value: value as Value });
  }

  unset<Path extends string>(
    path: Removable<Doc<Table>, Path> extends true ? Path : never,
  ): Patch<Table> {
    return this.with({ op: "unset", path });
  }

  increment<Path extends string>(
    path: Leading<Amount<Written<Doc<Table>, Path>>, Path>,
    by: Amount<Written<Doc<Table>, Path>>,
  ): Patch<Table> {
    return this.with({ op: "increment", path, by });
  }

  push<Path extends string>(
    path: Leading<ElementOf<Written<Doc<Table>, Path>>, Path>,
    value: ElementOf<Written<Doc<Table>, Path>>,
  ): Patch<Table> {
    return this.with({ op: "push", path, value: value as Value });
  }

  expect<Path extends string>(
    path: Leading<Read<Doc<Table>, Path>, Path>,
    value: Read<Doc<Table>, Path>,
  ): Patch<Table> {
    return this.with(expectation(path, value as Value | undefined));
  }

  private with(operation: Operation): Patch<Table> {
    return new Patch(this.table, [...this.operations, operation]);
  }
}

export function patch<Table extends TableNames>(table: Table): Patch<Table> {
  return new Patch(table);
}

function expectation(path: string, value: Value | undefined): Operation {
  return value === undefined
    ? { op: "expect", path }
    : { op: "expect", path, value };
}

/** What the document has at the path. */
export function at<Document extends Doc<TableNames>, Path extends string>(
  document: Document,
  path: Leading<Read<Document, Path>, Path>,
): Read<Document, Path> {
  return valueAt(document, path) as Read<Document, Path>;
}

/** Checks all expectations, then makes all changes in order, in one write. */
export async function applyPatch<Table extends TableNames>(
  ctx: MutationCtx,
  id: Id<Table>,
  patch: Patch<Table>,
): Promise<void> {
  const stored: Doc<Table> | null = await ctx.db.get(id);
  if (stored === null) throw new ConvexError({ code: "NOT_FOUND" });
  const { _id, _creationTime, ...fields } = stored as Fields;

  const paths = patch.operations
    .filter((each) => each.op === "expect")
    .filter((each) => !equal(valueAt(stored, each.path), each.value))
    .map((each) => each.path);
  if (paths.length > 0) throw new ConvexError({ code: "CONFLICT", paths });

  const changes = patch.operations.filter((each) => each.op !== "expect");
  if (changes.length === 0) return;
  let changed: Value = fields as Record<string, Value>;
  for (const each of changes) {
    changed = changedAt(changed, each.path.split("."), each);
  }
  await ctx.db.replace(id, changed as WithOptionalSystemFields<Doc<Table>>);
}

/** The patch that makes `after` of `before`, if what it changes is still as it was in `before`. */
export function diff<Table extends TableNames>(
  table: Table,
  before: Doc<Table>,
  after: Doc<Table>,
): Patch<Table> {
  const operations: Operation[] = [];
  const compare = (old: Fields, now: Fields, prefix: string) => {
    for (const key of new Set([...Object.keys(old), ...Object.keys(now)])) {
      if (prefix === "" && key.startsWith("_")) continue;
      const path = prefix + key;
      const was = own(old, key);
      const is = own(now, key);
      if (equal(was, is)) continue;
      if (isFields(was) && isFields(is)) {
        compare(was, is, `${path}.`);
        continue;
      }
      operations.push(expectation(path, was));
      operations.push(
        is === undefined
          ? { op: "unset", path }
          : { op: "set", path, value: is },
      );
    }
  };
  compare(before as Fields, after as Fields, "");
  return new Patch(table, operations);
}

// ---------------------------------------------------------------- values

type Fields = Record<string, Value | undefined>;

function isFields(value: unknown): value is Fields {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof ArrayBuffer)
  );
}

function own(fields: Fields, key: string): Value | undefined {
  return Object.hasOwn(fields, key) ? fields[key] : undefined;
}

function valueAt(document: object, path: string): Value | undefined {
  let value: Value | undefined = document as Record<string, Value>;
  for (const key of path.split(".")) {
    if (Array.isArray(value))
      value = isIndex(key) ? value[Number(key)] : undefined;
    else value = isFields(value) ? own(value, key) : undefined;
  }
  return value;
}

function isIndex(key: string): boolean {
  return /^(0|[1-9]\d*)$/.test(key);
}

/** A copy of `value` in which the operation is done at `keys`. */
function changedAt(value: Value, keys: string[], operation: Operation): Value {
  const [key, ...rest] = keys;
  if (Array.isArray(value)) {
    const index = Number(key);
    const isRemoval = rest.length === 0 && operation.op === "unset";
    if (!isIndex(key) || index >= value.length || isRemoval)
      throw noSuchPath(operation);
    const element = newValue(value[index], rest, operation);
    return value.map((each, at) =>
      at === index && element !== undefined ? element : each,
    );
  }
  if (!isFields(value) || key === "" || key.startsWith("_"))
    throw noSuchPath(operation);
  const { [key]: _, ...others } = value;
  const changed = newValue(own(value, key), rest, operation);
  return (
    changed === undefined ? others : { ...value, [key]: changed }
  ) as Value;
}

function newValue(
  old: Value | undefined,
  rest: string[],
  operation: Operation,
): Value | undefined {
  if (rest.length > 0) {
    if (old === undefined) throw noSuchPath(operation);
    return changedAt(old, rest, operation);
  }
  switch (operation.op) {
    case "set":
      return operation.value;
    case "increment":
      return increased(old, operation.by, operation.path);
    case "push":
      if (old !== undefined && !Array.isArray(old)) {
        throw new ConvexError({ code: "NOT_AN_ARRAY", path: operation.path });
      }
      return [...(old ?? []), operation.value];
    case "unset":
    case "expect":
      return undefined;
  }
}

function increased(
  old: Value | undefined,
  by: number | bigint,
  path: string,
): Value {
  if (old === undefined) return by;
  if (typeof old === "number" && typeof by === "number") return old + by;
  if (typeof old === "bigint" && typeof by === "bigint") return old + by;
  throw new ConvexError({ code: "NOT_A_NUMBER", path });
}

function noSuchPath(
  operation: Operation,
): ConvexError<{ code: string; path: string }> {
  return new ConvexError({ code: "NO_SUCH_PATH", path: operation.path });
}

function equal(a: Value | undefined, b: Value | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return compareValues(a, b) === 0;
}
