import type {
  FieldTypeFromFieldPath,
  GenericDatabaseReader,
  GenericDataModel,
  GenericDocument,
  IndexNames,
  IndexRange,
  NamedIndex,
  NamedTableInfo,
} from "convex/server";
import { ConvexError, type Value } from "convex/values";
import type { DataModel, Doc, TableNames } from "../_generated/dataModel";
import type { DatabaseReader } from "../_generated/server";
import { indexFields } from "./indexes";

type Index<Table extends TableNames> = IndexNames<NamedTableInfo<DataModel, Table>> & string;
type Fields<Table extends TableNames, Name extends Index<Table>> = NamedIndex<NamedTableInfo<DataModel, Table>, Name>;

/** The fields that come before this one in an index. */
type Before<Names extends string[], Field, Passed = never> = Names extends [infer Next, ...infer Rest extends string[]]
  ? Next extends Field
    ? Passed
    : Before<Rest, Field, Passed | Next>
  : never;

/** What `Values` must also be: a value for a field of the index is of its type, and those before it are there, too. */
type Prefix<Document extends GenericDocument, Names extends string[], Values> = {
  [Field in keyof Values]-?: Field extends Names[number]
    ? [Before<Names, Field>] extends [keyof Values]
      ? FieldTypeFromFieldPath<Document, Field>
      : never
    : never;
};

type Overlap<A, B> = [Extract<A, B> | Extract<B, A>] extends [never] ? false : true;

/** The members of the union `Document` that can have these values. */
type Matching<Document, Values> = Document extends GenericDocument
  ? false extends {
      [Field in keyof Values]: Overlap<Values[Field], FieldTypeFromFieldPath<Document, Field & string>>;
    }[keyof Values]
    ? never
    : Document
  : never;

type Many = { expect?: "many"; order?: "asc" | "desc"; limit?: number };
type Single = { expect: "maybe" | "one"; order?: never; limit?: never };

export async function lookup<
  Table extends TableNames,
  Name extends Index<Table>,
  const Values extends object,
>(
  db: DatabaseReader,
  table: Table,
  index: Name,
  values: Values & Prefix<Doc<Table>, Fields<Table, Name>, Values>,
  options?: Many,
): Promise<Matching<Doc<Table>, Values>[]>;
export async function lookup<
  Table extends TableNames,
  Name extends Index<Table>,
  const Values extends object,
>(
  db: DatabaseReader,
  table: Table,
  index: Name,
  values: Values & Prefix<Doc<Table>, Fields<Table, Name>, Values>,
  options: { expect: "maybe" },
): Promise<Matching<Doc<Table>, Values> | null>;
export async function lookup<
  Table extends TableNames,
  Name extends Index<Table>,
  const Values extends object,
>(
  db: DatabaseReader,
  table: Table,
  index: Name,
  values: Values & Prefix<Doc<Table>, Fields<Table, Name>, Values>,
  options: { expect: "one" },
): Promise<Matching<Doc<Table>, Values>>;
export async function lookup(
  db: DatabaseReader,
  table: TableNames,
  index: string,
  values: Record<string, Value | undefined>,
  options: Many | Single = {},
): Promise<GenericDocument[] | GenericDocument | null> {
  const given = indexFields(table, index).filter((field) => field in values);
  const query = (db as unknown as GenericDatabaseReader<GenericDataModel>)
    .query(table)
    .withIndex(index, (q) => given.reduce((range, field) => range.eq(field, values[field]), q as IndexRange as Range));
  if (options.expect === "maybe" || options.expect === "one") {
    const [found, another] = await query.take(2);
    if (another !== undefined) throw new ConvexError({ code: "AMBIGUOUS", table, index });
    if (found === undefined && options.expect === "one") throw new ConvexError({ code: "MISSING", table, index });
    return found ?? null;
  }
  const ordered = query.order(options.order ?? "asc");
  return options.limit === undefined ? await ordered.collect() : await ordered.take(options.limit);
}

/** A range of an index of which only this is known: it goes on after each field. */
interface Range extends IndexRange {
  eq(field: string, value: Value | undefined): Range;
}
