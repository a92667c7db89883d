/** Forms as data: their types, and what is right as an answer. */

type Operator = "+" | "-" | "*" | "/";
export type Formula =
  | number
  | { readonly field: string }
  | { readonly sum: string }
  | { readonly op: Operator; readonly left: Formula; readonly right: Formula };
export type Condition =
  | { readonly field: string; readonly is: string }
  | { readonly field: string; readonly includes: string }
  | { readonly field: string; readonly atLeast: number };
type Common = { readonly key: string; readonly showIf?: Condition };
export type PlainField = Common &
  (
    | { readonly kind: "text"; readonly required: boolean; readonly maxLength?: number }
    | { readonly kind: "number"; readonly required: boolean; readonly min?: number; readonly max?: number }
    | { readonly kind: "choice" | "choices"; readonly required: boolean; readonly options: readonly string[] }
    | { readonly kind: "date"; readonly required: boolean }
    | { readonly kind: "computed"; readonly formula: Formula }
  );
export type GroupField = Common & {
  readonly kind: "group";
  readonly min: number;
  readonly max: number;
  readonly fields: readonly PlainField[];
};
export type Field = PlainField | GroupField;
type Fields = readonly Field[];

// What answers are

type Simple<T> = { [K in keyof T]: T[K] };
type Value<X> = X extends { kind: "text" | "date" }
  ? string
  : X extends { kind: "number" }
    ? number
    : X extends { kind: "choice"; options: readonly (infer Option)[] }
      ? Option
      : X extends { kind: "choices"; options: readonly (infer Option)[] }
        ? Option[]
        : never;
/** "always", "maybe" or "never". */
type Presence<X> = X extends { kind: "computed" }
  ? "never"
  : X extends { showIf: Condition }
    ? "maybe"
    : X extends { kind: "group" } | { required: true }
      ? "always"
      : "maybe";
type With<F extends Fields, P, R extends boolean> = {
  [X in F[number] as Presence<X> extends P ? X["key"] : never]: X extends { kind: "group"; fields: infer Inner extends Fields }
    ? Built<Inner, R>[]
    : Value<X>;
};
type Numbers<F extends Fields> = { [X in F[number] as X extends { kind: "computed" } ? X["key"] : never]: number | null };
/** `R`: with the numbers of computed fields. */
type Built<F extends Fields, R extends boolean> = Simple<
  With<F, "always", R> & Partial<With<F, "maybe", R>> & (R extends true ? Numbers<F> : unknown)
>;
export type AnswerOf<F extends Fields> = Built<F, false>;
export type ResultOf<F extends Fields> = Built<F, true>;

type PathIn<X> = X extends { kind: "computed" }
  ? never
  : X extends { kind: "group"; key: infer Key extends string; fields: infer Inner extends Fields }
    ? `${Key}[${number}].${PathIn<Inner[number]>}`
    : X extends { key: infer Key extends string }
      ? Key
      : never;
export type PathOf<F extends Fields> = PathIn<F[number]>;
type Find<F extends Fields, Key> = Extract<F[number], { key: Key }>;
export type ValueAt<F extends Fields, P extends PathOf<F>> = P extends `${infer Group}[${string}].${infer Key}`
  ? Find<F, Group> extends { fields: infer Inner extends Fields }
    ? Value<Find<Inner, Key>>
    : never
  : Value<Find<F, P>>;

// What compiles

type Numeric = { kind: "number" | "computed" };
/** The keys in reach of fields that are `Kind`. */
type KeysOf<Reach, Kind> = Reach extends Kind & { key: infer Key } ? Key : never;
type SumsOf<Reach> = Reach extends { key: infer Group extends string; fields: infer Inner extends Fields }
  ? `${Group}.${KeysOf<Inner[number], Numeric> & string}`
  : never;
type OptionsOf<Reach, Kind, Key> = Reach extends { key: Key; kind: Kind; options: readonly (infer Option)[] } ? Option : never;
type IsFormula<T, Reach> = T extends number
  ? true
  : T extends { field: infer Key }
    ? Key extends KeysOf<Reach, Numeric>
      ? true
      : false
    : T extends { sum: infer Sum }
      ? Sum extends SumsOf<Reach>
        ? true
        : false
      : T extends { left: infer Left; right: infer Right }
        ? IsFormula<Left, Reach> extends true
          ? IsFormula<Right, Reach>
          : false
        : false;
type IsCondition<T, Reach> = T extends { field: infer Key; is: infer Option }
  ? Option extends OptionsOf<Reach, "choice", Key>
    ? true
    : false
  : T extends { field: infer Key; includes: infer Option }
    ? Option extends OptionsOf<Reach, "choices", Key>
      ? true
      : false
    : T extends { field: infer Key; atLeast: number }
      ? Key extends KeysOf<Reach, Numeric>
        ? true
        : false
      : false;
type IsField<X, Reach> = X extends { showIf: infer T } ? (IsCondition<T, Reach> extends true ? HasFormula<X, Reach> : false) : HasFormula<X, Reach>;
type HasFormula<X, Reach> = X extends { formula: infer T } ? IsFormula<T, Reach> : true;
/** `Used` are the keys so far. The result is an object with those of these fields, too, or false. */
type Check<F, Reach, Used> = F extends readonly [infer X extends Field, ...infer Rest]
  ? X["key"] extends Used
    ? false
    : IsField<X, Reach> extends true
      ? CheckInner<X, Reach, Used | X["key"]> extends { used: infer Then }
        ? Check<Rest, Reach | X, Then>
        : false
      : false
  : { used: Used };
type CheckInner<X, Reach, Used> = X extends { fields: infer Inner } ? Check<Inner, Reach, Used> : { used: Used };
type Right<F> = Check<F, never, never> extends false ? { readonly wrong: "a key twice, or something that is not in reach" } : unknown;

// What happens at run time

export type Mistake = { path: string; code: string };
export type Row = { [key: string]: unknown };
/** What is visible and right so far: answers and numbers by their keys, and the rows of groups. */
type Scope = { values: Map<string, unknown>; rows: Map<string, Row[]> };

export function isDay(text: string): boolean {
  if (!/^20\d\d-\d\d-\d\d$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

export function isRow(value: unknown): value is Row {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function own(row: Row, key: string): unknown {
  return Object.hasOwn(row, key) ? row[key] : undefined;
}

/** Whether a value is of the type of the answers, apart from what is in an array. */
export function hasType(field: PlainField, value: unknown): boolean {
  if (field.kind === "choices") return Array.isArray(value);
  return typeof value === (field.kind === "number" ? "number" : "string");
}

export function isNone(field: Field, value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (field.kind === "choices") return Array.isArray(value) && value.length === 0;
  return value === "" && field.kind !== "number";
}

function isVisible({ showIf }: Field, { values }: Scope): boolean {
  if (showIf === undefined) return true;
  const value = values.get(showIf.field);
  if ("is" in showIf) return value === showIf.is;
  if ("includes" in showIf) return Array.isArray(value) && value.includes(showIf.includes);
  return typeof value === "number" && value >= showIf.atLeast;
}

function finite(number: number): number | null {
  return Number.isFinite(number) ? number : null;
}

function evaluate(formula: Formula, scope: Scope): number | null {
  if (typeof formula === "number") return formula;
  if ("field" in formula) {
    const value = scope.values.get(formula.field);
    return typeof value === "number" ? value : null;
  }
  if ("sum" in formula) {
    const [group = "", key = ""] = formula.sum.split(".");
    let sum = 0;
    for (const row of scope.rows.get(group) ?? []) {
      const number = own(row, key);
      if (typeof number === "number") sum += number;
    }
    return finite(sum);
  }
  const [left, right] = [evaluate(formula.left, scope), evaluate(formula.right, scope)];
  if (left === null || right === null) return null;
  switch (formula.op) {
    case "+":
      return finite(left + right);
    case "-":
      return finite(left - right);
    case "*":
      return finite(left * right);
    case "/":
      return finite(left / right);
  }
}

class Checker {
  readonly mistakes: Mistake[] = [];

  private wrong(path: string, code: string): undefined {
    this.mistakes.push({ path, code });
    return undefined;
  }

  /** The right answers to these fields, and the numbers of computed ones; null if there are no answers to look at. */
  object(fields: Fields, draft: unknown, path: string, outer: Scope): { answer: Row; result: Row } | null {
    if (!isRow(draft)) return this.wrong(path, "TYPE") ?? null;
    const before = path === "" ? "" : `${path}.`;
    const [answer, result]: [Row, Row] = [{}, {}];
    const scope: Scope = { values: new Map(outer.values), rows: new Map(outer.rows) };
    for (const field of fields) {
      const { key } = field;
      const isShown = isVisible(field, scope);
      if (field.kind === "computed") {
        result[key] = isShown ? evaluate(field.formula, scope) : null;
        scope.values.set(key, result[key]);
      } else if (!isShown) continue;
      else if (field.kind === "group") {
        const rows = this.rows(field, own(draft, key), before + key, scope);
        if (rows === null) continue;
        answer[key] = rows.map((row) => row.answer);
        result[key] = rows.map((row) => row.result);
        scope.rows.set(key, rows.map((row) => row.result));
      } else {
        const value = this.value(field, own(draft, key), before + key);
        if (value === undefined) continue;
        answer[key] = result[key] = value;
        scope.values.set(key, value);
      }
    }
    const known = new Set(fields.filter(({ kind }) => kind !== "computed").map(({ key }) => key));
    const unknown = Object.keys(draft).filter((key) => !known.has(key));
    for (const key of unknown.sort((a, b) => (a < b ? -1 : 1))) this.wrong(before + key, "UNKNOWN");
    return { answer, result };
  }

  private rows(field: GroupField, draft: unknown, path: string, scope: Scope): { answer: Row; result: Row }[] | null {
    const rows: unknown = draft ?? [];
    if (!Array.isArray(rows)) return this.wrong(path, "TYPE") ?? null;
    if (rows.length < field.min || rows.length > field.max) this.wrong(path, "ROWS");
    const found = rows.map((row: unknown, index) => this.object(field.fields, row, `${path}[${index}]`, scope));
    return found.filter((row) => row !== null);
  }

  private value(field: Exclude<PlainField, { kind: "computed" }>, value: unknown, path: string): unknown {
    if (isNone(field, value)) return field.required ? this.wrong(path, "REQUIRED") : undefined;
    if (field.kind === "choices") return this.choices(field.options, value, path);
    if (field.kind === "number") {
      if (typeof value !== "number") return this.wrong(path, "TYPE");
      const isRight = value >= (field.min ?? -Infinity) && value <= (field.max ?? Infinity);
      return isRight ? value : this.wrong(path, "RANGE");
    }
    if (typeof value !== "string") return this.wrong(path, "TYPE");
    if (field.kind === "text") return value.length <= (field.maxLength ?? Infinity) ? value : this.wrong(path, "LENGTH");
    if (field.kind === "date") return isDay(value) ? value : this.wrong(path, "DATE");
    return field.options.includes(value) ? value : this.wrong(path, "OPTION");
  }

  private choices(options: readonly string[], value: unknown, path: string): string[] | undefined {
    if (!Array.isArray(value)) return this.wrong(path, "TYPE");
    const before = this.mistakes.length;
    const chosen = new Set<unknown>();
    value.forEach((option: unknown, index) => {
      if (typeof option !== "string") this.wrong(`${path}[${index}]`, "TYPE");
      else if (!options.includes(option) || chosen.has(option)) this.wrong(`${path}[${index}]`, "OPTION");
      else chosen.add(option);
    });
    return this.mistakes.length > before ? undefined : options.filter((option) => chosen.has(option));
  }
}

const NOTHING: Scope = { values: new Map(), rows: new Map() };

export function checkAnswer(fields: Fields, draft: unknown): { ok: true; answer: Row } | { ok: false; mistakes: Mistake[] } {
  const checker = new Checker();
  const found = checker.object(fields, draft, "", NOTHING);
  if (found === null || checker.mistakes.length > 0) return { ok: false, mistakes: checker.mistakes };
  return { ok: true, answer: found.answer };
}

/** A right answer with the numbers of computed fields. */
export function resultOf(fields: Fields, answer: unknown): Row {
  return new Checker().object(fields, answer, "", NOTHING)?.result ?? {};
}

/** Null if it is not the path of an answer. */
export function parsePath(fields: Fields, path: string): { field: PlainField; group: GroupField | null; row: number } | null {
  const match = /^(?:([^[\]]*)\[(0|[1-9]\d*)\]\.)?([^[\].]*)$/.exec(path);
  if (match === null) return null;
  const [, outer, row = "0", key] = match;
  const group = outer === undefined ? null : fields.find((field) => field.key === outer);
  if (group !== null && group?.kind !== "group") return null;
  const field = (group === null ? fields : group.fields).find((each) => each.key === key);
  if (field === undefined || field.kind === "group" || field.kind === "computed") return null;
  return { field, group, row: Number(row) };
}

export function defineForm<const F extends Fields>(form: F & Right<F>) {
  const fields: F = form;
  return {
    fields,
    check(draft: unknown): { ok: true; answer: AnswerOf<F> } | { ok: false; mistakes: Mistake[] } {
      const checked = checkAnswer(fields, draft);
      return checked.ok ? { ok: true, answer: checked.answer as AnswerOf<F> } : checked;
    },
    result(answer: AnswerOf<F>): ResultOf<F> {
      return resultOf(fields, answer) as ResultOf<F>;
    },
    get<P extends PathOf<F>>(answer: AnswerOf<F>, path: P): ValueAt<F, P> | undefined {
      const found = parsePath(fields, path);
      if (found === null) return undefined;
      const all: unknown = answer;
      const rows = found.group === null ? [all] : isRow(all) && own(all, found.group.key);
      const row: unknown = Array.isArray(rows) ? rows[found.row] : undefined;
      return isRow(row) ? (own(row, found.field.key) as ValueAt<F, P> | undefined) : undefined;
    },
  };
}
