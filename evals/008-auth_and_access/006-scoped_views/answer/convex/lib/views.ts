import {
  mutationGeneric,
  queryGeneric,
  type DataModelFromSchemaDefinition,
  type DocumentByName,
  type GenericDatabaseReader,
  type GenericDatabaseWriter,
  type GenericDataModel,
  type GenericMutationCtx,
  type GenericQueryCtx,
  type GenericSchema,
  type RegisteredMutation,
  type RegisteredQuery,
  type SchemaDefinition,
} from "convex/server";
import {
  ConvexError,
  type GenericId,
  type GenericValidator,
  type ObjectType,
  type PropertyValidators,
  type Value,
} from "convex/values";

// ---------------------------------------------------------------- paths

type Leaf = string | number | boolean | bigint | null | undefined | ArrayBuffer;
type IsRecord<T> = Record<never, never> extends Record<keyof T & string, 1> ? true : false;
type Flat<T> = { [K in keyof T]: T[K] };
type Awaitable<T> = T | Promise<T>;

/** The objects that a path goes on in: not records, and those in arrays only on demand. */
type ObjectsIn<T, Arrays> = T extends Leaf
  ? never
  : T extends readonly (infer Element)[]
    ? Arrays extends true
      ? ObjectsIn<Element, Arrays>
      : never
    : IsRecord<T> extends true
      ? never
      : T;

type PathsOf<T, Arrays> = ObjectPaths<ObjectsIn<T, Arrays>, Arrays>;
type ObjectPaths<O, Arrays> = O extends object
  ? { [K in keyof O & string]-?: K | `${K}.${PathsOf<O[K], Arrays>}` }[keyof O & string]
  : never;

/** What a path leads to, in all members of unions that have it. */
type ValueAt<T, Path extends string, Arrays = false> = ValueIn<ObjectsIn<T, Arrays>, Path, Arrays>;
type ValueIn<O, Path extends string, Arrays> = O extends object
  ? Path extends keyof O
    ? O[Path]
    : Path extends `${infer Field}.${infer Rest}`
      ? Field extends keyof O
        ? ValueAt<O[Field], Rest, Arrays>
        : never
      : never
  : never;

type ScalarPaths<T> = ScalarPathsIn<ObjectsIn<T, false>>;
type ScalarPathsIn<O> = O extends object
  ? {
      [K in keyof O & string]-?:
        | (Exclude<O[K], null | undefined> extends Exclude<Leaf, ArrayBuffer> ? K : never)
        | `${K}.${ScalarPaths<O[K]>}`;
    }[keyof O & string]
  : never;

type Below<Path, Field extends string> = Path extends `${Field}.${infer Rest}` ? Rest : never;
type OnlyBelow<O, Field extends string> = { [Path in keyof O as Below<Path, Field>]: O[Path] };

// ---------------------------------------------------------------- what is seen

type IsHidden<T, Only> = T extends { kind: infer Kind }
  ? Only extends { kind: readonly (infer Shown)[] }
    ? Kind extends Shown
      ? false
      : true
    : false
  : false;
type MayBeHidden<T, Only> = true extends (T extends T ? IsHidden<T, Only> : never) ? true : false;

type SeenKeys<T, See extends string> = {
  [K in keyof T & string]-?: K extends See ? K : Below<See, K> extends never ? never : K;
}[keyof T & string];
type KeysThatMayBeHidden<T, Only> = {
  [K in keyof T & string]-?: MayBeHidden<T[K], OnlyBelow<Only, K>> extends true ? K : never;
}[keyof T & string];

/** What is left of a value; `string` as `See` means everything. */
type Seen<T, See extends string, Only> = T extends Leaf
  ? T
  : T extends readonly (infer Element)[]
    ? Seen<Element, See, Only>[]
    : IsRecord<T> extends true
      ? T
      : IsHidden<T, Only> extends true
        ? never
        : SeenObject<T, See, Only, KeysThatMayBeHidden<T, Only>>;
type SeenObject<T, See extends string, Only, Hiding> = Flat<
  SeenFields<T, Exclude<SeenKeys<T, See>, Hiding>, See, Only> &
    Partial<SeenFields<T, Extract<SeenKeys<T, See>, Hiding>, See, Only>>
>;
type SeenFields<T, Keys, See extends string, Only> = {
  [K in keyof T as K extends Keys ? K : never]: K extends string
    ? Seen<T[K], K extends See ? string : Below<See, K>, OnlyBelow<Only, K>>
    : never;
};

// ---------------------------------------------------------------- declarations

type AnySchema = SchemaDefinition<GenericSchema, boolean>;
type AnyViewer = { role: string };
type Model<S extends AnySchema> = DataModelFromSchemaDefinition<S>;
type Tables<S extends AnySchema> = keyof Model<S> & string;
type DocumentOf<S extends AnySchema, Table> = Table extends Tables<S> ? DocumentByName<Model<S>, Table> : never;

type SystemField = "_id" | "_creationTime";
type FieldsOf<D> = D extends D ? Exclude<keyof D & string, SystemField> : never;
type KindPaths<D> = Extract<PathsOf<D, true>, "kind" | `${string}.kind`>;
type Only<D> = { readonly [Path in KindPaths<D>]?: readonly ValueAt<D, Path, true>[] };

type View<D, Viewer> = {
  readonly see: "all" | readonly PathsOf<D, true>[];
  readonly only?: Only<D>;
  readonly rows?: (document: D, viewer: Viewer) => boolean;
  readonly filter?: "all" | readonly ScalarPaths<D>[];
  readonly sort?: "all" | readonly ScalarPaths<D>[];
  readonly write?: "all" | readonly PathsOf<D, false>[];
  readonly add?: "all" | readonly FieldsOf<D>[];
  readonly remove?: true;
};

type Declaration<S extends AnySchema, Viewer extends AnyViewer> = {
  readonly [Table in Tables<S>]: {
    readonly [Role in Viewer["role"]]?: "all" | View<DocumentOf<S, Table>, Extract<Viewer, { role: Role }>>;
  };
};

type Everything = { see: "all"; filter: "all"; sort: "all"; write: "all"; add: "all"; remove: true };
type Whole<V> = V extends "all" ? Everything : V;
type Part<V, Name extends string> = V extends { readonly [N in Name]: infer P } ? P : never;

type See<V> = Listed<Part<V, "see">, string>;
type OnlyOf<V> = V extends { readonly only: infer O } ? O : Record<never, never>;
type Listed<List, All> = List extends "all" ? All : List extends readonly (infer Path)[] ? Path : never;
type SeenBy<D, V> = Seen<D, See<V> & string, OnlyOf<V>>;

type Sortable<Seen> = {
  [Path in ScalarPaths<Seen>]: IsSortable<Exclude<ValueAt<Seen, Path>, null | undefined>> extends true ? Path : never;
}[ScalarPaths<Seen>];
type IsSortable<T> = [T] extends [number] ? true : [T] extends [string] ? ([T] extends [GenericId<string>] ? false : true) : false;

type Writable<D, V> = WholePath<Exclude<PathsOf<D, false>, SystemField>, See<V> & string, keyof OnlyOf<V>>;
type WholePath<Path, See extends string, Cuts> = Path extends See | `${See}.${string}`
  ? Extract<Cuts, `${Path & string}.${string}`> extends never
    ? Path
    : never
  : never;

/** `never` wherever a declaration has something that there is not, or that the view does not show. */
type Checked<S extends AnySchema, Viewer extends AnyViewer, Declared> = {
  [Table in keyof Declared]: Table extends Tables<S>
    ? {
        [Role in keyof Declared[Table]]: Role extends Viewer["role"]
          ? CheckedView<DocumentOf<S, Table>, Declared[Table][Role]>
          : never;
      }
    : never;
};
type CheckedView<D, V> = V extends string
  ? V
  : {
      [Name in keyof V]: Name extends "see" | "rows" | "add" | "remove"
        ? unknown
        : Name extends "only"
          ? CheckedOnly<D, V[Name]>
          : Name extends "filter"
            ? "all" | readonly ScalarPaths<SeenBy<D, V>>[]
            : Name extends "sort"
              ? "all" | readonly Sortable<SeenBy<D, V>>[]
              : Name extends "write"
                ? "all" | readonly Writable<D, V>[]
                : never;
    };
type CheckedOnly<D, O> = { [Path in keyof O]: Path extends KindPaths<D> ? unknown : never };

// ---------------------------------------------------------------- readers and writers

/** What is known about views when they are used: the schema, the viewers and the declaration. */
type Known = { schema: AnySchema; viewer: AnyViewer; declared: object };
type ViewIn<X extends Known, Role, Table> = Table extends keyof X["declared"]
  ? Role extends keyof X["declared"][Table]
    ? Whole<X["declared"][Table][Role]>
    : never
  : never;

type Filters<V, S> = Listed<Part<V, "filter">, ScalarPaths<S>> & string;
type Sorts<V, S> = Listed<Part<V, "sort">, Sortable<S>> & string;
type Writes<D, V> = Listed<Part<V, "write">, Writable<D, V>> & string;

type Condition<T> =
  | Exclude<T, undefined>
  | { readonly in: readonly Exclude<T, undefined>[] }
  | (Extract<T, number> extends never ? never : { readonly from?: number; readonly to?: number });

/** The paths to IDs, with the tables that these are of. */
type Targets<S> = {
  [Path in ScalarPaths<S>]: Exclude<ValueAt<S, Path>, null | undefined> extends GenericId<infer Table> ? Table : never;
};
type PathsTo<Found, Tables> = {
  [Path in keyof Found]: Found[Path] extends never ? never : Found[Path] extends Tables ? Path : never;
}[keyof Found] &
  string;

type Addition<D, Fields, Only> = D extends D
  ? IsHidden<D, Only> extends true
    ? never
    : RequiredKeys<Omit<D, SystemField>> extends Fields
      ? Flat<Pick<D, Extract<Exclude<keyof D, SystemField>, Fields>>>
      : never
  : never;
type RequiredKeys<T> = { [K in keyof T]-?: undefined extends T[K] ? never : K }[keyof T];

/** All that a role can do with the documents of one table. */
type Scope<D, V, S> = {
  can: keyof V;
  seen: S;
  where: { readonly [Path in Filters<V, S>]?: Condition<ValueAt<S, Path>> };
  sort: Sorts<V, S> | `-${Sorts<V, S>}`;
  targets: Targets<S>;
  changes: { readonly [Path in Writes<D, V>]?: ValueAt<D, Path> };
  addition: Addition<D, Listed<Part<V, "add">, string>, OnlyOf<V>>;
};
type ScopeOf<D, V> = Scope<D, V, SeenBy<D, V>>;
type AnyScope = { can: unknown; seen: unknown; where: unknown; sort: unknown; targets: object; changes: unknown; addition: unknown };
type AnyScopes = Record<string, AnyScope>;
type ScopesOf<X extends Known, Role> = {
  [Table in Tables<X["schema"]> as ViewIn<X, Role, Table> extends never ? never : Table]: ScopeOf<
    DocumentOf<X["schema"], Table>,
    ViewIn<X, Role, Table>
  >;
};

type TablesWith<R extends AnyScopes, Name> = {
  [Table in keyof R]: Name extends R[Table]["can"] ? Table : never;
}[keyof R] &
  string;

type Joined<R extends AnyScopes, Found extends AnyScope, With> = WithJoins<R, Found["targets"], Found["seen"], With>;
type WithJoins<R extends AnyScopes, Found, Member, With> = Member extends Member
  ? Flat<
      { [K in keyof Member as K extends keyof With ? never : K]: Member[K] } & {
        -readonly [Name in keyof With]: With[Name] extends keyof Found ? SeenOf<R, Found[With[Name]]> | null : never;
      }
    >
  : never;
type SeenOf<R extends AnyScopes, Table> = Table extends keyof R ? R[Table]["seen"] : never;

type Matching<S extends AnyScope> = { readonly where?: S["where"] };
type Listing<S extends AnyScope> = Matching<S> & { readonly sort?: S["sort"] };
type Joins<R extends AnyScopes, S extends AnyScope> = { readonly [name: string]: PathsTo<S["targets"], keyof R> };
type NoJoins = Record<never, never>;

export type Reader<R extends AnyScopes> = {
  get: <Table extends keyof R & string, const With extends Joins<R, R[Table]> = NoJoins>(
    table: Table,
    id: GenericId<NoInfer<Table>>,
    options?: { readonly with?: With },
  ) => Promise<Joined<R, R[Table], With> | null>;
  list: <Table extends keyof R & string, const With extends Joins<R, R[Table]> = NoJoins>(
    table: Table,
    options?: Listing<R[Table]> & { readonly with?: With; readonly limit?: number },
  ) => Promise<Joined<R, R[Table], With>[]>;
  page: <Table extends keyof R & string, const With extends Joins<R, R[Table]> = NoJoins>(
    table: Table,
    options: Listing<R[Table]> & { readonly with?: With; readonly size: number; readonly cursor: string | null },
  ) => Promise<{ page: Joined<R, R[Table], With>[]; cursor: string | null }>;
  count: <Table extends keyof R & string>(table: Table, options?: Matching<R[Table]>) => Promise<number>;
};

export type Writer<R extends AnyScopes> = Reader<R> & {
  insert: <Table extends TablesWith<R, "add">>(
    table: Table,
    fields: R[Table]["addition"],
  ) => Promise<GenericId<Table>>;
  patch: <Table extends TablesWith<R, "write">>(
    table: Table,
    id: GenericId<NoInfer<Table>>,
    changes: R[Table]["changes"],
  ) => Promise<void>;
  remove: <Table extends TablesWith<R, "remove">>(table: Table, id: GenericId<NoInfer<Table>>) => Promise<void>;
};

type Scoped<Ctx, X extends Known, Role, Db> = Omit<Ctx, "db"> & {
  role: Role;
  viewer: Extract<X["viewer"], { role: Role }>;
  db: Db;
};
type QueryCtxOf<X extends Known, Role> = Role extends string
  ? Scoped<GenericQueryCtx<Model<X["schema"]>>, X, Role, Reader<ScopesOf<X, Role>>>
  : never;
type MutationCtxOf<X extends Known, Role> = Role extends string
  ? Scoped<GenericMutationCtx<Model<X["schema"]>>, X, Role, Writer<ScopesOf<X, Role>>>
  : never;

type Definition<Ctx, Args extends PropertyValidators, Result> = {
  args: Args;
  handler: (ctx: Ctx, args: ObjectType<Args>) => Awaitable<Result>;
};

declare const KNOWN: unique symbol;
export type Views<X extends Known> = {
  readonly [KNOWN]?: X;
  query: <const Role extends X["viewer"]["role"]>(
    ...roles: Role[]
  ) => <Args extends PropertyValidators, Result>(
    definition: Definition<QueryCtxOf<X, Role>, Args, Result>,
  ) => RegisteredQuery<"public", ObjectType<Args>, Promise<Result>>;
  mutation: <const Role extends X["viewer"]["role"]>(
    ...roles: Role[]
  ) => <Args extends PropertyValidators, Result>(
    definition: Definition<MutationCtxOf<X, Role>, Args, Result>,
  ) => RegisteredMutation<"public", ObjectType<Args>, Promise<Result>>;
};

type KnownOf<V> = V extends Views<infer X> ? X : never;
type RoleOf<V> = KnownOf<V>["viewer"]["role"];
export type ViewOf<V, Role extends RoleOf<V>, Table extends keyof ScopesOf<KnownOf<V>, Role>> = ScopesOf<
  KnownOf<V>,
  Role
>[Table]["seen"];
export type ViewReader<V, Role extends RoleOf<V>> = Reader<ScopesOf<KnownOf<V>, Role>>;
export type ViewWriter<V, Role extends RoleOf<V>> = Writer<ScopesOf<KnownOf<V>, Role>>;

// ---------------------------------------------------------------- behaviour

/** What each role sees and does, in one place, and functions that are limited to it. */
export function defineViews<
  S extends AnySchema,
  Viewer extends AnyViewer,
  const Declared extends Declaration<S, Viewer>,
>(
  schema: S,
  identify: (ctx: GenericQueryCtx<Model<S>>) => Awaitable<Viewer | null>,
  tables: Declared & Checked<S, Viewer, Declared>,
): Views<{ schema: S; viewer: Viewer; declared: Declared }> {
  const declared = tables as unknown as PlainDeclaration;

  async function scope(ctx: GenericQueryCtx<Model<S>>, roles: readonly string[]) {
    const viewer = await identify(ctx);
    if (viewer === null || !roles.includes(viewer.role)) throw new ConvexError({ code: "FORBIDDEN" });
    const seen = new Map(
      Object.entries(declared).flatMap(([table, views]) => {
        const view = views[viewer.role];
        if (view === undefined) return [];
        const whole: GenericValidator = schema.doc(table as never);
        return [[table, new TableView(table, whole, view === "all" ? EVERYTHING : view, viewer)] as const];
      }),
    );
    return { viewer, seen };
  }

  const views = {
    query:
      (...roles: string[]) =>
      ({ args, handler }: Definition<object, PropertyValidators, unknown>) =>
        queryGeneric({
          args,
          handler: async (ctx, given) => {
            const { viewer, seen } = await scope(ctx as unknown as GenericQueryCtx<Model<S>>, roles);
            const db = readerOf(ctx.db, seen);
            return await handler({ ...ctx, role: viewer.role, viewer, db }, given);
          },
        }),
    mutation:
      (...roles: string[]) =>
      ({ args, handler }: Definition<object, PropertyValidators, unknown>) =>
        mutationGeneric({
          args,
          handler: async (ctx, given) => {
            const { viewer, seen } = await scope(ctx as unknown as GenericQueryCtx<Model<S>>, roles);
            const db = writerOf(ctx.db, seen);
            return await handler({ ...ctx, role: viewer.role, viewer, db }, given);
          },
        }),
  };
  return views as unknown as Views<{ schema: S; viewer: Viewer; declared: Declared }>;
}

type Document = Record<string, Value>;
type Paths = "all" | readonly string[];
type PlainView = {
  see: Paths;
  only?: Record<string, readonly unknown[] | undefined>;
  rows?: (document: Document, viewer: AnyViewer) => boolean;
  filter?: Paths;
  sort?: Paths;
  write?: Paths;
  add?: Paths;
  remove?: true;
};
type PlainDeclaration = Record<string, Record<string, PlainView | "all" | undefined>>;
type PlainOptions = {
  where?: Record<string, unknown>;
  sort?: string;
  with?: Record<string, string>;
  limit?: number;
};

const EVERYTHING: PlainView = { see: "all", filter: "all", sort: "all", write: "all", add: "all", remove: true };
const SYSTEM_FIELDS: readonly string[] = ["_id", "_creationTime"];
const HIDDEN = Symbol("hidden");

/** What one viewer sees of a table, and what they may ask about it and do with it. */
class TableView {
  readonly table: string;
  readonly #validator: GenericValidator;
  readonly #view: PlainView;
  readonly #viewer: AnyViewer;

  constructor(table: string, validator: GenericValidator, view: PlainView, viewer: AnyViewer) {
    this.table = table;
    this.#validator = validator;
    this.#view = view;
    this.#viewer = viewer;
  }

  /** What is seen of a document, or null if that is nothing. */
  show(document: Document): Document | null {
    if (this.#view.rows?.(document, this.#viewer) === false) return null;
    const shown = this.#show(document, "", this.#view.see === "all");
    return isObject(shown) ? shown : null;
  }

  #show(value: unknown, prefix: string, whole: boolean): unknown {
    if (Array.isArray(value)) {
      return value.map((each) => this.#show(each, prefix, whole)).filter((each) => each !== HIDDEN);
    }
    if (!isObject(value)) return value;
    if (this.#isHidden(value.kind, prefix)) return HIDDEN;
    const fields = Object.entries(value).flatMap(([name, each]) => {
      const path = prefix + name;
      const isWhole = whole || this.#view.see.includes(path);
      if (!isWhole && !this.#leadsOn(path)) return [];
      const shown = this.#show(each, `${path}.`, isWhole);
      return shown === HIDDEN ? [] : [[name, shown] as const];
    });
    return Object.fromEntries(fields);
  }

  #leadsOn(path: string): boolean {
    return this.#view.see !== "all" && this.#view.see.some((each) => each.startsWith(`${path}.`));
  }

  #isHidden(kind: unknown, prefix: string): boolean {
    const shown = this.#view.only?.[`${prefix}kind`];
    return shown !== undefined && kind !== undefined && !shown.includes(kind);
  }

  #covers(path: string): boolean {
    const { see } = this.#view;
    return see === "all" || see.some((each) => each === path || path.startsWith(`${each}.`));
  }

  /** The validators of what a path leads to, apart from what is hidden and from what is in arrays. */
  validatorsAt(path: string): GenericValidator[] {
    if (!this.#covers(path)) return [];
    let found = membersOf(this.#validator);
    let prefix = "";
    for (const step of path.split(".")) {
      found = found.flatMap((each) => {
        if (each.kind !== "object" || this.#isHidden(literalOf(each.fields.kind), prefix)) return [];
        return Object.hasOwn(each.fields, step) ? membersOf(each.fields[step]) : [];
      });
      prefix += `${step}.`;
    }
    return found;
  }

  #refuse(path?: string): never {
    throw new ConvexError({ code: "NOT_IN_VIEW", table: this.table, ...(path === undefined ? {} : { path }) });
  }

  requireFilter(path: string): void {
    const { filter = [] } = this.#view;
    if (!filter.includes(path) && !(filter === "all" && areScalar(this.validatorsAt(path)))) this.#refuse(path);
  }

  requireSort(path: string): void {
    const { sort = [] } = this.#view;
    if (!sort.includes(path) && !(sort === "all" && areSortable(this.validatorsAt(path)))) this.#refuse(path);
  }

  /** The table that a path's IDs are of. */
  requireJoin(path: string, seen: Visible): TableView {
    const [first] = this.validatorsAt(path).flatMap((each) => (each.kind === "id" ? [each.tableName] : []));
    return (first === undefined ? undefined : seen.get(first)) ?? this.#refuse(path);
  }

  requireWrite(path: string): void {
    const { write = [], only = {} } = this.#view;
    if (write === "all") {
      const isCut = Object.keys(only).some((each) => each.startsWith(`${path}.`));
      if (SYSTEM_FIELDS.includes(path) || isCut || this.validatorsAt(path).length === 0) this.#refuse(path);
    } else if (!write.includes(path)) {
      this.#refuse(path);
    }
  }

  requireAdd(fields: readonly string[]): void {
    const { add } = this.#view;
    if (add === undefined) this.#refuse();
    const known = membersOf(this.#validator).flatMap((each) => (each.kind === "object" ? Object.keys(each.fields) : []));
    const allowed = add === "all" ? known.filter((each) => !SYSTEM_FIELDS.includes(each)) : add;
    const refused = fields.find((each) => !allowed.includes(each));
    if (refused !== undefined) this.#refuse(refused);
  }

  requireRemove(): void {
    if (this.#view.remove !== true) this.#refuse();
  }

  requireWrites(): void {
    if (this.#view.write === undefined) this.#refuse();
  }

  /** Whether the object that a path's last step belongs to is seen, and can have such a field. */
  hasPlaceFor(path: string, shown: Document, document: Document): boolean {
    let fields = fieldsOf(membersOf(this.#validator), document);
    const steps = path.split(".");
    for (const [index, step] of steps.entries()) {
      if (!Object.hasOwn(fields, step)) return false;
      if (index === steps.length - 1) return true;
      const upTo = steps.slice(0, index + 1).join(".");
      if (!isObject(valueAt(shown, upTo))) return false;
      fields = fieldsOf(membersOf(fields[step]), valueAt(document, upTo));
    }
    return false;
  }
}

/** The fields of that member of a union that an object is. */
function fieldsOf(members: GenericValidator[], object: unknown): Record<string, GenericValidator> {
  const objects = members.filter((each) => each.kind === "object");
  const fitting = objects.find(
    (each) => objects.length === 1 || literalOf(each.fields.kind) === valueAt(object, "kind"),
  );
  return fitting?.fields ?? {};
}

type Visible = ReadonlyMap<string, TableView>;
type AnyReader = GenericDatabaseReader<GenericDataModel>;
type AnyWriter = GenericDatabaseWriter<GenericDataModel>;

function viewOf(seen: Visible, table: string): TableView {
  const view = seen.get(table);
  if (view === undefined) throw new ConvexError({ code: "NOT_IN_VIEW", table });
  return view;
}

function readerOf(db: AnyReader, seen: Visible) {
  async function find(view: TableView, id: unknown): Promise<{ document: Document; shown: Document } | null> {
    const normal = typeof id === "string" ? db.normalizeId(view.table, id) : null;
    const document: Document | null = normal && (await db.get(view.table, normal));
    const shown = document && view.show(document);
    return document && shown && { document, shown };
  }

  async function select(table: string, options: PlainOptions): Promise<Document[]> {
    const view = viewOf(seen, table);
    const where = Object.entries(options.where ?? {}).filter(([, condition]) => condition !== undefined);
    for (const [path] of where.sort(([a], [b]) => compare(a, b))) view.requireFilter(path);
    const descending = options.sort?.startsWith("-") === true;
    const by = descending ? options.sort?.slice(1) : options.sort;
    if (by !== undefined) view.requireSort(by);
    requireJoins(view, options);
    const found: Document[] = [];
    for await (const document of db.query(table)) {
      const shown = view.show(document);
      if (shown === null) continue;
      if (where.every(([path, condition]) => matches(valueAt(shown, path), condition))) found.push(shown);
    }
    if (by === undefined) return found;
    const sign = descending ? -1 : 1;
    return found.sort((a, b) => sign * compare(valueAt(a, by), valueAt(b, by)));
  }

  function requireJoins(view: TableView, options: PlainOptions): void {
    for (const path of Object.values(options.with ?? {}).sort()) view.requireJoin(path, seen);
  }

  async function join(table: string, shown: Document, options: PlainOptions): Promise<Document> {
    const view = viewOf(seen, table);
    const joined = Object.entries(options.with ?? {}).map(async ([name, path]) => {
      const other = await find(view.requireJoin(path, seen), valueAt(shown, path));
      return [name, other === null ? null : other.shown] as const;
    });
    return { ...shown, ...(Object.fromEntries(await Promise.all(joined)) as Document) };
  }

  return {
    find,
    get: async (table: string, id: string, options: PlainOptions = {}) => {
      const view = viewOf(seen, table);
      requireJoins(view, options);
      const found = await find(view, id);
      return found && (await join(table, found.shown, options));
    },
    list: async (table: string, options: PlainOptions = {}) => {
      const found = (await select(table, options)).slice(0, options.limit);
      return await Promise.all(found.map((shown) => join(table, shown, options)));
    },
    count: async (table: string, { where }: PlainOptions = {}) => (await select(table, { where })).length,
    page: async (table: string, options: PlainOptions & { size: number; cursor: string | null }) => {
      const found = await select(table, options);
      const start = Number(options.cursor ?? 0);
      const page = found.slice(start, start + options.size);
      return {
        page: await Promise.all(page.map((shown) => join(table, shown, options))),
        cursor: start + options.size < found.length ? String(start + options.size) : null,
      };
    },
  };
}

function writerOf(db: AnyWriter, seen: Visible) {
  const { find, ...reader } = readerOf(db, seen);

  async function require(view: TableView, id: string) {
    const found = await find(view, id);
    if (found === null) throw new ConvexError({ code: "NOT_FOUND", table: view.table });
    return { ...found, id: found.document._id as GenericId<string> };
  }

  return {
    ...reader,
    insert: async (table: string, fields: Document) => {
      const view = viewOf(seen, table);
      view.requireAdd(Object.keys(fields).sort());
      const id = await db.insert(table, fields);
      if ((await find(view, id)) === null) {
        await db.delete(table, id);
        throw new ConvexError({ code: "OUT_OF_VIEW", table });
      }
      return id;
    },
    patch: async (table: string, id: string, changes: Document) => {
      const view = viewOf(seen, table);
      view.requireWrites();
      const paths = Object.keys(changes).sort();
      for (const path of paths) view.requireWrite(path);
      const found = await require(view, id);
      const missing = paths.find((path) => !view.hasPlaceFor(path, found.shown, found.document));
      if (missing !== undefined) throw new ConvexError({ code: "NO_PLACE", table, path: missing });
      let after = found.document;
      for (const path of paths) after = changed(after, path.split("."), changes[path]);
      if (view.show(after) === null) throw new ConvexError({ code: "OUT_OF_VIEW", table });
      const { _id, _creationTime, ...fields } = after;
      await db.replace(table, found.id, fields);
    },
    remove: async (table: string, id: string) => {
      const view = viewOf(seen, table);
      view.requireRemove();
      const found = await require(view, id);
      await db.delete(table, found.id);
    },
  };
}

function changed(object: Document, [step, ...rest]: string[], value: Value | undefined): Document {
  const copy = { ...object };
  const inner = copy[step];
  if (rest.length > 0 && isObject(inner)) copy[step] = changed(inner, rest, value) as Value;
  else if (value === undefined) delete copy[step];
  else copy[step] = value;
  return copy;
}

// ---------------------------------------------------------------- values and validators

function isObject(value: unknown): value is Document {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof ArrayBuffer);
}

function valueAt(value: unknown, path: string): unknown {
  let found = value;
  for (const step of path.split(".")) found = isObject(found) && Object.hasOwn(found, step) ? found[step] : undefined;
  return found;
}

function matches(value: unknown, condition: unknown): boolean {
  if (!isObject(condition)) return value === condition;
  if (Array.isArray(condition.in)) return condition.in.some((each) => each === value);
  const { from = -Infinity, to = Infinity } = condition as { from?: number; to?: number };
  return typeof value === "number" && value >= from && value <= to;
}

/** What is absent comes first, then null, numbers and strings. */
function compare(a: unknown, b: unknown): number {
  const [first, second] = [rankOf(a), rankOf(b)];
  if (first !== second) return first - second;
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "string" && typeof b === "string") return a < b ? -1 : a > b ? 1 : 0;
  return 0;
}

function rankOf(value: unknown): number {
  if (value === undefined) return 0;
  if (value === null) return 1;
  return typeof value === "number" ? 2 : 3;
}

function membersOf(validator: GenericValidator): GenericValidator[] {
  return validator.kind === "union" ? validator.members.flatMap(membersOf) : [validator];
}

function literalOf(validator: GenericValidator | undefined): unknown {
  return validator?.kind === "literal" ? validator.value : undefined;
}

function areScalar(validators: GenericValidator[]): boolean {
  const others = ["object", "array", "record"];
  return validators.length > 0 && validators.every((each) => !others.includes(each.kind));
}

function areSortable(validators: GenericValidator[]): boolean {
  const types = new Set(
    validators
      .filter(({ kind }) => kind !== "null")
      .map((each) => (each.kind === "literal" ? typeof each.value : each.kind === "float64" ? "number" : each.kind)),
  );
  return types.size === 1 && (types.has("number") || types.has("string"));
}
