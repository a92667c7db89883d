/** Values from JSON, checked piece by piece. */
export function parse(text: string): unknown {
  return JSON.parse(text);
}

export function record(value: unknown): Map<string, unknown> {
  if (typeof value !== "object" || value === null) throw new Error("Not an object");
  const entries: [string, unknown][] = Object.entries(value);
  return new Map(entries);
}

export function text(value: unknown): string {
  if (typeof value !== "string") throw new Error("Not a text");
  return value;
}

export function number(value: unknown): number {
  if (typeof value !== "number") throw new Error("Not a number");
  return value;
}

export function flag(value: unknown): boolean {
  if (typeof value !== "boolean") throw new Error("Neither true nor false");
  return value;
}

export function oneOf<Choice extends string>(value: unknown, choices: readonly Choice[]): Choice {
  const found = choices.find((choice) => choice === value);
  if (found === undefined) throw new Error(`None of ${choices.join(", ")}`);
  return found;
}
