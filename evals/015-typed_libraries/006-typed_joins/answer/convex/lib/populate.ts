import type { GenericId, GenericValidator, Value } from "convex/values";
import type { Doc, TableNames } from "../_generated/dataModel";
import type { DatabaseReader } from "../_generated/server";
import schema from "../schema";

type IsAny<T> = 0 extends 1 & T ? true : false;
type Scalar =
  | string
  | number
  | bigint
  | boolean
  | null
  | undefined
  | ArrayBuffer;

/** The table of an ID. Those of system tables are no references, and neither are other strings. */
type TableOf<V> =
  IsAny<V> extends true
    ? never
    : V extends GenericId<infer Table>
      ? Extract<Table, TableNames>
      : never;

/** The tables that a field refers to: with an ID, an array of IDs or a record of IDs. */
type TablesOf<V> =
  IsAny<V> extends true
    ? never
    : V extends Scalar
      ? TableOf<V>
      : V extends readonly (infer Element)[]
        ? TableOf<Element>
        : string extends keyof V
          ? TableOf<V[keyof V]>
          : never;

/** All paths to references. */
type Paths<T> =
  IsAny<T> extends true
    ? never
    : T extends Scalar
      ? never
      : T extends readonly (infer Element)[]
        ? Paths<Element>
        : string extends keyof T
          ? never
          : {
              [Key in keyof T & string]-?:
                | ([TablesOf<T[Key]>] extends [never] ? never : Key)
                | `${Key}.${Paths<T[Key]>}`;
            }[keyof T & string];

type TablesAt<T, Path> = T extends Scalar
  ? never
  : T extends readonly (infer Element)[]
    ? TablesAt<Element, Path>
    : Path extends keyof T
      ? TablesOf<T[Path]>
      : Path extends `${infer Key}.${infer Rest}`
        ? Key extends keyof T
          ? TablesAt<T[Key], Rest>
          : never
        : never;

/** The documents of a table, if it is a single one. */
type OnlyDoc<Table extends TableNames, All = Table> = Table extends Table
  ? [All] extends [Table]
    ? Doc<Table>
    : never
  : never;

/** What can be populated in documents of this type. */
type Spec<D> = {
  readonly [Path in Exclude<Paths<D>, "_id">]?:
    | true
    | Spec<OnlyDoc<TablesAt<D, Path>>>;
};

/** The same specification, with `never` in place of everything that it cannot contain. */
type Strict<D, S> = {
  [Path in keyof S]: Path extends Exclude<Paths<D>, "_id">
    ? S[Path] extends true
      ? true
      : Strict<OnlyDoc<TablesAt<D, Path>>, S[Path]>
    : never;
};

type Below<S, Key> = {
  [Path in keyof S as Path extends `${Key & string}.${infer Rest}`
    ? Rest
    : never]: S[Path];
};

type Fill<T, S> = [keyof S] extends [never]
  ? T
  : T extends Scalar
    ? T
    : T extends readonly (infer Element)[]
      ? Fill<Element, S>[]
      : {
          [Key in keyof T]: Key extends keyof S
            ? Referenced<T[Key], S[Key]>
            : IsAny<T[Key]> extends true
              ? T[Key]
              : Fill<T[Key], Below<S, Key>>;
        };

type Referenced<V, S> =
  V extends GenericId<infer Table>
    ? Table extends TableNames
      ? Fill<Doc<Table>, S extends true ? unknown : S> | null
      : V
    : V extends Scalar
      ? V
      : V extends readonly (infer Element)[]
        ? Referenced<Element, S>[]
        : string extends keyof V
          ? { [Key in keyof V]: Referenced<V[Key], S> }
          : V;

type Each<Input> = Input extends readonly (infer Element)[]
  ? NonNullable<Element>
  : NonNullable<Input>;

/** A document of the table as `populate` returns it. */
export type Populated<
  Table extends TableNames,
  S extends Spec<Doc<Table>>,
> = Fill<Doc<Table>, S>;

/** Replaces the IDs at the paths of `spec` by the documents they refer to, or by null if there is none. */
export async function populate<
  Table extends TableNames,
  Input extends Doc<Table> | null | readonly (Doc<Table> | null)[],
  const S extends Spec<Each<Input>>,
>(
  ctx: { db: DatabaseReader },
  table: Table,
  docs: Input,
  spec: S & Strict<Each<Input>, S>,
): Promise<Fill<Input, S>> {
  const reader = new Reader(ctx.db);
  const tree = toTree(spec as RuntimeSpec);
  const shape: GenericValidator = schema.tables[table].validator;
  const input: Value = docs as Value;
  const output = Array.isArray(input)
    ? await Promise.all(input.map((doc) => reader.fill(shape, doc, tree)))
    : await reader.fill(shape, input, tree);
  return output as Fill<Input, S>;
}

interface RuntimeSpec {
  readonly [path: string]: true | RuntimeSpec;
}

interface Tree {
  /** What to populate in the documents referred to from here. */
  here?: Tree;
  below: Map<string, Tree>;
}

function toTree(spec: RuntimeSpec): Tree {
  const root: Tree = { below: new Map() };
  for (const [path, nested] of Object.entries(spec)) {
    let node = root;
    for (const key of path.split(".")) {
      const next = node.below.get(key) ?? { below: new Map() };
      node.below.set(key, next);
      node = next;
    }
    node.here = toTree(nested === true ? {} : nested);
  }
  return root;
}

class Reader {
  private readonly known = new Map<string, Promise<Value>>();

  constructor(private readonly db: DatabaseReader) {}

  async fill(
    shape: GenericValidator,
    value: Value,
    tree: Tree,
  ): Promise<Value> {
    if (value === null) return value;
    switch (shape.kind) {
      case "id":
        return tree.here && typeof value === "string"
          ? await this.follow(shape.tableName, value, tree.here)
          : value;
      case "array":
        return Array.isArray(value)
          ? await Promise.all(
              value.map((each) => this.fill(shape.element, each, tree)),
            )
          : value;
      case "record":
        return tree.here && isObject(value)
          ? await this.fillFields(
              Object.keys(value).map((key) => [key, shape.value, tree]),
              value,
            )
          : value;
      case "object": {
        const parts = [...tree.below].flatMap(([key, below]) => {
          const field = shape.fields[key];
          return field === undefined ? [] : [[key, field, below] as const];
        });
        return isObject(value) ? await this.fillFields(parts, value) : value;
      }
      case "union": {
        const member = shape.members.find((each) => this.fits(each, value));
        return member ? await this.fill(member, value, tree) : value;
      }
      default:
        return value;
    }
  }

  private async fillFields(
    parts: (readonly [string, GenericValidator, Tree])[],
    object: Record<string, Value>,
  ): Promise<Value> {
    const present = parts.filter(([key]) => object[key] !== undefined);
    const entries = present.map(
      async ([key, shape, tree]) =>
        [key, await this.fill(shape, object[key], tree)] as const,
    );
    return { ...object, ...Object.fromEntries(await Promise.all(entries)) };
  }

  private async follow(table: string, id: string, tree: Tree): Promise<Value> {
    if (!isTable(table)) return id;
    const doc = await this.read(table, id);
    return await this.fill(schema.tables[table].validator, doc, tree);
  }

  private read(table: TableNames, text: string): Promise<Value> {
    let doc = this.known.get(text);
    if (doc === undefined) {
      const id = this.db.normalizeId(table, text);
      doc =
        id === null
          ? Promise.resolve(null)
          : (this.db.get(table, id) as Promise<Value>);
      this.known.set(text, doc);
    }
    return doc;
  }

  /** Which member of a union a value belongs to. Values may have more fields than their documents. */
  private fits(shape: GenericValidator, value: Value): boolean {
    switch (shape.kind) {
      case "any":
        return true;
      case "null":
        return value === null;
      case "string":
        return typeof value === "string";
      case "float64":
        return typeof value === "number";
      case "boolean":
        return typeof value === "boolean";
      case "int64":
      case "commitTs":
        return typeof value === "bigint";
      case "bytes":
        return value instanceof ArrayBuffer;
      case "literal":
        return value === shape.value;
      case "id": {
        if (typeof value !== "string") return false;
        const { tableName } = shape;
        return (
          !isTable(tableName) || this.db.normalizeId(tableName, value) !== null
        );
      }
      case "array":
        return (
          Array.isArray(value) &&
          value.every((each) => this.fits(shape.element, each))
        );
      case "record":
        return (
          isObject(value) &&
          Object.values(value).every((each) => this.fits(shape.value, each))
        );
      case "object":
        return (
          isObject(value) &&
          Object.entries(shape.fields).every(([key, field]) =>
            value[key] === undefined
              ? field.isOptional === "optional"
              : this.fits(field, value[key]),
          )
        );
      case "union":
        return shape.members.some((member) => this.fits(member, value));
    }
  }
}

function isObject(value: Value): value is Record<string, Value> {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof ArrayBuffer)
  );
}

function isTable(name: string): name is TableNames {
  return Object.hasOwn(schema.tables, name);
}
