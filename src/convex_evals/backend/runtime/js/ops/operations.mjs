// Operations the worker carries out itself: name → (args, bytes, context) → `{value, bytes}`; they may throw.
import { cryptoOperations } from "./crypto.mjs";

/** Never rejects: resolves to a function that settles the realm's promise with the outcome. */
export async function runOperation(operations, context, name, args, bytes) {
  try {
    const result = await operations[name](args, bytes, context);
    return (id) => context.finish(id, result.value, result.bytes);
  } catch (error) {
    return (id) => context.kernel.fail(id, error.name, error.message);
  }
}

/** What queries and mutations may do. */
export const PURE_OPERATIONS = { __proto__: null, ...cryptoOperations };
