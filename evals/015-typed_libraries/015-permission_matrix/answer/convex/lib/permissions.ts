import { ConvexError, v, type Validator } from "convex/values";
import type { Doc, Id, TableNames } from "../_generated/dataModel";
import type { QueryCtx } from "../_generated/server";
import schema from "../schema";

export type Actor<Role extends string = string> = {
  userId: Id<"users"> | null;
  role: Role;
};

// ---------------------------------------------------------------- definition

type FieldsOf<D> = D extends D ? keyof D & string : never;
type BasicAction = "read" | "edit" | "delete";

type Rule<Table extends TableNames, Role extends string> = {
  readonly [R in Role]?:
    true | ((document: Doc<Table>, actor: Actor<Role>) => boolean);
};

type Matrix<Role extends string> = {
  readonly [Table in TableNames]: {
    readonly actions: {
      readonly [Action in BasicAction]: Rule<Table, Role>;
    } & { readonly [action: string]: Rule<Table, Role> };
    readonly fields: {
      readonly [R in Role]?: "all" | readonly FieldsOf<Doc<Table>>[];
    };
  };
};

/** As much of a matrix as matters for the types of what it allows. */
type Shape = {
  readonly [Table in TableNames]: {
    readonly actions: object;
    readonly fields: object;
  };
};

/** `never` for every name in `T` that is not one of `Known`. */
type Only<T, Known> = { [K in keyof T]: K extends Known ? unknown : never };
/** Refuses tables and roles that there are not; names of actions are free. */
type Known<M extends Shape, Role extends string> = Only<M, TableNames> & {
  [Table in TableNames]: Only<M[Table], "actions" | "fields"> & {
    actions: {
      [Action in keyof M[Table]["actions"]]: Only<
        M[Table]["actions"][Action],
        Role
      >;
    };
    fields: Only<M[Table]["fields"], Role>;
  };
};

/** A role and all roles that it inherits from, directly or not. */
type Lineage<R, Role> = Role extends keyof R
  ? Role | (R[Role] extends readonly (infer P)[] ? Lineage<R, P> : never)
  : never;

// ---------------------------------------------------------------- results

type ActionsOf<M extends Shape, Table extends TableNames> =
  BasicAction | (keyof M[Table]["actions"] & string);

type Listed<Fields, Role, All> = Role extends keyof Fields
  ? Fields[Role] extends "all"
    ? All
    : Fields[Role] extends readonly (infer Field)[]
      ? Field
      : never
  : never;

type PickEach<D, Field> = D extends D
  ? Pick<D, Extract<keyof D, Field>>
  : never;

/** What a role sees of a document: for several roles, what one of them sees. */
type View<
  R,
  M extends Shape,
  Table extends TableNames,
  D,
  Role,
> = Role extends keyof R
  ? PickEach<
      D,
      Listed<M[Table]["fields"], Lineage<R, Role>, FieldsOf<Doc<Table>>>
    >
  : never;

type TableOf<D extends { _id: string }> = {
  [Table in TableNames]: D["_id"] & Id<Table> extends never ? never : Table;
}[TableNames];

type RoleOf<R> = keyof R & string;

export type Access<R, M extends Shape, Table extends TableNames> = {
  can(
    actor: Actor<RoleOf<R>>,
    action: ActionsOf<M, Table>,
    document: Doc<Table>,
  ): boolean;
  allowed(actor: Actor<RoleOf<R>>, document: Doc<Table>): ActionsOf<M, Table>[];
  view<D extends Doc<Table>, Role extends RoleOf<R>>(
    document: D,
    role: Role,
  ): View<R, M, Table, D, Role>;
  list<Role extends RoleOf<R>>(
    actor: Actor<Role>,
    documents: readonly Doc<Table>[],
  ): View<R, M, Table, Doc<Table>, Role>[];
  validator<Role extends RoleOf<R> = RoleOf<R>>(
    ...roles: Role[]
  ): Validator<View<R, M, Table, Doc<Table>, Role>, "required", string>;
};

export type Permissions<R, M extends Shape> = {
  on<Table extends TableNames>(table: Table): Access<R, M, Table>;
  can<D extends Doc<TableNames>>(
    ctx: Pick<QueryCtx, "db">,
    actor: Actor<RoleOf<R>>,
    action: ActionsOf<M, TableOf<D>>,
    document: D,
  ): boolean;
  ensure<D extends Doc<TableNames>>(
    ctx: Pick<QueryCtx, "db">,
    actor: Actor<RoleOf<R>>,
    action: ActionsOf<M, TableOf<D>>,
    document: D,
  ): void;
};

// ---------------------------------------------------------------- behaviour

type Condition = true | ((document: object, actor: Actor) => boolean);
type PlainMatrix = {
  [table: string]: {
    actions: { [action: string]: { [role: string]: Condition | undefined } };
    fields: { [role: string]: "all" | readonly string[] | undefined };
  };
};

/** What roles may do with documents, and which of their fields they see. */
export function definePermissions<
  const R extends { readonly [Role in keyof R]: readonly (keyof R & string)[] },
  const M extends Matrix<RoleOf<R>>,
>(roles: R, matrix: M & Known<M, RoleOf<R>>): Permissions<R, M> {
  const parents: Record<string, readonly string[]> = roles;
  const plain = matrix as unknown as PlainMatrix;

  const lineage = (role: string): string[] => [
    ...new Set([role, ...parents[role].flatMap(lineage)]),
  ];

  const isAllowed = (
    table: string,
    actor: Actor,
    action: string,
    document: object,
  ) =>
    lineage(actor.role).some((role) => {
      const condition = plain[table].actions[action][role];
      return typeof condition === "function"
        ? condition(document, actor)
        : condition === true;
    });

  const sees = (table: string, role: string) => {
    const lists = lineage(role).map((each) => plain[table].fields[each] ?? []);
    return (field: string) =>
      lists.some((list) => list === "all" || list.includes(field));
  };

  const tableOf = (ctx: Pick<QueryCtx, "db">, id: string) => {
    const table = Object.keys(schema.tables).find(
      (each) => ctx.db.normalizeId(each as TableNames, id) !== null,
    );
    if (table === undefined) throw new Error(`No table has the ID ${id}`);
    return table;
  };

  const on = <Table extends TableNames>(table: Table): Access<R, M, Table> => {
    const view = (document: object, role: string) => {
      const isSeen = sees(table, role);
      return Object.fromEntries(
        Object.entries(document).filter(([field]) => isSeen(field)),
      );
    };
    return {
      can: (actor, action, document) =>
        isAllowed(table, actor, action, document),
      allowed: (actor, document) =>
        Object.keys(plain[table].actions).filter((action) =>
          isAllowed(table, actor, action, document),
        ) as ActionsOf<M, Table>[],
      view: <D extends Doc<Table>, Role extends RoleOf<R>>(
        document: D,
        role: Role,
      ) => view(document, role) as View<R, M, Table, D, Role>,
      list: <Role extends RoleOf<R>>(
        actor: Actor<Role>,
        documents: readonly Doc<Table>[],
      ) =>
        documents
          .filter((document) => isAllowed(table, actor, "read", document))
          .map(
            (document) =>
              view(document, actor.role) as View<R, M, Table, Doc<Table>, Role>,
          ),
      validator: <Role extends RoleOf<R> = RoleOf<R>>(...given: Role[]) => {
        const chosen = given.length > 0 ? given : Object.keys(parents);
        const variants = chosen.flatMap((role) =>
          variantsOf(table, sees(table, role)),
        );
        return v.union(...variants) as unknown as Validator<
          View<R, M, Table, Doc<Table>, Role>,
          "required",
          string
        >;
      },
    };
  };

  return {
    on,
    can: (ctx, actor, action, document) =>
      isAllowed(tableOf(ctx, document._id), actor, action, document),
    ensure: (ctx, actor, action, document) => {
      const table = tableOf(ctx, document._id);
      if (!isAllowed(table, actor, action, document)) {
        throw new ConvexError({ code: "FORBIDDEN", table, action });
      }
    },
  };
}

/** A validator for each variant of the table's documents, with the fields that are seen. */
function variantsOf(table: TableNames, isSeen: (field: string) => boolean) {
  const whole = schema.doc(table);
  const variants = whole.kind === "union" ? whole.members : [whole];
  return variants.map(({ fields }) =>
    v.object(
      Object.fromEntries(
        Object.entries(fields).filter(([field]) => isSeen(field)),
      ),
    ),
  );
}
