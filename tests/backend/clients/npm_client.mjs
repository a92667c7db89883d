// The clients of the npm package "convex", driven over stdin and stdout: one JSON object per line.
//   {"id": 1, "op": "open", …}  is answered by  {"id": 1, "value": …}  or  {"id": 1, "error": {"message", "data"?}}
// Subscriptions report {"subscription": name, "value" | "error": …} whenever their result changes.
import { ConvexClient, ConvexHttpClient } from "convex/browser";
import { ConvexReactClient } from "convex/react";
import { makeFunctionReference } from "convex/server";
import { createInterface } from "node:readline";

console.log = console.info = console.debug = console.error; // stdout is ours

const clients = new Map();
const subscriptions = new Map();

const plain = (key, value) => (typeof value === "bigint" ? `${value}n` : value);
const say = (message) => process.stdout.write(JSON.stringify(message, plain) + "\n");
const described = (error) => ({ message: error.message, ...("data" in error ? { data: error.data } : {}) });
const reference = (path) => makeFunctionReference(path);

const open = {
  browser: (url) => new ConvexClient(url),
  react: (url) => new ConvexReactClient(url),
  http: (url) => new ConvexHttpClient(url),
};

const setAdminAuth = {
  browser: (client, key, identity) => client.client.setAdminAuth(key, identity ?? undefined),
  react: (client, key, identity) => client.setAdminAuth(key, identity ?? undefined),
  http: (client, key, identity) => client.setAdminAuth(key, identity ?? undefined),
};

function appending({ path, args, item }) {
  return (store) => store.setQuery(reference(path), args, [...(store.getQuery(reference(path), args) ?? []), item]);
}

function watch(entry, name, path, args) {
  if (entry.kind === "browser") {
    const update = (value) => say({ subscription: name, value });
    const failure = (error) => say({ subscription: name, error: described(error) });
    return entry.client.onUpdate(reference(path), args, update, failure);
  }
  const query = entry.client.watchQuery(reference(path), args);
  return query.onUpdate(() => {
    try {
      say({ subscription: name, value: query.localQueryResult() });
    } catch (error) {
      say({ subscription: name, error: described(error) });
    }
  });
}

const operations = {
  open({ client, kind, url, adminKey, identity }) {
    const opened = open[kind](url);
    clients.set(client, { kind, client: opened });
    if (adminKey) setAdminAuth[kind](opened, adminKey, identity);
  },
  setAdminAuth: ({ client, adminKey, identity }) =>
    setAdminAuth[clients.get(client).kind](clients.get(client).client, adminKey, identity),
  setAuth({ client, tokens }) {
    const next = async () => (tokens.length > 1 ? tokens.shift() : tokens[0]);
    return new Promise((resolve) => clients.get(client).client.setAuth(next, resolve));
  },
  clearAuth({ client }) {
    const { kind, client: opened } = clients.get(client);
    (kind === "browser" ? opened.client : opened).clearAuth();
  },
  subscribe({ client, subscription, path, args }) {
    subscriptions.set(subscription, watch(clients.get(client), subscription, path, args));
  },
  unsubscribe: ({ subscription }) => subscriptions.get(subscription)(),
  query: ({ client, path, args }) => clients.get(client).client.query(reference(path), args),
  mutation: ({ client, path, args, optimistic }) =>
    clients
      .get(client)
      .client.mutation(reference(path), args, optimistic ? { optimisticUpdate: appending(optimistic) } : undefined),
  action: ({ client, path, args }) => clients.get(client).client.action(reference(path), args),
  async close({ client }) {
    await clients.get(client)?.client.close?.();
    clients.delete(client);
  },
};

createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, op, ...rest } = JSON.parse(line);
  try {
    say({ id, value: (await operations[op](rest)) ?? null });
  } catch (error) {
    say({ id, error: described(error) });
  }
});
