import {
  v,
  type GenericValidator,
  type Infer,
  type ObjectType,
  type PropertyValidators,
  type VLiteral,
  type VObject,
  type VUnion,
} from "convex/values";

type Payload = GenericValidator & { isOptional: "required" };
type MaybePromise<T> = T | Promise<T>;
type Simplify<T> = { [K in keyof T]: T[K] };
type NoFields = Record<never, never>;
type Last<Versions extends Payload[]> = Versions extends [...Payload[], infer Latest extends Payload] ? Latest : never;
type Step = (old: unknown) => unknown;

/** An event's payload in all its versions, the oldest first. */
export class Event<Versions extends Payload[]> {
  constructor(
    readonly versions: Versions,
    readonly steps: Step[],
  ) {}

  next<Next extends Payload>(
    payload: Next,
    upgrade: (old: Infer<Last<Versions>>) => Infer<Next>,
  ): Event<[...Versions, Next]> {
    return new Event([...this.versions, payload], [...this.steps, upgrade as Step]);
  }
}

export function event<First extends Payload>(payload: First): Event<[First]> {
  return new Event([payload], []);
}

type Definitions = Record<string, { versions: Payload[]; steps: Step[] }>;
type NameOf<D> = keyof D & string;

type CurrentOf<D extends Definitions, N extends NameOf<D> = NameOf<D>> = {
  [K in N]: { name: K; payload: Infer<Last<D[K]["versions"]>> };
}[N];

/** An event as it is stored now. */
type LatestOf<D extends Definitions> = {
  [K in NameOf<D>]: { name: K; version: D[K]["versions"]["length"]; payload: Infer<Last<D[K]["versions"]>> };
}[NameOf<D>];

/** The members of the union that is stored, one for each version. */
type StoredMembers<Name, Versions, Extra, Before extends unknown[] = []> = Versions extends [infer First, ...infer Rest]
  ? | MakeObject<
        Simplify<{ name: VLiteral<Name>; version: VLiteral<[...Before, First]["length"]>; payload: First } & Extra>
      >
    | StoredMembers<Name, Rest, Extra, [...Before, First]>
  : never;
type MakeObject<Fields> = Fields extends PropertyValidators ? VObject<ObjectType<Fields>, Fields> : never;
type MakeUnion<Member> = Member extends Payload[] ? VUnion<Member[number]["type"], Member> : never;
type StoredUnion<D extends Definitions, Extra> = MakeUnion<
  { [K in NameOf<D>]: StoredMembers<K, D[K]["versions"], Extra> }[NameOf<D>][]
>;
type CurrentUnion<D extends Definitions> = MakeUnion<
  { [K in NameOf<D>]: MakeObject<{ name: VLiteral<K>; payload: Last<D[K]["versions"]> }> }[NameOf<D>][]
>;
type StoredOf<D extends Definitions> = StoredUnion<D, NoFields> extends { type: infer Type } ? Type : never;

/** What the compiler knows of what is stored, whatever the definitions. */
type StoredEvent<D> = { name: NameOf<D>; version: number; payload: unknown };

/** The version numbers of an event: 1, 2 and so on. */
type VersionOf<Versions, Before extends unknown[] = []> = Versions extends [infer First, ...infer Rest]
  ? [...Before, First]["length"] | VersionOf<Rest, [...Before, First]>
  : never;
type PayloadAt<Versions, Version, Before extends unknown[] = []> = Versions extends [infer First, ...infer Rest]
  ? [...Before, First]["length"] extends Version
    ? First
    : PayloadAt<Rest, Version, [...Before, First]>
  : never;

type Named = { name: string };
type Handlers<E extends Named> = { [N in E["name"]]: (event: Extract<E, { name: N }>) => unknown };
type Results<H> = { [K in keyof H]: H[K] extends (...args: never[]) => infer R ? R : never }[keyof H];
/** Refuses handlers of other names. */
type Known<H, E extends Named> = { [K in Exclude<keyof H, E["name"]>]: never };

export type Subscriber<Ctx, E> = { names: readonly string[]; handle: (ctx: Ctx, event: E) => MaybePromise<void> };
type SubscriberOf<Ctx, D extends Definitions> = { readonly registry: D; readonly subscriber: Subscriber<Ctx, never> };

class Registry<D extends Definitions> {
  readonly names: NameOf<D>[];
  /** A name. */
  readonly name: VUnion<NameOf<D>, VLiteral<NameOf<D>>[]>;
  /** An event as it is now: its name and the payload in the latest version. */
  readonly current: CurrentUnion<D>;

  constructor(private readonly definitions: D) {
    this.names = Object.keys(definitions);
    this.name = v.union(...this.names.map((name) => v.literal(name)));
    const members = this.names.map((name) =>
      v.object({ name: v.literal(name), payload: this.versions(name).at(-1) as Payload }),
    );
    this.current = v.union(...members) as GenericValidator as CurrentUnion<D>;
  }

  private versions(name: string): Payload[] {
    return this.definitions[name]?.versions ?? [];
  }

  /** An event as it is stored, in any version, with these fields besides. */
  stored<Extra extends PropertyValidators = NoFields>(extra?: Extra): StoredUnion<D, Extra> {
    const members = this.names.flatMap((name) =>
      this.versions(name).map((payload, index) =>
        v.object({ ...extra, name: v.literal(name), version: v.literal(index + 1), payload }),
      ),
    );
    return v.union(...members) as GenericValidator as StoredUnion<D, Extra>;
  }

  version<N extends NameOf<D>>(name: N): D[N]["versions"]["length"] {
    return this.versions(name).length;
  }

  payload<N extends NameOf<D>, Version extends VersionOf<D[N]["versions"]>>(
    name: N,
    version: Version,
  ): PayloadAt<D[N]["versions"], Version> {
    return this.versions(name)[Number(version) - 1] as GenericValidator as PayloadAt<D[N]["versions"], Version>;
  }

  store(event: CurrentOf<D>): LatestOf<D> {
    const { name, payload }: { name: NameOf<D>; payload: unknown } = event;
    return { name, version: this.version(name), payload } as LatestOf<D>;
  }

  load<S extends StoredOf<D> & StoredEvent<D>>(stored: S): CurrentOf<D, S["name"]> {
    const steps = this.definitions[stored.name]?.steps ?? [];
    const payload = steps.slice(stored.version - 1).reduce<unknown>((old, upgrade) => upgrade(old), stored.payload);
    return { name: stored.name, payload } as CurrentOf<D, S["name"]>;
  }

  only<N extends NameOf<D>>(events: readonly CurrentOf<D>[], ...names: N[]): CurrentOf<D, N>[] {
    return events.filter((each): each is CurrentOf<D, N> => names.some((name) => name === each.name));
  }

  match<E extends CurrentOf<D>, H extends Handlers<E>>(event: E, handlers: H & Known<H, E>): Results<H>;
  match<E extends CurrentOf<D>, H extends Partial<Handlers<E>>, R>(
    event: E,
    handlers: H & Known<H, E>,
    otherwise: (event: Exclude<E, { name: keyof H }>) => R,
  ): Results<H> | R;
  match(
    event: Named,
    handlers: Record<string, ((event: Named) => unknown) | undefined>,
    otherwise?: (event: Named) => unknown,
  ): unknown {
    const handler = Object.hasOwn(handlers, event.name) ? handlers[event.name] : undefined;
    return (handler ?? otherwise)?.(event);
  }

  replay<State>(
    stored: readonly (StoredOf<D> & StoredEvent<D>)[],
    initial: State,
    reducers: { [N in NameOf<D>]: (state: State, event: CurrentOf<D, N>) => State },
  ): State {
    const all: Record<string, (state: State, event: never) => State> = reducers;
    return stored.reduce((state, each) => {
      const reduce = all[each.name];
      return reduce === undefined ? state : reduce(state, this.load(each) as never);
    }, initial);
  }

  on<N extends NameOf<D>, Ctx>(
    names: readonly N[],
    handle: (ctx: Ctx, event: CurrentOf<D, N>) => MaybePromise<void>,
  ): SubscriberOf<Ctx, D> {
    return { registry: this.definitions, subscriber: { names, handle } };
  }

  async publish<Ctx>(
    ctx: Ctx,
    event: CurrentOf<D>,
    subscribers: readonly SubscriberOf<NoInfer<Ctx>, D>[],
  ): Promise<void> {
    for (const { subscriber } of subscribers) {
      if (subscriber.names.includes(event.name)) await subscriber.handle(ctx, event as never);
    }
  }
}

export function defineEvents<D extends Definitions>(definitions: D): Registry<D> {
  return new Registry(definitions);
}

/** An event of a registry as it is now, or only those with certain names. */
export type EventOf<R, N extends string = string> =
  R extends Registry<infer D> ? CurrentOf<D, Extract<NameOf<D>, N>> : never;
