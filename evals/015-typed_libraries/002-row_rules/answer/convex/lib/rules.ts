import type {
  ExpressionOrValue,
  FilterBuilder,
  GenericDatabaseReader,
  GenericDatabaseWriter,
  GenericDataModel,
  GenericDocument,
  GenericTableInfo,
  IndexRange,
  IndexRangeBuilder,
  PaginationOptions,
  PaginationResult,
  QueryInitializer,
  SearchFilter,
  SearchFilterBuilder,
  WithoutSystemFields,
} from "convex/server";
import { ConvexError, type GenericId, type Value } from "convex/values";
import type { DataModel, Doc, TableNames } from "../_generated/dataModel";
import type { DatabaseReader, DatabaseWriter } from "../_generated/server";
import schema from "../schema";

type RuleContext<Viewer> = { db: DatabaseReader; viewer: Viewer };
type Verdict = boolean | Promise<boolean>;

type TableRules<Viewer, Document extends GenericDocument> = {
  read: (context: RuleContext<Viewer>, document: Document) => Verdict;
  insert?: (context: RuleContext<Viewer>, fields: WithoutSystemFields<Document>) => Verdict;
  update?: (context: RuleContext<Viewer>, before: Document, after: Document) => Verdict;
  delete?: (context: RuleContext<Viewer>, document: Document) => Verdict;
};

export type Rules<Viewer> = { [Table in TableNames]: "all" | "none" | TableRules<Viewer, Doc<Table>> };

/** What `R` must also be, because type arguments are not checked for excess properties. */
type Exact<R> = { [Table in keyof R]: Table extends TableNames ? ExactEntry<R[Table]> : never };
type ExactEntry<Entry> = Entry extends string
  ? Entry
  : { [Name in keyof Entry]: Name extends keyof TableRules<unknown, GenericDocument> ? Entry[Name] : never };

/** The tables that are there for code that goes by these rules. */
export type Visible<R> = Pick<
  DataModel,
  { [Table in TableNames]: Table extends keyof R ? (R[Table] extends "none" ? never : Table) : never }[TableNames]
>;

export function defineRules<Viewer>() {
  return <const R extends Rules<Viewer>>(rules: R & Exact<R>): R => rules;
}

/** A reader that behaves as if what the viewer may not read were not there. */
export function guardReader<Viewer, R extends Rules<Viewer>>(
  db: DatabaseReader,
  viewer: Viewer,
  rules: R,
): GenericDatabaseReader<Visible<R>> {
  const reader: Reader = readerOf(db, new Guard(db, viewer, rules));
  return reader as unknown as GenericDatabaseReader<Visible<R>>;
}

/** A writer that also refuses to write what the viewer may not write. */
export function guardWriter<Viewer, R extends Rules<Viewer>>(
  db: DatabaseWriter,
  viewer: Viewer,
  rules: R,
): GenericDatabaseWriter<Visible<R>> {
  const writer: Writer = writerOf(db, new Guard(db, viewer, rules));
  return writer as unknown as GenericDatabaseWriter<Visible<R>>;
}

type Reader = GenericDatabaseReader<GenericDataModel>;
type Writer = GenericDatabaseWriter<GenericDataModel>;
type AnyId = GenericId<string>;
type Patch = Partial<GenericDocument>;

/** The rules of all tables, for code that works with each of them. */
class Guard {
  readonly #context: RuleContext<unknown>;
  readonly #rules: Record<string, "all" | "none" | TableRules<unknown, GenericDocument> | undefined>;

  constructor(db: DatabaseReader, viewer: unknown, rules: object) {
    this.#context = { db, viewer };
    this.#rules = rules as Record<string, "all" | "none" | TableRules<unknown, GenericDocument> | undefined>;
  }

  async read(table: string, document: GenericDocument): Promise<boolean> {
    return await this.#ask(table, (rules) => rules.read(this.#context, document));
  }

  async insert(table: string, fields: GenericDocument): Promise<void> {
    this.#require(await this.#ask(table, (rules) => rules.insert?.(this.#context, fields)), table, "insert");
  }

  async update(table: string, before: GenericDocument, after: GenericDocument): Promise<void> {
    this.#require(await this.#ask(table, (rules) => rules.update?.(this.#context, before, after)), table, "update");
  }

  async delete(table: string, document: GenericDocument): Promise<void> {
    this.#require(await this.#ask(table, (rules) => rules.delete?.(this.#context, document)), table, "delete");
  }

  async #ask(
    table: string,
    ask: (rules: TableRules<unknown, GenericDocument>) => Verdict | undefined,
  ): Promise<boolean> {
    const rules = this.#rules[table];
    if (rules === "all") return true;
    return typeof rules === "object" && ((await ask(rules)) ?? false);
  }

  #require(allowed: boolean, table: string, operation: string): void {
    if (!allowed) throw new ConvexError({ code: "FORBIDDEN", table, operation });
  }
}

function readerOf(db: DatabaseReader, guard: Guard): Reader {
  const reader = db as unknown as Reader;
  return {
    system: reader.system,
    normalizeId: (table, id) => reader.normalizeId(table, id),
    query: (table) => new GuardedQuery(reader.query(table), (document) => guard.read(table, document)),
    get: async (...args: [string, AnyId] | [AnyId]): Promise<GenericDocument | null> => {
      const [table, id] = args.length === 1 ? [tableOf(reader, args[0]), args[0]] : args;
      const document = await reader.get(table, id);
      return document !== null && (await guard.read(table, document)) ? document : null;
    },
  };
}

function writerOf(db: DatabaseWriter, guard: Guard): Writer {
  const writer = db as unknown as Writer;
  const reader = readerOf(db, guard);

  async function find(table: string, id: AnyId): Promise<GenericDocument> {
    const document = await reader.get(table, id);
    if (document === null) throw new ConvexError({ code: "NOT_FOUND", table });
    return document;
  }

  return {
    ...reader,
    vars: writer.vars,
    insert: async (table, fields) => {
      await guard.insert(table, fields);
      return await writer.insert(table, fields);
    },
    patch: async (...args: [string, AnyId, Patch] | [AnyId, Patch]) => {
      const [table, id, changes] = args.length === 2 ? ([tableOf(writer, args[0]), ...args] as const) : args;
      const before = await find(table, id);
      await guard.update(table, before, defined({ ...before, ...changes }));
      await writer.patch(table, id, changes);
    },
    replace: async (...args: [string, AnyId, GenericDocument] | [AnyId, GenericDocument]) => {
      const [table, id, fields] = args.length === 2 ? ([tableOf(writer, args[0]), ...args] as const) : args;
      const before = await find(table, id);
      const { _id, _creationTime } = before;
      await guard.update(table, before, defined({ _id, _creationTime, ...fields }));
      await writer.replace(table, id, fields);
    },
    delete: async (...args: [string, AnyId] | [AnyId]) => {
      const [table, id] = args.length === 1 ? [tableOf(writer, args[0]), args[0]] : args;
      await guard.delete(table, await find(table, id));
      await writer.delete(table, id);
    },
  };
}

function tableOf(db: Reader, id: AnyId): string {
  const table = Object.keys(schema.tables).find((name) => db.normalizeId(name, id) !== null);
  if (table === undefined) throw new Error(`${id} is not an ID of a table`);
  return table;
}

/** What is stored of an object: without the fields that are undefined. */
function defined(fields: Record<string, Value | undefined>): GenericDocument {
  const present = Object.entries(fields).filter((entry): entry is [string, Value] => entry[1] !== undefined);
  return Object.fromEntries(present);
}

type Info = GenericTableInfo;

/** A query of which only those results are left that a predicate accepts. */
class GuardedQuery implements QueryInitializer<Info> {
  readonly #query: QueryInitializer<Info>;
  readonly #accepts: (document: GenericDocument) => Promise<boolean>;

  constructor(query: AsyncIterable<GenericDocument>, accepts: (document: GenericDocument) => Promise<boolean>) {
    this.#query = query as QueryInitializer<Info>;
    this.#accepts = accepts;
  }

  fullTableScan() {
    return new GuardedQuery(this.#query.fullTableScan(), this.#accepts);
  }

  withIndex(name: string, range?: (q: IndexRangeBuilder<GenericDocument, string[]>) => IndexRange) {
    return new GuardedQuery(this.#query.withIndex(name, range), this.#accepts);
  }

  withSearchIndex(
    name: string,
    search: (q: SearchFilterBuilder<GenericDocument, Info["searchIndexes"][string]>) => SearchFilter,
  ) {
    return new GuardedQuery(this.#query.withSearchIndex(name, search), this.#accepts);
  }

  order(order: "asc" | "desc") {
    return new GuardedQuery(this.#query.order(order), this.#accepts);
  }

  filter(predicate: (q: FilterBuilder<Info>) => ExpressionOrValue<boolean>): this {
    return new GuardedQuery(this.#query.filter(predicate), this.#accepts) as this;
  }

  async *[Symbol.asyncIterator](): AsyncIterator<GenericDocument, undefined> {
    for await (const document of this.#query) if (await this.#accepts(document)) yield document;
  }

  async paginate(options: PaginationOptions): Promise<PaginationResult<GenericDocument>> {
    const result = await this.#query.paginate(options);
    const accepted = await Promise.all(result.page.map((document) => this.#accepts(document)));
    return { ...result, page: result.page.filter((_, position) => accepted[position]) };
  }

  async collect(): Promise<GenericDocument[]> {
    return await this.take(Infinity);
  }

  async take(count: number): Promise<GenericDocument[]> {
    const documents: GenericDocument[] = [];
    if (count <= 0) return documents;
    for await (const document of this) {
      documents.push(document);
      if (documents.length >= count) break;
    }
    return documents;
  }

  async first(): Promise<GenericDocument | null> {
    const [document] = await this.take(1);
    return document ?? null;
  }

  async unique(): Promise<GenericDocument | null> {
    const [document, another] = await this.take(2);
    if (another !== undefined) throw new Error("unique() query returned more than one result");
    return document ?? null;
  }
}
