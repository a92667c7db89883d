import type {
  FieldTypeFromFieldPath,
  IndexRange,
  PaginationOptions,
  PaginationResult,
} from "convex/server";
import {
  compareValues,
  convexToJson,
  jsonToConvex,
  v,
  type JSONValue,
  type Validator,
  type Value,
} from "convex/values";
import type { DataModel, Doc, TableNames } from "../_generated/dataModel";
import type { QueryCtx } from "../_generated/server";
import schema from "../schema";

// ---------------------------------------------------------------- types

type Indexes<Table extends TableNames> = DataModel[Table]["indexes"];
type IndexName<Table extends TableNames> = keyof Indexes<Table> & string;

/** Values of the first fields of an index: of none, of one, of two … */
type Prefix<Table extends TableNames, Fields> = Fields extends [
  infer Field extends string,
  ...infer Rest,
]
  ? [] | [FieldTypeFromFieldPath<Doc<Table>, Field>, ...Prefix<Table, Rest>]
  : [];

/** The type of the first field of an index that has no value in the prefix. */
type KeyType<
  Table extends TableNames,
  Fields,
  Values extends unknown[],
> = Fields extends [infer Field extends string, ...infer Rest]
  ? Values extends [unknown, ...infer More]
    ? KeyType<Table, Rest, More>
    : FieldTypeFromFieldPath<Doc<Table>, Field>
  : never;

type Kind = "number" | "string";
type KindOf<Key> = [Key] extends [never]
  ? never
  : [Key] extends [number]
    ? "number"
    : [Key] extends [string]
      ? "string"
      : never;

type Sortable<
  Table extends TableNames,
  Index extends IndexName<Table>,
  Values extends unknown[],
> = KindOf<KeyType<Table, Indexes<Table>[Index], Values>>;

export type Source<Document, Key extends Kind> = {
  readonly table: TableNames;
  readonly index: string;
  readonly prefix: readonly (Value | undefined)[];
  readonly where: (document: never) => boolean;
  /** Only for types: what the source gives, and what it is ordered by. */
  readonly gives?: { document: Document; key: Key };
};

type Sources =
  | { readonly [name: string]: Source<unknown, "number"> }
  | { readonly [name: string]: Source<unknown, "string"> };

/** A document with the name of the source that it comes from. */
export type Item<S> = {
  [Name in keyof S & string]: S[Name] extends Source<infer Document, Kind>
    ? { source: Name; document: Document }
    : never;
}[keyof S & string];

// ---------------------------------------------------------------- sources

export function source<
  Table extends TableNames,
  Index extends IndexName<Table>,
  Values extends Prefix<Table, Indexes<Table>[Index]>,
  Narrowed extends Doc<Table>,
>(
  table: Table,
  index: Index,
  prefix: [Sortable<Table, Index, Values>] extends [never] ? never : Values,
  where: (document: Doc<Table>) => document is Narrowed,
): Source<Narrowed, Sortable<Table, Index, Values>>;
export function source<
  Table extends TableNames,
  Index extends IndexName<Table>,
  Values extends Prefix<Table, Indexes<Table>[Index]>,
>(
  table: Table,
  index: Index,
  prefix: [Sortable<Table, Index, Values>] extends [never] ? never : Values,
  where?: (document: Doc<Table>) => boolean,
): Source<Doc<Table>, Sortable<Table, Index, Values>>;
export function source(
  table: TableNames,
  index: string,
  prefix: readonly (Value | undefined)[],
  where: (document: never) => boolean = () => true,
): Source<never, never> {
  return { table, index, prefix, where };
}

/** A validator for items, by the table that each source reads. */
export function mergedItem<const Tables extends Record<string, TableNames>>(
  tables: Tables,
): Validator<
  {
    [Name in keyof Tables & string]: {
      source: Name;
      document: Doc<Tables[Name]>;
    };
  }[keyof Tables & string],
  "required",
  string
> {
  const members = Object.entries(tables).map(([name, table]) =>
    v.object({ source: v.literal(name), document: schema.doc(table) }),
  );
  return v.union(...members) as never;
}

// ---------------------------------------------------------------- pages

type Order = "asc" | "desc";

/** One page of all sources together, ordered by their keys. */
export async function mergedPage<const S extends Sources>(
  ctx: Pick<QueryCtx, "db">,
  sources: S,
  options: { order: Order; paginationOpts: PaginationOptions },
): Promise<PaginationResult<Item<S>>> {
  const { order, paginationOpts } = options;
  const { cursor, endCursor, numItems } = paginationOpts;
  const start = cursor === null ? null : decoded(cursor);
  const end = endCursor ? decoded(endCursor) : null;
  const names = Object.keys(sources);
  const sign = order === "asc" ? 1 : -1;
  const comparePlaces = (a: Place, b: Place) =>
    sign * compare(a, b, (name) => names.indexOf(name));

  const readers = names.map((name) => {
    const from = start && resumption(start, name, names, order);
    return new Reader(ctx, name, sources[name], order, from);
  });
  await Promise.all(readers.map((reader) => reader.advance()));

  const page: Entry[] = [];
  let next = first(readers, comparePlaces);
  while (next?.head) {
    const isOver = end
      ? comparePlaces(next.head.place, end) > 0
      : page.length >= numItems;
    if (isOver) break;
    if (next.head.isWanted) page.push(next.head);
    await next.advance();
    next = first(readers, comparePlaces);
  }
  const last = page.at(-1);
  return {
    page: page.map(({ place, document }) => ({
      source: place.source,
      document,
    })) as Item<S>[],
    isDone: next === undefined,
    continueCursor: endCursor ?? (last ? encoded(last.place) : (cursor ?? "")),
  };
}

function first(
  readers: Reader[],
  comparePlaces: (a: Place, b: Place) => number,
): Reader | undefined {
  let found: Reader | undefined;
  for (const reader of readers) {
    if (!reader.head) continue;
    if (
      !found?.head ||
      comparePlaces(reader.head.place, found.head.place) < 0
    ) {
      found = reader;
    }
  }
  return found;
}

// ---------------------------------------------------------------- places

/** Where a document is: its source, and its values of the fields of the index from the key on. */
type Place = { source: string; values: (Value | undefined)[] };
type Entry = { place: Place; document: Fields; isWanted: boolean };
type Fields = Record<string, Value | undefined>;

/** In ascending order: by key, then by source, then by the rest of the index. */
function compare(a: Place, b: Place, rank: (source: string) => number): number {
  return (
    compareValues(a.values[0], b.values[0]) ||
    rank(a.source) - rank(b.source) ||
    a.values
      .map((value, at) => compareValues(value, b.values[at]))
      .find((each) => each !== 0) ||
    0
  );
}

function encoded({ source, values }: Place): string {
  const parts = values.map((value) =>
    value === undefined ? [] : [convexToJson(value)],
  );
  return JSON.stringify([source, parts]);
}

function decoded(cursor: string): Place {
  if (cursor === "") return { source: "", values: [] };
  const [source, parts] = JSON.parse(cursor) as [string, JSONValue[][]];
  const values = parts.map(([value]) =>
    value === undefined ? undefined : jsonToConvex(value),
  );
  return { source, values };
}

// ---------------------------------------------------------------- reading

type Bound = {
  comparison: "gt" | "gte" | "lt" | "lte";
  value: Value | undefined;
};
type Range = { equal: (Value | undefined)[]; bound?: Bound };
type Builder = {
  eq(field: string, value: Value | undefined): Builder;
} & Record<
  Bound["comparison"],
  (field: string, value: Value | undefined) => Builder
>;

/** The ranges of an index, after the source's prefix, in which what follows the place lies. */
function resumption(
  place: Place,
  name: string,
  names: string[],
  order: Order,
): Range[] {
  if (place.values.length === 0) return [];
  const after = order === "asc" ? "gt" : "lt";
  const { values } = place;
  if (name === place.source) {
    return values
      .map((value, at) => ({
        equal: values.slice(0, at),
        bound: { comparison: after, value } as const,
      }))
      .reverse();
  }
  const isLater = names.indexOf(name) > names.indexOf(place.source);
  const comparison =
    isLater === (order === "asc") ? (`${after}e` as const) : after;
  return [{ equal: [], bound: { comparison, value: values[0] } }];
}

/** Reads the documents of a source one by one. */
class Reader {
  head: Entry | undefined;
  private readonly documents: AsyncIterator<Fields>;

  constructor(
    ctx: Pick<QueryCtx, "db">,
    private readonly name: string,
    private readonly source: Source<unknown, Kind>,
    order: Order,
    ranges: Range[] | null,
  ) {
    this.documents = this.read(ctx, order, ranges ?? [{ equal: [] }]);
  }

  async advance(): Promise<void> {
    const next = await this.documents.next();
    this.head = next.done ? undefined : this.entry(next.value);
  }

  private async *read(
    ctx: Pick<QueryCtx, "db">,
    order: Order,
    ranges: Range[],
  ): AsyncGenerator<Fields, undefined> {
    const { table, index, prefix } = this.source;
    const fields = fieldsOf(table, index);
    for (const { equal, bound } of ranges) {
      const select = (q: unknown) => {
        let range = q as Builder;
        const values = [...prefix, ...equal];
        values.forEach((value, at) => {
          range = range.eq(fields[at], value);
        });
        if (bound) {
          range = range[bound.comparison](fields[values.length], bound.value);
        }
        return range as unknown as IndexRange;
      };
      const found = ctx.db
        .query(table)
        .withIndex(index as "by_creation_time", select)
        .order(order);
      for await (const document of found) {
        yield document as Fields;
      }
    }
  }

  private entry(document: Fields): Entry {
    const { table, index, prefix, where } = this.source;
    const rest = fieldsOf(table, index).slice(prefix.length);
    const values = rest.map((path) => valueAt(document, path));
    return {
      place: { source: this.name, values },
      document,
      isWanted: where(document as never),
    };
  }
}

function fieldsOf(table: TableNames, index: string): string[] {
  const declared = schema.tables[table][" indexes"]();
  const found = declared.find((each) => each.indexDescriptor === index);
  return [...(found?.fields ?? []), "_creationTime"];
}

function valueAt(document: Fields, path: string): Value | undefined {
  let value: Value | undefined = document as Record<string, Value>;
  for (const name of path.split("."))
    value = (value as Fields | undefined)?.[name];
  return value;
}
