import { useConvex } from "convex/react";
import type { OptimisticLocalStore } from "convex/browser";
import type { FunctionArgs, FunctionReference, FunctionReturnType } from "convex/server";
import { ConvexError, type GenericId, type ObjectType, type PropertyValidators, type Value } from "convex/values";
import { useEffect, useRef, useState } from "react";
import {
  childrenOf,
  kindOf,
  loadDraft,
  parse,
  PRESENT,
  rawAt,
  rawOf,
  rawOfAll,
  saveDraft,
  validatorsAt,
  withRaw,
  type Draft,
  type Problems,
  type Raw,
  type RawObject,
} from "./draft";
import type { ArrayPath, At, Element, LeafPath, OptionalPath, Part } from "./paths";

type Submitted = FunctionReference<"mutation", "public", { requestId: string }, unknown>;
type Row = { _id: GenericId<string>; requestId: string };
type Rows = FunctionReference<"query", "public", Record<string, unknown>, Row[]>;
type RowOf<L extends Rows> = FunctionReturnType<L>[number];

export interface TextField {
  kind: "text";
  value: string;
  set: (value: string) => void;
  error: string | null;
}

export interface ChoiceField<V extends string | number> {
  kind: "choice";
  value: V | null;
  options: readonly V[];
  set: (value: V | null) => void;
  error: string | null;
}

export interface CheckField {
  kind: "check";
  value: boolean;
  set: (value: boolean) => void;
  error: string | null;
}

export interface ArrayField<E> {
  length: number;
  add: (item?: Part<E>) => void;
  remove: (index: number) => void;
  move: (from: number, to: number) => void;
  error: string | null;
}

export interface OptionalField {
  value: boolean;
  set: (value: boolean) => void;
  error: string | null;
}

type FieldOf<V> = [V] extends [boolean]
  ? CheckField
  : [V] extends [string | number]
    ? {} extends Record<V, 1>
      ? TextField
      : ChoiceField<V>
    : TextField;

/** The paths of all fields that a form for this mutation can have. */
export type FieldPath<M extends Submitted> = LeafPath<Omit<FunctionArgs<M>, "requestId">>;

export interface Form<A> {
  field: <const P extends LeafPath<A>>(path: P) => FieldOf<At<A, P>>;
  array: <const P extends ArrayPath<A>>(path: P) => ArrayField<Element<At<A, P>>>;
  optional: (path: OptionalPath<A>) => OptionalField;
  submit: () => void;
  reset: () => void;
  pending: boolean;
  error: string | null;
}

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Expanded<T> = T extends object ? { [K in keyof T]: T[K] } : T;

type Insert<L extends Rows, A> = {
  list: L;
  row: (args: A, id: RowOf<L>["_id"]) => RowOf<L>;
} & ({} extends FunctionArgs<L>
  ? { args?: (args: A) => FunctionArgs<L> }
  : { args: (args: A) => FunctionArgs<L> });

type Entered<M extends Submitted, X> = Omit<FunctionArgs<M>, keyof X | "requestId">;

interface Options<M extends Submitted, V extends PropertyValidators, X, L extends Rows> {
  validators: V & (Same<Expanded<ObjectType<V>>, Expanded<FunctionArgs<M>>> extends true ? unknown : "other validators");
  /** The key of the draft in `sessionStorage`. */
  draft: string;
  fixed?: X & { readonly [_ in Exclude<keyof X, Exclude<keyof FunctionArgs<M>, "requestId">>]?: never };
  initial?: Part<Entered<M, X>>;
  insert?: Insert<L, FunctionArgs<M>>;
  onDone?: (result: FunctionReturnType<M>, args: FunctionArgs<M>) => void;
}

interface Errors {
  general: string | null;
  fields: Problems;
}

const NO_ERRORS: Errors = { general: null, fields: new Map() };
const TEMPORARY = "temporary:";

export function isTemporary(id: string): boolean {
  return id.startsWith(TEMPORARY);
}

interface Insertion {
  list: FunctionReference<"query", "public", Record<string, unknown>, Row[]>;
  args?: (args: unknown) => Record<string, unknown>;
  row: (args: unknown, id: string) => Row;
}

function insertRow(store: OptimisticLocalStore, insert: Insertion, args: { requestId: string }): void {
  const listArgs = insert.args?.(args) ?? {};
  const rows = store.getQuery(insert.list, listArgs);
  if (rows === undefined || rows.some(({ requestId }) => requestId === args.requestId)) return;
  store.setQuery(insert.list, listArgs, [...rows, insert.row(args, TEMPORARY + args.requestId)]);
}

/** The errors after what was at `index` in an array has come to another index, or is gone. */
function withMoved(fields: Problems, array: string, moved: (index: number) => number | undefined): Problems {
  const result = new Map<string, string>();
  for (const [path, error] of fields) {
    if (path === array) continue;
    if (!path.startsWith(`${array}.`)) {
      result.set(path, error);
      continue;
    }
    const [index = "", ...others] = path.slice(array.length + 1).split(".");
    const now = moved(Number(index));
    if (now !== undefined) result.set([array, now, ...others].join("."), error);
  }
  return result;
}

function without(fields: Problems, isGone: (path: string) => boolean): Problems {
  return new Map([...fields].filter(([path]) => !isGone(path)));
}

export function useConvexForm<
  M extends Submitted,
  V extends PropertyValidators,
  const X extends Partial<FunctionArgs<M>> = {},
  L extends Rows = never,
>(mutation: M, options: Options<M, V, X, L>): Form<Entered<M, X>> {
  const { draft: key, fixed = {}, initial = {}, onDone } = options;
  const insert = options.insert as Insertion | undefined;
  const entered: PropertyValidators = Object.fromEntries(
    Object.entries(options.validators).filter(([name]) => name !== "requestId" && !(name in fixed)),
  );
  const convex = useConvex();

  function emptyDraft(): Draft {
    return { requestId: crypto.randomUUID(), isSent: false, values: rawOfAll(entered, initial) };
  }

  const [draft, setDraft] = useState<Draft>(() => loadDraft(key) ?? emptyDraft());
  const [errors, setErrors] = useState<Errors>(NO_ERRORS);
  const latest = useRef(draft);
  const isSending = useRef(false);

  function update(changes: Partial<Draft>): void {
    latest.current = { ...latest.current, ...changes };
    saveDraft(key, latest.current);
    setDraft(latest.current);
  }

  function change(path: string, raw: Raw, fields: (before: Problems) => Problems): void {
    if (latest.current.isSent) return;
    update({ values: withRaw(latest.current.values, path.split("."), raw) as RawObject });
    setErrors((before) => ({ ...before, fields: fields(before.fields) }));
  }

  function clear(): void {
    latest.current = emptyDraft();
    sessionStorage.removeItem(key);
    setDraft(latest.current);
    setErrors(NO_ERRORS);
  }

  function show(error: unknown): void {
    const data: unknown = error instanceof ConvexError ? error.data : undefined;
    if (typeof data === "string") return setErrors({ ...NO_ERRORS, general: data });
    if (typeof data === "object" && data !== null && "path" in data && "message" in data) {
      const { path, message } = data;
      if (typeof path === "string" && typeof message === "string") {
        if (!isPlace(path)) return setErrors({ ...NO_ERRORS, general: message });
        return setErrors({ general: null, fields: new Map([[path, message]]) });
      }
    }
    setErrors({ ...NO_ERRORS, general: "Something went wrong" });
  }

  /** Whether the form shows errors there. */
  function isPlace(path: string): boolean {
    const parts = path.split(".");
    const isItem = parts.every((part, index) => {
      const items = index === 0 ? undefined : rawAt(latest.current.values, parts.slice(0, index).join("."));
      return !Array.isArray(items) || (/^(0|[1-9][0-9]*)$/.test(part) && Number(part) < items.length);
    });
    const validators = validatorsAt(entered, path);
    const isOptional = validators.some((each) => each.isOptional === "optional");
    return isItem && validators.length > 0 && (isOptional || kindOf(validators) !== "object");
  }

  async function send(): Promise<void> {
    const { args: parsed, problems } = parse(entered, latest.current.values);
    if (problems.size > 0) {
      update({ isSent: false });
      setErrors({ general: null, fields: problems });
      return;
    }
    isSending.current = true;
    setErrors(NO_ERRORS);
    update({ isSent: true });
    const args = { ...parsed, ...fixed, requestId: latest.current.requestId };
    try {
      const target = mutation as FunctionReference<"mutation", "public", Record<string, unknown>, unknown>;
      const result = await convex.mutation(target, args, {
        optimisticUpdate: (store) => {
          if (insert !== undefined) insertRow(store, insert, args);
        },
      });
      clear();
      onDone?.(result as FunctionReturnType<M>, args as unknown as FunctionArgs<M>);
    } catch (error) {
      update({ isSent: false });
      show(error);
    } finally {
      isSending.current = false;
    }
  }

  const sendRef = useRef(send);
  useEffect(() => {
    sendRef.current = send;
  });
  useEffect(() => {
    if (latest.current.isSent && !isSending.current) void sendRef.current();
  }, []);

  function errorAt(path: string): string | null {
    return errors.fields.get(path) ?? null;
  }

  function field(path: string): TextField | ChoiceField<string | number> | CheckField {
    const kind = kindOf(validatorsAt(entered, path));
    const raw = rawAt(draft.values, path);
    const set = (value: Raw) => change(path, value, (before) => without(before, (each) => each === path));
    const error = errorAt(path);
    if (kind === "check") return { kind, value: raw === true, set, error };
    if (typeof kind === "object") {
      const value = kind.choice.find((each) => each === raw) ?? null;
      return { kind: "choice", value, options: kind.choice, set, error };
    }
    return { kind: "text", value: typeof raw === "string" ? raw : "", set, error };
  }

  function array(path: string): ArrayField<Value> {
    function changeItems(changed: (items: Raw[]) => Raw[], moved: (index: number) => number | undefined): void {
      const raw = rawAt(latest.current.values, path);
      const items = Array.isArray(raw) ? raw : [];
      change(path, changed(items), (before) => withMoved(before, path, moved));
    }
    const raw = rawAt(draft.values, path);
    return {
      length: Array.isArray(raw) ? raw.length : 0,
      add: (item) => {
        const added = rawOf(childrenOf(validatorsAt(entered, path), "0"), item);
        changeItems(
          (items) => [...items, added],
          (index) => index,
        );
      },
      remove: (index) => {
        changeItems(
          (items) => items.filter((_, each) => each !== index),
          (each) => (each === index ? undefined : each > index ? each - 1 : each),
        );
      },
      move: (from, to) => {
        const order = (items: number[]) => items.toSpliced(from, 1).toSpliced(to, 0, from);
        changeItems(
          (items) => order([...items.keys()]).flatMap((index) => items.slice(index, index + 1)),
          (index) => {
            if (index === from) return to;
            if (from < index && index <= to) return index - 1;
            return to <= index && index < from ? index + 1 : index;
          },
        );
      },
      error: errorAt(path),
    };
  }

  function optional(path: string): OptionalField {
    return {
      value: rawAt(draft.values, `${path}.${PRESENT}`) === true,
      set: (value) => {
        change(`${path}.${PRESENT}`, value, (before) =>
          without(before, (each) => each === path || each.startsWith(`${path}.`)),
        );
      },
      error: errorAt(path),
    };
  }

  const form = {
    field,
    array,
    optional,
    submit: () => {
      if (!latest.current.isSent) void send();
    },
    reset: () => {
      if (!latest.current.isSent) clear();
    },
    pending: draft.isSent,
    error: errors.general,
  };
  return form as unknown as Form<Entered<M, X>>;
}
