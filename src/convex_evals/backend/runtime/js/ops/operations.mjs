// Operations the worker carries out itself. Each takes (args, bytes, context) and returns `{value, bytes}` or throws.
import { cryptoOperations } from "./crypto.mjs";

const OPERATIONS = { __proto__: null, ...cryptoOperations };

/** Never rejects: resolves to a function that settles the realm's promise with the outcome. */
export async function runOperation(context, name, args, bytes) {
  try {
    const result = await OPERATIONS[name](args, bytes, context);
    return (target, id) => target.finish(id, result.value, result.bytes);
  } catch (error) {
    return (target, id) => target.kernel.fail(id, error.name, error.message);
  }
}
