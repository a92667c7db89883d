import { v } from "convex/values";
import { action, mutation, query } from "./_generated/server";

const importedAt = Date.now();
const importedRandom = Math.random();
let counter = 0;

const convexGlobal = () => (globalThis as any).Convex;

export const fetches = query({ args: {}, handler: async () => String(await fetch("http://127.0.0.1:1/")) });

export const sleeps = mutation({
  args: {},
  handler: async () => {
    await new Promise((resolve) => setTimeout(resolve, 1));
  },
});

export const importsInQuery = query({
  args: {},
  handler: async () => Object.keys(await import("./helpers/late")),
});

export const importsInAction = action({
  args: {},
  handler: async () => (await import("./helpers/late")).late(),
});

export const clock = query({
  args: { spin: v.number(), salt: v.optional(v.number()) },
  handler: async (_ctx, args) => {
    const first = Date.now();
    let sum = 0;
    for (let i = 0; i < args.spin; i++) sum += i;
    return { first, second: new Date().getTime(), sum };
  },
});

export const mutationClock = mutation({ args: {}, handler: async () => [Date.now(), Date.now()] });

export const actionClock = action({
  args: {},
  handler: async () => {
    const first = Date.now();
    await new Promise((resolve) => setTimeout(resolve, 20));
    return Date.now() - first;
  },
});

export const moduleConstants = query({
  args: { salt: v.number() },
  handler: async () => ({ importedAt, importedRandom, random: Math.random() }),
});

export const increments = mutation({ args: {}, handler: async () => ++counter });

export const uuid = query({ args: {}, handler: async () => crypto.randomUUID() });

export const digest = query({
  args: {},
  handler: async () => await crypto.subtle.digest("SHA-256", new TextEncoder().encode("abc")),
});

export const generatesKey = query({
  args: {},
  handler: async () => {
    await crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, true, ["encrypt"]);
  },
});

export const generatesKeyInAction = action({
  args: {},
  handler: async () => {
    const key = await crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, true, ["encrypt", "decrypt"]);
    return (key as CryptoKey).type;
  },
});

const typesOf = (names: string[]) =>
  Object.fromEntries(names.map((name) => [name, typeof (globalThis as any)[name]]));

export const globals = query({ args: { names: v.array(v.string()) }, handler: async (_ctx, args) => typesOf(args.names) });

export const usesWebApis = query({
  args: {},
  handler: async () => ({
    url: new URL("../b?x=1", "http://a.example/c/d").href,
    header: new Headers({ A: "1" }).get("a"),
    text: await new Response("body").text(),
    blob: await new Blob(["ab", "c"]).text(),
    atob: atob("aGk="),
    clone: structuredClone({ a: [1] }),
    aborted: (() => {
      const controller = new AbortController();
      controller.abort();
      return controller.signal.aborted;
    })(),
    method: new Request("http://a.example/", { method: "POST", body: "x" }).method,
  }),
});

export const evals = query({ args: {}, handler: async () => (0, eval)("1") });

export const zone = query({
  args: {},
  handler: async () => ({
    offset: new Date(0).getTimezoneOffset(),
    zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  }),
});

export const variable = query({
  args: { name: v.string() },
  handler: async (_ctx, args) => ({ value: process.env[args.name] ?? null, keys: Object.keys(process.env) }),
});

export const loops = query({
  args: {},
  handler: async () => {
    try {
      for (;;);
    } catch {
      return "caught";
    }
  },
});

export const hoards = query({
  args: {},
  handler: async () => {
    const hoard: unknown[] = [];
    for (;;) hoard.push(new Array(4_000_000).fill(hoard.length));
  },
});

export const answers = query({ args: { salt: v.number() }, handler: async () => "still here" });

export const unknownAsync = query({
  args: {},
  handler: async () => await convexGlobal().asyncSyscall("1.0/doesNotExist", "{}"),
});

export const unknownSync = query({
  args: {},
  handler: async () => convexGlobal().syscall("1.0/doesNotExist", "{}"),
});

export const extraFields = query({
  args: {},
  handler: async () =>
    await convexGlobal().asyncSyscall("1.0/getFunctionMetadata", JSON.stringify({ surplus: true, version: "9.9.9" })),
});

export const parallelInserts = mutation({
  args: {},
  handler: async (ctx) => {
    const ids = await Promise.all(
      Array.from({ length: 10 }, (_, n) => ctx.db.insert("calling_others", { body: `parallel ${n}` })),
    );
    const documents = await Promise.all(ids.map((id) => ctx.db.get(id)));
    return documents.map((document) => document!._creationTime);
  },
});
