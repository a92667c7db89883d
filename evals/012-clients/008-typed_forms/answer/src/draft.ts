import type { GenericValidator, PropertyValidators, Value } from "convex/values";

/** What the user has entered: texts, choices, switches, and these in objects and arrays. */
export type Raw = string | number | boolean | null | Raw[] | RawObject;
export interface RawObject {
  [field: string]: Raw | undefined;
}

export interface Draft {
  requestId: string;
  isSent: boolean;
  values: RawObject;
}

export type Kind = "text" | "check" | "object" | "array" | { choice: readonly (string | number)[] };

/** The key under which an optional object says whether it is there. No field has this name. */
export const PRESENT = "?";

type Fields = Record<string, GenericValidator>;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function membersOf(validator: GenericValidator): GenericValidator[] {
  return validator.kind === "union" ? (validator.members as GenericValidator[]) : [validator];
}

function fieldsOf(validator: GenericValidator): Fields {
  return validator.kind === "object" ? (validator.fields as Fields) : {};
}

function fieldOf(fields: Fields, name: string): GenericValidator[] {
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return field === undefined ? [] : [field];
}

function literalsOf(validators: readonly GenericValidator[]): (string | number)[] {
  return validators.flatMap((each) => (each.kind === "literal" ? [each.value as string | number] : []));
}

/** The field that tells the members of a union apart. */
function discriminantOf(members: readonly GenericValidator[]): string | undefined {
  const [first] = members;
  if (first === undefined || members.length < 2) return undefined;
  const isLiteral = (name: string) => members.every((each) => fieldsOf(each)[name]?.kind === "literal");
  return Object.keys(fieldsOf(first)).find(isLiteral);
}

/** The validators that are there in any member of a union. */
export function childrenOf(validators: readonly GenericValidator[], name: string): GenericValidator[] {
  return validators.flatMap(membersOf).flatMap((each) => {
    if (each.kind === "array") return [each.element as GenericValidator];
    return fieldOf(fieldsOf(each), name);
  });
}

export function validatorsAt(validators: PropertyValidators, path: string): GenericValidator[] {
  const [first = "", ...names] = path.split(".");
  return names.reduce(childrenOf, fieldOf(validators, first));
}

export function kindOf(validators: readonly GenericValidator[]): Kind {
  const members = validators.flatMap(membersOf);
  const choice = literalsOf(members);
  if (choice.length > 0) return { choice };
  const kind = members[0]?.kind;
  if (kind === "boolean") return "check";
  return kind === "object" || kind === "array" ? kind : "text";
}

/** What the user would have entered. */
export function rawOf(validators: readonly GenericValidator[], value: unknown): Raw {
  if (Array.isArray(value)) return value.map((each) => rawOf(childrenOf(validators, "0"), each));
  if (isObject(value)) {
    const fields = Object.entries(value).filter(([, each]) => each !== undefined);
    return {
      [PRESENT]: true,
      ...Object.fromEntries(fields.map(([name, each]) => [name, rawOf(childrenOf(validators, name), each)])),
    };
  }
  if (typeof value === "boolean") return value;
  if (typeof value === "string" || typeof value === "number" || typeof value === "bigint") {
    return typeof value !== "bigint" && typeof kindOf(validators) === "object" ? value : String(value);
  }
  return null;
}

export function rawOfAll(validators: PropertyValidators, values: object): RawObject {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, rawOf(validatorsAt(validators, name), value)]),
  );
}

export function rawAt(values: Raw, path: string): Raw | undefined {
  let raw: Raw | undefined = values;
  for (const name of path.split(".")) {
    if (Array.isArray(raw)) raw = raw[Number(name)];
    else if (isObject(raw)) raw = raw[name] as Raw | undefined;
    else return undefined;
  }
  return raw;
}

/** A copy in which something else is at the path. */
export function withRaw(values: Raw | undefined, path: readonly string[], raw: Raw): Raw {
  const [first, ...others] = path;
  if (first === undefined) return raw;
  if (Array.isArray(values)) {
    return values.map((each, index) => (index === Number(first) ? withRaw(each, others, raw) : each));
  }
  const object = isObject(values) ? (values as RawObject) : {};
  return { ...object, [first]: withRaw(object[first], others, raw) };
}

export type Problems = ReadonlyMap<string, string>;

/** The arguments, or what is wrong with what the user has entered. */
export function parse(
  validators: PropertyValidators,
  values: RawObject,
): { args: Record<string, Value>; problems: Map<string, string> } {
  const problems = new Map<string, string>();
  const args = parseFields(validators, values, "", problems);
  return { args, problems };
}

function parseFields(fields: Fields, values: RawObject, prefix: string, problems: Map<string, string>) {
  const parsed: Record<string, Value> = {};
  for (const [name, validator] of Object.entries(fields)) {
    const value = parseValue(validator, values[name], `${prefix}${name}`, problems);
    if (value !== undefined) parsed[name] = value;
  }
  return parsed;
}

function parseValue(
  validator: GenericValidator,
  raw: Raw | undefined,
  path: string,
  problems: Map<string, string>,
): Value | undefined {
  const isOptional = validator.isOptional === "optional";
  const kind = kindOf([validator]);
  if (kind === "array") {
    const items = Array.isArray(raw) ? raw : [];
    const [element] = childrenOf([validator], "0");
    if (element === undefined || (isOptional && items.length === 0)) return isOptional ? undefined : [];
    return items.map((item, index) => parseValue(element, item, `${path}.${index}`, problems) ?? null);
  }
  if (kind === "object") {
    const values = isObject(raw) ? (raw as RawObject) : {};
    if (isOptional && values[PRESENT] !== true) return undefined;
    const members = membersOf(validator);
    const discriminant = discriminantOf(members);
    const chosen =
      discriminant === undefined
        ? members[0]
        : members.find((each) => literalsOf(fieldOf(fieldsOf(each), discriminant))[0] === values[discriminant]);
    if (chosen !== undefined) return parseFields(fieldsOf(chosen), values, `${path}.`, problems);
    problems.set(`${path}.${discriminant}`, "Required");
    return undefined;
  }
  if (kind === "check") return raw === true ? true : isOptional ? undefined : false;
  if (kind !== "text") {
    if (typeof raw === "string" || typeof raw === "number") return raw;
    if (!isOptional) problems.set(path, "Required");
    return undefined;
  }
  return parseText(validator.kind, typeof raw === "string" ? raw : "", isOptional, (problem) => {
    problems.set(path, problem);
  });
}

function parseText(
  kind: GenericValidator["kind"],
  text: string,
  isOptional: boolean,
  refuse: (problem: string) => void,
): Value | undefined {
  if (kind === "string" && !isOptional) return text;
  if (kind === "string" || kind === "id") {
    if (text === "" && !isOptional) refuse("Required");
    return text === "" ? undefined : text;
  }
  const trimmed = text.trim();
  if (trimmed === "") {
    if (!isOptional) refuse("Required");
    return undefined;
  }
  if (kind === "int64") {
    const number = /^-?[0-9]+$/.test(trimmed) ? BigInt(trimmed) : undefined;
    if (number !== undefined && BigInt.asIntN(64, number) === number) return number;
    refuse("Not a whole number");
    return undefined;
  }
  const number = Number(trimmed);
  if (Number.isFinite(number)) return number;
  refuse("Not a number");
  return undefined;
}

export function loadDraft(key: string): Draft | undefined {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(key) ?? "null");
    if (!isObject(stored)) return undefined;
    const { requestId, isSent, values } = stored;
    if (typeof requestId !== "string" || typeof isSent !== "boolean" || !isObject(values)) return undefined;
    return { requestId, isSent, values: values as RawObject };
  } catch {
    return undefined;
  }
}

export function saveDraft(key: string, draft: Draft): void {
  sessionStorage.setItem(key, JSON.stringify(draft));
}
