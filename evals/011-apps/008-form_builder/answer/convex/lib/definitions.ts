/** What is wrong in the definition of a form. */

import type { Condition, Field, Formula, Mistake, PlainField } from "./forms";

/** Kind and group of each key in earlier versions. */
export type Former = ReadonlyMap<string, string>;

const isWhole = (number: number, minimum: number) => Number.isInteger(number) && number >= minimum;

export function placesOf(fields: readonly Field[], group = ""): [string, string][] {
  return fields.flatMap((field) => [
    [field.key, `${field.kind} in ${group}`] as [string, string],
    ...(field.kind === "group" ? placesOf(field.fields, field.key) : []),
  ]);
}

export function mistakesOf(fields: readonly Field[], former: Former): Mistake[] {
  const found = keyMistakes(fields, "fields", new Set());
  return found.length > 0 ? found : otherMistakes(fields, "fields", "", [], former);
}

function keyMistakes(fields: readonly Field[], path: string, used: Set<string>): Mistake[] {
  return fields.flatMap((field, index) => {
    const { key } = field;
    const at = `${path}[${index}]`;
    const found: Mistake[] = [];
    if (!/^[a-z]{1,20}$/.test(key)) found.push({ path: `${at}.key`, code: "KEY" });
    else if (used.has(key)) found.push({ path: `${at}.key`, code: "DUPLICATE" });
    used.add(key);
    return [...found, ...(field.kind === "group" ? keyMistakes(field.fields, `${at}.fields`, used) : [])];
  });
}

function otherMistakes(fields: readonly Field[], path: string, group: string, outer: readonly Field[], former: Former): Mistake[] {
  const reach = [...outer];
  return fields.flatMap((field, index) => {
    const at = `${path}[${index}]`;
    const found = fieldMistakes(field, group, reach, former).map(({ path: inner, code }) => ({ path: `${at}.${inner}`, code }));
    if (field.kind === "group") found.push(...otherMistakes(field.fields, `${at}.fields`, field.key, reach, former));
    reach.push(field);
    return found;
  });
}

function fieldMistakes(field: Field, group: string, reach: readonly Field[], former: Former): Mistake[] {
  const found: Mistake[] = [];
  const place = former.get(field.key);
  if (place !== undefined && place !== `${field.kind} in ${group}`) found.push({ path: "kind", code: "KIND" });
  for (const path of limitsOf(field)) found.push({ path, code: "LIMIT" });
  if (field.kind === "choice" || field.kind === "choices") {
    const { options } = field;
    const isRight = options.length > 0 && !options.includes("") && new Set(options).size === options.length;
    if (!isRight) found.push({ path: "options", code: "OPTIONS" });
  }
  if (field.kind === "computed") found.push(...formulaMistakes(field.formula, "formula", reach));
  if (field.showIf !== undefined) found.push(...conditionMistakes(field.showIf, reach));
  return found;
}

function limitsOf(field: Field): string[] {
  if (field.kind === "text") return isWhole(field.maxLength ?? 1, 1) ? [] : ["maxLength"];
  if (field.kind === "number") return (field.max ?? Infinity) < (field.min ?? -Infinity) ? ["max"] : [];
  if (field.kind !== "group") return [];
  const isMaximum = isWhole(field.max, 1) && field.max <= 10 && field.max >= field.min;
  return [...(isWhole(field.min, 0) ? [] : ["min"]), ...(isMaximum ? [] : ["max"])];
}

function isNumeric(field: PlainField | Field | undefined): boolean {
  return field?.kind === "number" || field?.kind === "computed";
}

function formulaMistakes(formula: Formula, path: string, reach: readonly Field[]): Mistake[] {
  if (typeof formula === "number") return [];
  if ("op" in formula) {
    return [...formulaMistakes(formula.left, `${path}.left`, reach), ...formulaMistakes(formula.right, `${path}.right`, reach)];
  }
  if ("field" in formula) {
    const isRight = isNumeric(reach.find(({ key }) => key === formula.field));
    return isRight ? [] : [{ path: `${path}.field`, code: "FIELD" }];
  }
  const groups = reach.filter((field) => field.kind === "group");
  const isRight = groups.some(({ key, fields }) => fields.some((inner) => isNumeric(inner) && formula.sum === `${key}.${inner.key}`));
  return isRight ? [] : [{ path: `${path}.sum`, code: "FIELD" }];
}

function conditionMistakes(showIf: Condition, reach: readonly Field[]): Mistake[] {
  const named = reach.find(({ key }) => key === showIf.field);
  const wrong = [{ path: "showIf.field", code: "FIELD" }];
  if ("atLeast" in showIf) return isNumeric(named) ? [] : wrong;
  const [name, kind, option] =
    "is" in showIf ? (["is", "choice", showIf.is] as const) : (["includes", "choices", showIf.includes] as const);
  if ((named?.kind !== "choice" && named?.kind !== "choices") || named.kind !== kind) return wrong;
  return named.options.includes(option) ? [] : [{ path: `showIf.${name}`, code: "OPTION" }];
}
