import type {
  DocumentByName,
  FunctionVisibility,
  GenericDataModel,
  GenericDatabaseWriter,
  GenericDocument,
  GenericMutationCtx,
  MutationBuilder,
  TableNamesInDataModel,
  WithoutSystemFields,
} from "convex/server";
import { compareValues, type GenericId } from "convex/values";

type Returned<T> = T | Promise<T>;

/** What happened to a document. For several tables, it is one of the changes of each. */
export type Change<
  DataModel extends GenericDataModel,
  Table extends TableNamesInDataModel<DataModel>,
> = Table extends Table
  ? { table: Table; id: GenericId<Table> } & (
      | {
          operation: "insert";
          oldDoc: null;
          newDoc: DocumentByName<DataModel, Table>;
        }
      | {
          operation: "update";
          oldDoc: DocumentByName<DataModel, Table>;
          newDoc: DocumentByName<DataModel, Table>;
        }
      | {
          operation: "delete";
          oldDoc: DocumentByName<DataModel, Table>;
          newDoc: null;
        }
    )
  : never;

interface TableHooks<Ctx, Fields, Document, DocumentChange> {
  beforeInsert?: (ctx: Ctx, newDoc: Fields) => Returned<Fields | void>;
  beforeUpdate?: (
    ctx: Ctx,
    newDoc: Fields,
    oldDoc: Document,
  ) => Returned<Fields | void>;
  beforeDelete?: (ctx: Ctx, oldDoc: Document) => Returned<void>;
  after?: (ctx: Ctx, change: DocumentChange) => Returned<void>;
}

export type Hooks<DataModel extends GenericDataModel> = {
  [Table in TableNamesInDataModel<DataModel>]?: TableHooks<
    GenericMutationCtx<DataModel>,
    WithoutSystemFields<DocumentByName<DataModel, Table>>,
    DocumentByName<DataModel, Table>,
    Change<DataModel, Table>
  >;
};

/** A builder like the given one, whose functions run the hooks whenever they write. */
export function withTriggers<
  DataModel extends GenericDataModel,
  Visibility extends FunctionVisibility,
>(
  builder: MutationBuilder<DataModel, Visibility>,
  hooks: Hooks<NoInfer<DataModel>>,
): MutationBuilder<DataModel, Visibility> {
  type Ctx = GenericMutationCtx<DataModel>;
  type Handler = (ctx: Ctx, ...args: never[]) => unknown;
  const wrap =
    (handler: Handler): Handler =>
    (ctx, ...args) =>
      handler(triggered(ctx, hooks), ...args);
  const build = builder as (definition: { handler: Handler }) => unknown;
  const wrapped = (definition: Handler | { handler: Handler }) =>
    build(
      typeof definition === "function"
        ? { handler: wrap(definition) }
        : { ...definition, handler: wrap(definition.handler) },
    );
  return wrapped as MutationBuilder<DataModel, Visibility>;
}

// Inside, tables are known by their names only: which hooks belong to which documents was checked where they meet.
type AnyTable = { [table: string]: GenericDataModel[string] };
type AnyDb = GenericDatabaseWriter<AnyTable>;
type AnyId = GenericId<string>;
type AnyHooks<Ctx> = Record<
  string,
  | TableHooks<
      Ctx,
      GenericDocument,
      GenericDocument,
      {
        table: string;
        id: AnyId;
        operation: "insert" | "update" | "delete";
        oldDoc: GenericDocument | null;
        newDoc: GenericDocument | null;
      }
    >
  | undefined
>;

function triggered<DataModel extends GenericDataModel>(
  ctx: GenericMutationCtx<DataModel>,
  hooks: Hooks<DataModel>,
): GenericMutationCtx<DataModel> {
  const db = ctx.db as unknown as AnyDb;
  const known = hooks as AnyHooks<GenericMutationCtx<DataModel>>;
  // Writes wait for one another, but those of hooks do not wait for the write that they are part of.
  const inner = () => triggered(ctx, hooks);
  const inTurn = queue();

  /** The table and the ID, whether or not the table was named. */
  function locate(tableOrId: string, id: string | undefined) {
    if (id !== undefined) return { table: tableOrId, id: id as AnyId };
    const table = Object.keys(known).find(
      (name) => db.normalizeId(name, tableOrId) !== null,
    );
    return { table, id: tableOrId as AnyId };
  }

  async function insert(table: string, value: GenericDocument) {
    const own = known[table];
    const fields = (await own?.beforeInsert?.(inner(), clean(value))) ?? value;
    const id = await db.insert(table, fields);
    if (own?.after) {
      const newDoc = await db.get(table, id);
      const operation = "insert";
      await own.after(inner(), { table, id, operation, oldDoc: null, newDoc });
    }
    return id;
  }

  async function update(
    table: string,
    id: AnyId,
    change: (old: GenericDocument) => GenericDocument,
    otherwise: () => Promise<void>,
  ) {
    const own = known[table];
    const oldDoc = own && (await db.get(table, id));
    if (!own || !oldDoc) return await otherwise(); // which fails if there is no such document
    const asked = clean(change(oldDoc));
    const fields = clean(
      (await own.beforeUpdate?.(inner(), asked, oldDoc)) ?? asked,
    );
    if (compareValues(fields, clean(oldDoc)) === 0) return;
    await db.replace(table, id, fields);
    const newDoc = await db.get(table, id);
    const operation = "update";
    await own.after?.(inner(), { table, id, operation, oldDoc, newDoc });
  }

  async function remove(table: string, id: AnyId) {
    const own = known[table];
    const oldDoc = own && (await db.get(table, id));
    if (!own || !oldDoc) return await db.delete(table, id);
    await own.beforeDelete?.(inner(), oldDoc);
    await db.delete(table, id);
    const operation = "delete";
    await own.after?.(inner(), { table, id, operation, oldDoc, newDoc: null });
  }

  type Fields = GenericDocument;
  type Update = [string, string, Fields] | [string, Fields];
  const split = (args: Update) =>
    args.length === 3
      ? { ...locate(args[0], args[1]), value: args[2] }
      : { ...locate(args[0], undefined), value: args[1] };

  const writer = {
    ...db,
    insert: (table: string, value: Fields) =>
      inTurn(() => insert(table, value)),
    patch: (...args: Update) =>
      inTurn(async () => {
        const { table, id, value } = split(args);
        if (table === undefined) return await db.patch(id, value);
        await update(
          table,
          id,
          (old) => ({ ...old, ...value }),
          () => db.patch(table, id, value),
        );
      }),
    replace: (...args: Update) =>
      inTurn(async () => {
        const { table, id, value } = split(args);
        if (table === undefined) return await db.replace(id, value);
        await update(
          table,
          id,
          () => value,
          () => db.replace(table, id, value),
        );
      }),
    delete: (tableOrId: string, given?: string) =>
      inTurn(async () => {
        const { table, id } = locate(tableOrId, given);
        if (table === undefined) await db.delete(id);
        else await remove(table, id);
      }),
  };
  return {
    ...ctx,
    db: writer as unknown as GenericDatabaseWriter<DataModel>,
  };
}

/** Without system fields, and without fields that are to be removed. */
function clean(document: GenericDocument): GenericDocument {
  return Object.fromEntries(
    Object.entries(document).filter(
      ([name, value]) =>
        name !== "_id" && name !== "_creationTime" && value !== undefined,
    ),
  );
}

/** Runs what it is given one after another. */
function queue() {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(run: () => Promise<T>): Promise<T> => {
    const result = last.then(run);
    last = result.catch(() => undefined);
    return result;
  };
}
