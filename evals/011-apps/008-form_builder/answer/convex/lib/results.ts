/** What the submitted responses of all versions say. */

import type { Field, Row } from "./forms";
import { isRow } from "./forms";

/** A field as all versions have it together. */
export type Question = { key: string; kind: Field["kind"]; options: string[]; inner: Question[] };
/** A response, with the numbers of computed fields. */
export type Submission = { version: number; result: Row };

export function mergeQuestions(versions: (readonly Field[])[]): Question[] {
  const found = new Map<string, Question>();
  for (const field of versions.flat()) {
    const question = found.get(field.key) ?? { key: field.key, kind: field.kind, options: [], inner: [] };
    found.set(field.key, question);
    if ("options" in field) question.options = [...new Set([...question.options, ...field.options])];
  }
  for (const question of found.values()) {
    const inner = versions.map((fields) => fields.find(({ key }) => key === question.key));
    question.inner = mergeQuestions(inner.map((field) => (field?.kind === "group" ? field.fields : [])).filter((fields) => fields.length > 0));
  }
  return [...found.values()];
}

function present(rows: Row[], key: string): unknown[] {
  return rows.map((row) => row[key]).filter((value) => value !== undefined && value !== null);
}

function median(sorted: number[]): number | null {
  const [low, high] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[Math.floor(sorted.length / 2)]];
  return low === undefined || high === undefined ? null : (low + high) / 2;
}

function chosen(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [value];
}

export function rowsOf(value: unknown): Row[] {
  return Array.isArray(value) ? value.filter(isRow) : [];
}

export function summarize(questions: Question[], rows: Row[]): object[] {
  return questions.flatMap((question) => {
    const values = present(rows, question.key);
    const common = { key: question.key, kind: question.kind, answers: values.length };
    switch (question.kind) {
      case "text":
        return [common];
      case "number":
      case "computed": {
        const numbers = values.filter((value) => typeof value === "number");
        const sorted = numbers.toSorted((a, b) => a - b);
        const sum = numbers.length === 0 ? null : numbers.reduce((total, number) => total + number, 0);
        return [{ ...common, sum, min: sorted.at(0) ?? null, max: sorted.at(-1) ?? null, median: median(sorted) }];
      }
      case "date": {
        const sorted = values.filter((value) => typeof value === "string").sort();
        return [{ ...common, first: sorted.at(0) ?? null, last: sorted.at(-1) ?? null }];
      }
      case "choice":
      case "choices": {
        const all = values.flatMap(chosen);
        const counts = question.options.map((option) => ({ option, count: all.filter((value) => value === option).length }));
        return [{ ...common, counts }];
      }
      case "group": {
        const inner = values.flatMap(rowsOf);
        return [{ ...common, rows: inner.length }, ...summarize(question.inner, inner)];
      }
    }
  });
}

export function crossed(rows: Question, columns: Question, results: Row[]): number[][] {
  const choices = results.map((result) => [present([result], rows.key).flatMap(chosen), present([result], columns.key).flatMap(chosen)] as const);
  return rows.options.map((row) =>
    columns.options.map((column) => choices.filter(([down, across]) => down.includes(row) && across.includes(column)).length),
  );
}

function cell(value: unknown): string {
  if (value === undefined || value === null) return "";
  const text = chosen(value).map(String).join(";");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csvOf(questions: Question[], submissions: Submission[]): string {
  const results = submissions.map(({ result }) => result);
  const columns: { name: string; of: (result: Row) => unknown }[] = questions.flatMap(({ key, kind, inner }) => {
    if (kind !== "group") return [{ name: key, of: (result: Row) => result[key] }];
    const most = Math.max(0, ...results.map((result) => rowsOf(result[key]).length));
    return Array.from({ length: most }, (_, row) =>
      inner.map((each) => ({ name: `${key}[${row}].${each.key}`, of: (result: Row) => rowsOf(result[key])[row]?.[each.key] })),
    ).flat();
  });
  const lines = [
    ["number", "version", ...columns.map(({ name }) => name)],
    ...submissions.map(({ version, result }, index) => [index + 1, version, ...columns.map(({ of }) => of(result))]),
  ];
  return lines.map((line) => `${line.map(cell).join(",")}\r\n`).join("");
}
