import {
  useConvex,
  usePaginatedQuery,
  type PaginatedQueryArgs,
  type PaginatedQueryItem,
  type PaginatedQueryReference,
  type UsePaginatedQueryReturnType,
} from "convex/react";
import type { FunctionArgs, FunctionReference, FunctionReturnType } from "convex/server";
import { ConvexError, type GenericId } from "convex/values";
import { useState, type ReactNode } from "react";
import { applyChange } from "./optimistic";

type Mutation = FunctionReference<"mutation">;
type Query = PaginatedQueryReference;
type Item<Q extends Query> = PaginatedQueryItem<Q>;
type Args<Q extends Query> = PaginatedQueryArgs<Q>;
type Simplify<T> = { [K in keyof T]: T[K] };

/** Names of fields that at least one of the members of a union has. */
type FieldName<T> = T extends unknown ? keyof T & string : never;
type FieldValue<T, K extends string> = T extends unknown ? (K extends keyof T ? T[K] : undefined) : never;
type IdField<T> = { [K in keyof T & string]-?: T[K] extends GenericId<string> ? K : never }[keyof T & string];

type Text = string | number | null | undefined;
type Render<T, V> = (value: V, row: T) => ReactNode;
type RenderRest<T, V> = [V] extends [Text] ? [render?: Render<T, V>] : [render: Render<T, V>];

/** The values of an argument that can only be literals (`boolean` is two of them), otherwise `never`. */
type Wide<V> = V extends boolean ? never : V extends string | number ? ({} extends Record<V, 1> ? V : never) : V;
type Choices<V> = [Wide<V>] extends [never] ? V : never;
type Choice<A, K extends keyof A> = Choices<Exclude<A[K], undefined>>;
type ChoiceArgument<A> = { [K in keyof A & string]-?: [Choice<A, K>] extends [never] ? never : K }[keyof A & string];
type OptionalArgument<A> = { [K in keyof A & string]-?: {} extends Pick<A, K> ? K : never }[keyof A & string];
type Options<V> = readonly (readonly [value: V, label: string])[];
type Complete<V, O extends Options<V>> = [V] extends [O[number][0]] ? unknown : ["missing", Exclude<V, O[number][0]>];

/** For each argument of a mutation, the fields of the row that can be passed for it. */
type Pass<T, A> = {
  readonly [K in keyof A]?: { [F in keyof T & string]-?: T[F] extends A[K] ? F : never }[keyof T & string];
};
type None<K extends PropertyKey> = { readonly [_ in K]?: never };
/** What is left of arguments. Nothing at all is not `{}`, which other properties would fit. */
type Rest<A, Given extends PropertyKey> = [Exclude<keyof A, Given>] extends [never]
  ? Record<string, never>
  : Simplify<Omit<A, Given>>;
type Optional<R> = {} extends R ? [args?: R] : [args: R];

export interface Action {
  rest: object;
  result: unknown;
}
type Actions = Record<string, Action>;
type ButtonName<A extends Actions> = { [N in keyof A & string]: {} extends A[N]["rest"] ? N : never }[keyof A & string];

interface ListOptions<Q extends Query, I> {
  id: I;
  name: (row: Item<Q>) => string;
  includes: (row: Item<Q>, args: Args<Q>) => boolean;
  compare: (a: Item<Q>, b: Item<Q>, args: Args<Q>) => number;
}

interface ActionOptions<T, A, P, F> {
  label: string;
  /** Arguments that are fields of the row. */
  pass?: P & None<Exclude<keyof NoInfer<P>, keyof A>>;
  args?: (row: T) => F & None<Exclude<keyof NoInfer<F>, keyof A> | (keyof NoInfer<F> & keyof NoInfer<P>)>;
  change: (row: T, args: A) => T | null;
}

type Row = Record<string, unknown>;
interface Column {
  field: string;
  header: string;
  render: (value: unknown, row: Row) => ReactNode;
}
interface Selector {
  argument: string;
  label: string;
  options: Options<unknown>;
}
interface AnyAction {
  name: string;
  mutation: FunctionReference<"mutation", "public", Record<string, unknown>>;
  label: string;
  pass: Record<string, string>;
  args: (row: Row) => Record<string, unknown>;
  change: (row: Row, args: Record<string, unknown>) => Row | null;
}
interface Parts {
  columns: readonly Column[];
  filters: readonly Selector[];
  sort: Selector | undefined;
  actions: readonly AnyAction[];
}

/** `S` and `F` are the arguments that the user chooses: the one that sorts, and those that filter. */
export class List<
  Q extends Query,
  I extends string,
  S extends string = never,
  F extends string = never,
  A extends Actions = {},
> {
  declare readonly types: { sort: S; filter: F; actions: A };

  constructor(
    readonly query: Q,
    readonly options: ListOptions<Q, I>,
    readonly parts: Parts,
  ) {}

  column<const K extends FieldName<Item<Q>>>(
    field: K,
    header: string,
    ...[render]: RenderRest<Item<Q>, FieldValue<Item<Q>, K>>
  ): List<Q, I, S, F, A> {
    const column = { field, header, render: (render ?? asText) as Column["render"] };
    return new List(this.query, this.options, { ...this.parts, columns: [...this.parts.columns, column] });
  }

  filter<
    const K extends Exclude<ChoiceArgument<Args<Q>> & OptionalArgument<Args<Q>>, S | F>,
    const O extends Options<Choice<Args<Q>, K>>,
  >(argument: K, label: string, options: O & Complete<Choice<Args<Q>, K>, O>): List<Q, I, S, F | K, A> {
    const filter = { argument, label, options: options as Options<unknown> };
    return new List(this.query, this.options, { ...this.parts, filters: [...this.parts.filters, filter] });
  }

  sort<
    const K extends [S] extends [never] ? Exclude<ChoiceArgument<Args<Q>>, F> : never,
    const O extends Options<Choice<Args<Q>, K>>,
  >(argument: K, options: O & Complete<Choice<Args<Q>, K>, O>): List<Q, I, K, F, A> {
    const sort = { argument, label: "Sort", options: options as Options<unknown> };
    return new List(this.query, this.options, { ...this.parts, sort });
  }

  action<
    const N extends string,
    M extends Mutation,
    const P extends Pass<Item<Q>, FunctionArgs<M>> = {},
    const F2 extends Partial<FunctionArgs<M>> = {},
  >(
    name: N extends keyof A ? never : N,
    mutation: M,
    options: ActionOptions<Item<Q>, FunctionArgs<M>, P, F2>,
  ): List<
    Q,
    I,
    S,
    F,
    A & Record<N, { rest: Rest<FunctionArgs<M>, keyof P | keyof F2>; result: FunctionReturnType<M> }>
  > {
    const { label, pass = {}, args = () => ({}), change } = options;
    const action = { name, mutation, label, pass, args, change } as unknown as AnyAction;
    return new List(this.query, this.options, { ...this.parts, actions: [...this.parts.actions, action] });
  }
}

export function list<Q extends Query, I extends IdField<Item<Q>>>(query: Q, options: ListOptions<Q, I>): List<Q, I> {
  return new List(query, options, { columns: [], filters: [], sort: undefined, actions: [] });
}

/** The type of the rows of a list. */
export type RowOf<L> = L extends List<infer Q, string, string, string, Actions> ? Item<Q> : never;

export interface Table<Q extends Query, I extends string, S extends string, F extends string, A extends Actions> {
  list: List<Q, I, S, F, A>;
  rows: Item<Q>[];
  status: UsePaginatedQueryReturnType<Q>["status"];
  loadMore: () => void;
  sort: Choice<Args<Q>, S & keyof Args<Q>>;
  setSort: (sort: Choice<Args<Q>, S & keyof Args<Q>>) => void;
  filters: { [K in F]?: Choice<Args<Q>, K & keyof Args<Q>> };
  setFilter: <K extends F>(argument: K, value: Choice<Args<Q>, K & keyof Args<Q>> | undefined) => void;
  selected: Item<Q>[I][];
  toggle: (id: Item<Q>[I]) => void;
  clear: () => void;
  run: <N extends keyof A & string>(name: N, row: Item<Q>, ...rest: Optional<A[N]["rest"]>) => Promise<A[N]["result"]>;
  problem: string | null;
}

type TableOptions<R> = { pageSize: number } & ({} extends R ? { args?: R } : { args: R });

export function useList<Q extends Query, I extends string, S extends string, F extends string, A extends Actions>(
  list: List<Q, I, S, F, A>,
  { pageSize, args }: TableOptions<Rest<Args<Q>, S | F>>,
): Table<Q, I, S, F, A> {
  type State = Table<Q, I, S, F, A>;
  const { query, options, parts } = list;
  const convex = useConvex();
  const [sort, setSort] = useState(parts.sort?.options[0]?.[0] as State["sort"]);
  const [filters, setFilters] = useState<State["filters"]>({});
  const [selected, setSelected] = useState<State["selected"]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  const sorting = parts.sort === undefined ? {} : { [parts.sort.argument]: sort };
  const chosen = { ...args, ...filters, ...sorting } as unknown as Args<Q>;
  const { results, status, loadMore } = usePaginatedQuery(query, chosen, { initialNumItems: pageSize });

  async function run(name: string, row: Row, rest: object = {}): Promise<unknown> {
    const action = parts.actions.find((each) => each.name === name);
    if (action === undefined) throw new Error(`There is no action ${name}`);
    const passed = Object.entries(action.pass).map(([argument, field]) => [argument, row[field]] as const);
    const args = { ...Object.fromEntries(passed), ...action.args(row), ...rest };
    const id = row[options.id];
    let isRemoved = false;
    setProblem(null);
    try {
      const result: unknown = await convex.mutation(action.mutation, args, {
        optimisticUpdate: (store) => {
          const change = (before: Row) => {
            const after = action.change(before, args);
            isRemoved = after === null;
            return after;
          };
          applyChange(store, query, {
            change,
            isRow: (each) => each[options.id] === id,
            includes: options.includes as (row: Row, args: unknown) => boolean,
            compare: options.compare as (a: Row, b: Row, args: unknown) => number,
          });
        },
      });
      if (isRemoved) setSelected((before) => before.filter((each) => each !== id));
      return result;
    } catch (error) {
      const reason = error instanceof ConvexError && typeof error.data === "string" ? error.data : "failed";
      setProblem(`${action.label} ${options.name(row as Item<Q>)}: ${reason}`);
      throw error;
    }
  }

  return {
    list,
    rows: results,
    status,
    loadMore: () => loadMore(pageSize),
    sort,
    setSort: (value) => setSort(() => value),
    filters,
    setFilter: (argument, value) => {
      setFilters((before) => {
        const { [argument]: _, ...others } = before;
        return (value === undefined ? others : { ...others, [argument]: value }) as State["filters"];
      });
    },
    selected,
    toggle: (id) => {
      setSelected((before) => (before.includes(id) ? before.filter((each) => each !== id) : [...before, id]));
    },
    clear: () => setSelected([]),
    run: run as State["run"],
    problem,
  };
}

interface ListTableProps<Q extends Query, I extends string, S extends string, F extends string, A extends Actions> {
  table: Table<Q, I, S, F, A>;
  label: string;
  buttons?: readonly ButtonName<A>[];
}

export function ListTable<Q extends Query, I extends string, S extends string, F extends string, A extends Actions>({
  table,
  label,
  buttons = [],
}: ListTableProps<Q, I, S, F, A>) {
  const { list, rows, status, selected, filters, problem } = table;
  const { columns, sort, actions } = list.parts;
  const { id: idField, name } = list.options;
  const values: Record<string, unknown> = filters;
  const setFilter = table.setFilter as (argument: string, value: unknown) => void;
  const run = table.run as unknown as (name: string, row: Item<Q>) => Promise<unknown>;
  const shown = buttons.map((button) => actions.find((each) => each.name === button)).filter((each) => each !== undefined);
  return (
    <section aria-label={label}>
      {sort !== undefined && (
        <Select selector={sort} value={table.sort} onChange={table.setSort as (value: unknown) => void} />
      )}
      {list.parts.filters.map((filter) => (
        <Select
          key={filter.argument}
          selector={filter}
          all
          value={values[filter.argument]}
          onChange={(value) => setFilter(filter.argument, value)}
        />
      ))}
      <table>
        <thead>
          <tr>
            <td />
            {columns.map(({ header }, index) => (
              <th key={index} scope="col">
                {header}
              </th>
            ))}
            <td />
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const id = (row as Record<I, Item<Q>[I]>)[idField];
            const fields = row as Row;
            return (
              <tr key={String(id)}>
                <td>
                  <input
                    type="checkbox"
                    aria-label={`Select ${name(row)}`}
                    checked={selected.includes(id)}
                    onChange={() => table.toggle(id)}
                  />
                </td>
                {columns.map(({ field, render }, index) => (
                  <td key={index}>{render(fields[field], fields)}</td>
                ))}
                <td>
                  {shown.map((action) => (
                    <button key={action.name} onClick={() => void run(action.name, row).catch(() => {})}>
                      {action.label}
                    </button>
                  ))}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <p role="status">
        {status === "LoadingFirstPage" ? "Loading…" : `${rows.length} shown, ${selected.length} selected`}
      </p>
      {(status === "CanLoadMore" || status === "LoadingMore") && (
        <button disabled={status === "LoadingMore"} onClick={table.loadMore}>
          Load more
        </button>
      )}
      {problem !== null && <p role="alert">{problem}</p>}
    </section>
  );
}

interface SelectProps {
  selector: Selector;
  all?: boolean;
  value: unknown;
  onChange: (value: unknown) => void;
}

function Select({ selector: { label, options }, all = false, value, onChange }: SelectProps) {
  return (
    <label>
      {label}{" "}
      <select
        value={options.findIndex(([each]) => each === value)}
        onChange={(event) => onChange(options[Number(event.target.value)]?.[0])}
      >
        {all && <option value={-1}>All</option>}
        {options.map(([, text], index) => (
          <option key={index} value={index}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

function asText(value: Text): ReactNode {
  return value ?? "";
}
