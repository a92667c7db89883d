import type {
  GenericDatabaseReader,
  GenericDatabaseWriter,
  GenericDocument,
} from "convex/server";
import {
  ConvexError,
  v,
  type GenericId,
  type GenericValidator,
  type ObjectType,
  type PropertyValidators,
  type VFloat64,
  type VId,
  type VLiteral,
  type VNull,
  type VObject,
  type VUnion,
} from "convex/values";
import type { MutationCtx, QueryCtx } from "../_generated/server";

type Flat<T> = T extends T ? { [Key in keyof T]: T[Key] } : never;
type AnyDoc = { _id: string; state: string };
type In<D, State> = Extract<D, { state: State }>;

interface Definition {
  table: string;
  audit: string;
  fields: PropertyValidators;
  states: Record<string, PropertyValidators>;
  initial: string;
  transitions: Record<string, Transition>;
}

interface Transition<State extends string = string> {
  from: readonly State[];
  to: State;
}

type StateOf<M extends Definition> = keyof M["states"] & string;
type NameOf<M extends Definition> = keyof M["transitions"] & string;
type From<M extends Definition, Name> = Name extends NameOf<M>
  ? M["transitions"][Name]["from"][number]
  : never;
type To<M extends Definition, Name> = Name extends NameOf<M>
  ? M["transitions"][Name]["to"]
  : never;

/** The fields of a state, except for the state itself. */
type FieldsIn<M extends Definition, State> = Flat<
  ObjectType<M["fields"] & M["states"][State & StateOf<M>]>
>;

/** A document in one of these states. */
type DocIn<M extends Definition, State> = State extends string
  ? Flat<
      { _id: GenericId<M["table"]>; _creationTime: number; state: State } & FieldsIn<M, State>
    >
  : never;

type ObjectOf<Fields extends PropertyValidators> = VObject<
  Flat<ObjectType<Fields>>,
  Fields
>;
type UnionOf<Member extends VObject<unknown, PropertyValidators>> = VUnion<
  Member["type"],
  Member[]
>;

type StateObject<M extends Definition, State> = State extends StateOf<M>
  ? ObjectOf<Flat<{ state: VLiteral<State> } & M["fields"] & M["states"][State]>>
  : never;

type AuditObject<M extends Definition, Name> = Name extends NameOf<M>
  ? ObjectOf<{
      document: VId<GenericId<M["table"]>>;
      transition: VLiteral<Name>;
      from: VUnion<From<M, Name>, VLiteral<From<M, Name>>[]>;
      to: VLiteral<To<M, Name>>;
      at: VFloat64;
    }>
  : never;
type CreationObject<M extends Definition> = ObjectOf<{
  document: VId<GenericId<M["table"]>>;
  transition: VLiteral<"create">;
  from: VNull;
  to: VLiteral<M["initial"]>;
  at: VFloat64;
}>;
type AnyAuditObject<M extends Definition> =
  | CreationObject<M>
  | AuditObject<M, NameOf<M>>;
type Entry<M extends Definition, Type> = Type extends Type
  ? Flat<{ _id: GenericId<M["audit"]>; _creationTime: number } & Type>
  : never;

/** The transitions that are possible in at least one of these states. */
type Possible<M extends Definition, State> = {
  [Name in NameOf<M>]: [Extract<State, From<M, Name>>] extends [never]
    ? never
    : Name;
}[NameOf<M>];

type RequiredKeys<T> = {
  [Key in keyof T]-?: T extends Record<Key, T[Key]> ? Key : never;
}[keyof T];

/** What the target needs and not every source has. */
type Missing<Source, Target> = {
  [Key in RequiredKeys<Target>]: [Source] extends [Record<Key, unknown>]
    ? never
    : Key;
}[RequiredKeys<Target>];

type Data<Source, Target> = Flat<
  { [Key in Missing<Source, Target>]: Target[Key] } & {
    [Key in Exclude<keyof Target, Missing<Source, Target>>]?: Target[Key];
  }
>;

type DataFor<M extends Definition, D, Name> = Data<
  In<D, From<M, Name>>,
  FieldsIn<M, To<M, Name>>
>;

type Optionally<T> = Record<never, never> extends T ? [data?: T] : [data: T];

type Cases<D extends AnyDoc> = {
  [State in D["state"]]: (doc: In<D, State>) => unknown;
};

export interface Machine<M extends Definition> {
  validator: UnionOf<StateObject<M, StateOf<M>>>;
  auditValidator: UnionOf<AnyAuditObject<M>>;

  create(
    ctx: MutationCtx,
    data: FieldsIn<M, M["initial"]>,
  ): Promise<DocIn<M, M["initial"]>>;

  transition<
    D extends DocIn<M, StateOf<M>>,
    Name extends Possible<M, D["state"]>,
  >(
    ctx: MutationCtx,
    doc: D,
    name: Name,
    ...data: Optionally<DataFor<M, D, Name>>
  ): Promise<DocIn<M, To<M, Name>>>;

  can<D extends DocIn<M, StateOf<M>>, Name extends NameOf<M>>(
    doc: D,
    name: Name,
  ): doc is In<D, From<M, Name>>;

  is<D extends DocIn<M, StateOf<M>>, State extends D["state"]>(
    doc: D,
    ...states: State[]
  ): doc is In<D, State>;

  match<D extends DocIn<M, StateOf<M>>, C extends Cases<D>>(
    doc: D,
    cases: C & { [State in Exclude<keyof C, D["state"]>]: never },
  ): ReturnType<C[D["state"]]>;

  history(
    ctx: QueryCtx,
    id: GenericId<M["table"]>,
  ): Promise<Entry<M, AnyAuditObject<M>["type"]>[]>;
}

export function defineMachine<
  const Table extends string,
  const Audit extends string,
  Fields extends PropertyValidators,
  States extends Record<string, PropertyValidators>,
  const Initial extends keyof States & string,
  const Transitions extends Record<
    string,
    Transition<keyof NoInfer<States> & string>
  >,
>(definition: {
  table: Table;
  audit: Audit;
  fields: Fields;
  states: States;
  initial: Initial;
  transitions: Transitions;
}): Machine<{
  table: Table;
  audit: Audit;
  fields: Fields;
  states: States;
  initial: Initial;
  transitions: Transitions;
}> {
  return build(definition) as unknown as Machine<{
    table: Table;
    audit: Audit;
    fields: Fields;
    states: States;
    initial: Initial;
    transitions: Transitions;
  }>;
}

// Inside, all machines are alike.
interface AnyTable {
  document: GenericDocument;
  fieldPaths: string;
  indexes: { by_document: ["document"] };
  searchIndexes: Record<never, never>;
  vectorIndexes: Record<never, never>;
}
type Tables = Record<string, AnyTable>;
type Writing = { db: GenericDatabaseWriter<Tables> };
type Reading = { db: GenericDatabaseReader<Tables> };
type Doc = GenericDocument & { _id: GenericId<string>; state: string };

function build(definition: Definition) {
  const { table, audit, fields, states, initial, transitions } = definition;

  const fieldsOf = (state: string): PropertyValidators => ({
    ...fields,
    ...states[state],
  });

  const entryOf = (
    transition: string,
    from: GenericValidator,
    to: string,
  ) =>
    v.object({
      document: v.id(table),
      transition: v.literal(transition),
      from,
      to: v.literal(to),
      at: v.number(),
    });

  async function record(
    ctx: Writing,
    document: string,
    transition: string,
    from: string | null,
    to: string,
  ) {
    const at = Date.now();
    await ctx.db.insert(audit, { document, transition, from, to, at });
  }

  async function stored(ctx: Reading, id: GenericId<string>) {
    return (await ctx.db.get(table, id)) as Doc | null;
  }

  /** The fields of the state: the first of these objects that has one decides. */
  function assemble(state: string, ...sources: GenericDocument[]) {
    const document: GenericDocument = { state };
    for (const name of Object.keys(fieldsOf(state))) {
      const source = sources.find((each) => each[name] !== undefined);
      if (source) document[name] = source[name];
    }
    return document;
  }

  const can = (doc: Doc, name: string) =>
    transitions[name].from.includes(doc.state);

  return {
    validator: v.union(
      ...Object.keys(states).map((state) =>
        v.object({ state: v.literal(state), ...fieldsOf(state) }),
      ),
    ),
    auditValidator: v.union(
      entryOf("create", v.null(), initial),
      ...Object.entries(transitions).map(([name, { from, to }]) =>
        entryOf(name, v.union(...from.map((state) => v.literal(state))), to),
      ),
    ),
    async create(ctx: Writing, data: GenericDocument) {
      const id = await ctx.db.insert(table, assemble(initial, data));
      await record(ctx, id, "create", null, initial);
      return await stored(ctx, id);
    },
    async transition(
      ctx: Writing,
      doc: Doc,
      name: string,
      data: GenericDocument = {},
    ) {
      const now = await stored(ctx, doc._id);
      if (now === null) {
        throw new ConvexError({ code: "NOT_FOUND", id: doc._id });
      }
      if (now.state !== doc.state) {
        throw new ConvexError({
          code: "STALE",
          expected: doc.state,
          actual: now.state,
        });
      }
      if (!can(now, name)) {
        throw new ConvexError({
          code: "ILLEGAL",
          transition: name,
          state: now.state,
        });
      }
      const { to } = transitions[name];
      await ctx.db.replace(table, doc._id, assemble(to, data, now));
      await record(ctx, doc._id, name, now.state, to);
      return await stored(ctx, doc._id);
    },
    can,
    is: (doc: Doc, ...names: string[]) => names.includes(doc.state),
    match: (doc: Doc, cases: Record<string, (doc: Doc) => unknown>) =>
      cases[doc.state](doc),
    history: async (ctx: Reading, id: GenericId<string>) =>
      await ctx.db
        .query(audit)
        .withIndex("by_document", (q) => q.eq("document", id))
        .collect(),
  };
}
