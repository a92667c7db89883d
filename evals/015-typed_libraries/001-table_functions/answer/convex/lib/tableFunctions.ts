import {
  paginationOptsValidator,
  paginationResultValidator,
  type GenericDatabaseReader,
  type GenericDatabaseWriter,
  type GenericDataModel,
  type GenericDocument,
  type PaginationOptions,
  type PaginationResult,
  type RegisteredMutation,
  type RegisteredQuery,
  type WithoutSystemFields,
} from "convex/server";
import { ConvexError, v, type GenericId, type GenericValidator, type Validator, type VObject } from "convex/values";
import type { Doc, Id, TableNames } from "../_generated/dataModel";
import { mutation, query, type DatabaseReader, type DatabaseWriter } from "../_generated/server";
import schema from "../schema";

type FieldsOf<Table extends TableNames> = WithoutSystemFields<Doc<Table>>;
type Names<Union> = Union extends unknown ? keyof Union & string : never;
type OptionalNames<Union> = Union extends unknown
  ? { [Name in keyof Union]-?: object extends Pick<Union, Name> ? Name : never }[keyof Union]
  : never;
/** Some of the fields of one member, and none that only other members have. */
type Changes<Union, All extends string = Names<Union>> = Union extends unknown
  ? Partial<Union> & { [Name in Exclude<All, keyof Union>]?: never }
  : never;
type Without<Union, Hidden> = Union extends unknown
  ? { [Name in keyof Union as Exclude<Name, Hidden>]: Union[Name] }
  : never;
type Clear<Optional> = [Optional] extends [never] ? unknown : { clear?: Optional[] };

type TableFunctions<Table extends TableNames, Shown> = {
  create: RegisteredMutation<"public", { fields: FieldsOf<Table> }, Promise<Id<Table>>>;
  read: RegisteredQuery<"public", { id: Id<Table> }, Promise<Shown | null>>;
  update: RegisteredMutation<
    "public",
    { id: Id<Table>; changes: Changes<FieldsOf<Table>> } & Clear<OptionalNames<FieldsOf<Table>>>,
    Promise<Shown>
  >;
  replace: RegisteredMutation<"public", { id: Id<Table>; fields: FieldsOf<Table> }, Promise<Shown>>;
  list: RegisteredQuery<
    "public",
    { paginationOpts: PaginationOptions; order?: "asc" | "desc" },
    Promise<PaginationResult<Shown>>
  >;
  remove: RegisteredMutation<"public", { id: Id<Table> }, Promise<null>>;
};

/** Public functions for the documents of a table. Clients never see hidden fields, but can set them. */
export function tableFunctions<Table extends TableNames, const Hidden extends Names<FieldsOf<Table>> = never>(
  table: Table,
  options?: { hide: readonly Hidden[] },
): TableFunctions<Table, Without<Doc<Table>, Hidden>> {
  return build(table, schema.tables[table].validator, options?.hide ?? []);
}

function build(table: string, validator: GenericValidator, hidden: readonly string[]) {
  const members = membersOf(validator);
  const fields = oneOf(members);
  const changes = oneOf(members.map((member) => member.partial()));
  const system: Record<string, GenericValidator> = { _id: v.id(table), _creationTime: v.number() };
  const shown = oneOf(members.map((member) => member.omit(...hidden).extend(system)));
  const optional = members.flatMap((member) =>
    Object.keys(member.fields).filter((name) => member.fields[name]?.isOptional === "optional"),
  );
  const clear = v.optional(v.array(v.union(...[...new Set(optional)].map((name) => v.literal(name)))));
  const id = v.id(table);

  function show(document: GenericDocument): GenericDocument {
    return Object.fromEntries(Object.entries(document).filter(([name]) => !hidden.includes(name)));
  }

  async function find(db: Reader, id: GenericId<string>): Promise<GenericDocument> {
    const document = await db.get(table, id);
    if (document === null) throw new ConvexError({ code: "NOT_FOUND", table, id });
    return document;
  }

  return {
    create: mutation({
      args: { fields },
      returns: id,
      handler: async (ctx, args) => await writer(ctx.db).insert(table, args.fields),
    }),
    read: query({
      args: { id },
      returns: v.nullable(shown),
      handler: async (ctx, args) => {
        const document = await reader(ctx.db).get(table, args.id);
        return document === null ? null : show(document);
      },
    }),
    update: mutation({
      args: optional.length === 0 ? { id, changes } : { id, changes, clear },
      returns: shown,
      handler: async (ctx, args: { id: GenericId<string>; changes: Partial<GenericDocument>; clear?: string[] }) => {
        const db = writer(ctx.db);
        await find(db, args.id);
        const cleared = Object.fromEntries((args.clear ?? []).map((name) => [name, undefined]));
        await db.patch(table, args.id, { ...args.changes, ...cleared });
        return show(await find(db, args.id));
      },
    }),
    replace: mutation({
      args: { id, fields },
      returns: shown,
      handler: async (ctx, args) => {
        const db = writer(ctx.db);
        await find(db, args.id);
        await db.replace(table, args.id, args.fields);
        return show(await find(db, args.id));
      },
    }),
    list: query({
      args: {
        paginationOpts: paginationOptsValidator,
        order: v.optional(v.union(v.literal("asc"), v.literal("desc"))),
      },
      returns: paginationResultValidator(shown),
      handler: async (ctx, args) => {
        const documents = reader(ctx.db).query(table).order(args.order ?? "asc");
        const result = await documents.paginate(args.paginationOpts);
        return { ...result, page: result.page.map(show) };
      },
    }),
    remove: mutation({
      args: { id },
      returns: v.null(),
      handler: async (ctx, args) => {
        const db = writer(ctx.db);
        await find(db, args.id);
        await db.delete(table, args.id);
        return null;
      },
    }),
  };
}

type ObjectValidator<Type = GenericDocument> = VObject<Type, Record<string, GenericValidator>>;

/** The members of a union, or the only one. */
function membersOf(validator: GenericValidator): ObjectValidator[] {
  if (validator.kind === "object") return [validator];
  if (validator.kind === "union") return validator.members.flatMap(membersOf);
  throw new Error(`The documents of a table cannot be of the kind ${validator.kind}`);
}

function oneOf<Type>(members: ObjectValidator<Type>[]): Validator<Type, "required", string> {
  const [first, ...others] = members;
  return first !== undefined && others.length === 0 ? first : v.union(...members);
}

type Reader = GenericDatabaseReader<GenericDataModel>;
type Writer = GenericDatabaseWriter<GenericDataModel>;

/** The same database for code that works with every table. */
function reader(db: DatabaseReader): Reader {
  return db as unknown as Reader;
}

function writer(db: DatabaseWriter): Writer {
  return db as unknown as Writer;
}
