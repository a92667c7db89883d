import {
  v,
  type GenericValidator,
  type ObjectType,
  type OptionalProperty,
  type PropertyValidators,
  type VAny,
  type VArray,
  type VBoolean,
  type VBytes,
  type VFloat64,
  type VId,
  type VInt64,
  type VLiteral,
  type VNull,
  type VObject,
  type VRecord,
  type VString,
  type VUnion,
} from "convex/values";

type Kind = GenericValidator["kind"];
type OfKind<K extends Kind> = Extract<GenericValidator, { kind: K }>;
/** What fields, elements and members may be: anything that is not optional. */
type Required = GenericValidator & { isOptional: "required" };
type Element = OfKind<"array">["element"];

/** An object, or a union of objects and of such unions. */
type Shape = OfKind<"object"> | OfKind<"union">;

type Simplify<T> = { [K in keyof T]: T[K] };
type Absent<O extends OptionalProperty> = O extends "optional" ? undefined : never;

type MakeObject<Fields, O extends OptionalProperty = "required"> = Fields extends PropertyValidators
  ? VObject<ObjectType<Fields> | Absent<O>, Fields, O>
  : never;
type MakeUnion<Members, O extends OptionalProperty = "required"> = Members extends Element[]
  ? VUnion<Members[number]["type"] | Absent<O>, Members, O>
  : never;

/** The objects in a shape, at any depth. */
type Objects<S> = S extends { kind: "object" }
  ? S
  : S extends { kind: "union"; members: infer Members extends unknown[] }
    ? Element[] extends Members
      ? OfKind<"object"> // of a union of which nothing is known
      : Objects<Members[number]>
    : never;
type Others<S> = S extends { kind: "object" }
  ? never
  : S extends { kind: "union"; members: infer Members extends unknown[] }
    ? Element[] extends Members
      ? never
      : Others<Members[number]>
    : S;
/** Refuses unions with other members. */
type OnlyObjects<S> = [Others<S>] extends [never] ? unknown : never;
type FieldsOf<S> = S extends { fields: infer Fields } ? Fields : never;
type KeysOfEach<T> = T extends unknown ? keyof T & string : never;
/** The names of all fields that any of the objects has. */
type FieldName<S> = KeysOfEach<FieldsOf<Objects<S>>>;

type PickFrom<S, Name> = S extends { kind: "object"; fields: infer F; isOptional: infer O extends OptionalProperty }
  ? MakeObject<{ [K in keyof F as K extends Name ? K : never]: F[K] }, O>
  : S extends { kind: "union"; members: infer M; isOptional: infer O extends OptionalProperty }
    ? MakeUnion<{ [I in keyof M]: PickFrom<M[I], Name> }, O>
    : never;
type OmitFrom<S, Name> = S extends { kind: "object"; fields: infer F; isOptional: infer O extends OptionalProperty }
  ? MakeObject<{ [K in keyof F as K extends Name ? never : K]: F[K] }, O>
  : S extends { kind: "union"; members: infer M; isOptional: infer O extends OptionalProperty }
    ? MakeUnion<{ [I in keyof M]: OmitFrom<M[I], Name> }, O>
    : never;
type ExtendWith<S, New> = S extends { kind: "object"; fields: infer F; isOptional: infer O extends OptionalProperty }
  ? MakeObject<Simplify<Omit<F, keyof New> & New>, O>
  : S extends { kind: "union"; members: infer M; isOptional: infer O extends OptionalProperty }
    ? MakeUnion<{ [I in keyof M]: ExtendWith<M[I], New> }, O>
    : never;
type FieldsBecome<S, To extends OptionalProperty> = S extends {
  kind: "object";
  fields: infer F;
  isOptional: infer O extends OptionalProperty;
}
  ? MakeObject<{ [K in keyof F]: Become<F[K], To> }, O>
  : S extends { kind: "union"; members: infer M; isOptional: infer O extends OptionalProperty }
    ? MakeUnion<{ [I in keyof M]: FieldsBecome<M[I], To> }, O>
    : never;

/** The same validator, optional or not. */
type Become<V, O extends OptionalProperty> = V extends GenericValidator
  ? Retyped<V, Exclude<V["type"], undefined> | Absent<O>, O>
  : never;

/** A validator of the same kind, with another type of values. */
type Retyped<V, Type, O extends OptionalProperty> = V extends { kind: "id" }
  ? VId<Type, O>
  : V extends { kind: "string" }
    ? VString<Type, O>
    : V extends { kind: "float64" }
      ? VFloat64<Type, O>
      : V extends { kind: "int64" }
        ? VInt64<Type, O>
        : V extends { kind: "boolean" }
          ? VBoolean<Type, O>
          : V extends { kind: "bytes" }
            ? VBytes<Type, O>
            : V extends { kind: "null" }
              ? VNull<Type, O>
              : V extends { kind: "any" }
                ? VAny<Type, O>
                : V extends { kind: "literal" }
                  ? VLiteral<Type, O>
                  : V extends { kind: "array"; element: infer E extends Element }
                    ? VArray<Type, E, O>
                    : V extends { kind: "record"; key: infer K extends RecordKey; value: infer E extends Element }
                      ? VRecord<Type, K, E, O>
                      : V extends {
                            kind: "object";
                            fields: infer F extends PropertyValidators;
                            fieldPaths: infer P extends string;
                          }
                        ? VObject<Type, F, O, P>
                        : V extends {
                              kind: "union";
                              members: infer M extends Element[];
                              fieldPaths: infer P extends string;
                            }
                          ? VUnion<Type, M, O, P>
                          : never;
type RecordKey = OfKind<"record">["key"];

function mapObjects(
  shape: GenericValidator,
  change: (fields: PropertyValidators) => PropertyValidators,
): GenericValidator {
  if (shape.kind === "object") return likewise(shape, v.object(change(shape.fields)));
  if (shape.kind !== "union") throw new Error(`Neither an object nor a union of objects: ${shape.kind}`);
  return likewise(shape, v.union(...shape.members.map((member) => mapObjects(member, change) as Required)));
}

/** Optional, if the other is. */
function likewise(other: GenericValidator, validator: GenericValidator): GenericValidator {
  return other.isOptional === "optional" ? v.optional(validator) : validator;
}

function mapFields(
  fields: PropertyValidators,
  change: (field: GenericValidator) => GenericValidator,
): PropertyValidators {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, change(field)]));
}

function notOptional(validator: GenericValidator): Required {
  if (validator.isOptional === "required") return validator as Required;
  switch (validator.kind) {
    case "id":
      return v.id(validator.tableName as string);
    case "string":
      return v.string();
    case "float64":
      return v.number();
    case "int64":
      return v.int64();
    case "boolean":
      return v.boolean();
    case "bytes":
      return v.bytes();
    case "null":
      return v.null();
    case "any":
      return v.any();
    case "literal":
      return v.literal(validator.value as string);
    case "array":
      return v.array(validator.element);
    case "record":
      return v.record(validator.key, validator.value);
    case "object":
      return v.object(validator.fields);
    case "union":
      return v.union(...validator.members);
    case "commitTs":
      return v.commitTs();
  }
}

export function pick<S extends Shape, Name extends FieldName<S>>(
  shape: S & OnlyObjects<S>,
  ...names: Name[]
): PickFrom<S, Name> {
  const wanted = new Set<string>(names);
  const keep = (fields: PropertyValidators) =>
    Object.fromEntries(Object.entries(fields).filter(([name]) => wanted.has(name)));
  return mapObjects(shape, keep) as unknown as PickFrom<S, Name>;
}

export function omit<S extends Shape, Name extends FieldName<S>>(
  shape: S & OnlyObjects<S>,
  ...names: Name[]
): OmitFrom<S, Name> {
  const gone = new Set<string>(names);
  const keep = (fields: PropertyValidators) =>
    Object.fromEntries(Object.entries(fields).filter(([name]) => !gone.has(name)));
  return mapObjects(shape, keep) as unknown as OmitFrom<S, Name>;
}

export function extend<S extends Shape, New extends PropertyValidators>(
  shape: S & OnlyObjects<S>,
  fields: New,
): ExtendWith<S, New> {
  return mapObjects(shape, (old) => ({ ...old, ...fields })) as unknown as ExtendWith<S, New>;
}

export function partial<S extends Shape>(shape: S & OnlyObjects<S>): FieldsBecome<S, "optional"> {
  return mapObjects(shape, (fields) => mapFields(fields, (field) => v.optional(field))) as unknown as FieldsBecome<
    S,
    "optional"
  >;
}

export function required<S extends Shape>(shape: S & OnlyObjects<S>): FieldsBecome<S, "required"> {
  return mapObjects(shape, (fields) => mapFields(fields, notOptional)) as unknown as FieldsBecome<S, "required">;
}

type Nullable<V extends GenericValidator> = MakeUnion<[Become<V, "required">, VNull], V["isOptional"]>;

export function nullable<V extends GenericValidator>(validator: V): Nullable<V> {
  return likewise(validator, v.union(notOptional(validator), v.null())) as Nullable<V>;
}

type Literal = string | number | bigint | boolean;
type Literals<Values extends readonly Literal[]> = VUnion<
  Values[number],
  { -readonly [I in keyof Values]: VLiteral<Values[I]> },
  "required",
  never
>;

export function literals<const Values extends readonly [Literal, ...Literal[]]>(...values: Values): Literals<Values> {
  return v.union(...values.map((value) => v.literal(value))) as GenericValidator as Literals<Values>;
}

declare const BRAND: unique symbol;
export type Branded<Type, Name extends string> = Type & { readonly [BRAND]: Name };
type Brand<V extends GenericValidator, Name extends string> = Retyped<
  V,
  Branded<Exclude<V["type"], undefined>, Name> | Absent<V["isOptional"]>,
  V["isOptional"]
>;

export function brand<V extends GenericValidator, Name extends string>(validator: V, _name: Name): Brand<V, Name> {
  return validator as GenericValidator as Brand<V, Name>;
}

type Variant<Tag extends string, Value, Fields> = MakeObject<
  Simplify<Omit<Fields, Tag> & Record<Tag, VLiteral<Value>>>
>;
type Variants<Tag extends string, Shapes> = MakeUnion<
  { [K in keyof Shapes]: Variant<Tag, K, Shapes[K]> }[keyof Shapes][]
>;

export function variants<const Tag extends string, Shapes extends Record<string, PropertyValidators>>(
  tag: Tag,
  shapes: Shapes,
): Variants<Tag, Shapes> {
  const members = Object.entries(shapes).map(([value, fields]) => v.object({ ...fields, [tag]: v.literal(value) }));
  return v.union(...members) as GenericValidator as Variants<Tag, Shapes>;
}

type Values<S, Tag extends PropertyKey> =
  Objects<S> extends infer O ? (O extends { fields: Record<Tag, { type: infer T }> } ? T : never) : never;
/** The fields that all objects have, and that are a literal in each. */
type Tags<S, Fields = FieldsOf<Objects<S>>> = {
  [K in keyof Fields & string]: [Fields[K]] extends [{ kind: "literal" }] ? K : never;
}[keyof Fields & string];
type VariantOf<S, Tag extends string, Value> =
  Objects<S> extends infer O ? (O extends { fields: Record<Tag, { type: Value }> } ? O : never) : never;

export function variant<S extends Shape, Tag extends Tags<S>, const Value extends Values<S, Tag>>(
  shape: S & OnlyObjects<S>,
  tag: Tag,
  value: Value,
): VariantOf<S, Tag, Value> {
  const found = objectsOf(shape).find(
    ({ fields: { [tag]: field } }) => field?.kind === "literal" && field.value === value,
  );
  if (found === undefined) throw new Error(`No variant in which ${tag} is ${String(value)}`);
  return found as VariantOf<S, Tag, Value>;
}

function objectsOf(shape: GenericValidator): OfKind<"object">[] {
  return shape.kind === "object" ? [shape] : shape.kind === "union" ? shape.members.flatMap(objectsOf) : [];
}
