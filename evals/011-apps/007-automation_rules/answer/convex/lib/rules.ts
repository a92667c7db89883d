/** Rules for issues with any fields: their types, and how they are read from JSON. */

export type Definition =
  | { readonly type: "text" | "number" | "user" | "date"; readonly required: boolean }
  | { readonly type: "choice"; readonly required: boolean; readonly options: readonly string[] }
  | { readonly type: "labels" };
export type Fields = { readonly [name: string]: Definition };

type Plain<D> = D extends { type: "number" }
  ? number
  : D extends { type: "choice"; options: readonly (infer Option)[] }
    ? Option
    : D extends { type: "labels" }
      ? string[]
      : string;
/** A value as a rule has it. */
type Written<D> = D extends { type: "date" } ? string | { days: number } : Plain<D>;
type OrNull<D, T> = D extends { required: false } ? T | null : T;
type Names<F extends Fields> = keyof F & string;
type Settable<F extends Fields> = { [N in Names<F>]: F[N] extends { type: "labels" } ? never : N }[Names<F>];

export type IssueOf<F extends Fields> = { -readonly [N in keyof F]: OrNull<F[N], Plain<F[N]>> };

type Comparison<N, D> = D extends { type: "labels" }
  ? { field: N; op: "has"; value: string[] }
  :
      | { field: N; op: "is"; value: OrNull<D, Written<D>> }
      | { field: N; op: "oneOf"; value: Written<D>[] }
      | (D extends { type: "text" } ? { field: N; op: "contains"; value: string } : never)
      | (D extends { type: "number" | "date" }
          ?
              | { field: N; op: "lt" | "gt"; value: Written<D> }
              | { field: N; op: "between"; value: [Written<D>, Written<D>] }
          : never);
type Change<N, D> = D extends { type: "labels" }
  ? { field: N; op: "changed" }
  : { field: N; op: "changed"; from?: OrNull<D, Written<D>>; to?: OrNull<D, Written<D>> };
type Comparisons<F extends Fields> = { [N in Names<F>]: Comparison<N, F[N]> }[Names<F>];
type Changes<F extends Fields> = { [N in Names<F>]: Change<N, F[N]> }[Names<F>];
type Combined<C> = { all: Combined<C>[] } | { any: Combined<C>[] } | { not: Combined<C> } | C;

export type ConditionOf<F extends Fields> = Combined<Comparisons<F> | Changes<F>>;
type ImmediateOf<F extends Fields> =
  | { [N in Settable<F>]: { do: "set"; field: N; value: OrNull<F[N], Written<F[N]>> } }[Settable<F>]
  | { do: "label"; add: string[]; remove?: string[] }
  | { do: "label"; add?: string[]; remove: string[] }
  | { do: "rotate"; among: string[] }
  | { do: "comment"; text: string }
  | { do: "webhook"; url: string };
export type ActionOf<F extends Fields> = ImmediateOf<F> | { do: "after"; minutes: number; then: ImmediateOf<F>[] };
export type RuleOf<F extends Fields> =
  | { name: string; on: "changed"; when?: ConditionOf<F>; then: ActionOf<F>[] }
  | { name: string; on: "created" | "commented"; when?: Combined<Comparisons<F>>; then: ActionOf<F>[] };

/** The text if its placeholders are right. */
type Checked<Text extends string, Known extends string, Rest extends string = Text> = string extends Text
  ? Text
  : Rest extends `${string}{${infer After}`
    ? BetweenBraces<After> extends infer Name extends string
      ? Name extends Known | ""
        ? Checked<Text, Known, After>
        : never
      : Checked<Text, Known, After>
    : Text;
/** What comes before the closing brace, if no opening one comes first. */
type BetweenBraces<Text extends string> = Text extends `${infer Name}}${string}`
  ? Name extends `${string}{${string}`
    ? null
    : Name
  : null;

export type Mistake = { path: string; code: string };
export type Parsed<F extends Fields> = { ok: true; rule: RuleOf<F> } | { ok: false; mistakes: Mistake[] };

/** Returns whether the value is right, and reports what is not. */
type Check = (value: unknown, path: string) => boolean;

export function isDay(text: string): boolean {
  if (!/^20\d\d-\d\d-\d\d$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

const isUser = (text: string) => /^[a-z]{1,20}$/.test(text);
const isLabel = (text: string) => /^[a-z0-9-]{1,20}$/.test(text);
const hasLength = (maximum: number) => (text: string) => text.length >= 1 && text.length <= maximum;
const isInRange = (value: number) => value >= -1_000_000 && value <= 1_000_000;

/** Whether a value of the right type is a value of the field. */
export function isAllowed(definition: Definition, value: string | number | string[]): boolean {
  if (typeof value === "number") return isInRange(value);
  if (typeof value !== "string") return value.every(isLabel);
  if (definition.type === "choice") return definition.options.includes(value);
  return definition.type === "date" ? isDay(value) : definition.type === "user" ? isUser(value) : hasLength(200)(value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const PLACEHOLDER = /\{([^{}]+)\}/g;

export function fill(text: string, replacement: (name: string) => string): string {
  return text.replace(PLACEHOLDER, (_, name: string) => replacement(name));
}

class Reader {
  readonly mistakes: Mistake[] = [];
  private on: unknown;

  constructor(private readonly fields: Fields) {}

  private wrong(path: string, code: string): false {
    this.mistakes.push({ path, code });
    return false;
  }

  private object(value: unknown, path: string): value is Record<string, unknown> {
    return isObject(value) || this.wrong(path, "TYPE");
  }

  private text(isRight: (text: string) => boolean, code = "VALUE"): Check {
    return (value, path) => {
      if (typeof value !== "string") return this.wrong(path, "TYPE");
      return isRight(value) || this.wrong(path, code);
    };
  }

  private number(isRight: (number: number) => boolean): Check {
    return (value, path) => {
      if (typeof value !== "number") return this.wrong(path, "TYPE");
      return isRight(value) || this.wrong(path, "VALUE");
    };
  }

  private whole(minimum: number, maximum: number): Check {
    return this.number((number) => Number.isInteger(number) && number >= minimum && number <= maximum);
  }

  array(check: Check, minimum: number, maximum: number): Check {
    return (value, path) => {
      if (!Array.isArray(value)) return this.wrong(path, "TYPE");
      if (value.length < minimum || value.length > maximum) return this.wrong(path, "COUNT");
      return value.map((each: unknown, index) => check(each, `${path}[${index}]`)).every(Boolean);
    };
  }

  private properties(value: Record<string, unknown>, path: string, known: Record<string, Check>, optional: string[] = []) {
    const before = path === "" ? "" : `${path}.`;
    let isRight = true;
    for (const [name, check] of Object.entries(known)) {
      if (Object.hasOwn(value, name)) isRight = check(value[name], before + name) && isRight;
      else if (!optional.includes(name)) isRight = this.wrong(before + name, "MISSING");
    }
    const unknown = Object.keys(value).filter((name) => !Object.hasOwn(known, name));
    for (const name of unknown.sort((a, b) => (a < b ? -1 : 1))) isRight = this.wrong(before + name, "UNKNOWN");
    return isRight;
  }

  /** Reads one property alone; undefined if it is missing or wrong. */
  private single(value: Record<string, unknown>, path: string, name: string, check: Check): string | undefined {
    const full = path === "" ? name : `${path}.${name}`;
    if (!Object.hasOwn(value, name)) this.wrong(full, "MISSING");
    else if (check(value[name], full)) return String(value[name] as string);
    return undefined;
  }

  /** A value for a field, as rules have it. */
  private value(definition: Definition): Check {
    if (definition.type === "number") return this.number((number) => isAllowed(definition, number));
    const text = this.text((each) => isAllowed(definition, each));
    if (definition.type !== "date") return text;
    return (value, path) =>
      isObject(value) ? this.properties(value, path, { days: this.whole(-365, 365) }) : text(value, path);
  }

  private valueOrNull(definition: Definition): Check {
    const check = this.value(definition);
    const isNullable = definition.type !== "labels" && !definition.required;
    return (value, path) => (isNullable && value === null) || check(value, path);
  }

  private between(definition: Definition): Check {
    const pair = this.array(this.value(definition), 2, 2);
    return (value, path) => {
      if (!pair(value, path) || !Array.isArray(value)) return false;
      const [low, high] = value.map((each: unknown) => (isObject(each) ? each.days : each));
      if (typeof low === "number" && typeof high === "number") return low <= high || this.wrong(path, "VALUE");
      if (typeof low === "string" && typeof high === "string") return low <= high || this.wrong(path, "VALUE");
      return true;
    };
  }

  private operators(definition: Definition): Map<string, Record<string, Check>> {
    const found = new Map<string, Record<string, Check>>();
    const isLabels = definition.type === "labels";
    if (isLabels) found.set("has", { value: this.array(this.text(isLabel), 1, 10) });
    else {
      found.set("is", { value: this.valueOrNull(definition) });
      found.set("oneOf", { value: this.array(this.value(definition), 1, 10) });
    }
    if (definition.type === "text") found.set("contains", { value: this.value(definition) });
    if (definition.type === "number" || definition.type === "date") {
      for (const op of ["lt", "gt"]) found.set(op, { value: this.value(definition) });
      found.set("between", { value: this.between(definition) });
    }
    if (this.on === "created" || this.on === "commented") return found;
    const either = this.valueOrNull(definition);
    return found.set("changed", isLabels ? {} : { from: either, to: either });
  }

  private definition(name: string | undefined): Definition | undefined {
    return name !== undefined && Object.hasOwn(this.fields, name) ? this.fields[name] : undefined;
  }

  private condition(level: number): Check {
    return (value, path) => {
      if (!this.object(value, path)) return false;
      const kind = ["all", "any", "not", "field"].find((name) => Object.hasOwn(value, name));
      if (kind === undefined) return this.wrong(path, "KIND");
      if (level > 4) return this.wrong(path, "DEPTH");
      const inner = this.condition(level + 1);
      if (kind === "not") return this.properties(value, path, { not: inner });
      if (kind !== "field") return this.properties(value, path, { [kind]: this.array(inner, 1, 5) });
      const isField = this.text((name) => Object.hasOwn(this.fields, name), "FIELD");
      const definition = this.definition(this.single(value, path, "field", isField));
      if (definition === undefined) return false;
      const operators = this.operators(definition);
      const op = this.single(value, path, "op", this.text((name) => operators.has(name), "OP"));
      const known = op === undefined ? undefined : operators.get(op);
      if (known === undefined) return false;
      const isTrue = () => true;
      return this.properties(value, path, { field: isTrue, op: isTrue, ...known }, ["from", "to"]);
    };
  }

  private action(isDelayed: boolean): Check {
    return (value, path) => {
      if (!this.object(value, path)) return false;
      const labels = this.array(this.text(isLabel), 1, 10);
      const isTemplate = this.text(
        (text) => [...text.matchAll(PLACEHOLDER)].every(([, name = ""]) => name === "actor" || Object.hasOwn(this.fields, name)),
        "PLACEHOLDER",
      );
      const known: Record<string, () => Record<string, Check>> = {
        set: () => ({}),
        label: () => ({ add: labels, remove: labels }),
        rotate: () => ({ among: this.array(this.text(isUser), 1, 10) }),
        comment: () => ({ text: (text, at) => this.text(hasLength(200))(text, at) && isTemplate(text, at) }),
        webhook: () => ({ url: this.text((url) => hasLength(200)(url) && /^https?:\/\//.test(url)) }),
        ...(isDelayed
          ? {}
          : { after: () => ({ minutes: this.whole(1, 10080), then: this.array(this.action(true), 1, 5) }) }),
      };
      const kind = this.single(value, path, "do", this.text((name) => Object.hasOwn(known, name), "KIND"));
      const properties = kind === undefined ? undefined : known[kind]?.();
      if (properties === undefined) return false;
      const isTrue = () => true;
      if (kind === "set") {
        const isSettable = (name: string) => (this.definition(name)?.type ?? "labels") !== "labels";
        const definition = this.definition(this.single(value, path, "field", this.text(isSettable, "FIELD")));
        if (definition === undefined) return false;
        return this.properties(value, path, { do: isTrue, field: isTrue, value: this.valueOrNull(definition) });
      }
      const optional = kind !== "label" ? [] : Object.hasOwn(value, "remove") ? ["add"] : ["remove"];
      return this.properties(value, path, { do: isTrue, ...properties }, optional);
    };
  }

  rule(isTaken: (name: string) => boolean): Check {
    return (value, path) => {
      if (!this.object(value, path)) return false;
      this.on = Object.hasOwn(value, "on") ? value.on : undefined;
      const name: Check = (given, at) =>
        this.text(hasLength(40))(given, at) && this.text((text) => !isTaken(text), "TAKEN")(given, at);
      const on = this.text((each) => ["created", "changed", "commented"].includes(each));
      const then = this.array(this.action(false), 1, 5);
      return this.properties(value, path, { name, on, when: this.condition(1), then }, ["when"]);
    };
  }
}

/** Reads a rule, or several, and calls `read` with what JSON there is. */
function readJson<T>(fields: Fields, text: string, read: (reader: Reader, value: unknown) => T): T | Mistake[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [{ path: "", code: "JSON" }];
  }
  const reader = new Reader(fields);
  const result = read(reader, value);
  return reader.mistakes.length > 0 ? reader.mistakes : result;
}

export function rulesFor<const F extends Fields>(fields: F) {
  return {
    parse(text: string, isTaken: (name: string) => boolean = () => false): Parsed<F> {
      const found = readJson(fields, text, (reader, value) => {
        reader.rule(isTaken)(value, "");
        return { rule: value as RuleOf<F> };
      });
      return "rule" in found ? { ok: true, rule: found.rule } : { ok: false, mistakes: found };
    },
    /** Reads an array of rules. */
    parseAll(text: string, taken: readonly string[]): { ok: true; rules: RuleOf<F>[] } | { ok: false; mistakes: Mistake[] } {
      const found = readJson(fields, text, (reader, value) => {
        const names = new Set(taken);
        const isTaken = (name: string) => {
          const was = names.has(name);
          names.add(name);
          return was;
        };
        reader.array(reader.rule(isTaken), 1, 20)(value, "");
        return { rules: value as RuleOf<F>[] };
      });
      return "rules" in found ? { ok: true, rules: found.rules } : { ok: false, mistakes: found };
    },
    define(rule: RuleOf<F>): RuleOf<F> {
      return rule;
    },
    comment<const Text extends string>(text: Checked<Text, Names<F> | "actor"> & Text): { do: "comment"; text: Text } {
      return { do: "comment", text };
    },
  };
}
