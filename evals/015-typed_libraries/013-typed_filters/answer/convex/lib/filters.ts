import type {
  FieldTypeFromFieldPath,
  GenericDatabaseReader,
  GenericDataModel,
  GenericDocument,
} from "convex/server";
import {
  v,
  type GenericValidator,
  type Validator,
  type Value,
} from "convex/values";
import type { DataModel, Doc, TableNames } from "../_generated/dataModel";
import type { QueryCtx } from "../_generated/server";
import schema from "../schema";

// What the fields of a table can be compared with

type Plain = string | number | bigint | boolean | null;
type Paths<T extends TableNames> = DataModel[T]["fieldPaths"];
type At<T extends TableNames, P extends string> = FieldTypeFromFieldPath<
  Doc<T>,
  P
>;
/** What there is at a path, if it is there. */
type Present<T extends TableNames, P extends string> = Exclude<
  At<T, P>,
  undefined
>;
type Orderable<V> = V extends { __tableName: string }
  ? never
  : V extends string | number | bigint
    ? V
    : never;
type Ordered<T extends TableNames, P extends string> = Orderable<At<T, P>>;
type ElementAt<T extends TableNames, P extends string> =
  Present<T, P> extends readonly (infer E)[] ? E : never;

type PlainPath<T extends TableNames> = {
  [P in Paths<T>]: [Present<T, P>] extends [Plain] ? P : never;
}[Paths<T>];
type OrderedPath<T extends TableNames> = {
  [P in Paths<T>]: [Ordered<T, P>] extends [never] ? never : P;
}[Paths<T>];
type ListPath<T extends TableNames> = {
  [P in Paths<T>]: [ElementAt<T, P>] extends [never] ? never : P;
}[Paths<T>];
type OptionalPath<T extends TableNames> = {
  [P in Paths<T>]: undefined extends At<T, P> ? P : never;
}[Paths<T>];

// Bounds are of one kind: both numbers, both strings, or both bigints.
type KindOf<V> = V extends string
  ? string
  : V extends number
    ? number
    : V extends bigint
      ? bigint
      : never;
type Bounds<V> = V extends unknown ? { low: V; high: V } : never;

// Filters as data

type Equality<T extends TableNames> = {
  [P in PlainPath<T>]:
    | { op: "eq" | "ne"; field: P; value: Present<T, P> }
    | { op: "oneOf"; field: P; values: Present<T, P>[] };
}[PlainPath<T>];
type Order<T extends TableNames> = {
  [P in OrderedPath<T>]:
    | { op: "lt" | "lte" | "gt" | "gte"; field: P; value: Ordered<T, P> }
    | ({ op: "between"; field: P } & Bounds<Ordered<T, P>>);
}[OrderedPath<T>];
type Membership<T extends TableNames> = {
  [P in ListPath<T>]: { op: "has"; field: P; value: ElementAt<T, P> };
}[ListPath<T>];

/** Any filter for a table, as clients send it. */
export type Filter<T extends TableNames> =
  | Equality<T>
  | Order<T>
  | Membership<T>
  | { op: "missing"; field: OptionalPath<T> }
  | { op: "not"; filter: Filter<T> }
  | { op: "and" | "or"; filters: Filter<T>[] };

/** A filter of which is known what the documents are like that match it. */
export type Matching<T extends TableNames, M extends Doc<T>> = Filter<T> & {
  readonly __matching?: M;
};

type MatchOf<T extends TableNames, F> = F extends {
  readonly __matching?: infer M;
}
  ? unknown extends M
    ? Doc<T>
    : Extract<M, Doc<T>>
  : Doc<T>;

/** The members of a union of documents that can have this value at the path. */
type With<D, P extends string, V> = D extends Record<string, Value>
  ? [FieldTypeFromFieldPath<D, P> & V] extends [never]
    ? never
    : D
  : never;
type Every<T extends TableNames, Fs extends readonly unknown[], D> =
  Fs extends readonly [infer First, ...infer Rest]
    ? Every<T, Rest, Extract<D, MatchOf<T, First>>>
    : D;

export interface Filters<T extends TableNames> {
  eq<P extends PlainPath<T>, const V extends Present<T, P>>(
    field: P,
    value: V,
  ): Matching<T, With<Doc<T>, P, V>>;
  ne<P extends PlainPath<T>>(
    field: P,
    value: Present<T, P>,
  ): Matching<T, Doc<T>>;
  oneOf<P extends PlainPath<T>, const V extends Present<T, P>>(
    field: P,
    values: readonly V[],
  ): Matching<T, With<Doc<T>, P, V>>;
  lt<P extends OrderedPath<T>>(
    field: P,
    value: Ordered<T, P>,
  ): Matching<T, Doc<T>>;
  lte<P extends OrderedPath<T>>(
    field: P,
    value: Ordered<T, P>,
  ): Matching<T, Doc<T>>;
  gt<P extends OrderedPath<T>>(
    field: P,
    value: Ordered<T, P>,
  ): Matching<T, Doc<T>>;
  gte<P extends OrderedPath<T>>(
    field: P,
    value: Ordered<T, P>,
  ): Matching<T, Doc<T>>;
  between<P extends OrderedPath<T>, V extends Ordered<T, P>>(
    field: P,
    low: V,
    high: NoInfer<Extract<Ordered<T, P>, KindOf<V>>>,
  ): Matching<T, Doc<T>>;
  has<P extends ListPath<T>>(
    field: P,
    value: ElementAt<T, P>,
  ): Matching<T, Doc<T>>;
  missing(field: OptionalPath<T>): Matching<T, Doc<T>>;
  not(filter: Filter<T>): Matching<T, Doc<T>>;
  and<const Fs extends readonly Filter<T>[]>(
    ...filters: Fs
  ): Matching<T, Every<T, Fs, Doc<T>>>;
  or<const Fs extends readonly Filter<T>[]>(
    ...filters: Fs
  ): Matching<T, MatchOf<T, Fs[number]>>;
}

/** Makes filters for a table. */
export function filters<T extends TableNames>(_table: T): Filters<T> {
  const compare = (op: string) => (field: string, value: Value) => ({
    op,
    field,
    value,
  });
  const untyped = {
    eq: compare("eq"),
    ne: compare("ne"),
    lt: compare("lt"),
    lte: compare("lte"),
    gt: compare("gt"),
    gte: compare("gte"),
    has: compare("has"),
    oneOf: (field: string, values: readonly Value[]) => ({
      op: "oneOf",
      field,
      values: [...values],
    }),
    between: (field: string, low: Value, high: Value) => ({
      op: "between",
      field,
      low,
      high,
    }),
    missing: (field: string) => ({ op: "missing", field }),
    not: (filter: unknown) => ({ op: "not", filter }),
    and: (...filters: unknown[]) => ({ op: "and", filters }),
    or: (...filters: unknown[]) => ({ op: "or", filters }),
  };
  return untyped as unknown as Filters<T>;
}

// Validation

const DEPTH = 2;

/** Accepts the filters for a table, with up to two levels of `and`, `or` and `not`. */
export function filterValidator<T extends TableNames>(
  table: T,
): Validator<Filter<T>, "required", string> {
  const fields = new Map<string, Field>();
  collect(schema.tables[table].validator, "", false, fields);
  const field = (path: string) => fields.get(path) ?? newField();
  fields.set("_id", { ...field("_id"), plain: [v.id(table)] });
  fields.set("_creationTime", {
    ...field("_creationTime"),
    plain: [v.number()],
  });
  const leaves = [...fields].flatMap(([path, each]) => comparisons(path, each));
  let filter = oneOf(leaves);
  for (let level = 0; level < DEPTH; level++)
    filter = oneOf([
      ...leaves,
      v.object({ op: v.literal("not"), filter }),
      v.object({
        op: oneOf([v.literal("and"), v.literal("or")]),
        filters: v.array(filter),
      }),
    ]);
  return filter as unknown as Validator<Filter<T>, "required", string>;
}

type Required = Validator<Value, "required", string>;
type Field = {
  plain: Required[];
  elements: Required[];
  isOther: boolean;
  isOptional: boolean;
};
const newField = (): Field => ({
  plain: [],
  elements: [],
  isOther: false,
  isOptional: false,
});

function oneOf(members: GenericValidator[]): Required {
  return v.union(...(members as Required[])) as unknown as Required;
}

/** Adds what can be at each path below a validator. */
function collect(
  validator: GenericValidator,
  path: string,
  isOptional: boolean,
  fields: Map<string, Field>,
): void {
  const field = fields.get(path) ?? newField();
  if (path !== "") fields.set(path, field);
  field.isOptional ||= isOptional || validator.isOptional === "optional";
  switch (validator.kind) {
    case "object":
      field.isOther = true;
      for (const [name, each] of Object.entries(validator.fields))
        collect(
          each,
          path === "" ? name : `${path}.${name}`,
          field.isOptional,
          fields,
        );
      break;
    case "union":
      collectUnion(validator.members, path, field.isOptional, fields);
      break;
    case "array":
      field.elements.push(validator.element as Required);
      field.isOther = true;
      break;
    default: {
      const plain = required(validator);
      if (plain === null) field.isOther = true;
      else field.plain.push(plain);
    }
  }
}

/** A path that some members do not have may be missing. */
function collectUnion(
  members: GenericValidator[],
  path: string,
  isOptional: boolean,
  fields: Map<string, Field>,
): void {
  const each = members.map((member) => {
    const found = new Map<string, Field>();
    collect(member, path, isOptional, found);
    return found;
  });
  for (const found of each)
    for (const [name, part] of found) {
      const field = fields.get(name) ?? newField();
      fields.set(name, field);
      field.plain.push(...part.plain);
      field.elements.push(...part.elements);
      field.isOther ||= part.isOther;
      field.isOptional ||=
        part.isOptional || each.some((other) => !other.has(name));
    }
}

function required(validator: GenericValidator): Required | null {
  switch (validator.kind) {
    case "string":
      return v.string();
    case "float64":
      return v.number();
    case "int64":
      return v.int64();
    case "boolean":
      return v.boolean();
    case "null":
      return v.null();
    case "id":
      return v.id(validator.tableName);
    case "literal":
      return v.literal(validator.value as string);
    default:
      return null;
  }
}

function comparisons(path: string, field: Field): GenericValidator[] {
  const found: GenericValidator[] = [];
  const at = v.literal(path);
  if (field.isOptional)
    found.push(v.object({ op: v.literal("missing"), field: at }));
  if (field.elements.length > 0)
    found.push(
      v.object({
        op: v.literal("has"),
        field: at,
        value: oneOf(field.elements),
      }),
    );
  if (field.plain.length > 0 && !field.isOther) {
    const value = oneOf(field.plain);
    found.push(
      v.object({
        op: oneOf([v.literal("eq"), v.literal("ne")]),
        field: at,
        value,
      }),
      v.object({
        op: v.literal("oneOf"),
        field: at,
        values: v.array(value),
      }),
    );
  }
  const ordered = field.plain.filter(isOrdered);
  if (ordered.length > 0)
    found.push(
      v.object({
        op: oneOf(["lt", "lte", "gt", "gte"].map((op) => v.literal(op))),
        field: at,
        value: oneOf(ordered),
      }),
    );
  for (const kind of ["string", "number", "bigint"]) {
    const bound = ordered.filter((each) => kindOf(each) === kind);
    if (bound.length > 0)
      found.push(
        v.object({
          op: v.literal("between"),
          field: at,
          low: oneOf(bound),
          high: oneOf(bound),
        }),
      );
  }
  return found;
}

function kindOf(validator: Required): string {
  if (validator.kind === "literal") return typeof validator.value;
  if (validator.kind === "float64") return "number";
  return validator.kind === "int64" ? "bigint" : validator.kind;
}

function isOrdered(validator: Required): boolean {
  return ["string", "number", "bigint"].includes(kindOf(validator));
}

// Execution

/** What a filter looks like to whom the table does not matter. */
type AnyFilter =
  | {
      op: "eq" | "ne" | "lt" | "lte" | "gt" | "gte" | "has";
      field: string;
      value: Value;
    }
  | { op: "oneOf"; field: string; values: Value[] }
  | { op: "between"; field: string; low: Value; high: Value }
  | { op: "missing"; field: string }
  | { op: "not"; filter: AnyFilter }
  | { op: "and" | "or"; filters: AnyFilter[] };

/** The documents that match, the oldest first. */
export async function find<
  T extends TableNames,
  F extends Filter<NoInfer<T>>,
>(
  ctx: Pick<QueryCtx, "db">,
  table: T,
  filter: F,
): Promise<MatchOf<T, F>[]> {
  const anyFilter = filter as unknown as AnyFilter;
  const db = ctx.db as unknown as GenericDatabaseReader<GenericDataModel>;
  const first = firstOf(anyFilter);
  const index =
    first?.op === "eq"
      ? schema.tables[table][" indexes"]().find(
          ({ fields }) => fields[0] === first.field,
        )
      : undefined;
  const candidates =
    first?.op === "eq" && index !== undefined
      ? await db
          .query(table)
          .withIndex(index.indexDescriptor, (q) =>
            q.eq(first.field, first.value),
          )
          .collect()
      : await db.query(table).collect();
  return candidates
    .filter((document) => matches(document, anyFilter))
    .sort(
      (a, b) => Number(a._creationTime) - Number(b._creationTime),
    ) as MatchOf<T, F>[];
}

function firstOf(filter: AnyFilter): AnyFilter | undefined {
  if (filter.op !== "and") return filter;
  const [first] = filter.filters;
  return first && firstOf(first);
}

function valueAt(document: GenericDocument, path: string): Value | undefined {
  let value: Value | undefined = document;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as GenericDocument)[name];
  }
  return value;
}

function matches(document: GenericDocument, filter: AnyFilter): boolean {
  if (filter.op === "not") return !matches(document, filter.filter);
  if ("filters" in filter)
    return filter.op === "and"
      ? filter.filters.every((each) => matches(document, each))
      : filter.filters.some((each) => matches(document, each));
  const value = valueAt(document, filter.field);
  switch (filter.op) {
    case "missing":
      return value === undefined;
    case "eq":
      return value === filter.value;
    case "ne":
      return value !== filter.value;
    case "oneOf":
      return value !== undefined && filter.values.includes(value);
    case "has":
      return Array.isArray(value) && value.includes(filter.value);
    case "between":
      return (
        compare(value, filter.low, (a, b) => a >= b) &&
        compare(value, filter.high, (a, b) => a <= b)
      );
    case "lt":
      return compare(value, filter.value, (a, b) => a < b);
    case "lte":
      return compare(value, filter.value, (a, b) => a <= b);
    case "gt":
      return compare(value, filter.value, (a, b) => a > b);
    case "gte":
      return compare(value, filter.value, (a, b) => a >= b);
  }
}

type Scalar = string | number | bigint;

/** False for values of different kinds. */
function compare(
  a: Value | undefined,
  b: Value,
  test: (a: Scalar, b: Scalar) => boolean,
): boolean {
  if (typeof a !== typeof b) return false;
  return isScalar(a) && isScalar(b) && test(a, b);
}

function isScalar(value: Value | undefined): value is Scalar {
  return ["string", "number", "bigint"].includes(typeof value);
}
