import { v, type GenericValidator, type Validator, type VLiteral, type VObject, type VUnion } from "convex/values";
import type { MutationCtx, QueryCtx } from "../_generated/server";

type Scope = "public" | "internal";
type AnyValidator = Validator<unknown, "required", string>;
type Validators = Record<string, AnyValidator>;
type Scopes = Record<string, Scope>;

type Definitions<V extends Validators, S extends Scopes> = {
  [K in keyof V]: { validator: V[K]; default: NoInfer<V[K]["type"]> };
} & { [K in keyof S]: { scope: S[K] } };

type PublicName<V, S> = { [K in keyof V & string]: K extends keyof S ? (S[K] extends "public" ? K : never) : never }[keyof V &
  string];
type SectionName<V> = { [K in keyof V & string]: V[K] extends { kind: "object" } ? K : never }[keyof V & string];

/** Goes by the validator, not by its type: records and unions of objects are objects, too. */
type Changes<Field> = Field extends { kind: "object"; isOptional: "required"; fields: infer Fields }
  ? { [Name in keyof Fields]?: Changes<Fields[Name]> }
  : Field extends { type: infer Type }
    ? Type
    : never;

type EntryOf<V extends Validators, K extends keyof V> = K extends unknown ? { key: K; value: V[K]["type"] } : never;
type ChangesOf<V extends Validators, K extends keyof V> = K extends unknown ? { key: K; changes: Changes<V[K]> } : never;
type Values<V extends Validators, K extends keyof V> = { [Name in K]: V[Name]["type"] };

export function defineSettings<V extends Validators, const S extends Scopes>(definitions: Definitions<V, S>) {
  type Name = keyof V & string;
  type Public = PublicName<V, S>;
  type Section = SectionName<V>;

  const all: Record<string, { validator: AnyValidator; default: unknown; scope: Scope }> = definitions;
  const names = Object.keys(all);
  const publicNames = names.filter((name) => all[name].scope === "public");
  const sections = names.filter((name) => all[name].validator.kind === "object");

  async function stored(ctx: QueryCtx, key: string) {
    return await ctx.db
      .query("settings")
      .withIndex("by_key", (q) => q.eq("key", key))
      .unique();
  }

  async function get<K extends Name>(ctx: QueryCtx, key: K): Promise<V[K]["type"]> {
    const row = await stored(ctx, key);
    const { validator, default: fallback } = all[key];
    return row === null ? fallback : completed(validator, row.value, fallback);
  }

  async function getMany<const K extends readonly Name[]>(
    ctx: QueryCtx,
    keys: K,
  ): Promise<{ -readonly [I in keyof K]: V[K[I]]["type"] }> {
    const values = await Promise.all(keys.map(async (key) => await get(ctx, key)));
    return values as { -readonly [I in keyof K]: V[K[I]]["type"] };
  }

  async function getPublic(ctx: QueryCtx): Promise<Values<V, Public>> {
    const entries = publicNames.map(async (key) => [key, await get(ctx, key)] as const);
    return Object.fromEntries(await Promise.all(entries)) as Values<V, Public>;
  }

  async function store(ctx: MutationCtx, key: string, value: unknown): Promise<void> {
    const row = await stored(ctx, key);
    if (row === null) await ctx.db.insert("settings", { key, value });
    else await ctx.db.replace("settings", row._id, { key, value });
  }

  async function change(ctx: MutationCtx, key: string, changes: unknown): Promise<void> {
    await store(ctx, key, merged(all[key].validator, await get(ctx, key), changes));
  }

  async function set<K extends Name>(ctx: MutationCtx, key: K, value: V[K]["type"]): Promise<void> {
    await store(ctx, key, value);
  }

  async function patch<K extends Section>(ctx: MutationCtx, key: K, changes: Changes<V[K]>): Promise<void> {
    await change(ctx, key, changes);
  }

  async function reset(ctx: MutationCtx, key: Name): Promise<void> {
    const row = await stored(ctx, key);
    if (row !== null) await ctx.db.delete("settings", row._id);
  }

  async function apply(ctx: MutationCtx, entry: EntryOf<V, Name>): Promise<void> {
    await store(ctx, entry.key, entry.value);
  }

  async function applyChanges(ctx: MutationCtx, entry: ChangesOf<V, Section>): Promise<void> {
    await change(ctx, entry.key, entry.changes);
  }

  const literals = (keys: string[]) => v.union(...keys.map((key) => v.literal(key)));
  const entries = (keys: string[]) =>
    v.union(...keys.map((key) => v.object({ key: v.literal(key), value: all[key].validator })));

  return {
    get,
    getMany,
    getPublic,
    set,
    patch,
    reset,
    apply,
    applyChanges,
    key: literals(names) as unknown as VUnion<Name, VLiteral<Name>[]>,
    publicKey: literals(publicNames) as unknown as VUnion<Public, VLiteral<Public>[]>,
    entry: entries(names) as unknown as VUnion<EntryOf<V, Name>, AnyValidator[]>,
    publicEntry: entries(publicNames) as unknown as VUnion<EntryOf<V, Public>, AnyValidator[]>,
    publicValues: v.object(
      Object.fromEntries(publicNames.map((key) => [key, all[key].validator])),
    ) as unknown as VObject<Values<V, Public>, Pick<V, Public>>,
    changes: v.union(
      ...sections.map((key) => v.object({ key: v.literal(key), changes: changesOf(all[key].validator) })),
    ) as unknown as VUnion<ChangesOf<V, Section>, AnyValidator[]>,
  };
}

function isSection(validator: GenericValidator): validator is VObject<unknown, Record<string, GenericValidator>> {
  return validator.kind === "object" && validator.isOptional === "required";
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

/** What an older version of the validator allowed, as today's says. */
function completed(validator: GenericValidator, value: unknown, fallback: unknown): unknown {
  if (!isSection(validator)) return value;
  const [old, defaults] = [fieldsOf(value), fieldsOf(fallback)];
  const entries = Object.entries(validator.fields).flatMap(([name, field]) => {
    if (old[name] !== undefined) return [[name, completed(field, old[name], defaults[name])]];
    return field.isOptional === "optional" ? [] : [[name, defaults[name]]];
  });
  return Object.fromEntries(entries);
}

function merged(validator: GenericValidator, value: unknown, changes: unknown): unknown {
  if (!isSection(validator)) return changes;
  const [result, changed] = [fieldsOf(value), fieldsOf(changes)];
  for (const [name, field] of Object.entries(validator.fields)) {
    if (!(name in changed)) continue;
    if (changed[name] !== undefined) result[name] = merged(field, result[name], changed[name]);
    else if (field.isOptional === "optional") delete result[name];
  }
  return result;
}

function changesOf(validator: GenericValidator): GenericValidator {
  if (!isSection(validator)) return validator;
  const fields = Object.entries(validator.fields).map(([name, field]) => [name, v.optional(changesOf(field))]);
  return v.object(Object.fromEntries(fields));
}
