import { AsyncLocalStorage } from "node:async_hooks";

export type Note = { label: string | null; text: string };

const storage = new AsyncLocalStorage<{
  label: string | null;
  notes: Note[];
}>();

export function note(text: string): void {
  const current = storage.getStore();
  current?.notes.push({ label: current.label, text });
}

export async function record<T>(
  work: () => T | Promise<T>,
): Promise<{ result: T; notes: Note[] }> {
  const notes: Note[] = [];
  const result = await storage.run({ label: null, notes }, work);
  return { result, notes };
}

export async function withLabel<T>(
  label: string,
  work: () => T | Promise<T>,
): Promise<T> {
  const current = storage.getStore();
  if (current === undefined) return await work();
  const path = current.label === null ? label : `${current.label}/${label}`;
  return await storage.run({ label: path, notes: current.notes }, work);
}

export function keep<A extends unknown[], R>(
  callback: (...args: A) => R,
): (...args: A) => R {
  const current = storage.getStore() ?? { label: null, notes: [] };
  return (...args) => storage.run(current, () => callback(...args));
}
