/** Types of the paths that lead to the fields of a form, and of what is there. */

type Leaf = string | number | bigint | boolean;
type Value<T, K extends keyof T> = Exclude<T[K], undefined>;

type Steps<T> = T extends Leaf
  ? never
  : T extends readonly (infer E)[]
    ? [`${number}`, E, false]
    : { [K in keyof T & string]-?: [K, Value<T, K>, {} extends Pick<T, K> ? true : false] }[keyof T & string];

type Below<K extends string, P> = P extends string ? `${K}.${P}` : never;

export type LeafPath<T> = StepsToLeaves<Steps<T>>;
type StepsToLeaves<S> = S extends [infer K extends string, infer V, boolean]
  ? (V extends Leaf ? K : never) | Below<K, LeafPath<V>>
  : never;

export type ArrayPath<T> = StepsToArrays<Steps<T>>;
type StepsToArrays<S> = S extends [infer K extends string, infer V, boolean]
  ? (V extends readonly unknown[] ? K : never) | Below<K, ArrayPath<V>>
  : never;

export type OptionalPath<T> = StepsToOptional<Steps<T>>;
type StepsToOptional<S> = S extends [infer K extends string, infer V, infer IsOptional]
  ? (IsOptional extends true ? (V extends Leaf | readonly unknown[] ? never : K) : never) | Below<K, OptionalPath<V>>
  : never;

/** What is at a path, in those members of unions that have it. */
export type At<T, P extends string> = P extends `${infer First}.${infer Others}`
  ? At<Child<T, First>, Others>
  : Child<T, P>;
type Child<T, K extends string> = T extends readonly (infer E)[] ? E : K extends keyof T ? Value<T, K> : never;

export type Element<T> = T extends readonly (infer E)[] ? E : never;

/** A part of a value. */
export type Part<T> = T extends Leaf
  ? T
  : T extends readonly (infer E)[]
    ? readonly Part<E>[]
    : { readonly [K in keyof T]?: Part<T[K]> };
