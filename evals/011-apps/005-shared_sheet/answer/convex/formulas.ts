/** Formulas as text: how they are read and evaluated. Cells are positions, counted from 0. */

export type Position = { row: number; column: number };
export type Value =
  | { kind: "number"; number: number }
  | { kind: "text"; text: string }
  | { kind: "error"; error: string }
  | { kind: "empty" };
type Token = { text: string; start: number; kind: "number" | "cell" | "name" | "ref" | "symbol" };
type Node =
  | { kind: "number"; number: number }
  | { kind: "cell"; at: Position }
  | { kind: "ref" }
  | { kind: "minus"; operand: Node }
  | { kind: "operator"; operator: string; left: Node; right: Node }
  | { kind: "call"; name: string; range: { from: Position; to: Position } | null };
/** A cell or a range as it stands in the text, from `start` to `end`. */
export type Mention = { start: number; end: number; from: Position; to: Position | null };
export type Formula = { root: Node; mentions: Mention[] };

const TOKEN = / *(?:(\d+(?:\.\d+)?)|([A-Z][1-9]\d*)|(SUM|COUNT|MAX)|(#REF!)|([-+*/():]))/y;

export function positionOf(name: string): Position {
  return { row: Number(name.slice(1)) - 1, column: name.charCodeAt(0) - 65 };
}

export function nameOf({ row, column }: Position): string {
  return `${String.fromCharCode(65 + column)}${row + 1}`;
}

function tokenize(text: string): Token[] | null {
  const tokens: Token[] = [];
  let at = 1;
  while (/[^ ]/.test(text.slice(at))) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    if (match === null) return null;
    const kinds = ["number", "cell", "name", "ref", "symbol"] as const;
    const index = kinds.findIndex((_, number) => match[number + 1] !== undefined);
    const token = match[index + 1];
    const kind = kinds[index];
    if (token === undefined || kind === undefined) return null;
    at = TOKEN.lastIndex;
    tokens.push({ text: token, start: at - token.length, kind });
  }
  return tokens;
}

class Parser {
  readonly mentions: Mention[] = [];
  private next = 0;

  constructor(private readonly tokens: Token[]) {}

  formula(): Node | null {
    const root = this.expression();
    return root !== null && this.next === this.tokens.length ? root : null;
  }

  private expression(): Node | null {
    return this.joined(["+", "-"], () => this.joined(["*", "/"], () => this.factor()));
  }

  private joined(operators: string[], operand: () => Node | null): Node | null {
    let left = operand();
    for (;;) {
      const token = this.tokens[this.next];
      if (left === null || token === undefined || !operators.includes(token.text)) return left;
      this.next += 1;
      const right = operand();
      left = right === null ? null : { kind: "operator", operator: token.text, left, right };
    }
  }

  private factor(): Node | null {
    const token = this.tokens[this.next];
    this.next += 1;
    if (token === undefined) return null;
    if (token.kind === "number") return { kind: "number", number: Number(token.text) };
    if (token.kind === "ref") return { kind: "ref" };
    if (token.kind === "name") return this.call(token.text);
    if (token.kind === "cell") {
      const at = positionOf(token.text);
      this.mentions.push({ start: token.start, end: token.start + token.text.length, from: at, to: null });
      return { kind: "cell", at };
    }
    if (token.text === "-") {
      const operand = this.factor();
      return operand === null ? null : { kind: "minus", operand };
    }
    if (token.text !== "(") return null;
    const inner = this.expression();
    return this.symbol(")") ? inner : null;
  }

  private call(name: string): Node | null {
    if (!this.symbol("(")) return null;
    const first = this.tokens[this.next];
    this.next += 1;
    if (first?.kind === "ref") return this.symbol(")") ? { kind: "call", name, range: null } : null;
    if (first?.kind !== "cell" || !this.symbol(":")) return null;
    const last = this.tokens[this.next];
    this.next += 1;
    if (last?.kind !== "cell" || !this.symbol(")")) return null;
    const [from, to] = [positionOf(first.text), positionOf(last.text)];
    if (from.row > to.row || from.column > to.column) return null;
    this.mentions.push({ start: first.start, end: last.start + last.text.length, from, to });
    return { kind: "call", name, range: { from, to } };
  }

  private symbol(text: string): boolean {
    const isThere = this.tokens[this.next]?.text === text;
    if (isThere) this.next += 1;
    return isThere;
  }
}

/** Null if the text is not a formula. */
export function parse(text: string): Formula | null {
  const tokens = text.startsWith("=") ? tokenize(text) : null;
  if (tokens === null) return null;
  const parser = new Parser(tokens);
  const root = parser.formula();
  return root === null ? null : { root, mentions: parser.mentions };
}

/** The formula as it is in a copy of the cell, so many rows and columns away. What would be outside becomes #REF!. */
export function moved(text: string, rows: number, columns: number, isInside: (at: Position) => boolean): string {
  const mentions = parse(text)?.mentions ?? [];
  let result = "";
  let end = 0;
  for (const mention of mentions) {
    const corners = [mention.from, ...(mention.to === null ? [] : [mention.to])].map(({ row, column }) => {
      return { row: row + rows, column: column + columns };
    });
    result += text.slice(end, mention.start) + (corners.every(isInside) ? corners.map(nameOf).join(":") : "#REF!");
    end = mention.end;
  }
  return result + text.slice(end);
}

function failure(error: string): Value {
  return { kind: "error", error };
}

function calculate(operator: string, left: Value, right: Value): Value {
  if (left.kind === "error") return left;
  if (right.kind === "error") return right;
  if (left.kind !== "number" || right.kind !== "number") return failure("#VALUE!");
  const [a, b] = [left.number, right.number];
  if (operator === "/" && b === 0) return failure("#DIV/0!");
  const number = operator === "+" ? a + b : operator === "-" ? a - b : operator === "*" ? a * b : a / b;
  return { kind: "number", number };
}

function call(name: string, values: Value[]): Value {
  const error = values.find((value) => value.kind === "error");
  if (error !== undefined) return error;
  const numbers = values.flatMap((value) => (value.kind === "number" ? [value.number] : []));
  if (name === "COUNT") return { kind: "number", number: numbers.length };
  if (name === "SUM") return { kind: "number", number: numbers.reduce((sum, number) => sum + number, 0) };
  return { kind: "number", number: numbers.length === 0 ? 0 : Math.max(...numbers) };
}

function evaluate(node: Node, lookup: (at: Position) => Value): Value {
  if (node.kind === "number") return node;
  if (node.kind === "ref") return failure("#REF!");
  if (node.kind === "cell") {
    const value = lookup(node.at);
    return value.kind === "empty" ? { kind: "number", number: 0 } : value;
  }
  if (node.kind === "minus") {
    return calculate("*", evaluate(node.operand, lookup), { kind: "number", number: -1 });
  }
  if (node.kind === "operator") {
    return calculate(node.operator, evaluate(node.left, lookup), evaluate(node.right, lookup));
  }
  return node.range === null ? failure("#REF!") : call(node.name, within(node.range).map(lookup));
}

function within({ from, to }: { from: Position; to: Position }): Position[] {
  const found: Position[] = [];
  for (let row = from.row; row <= to.row; row++) {
    for (let column = from.column; column <= to.column; column++) found.push({ row, column });
  }
  return found;
}

/** The values of all cells that are not empty, by name, from their inputs. */
export function valuesOf(inputs: ReadonlyMap<string, string>): Map<string, Value> {
  const formulas = new Map([...inputs].map(([name, input]) => [name, parse(input)]));
  const dependencies = new Map<string, string[]>();
  for (const [name, formula] of formulas) {
    const all = (formula?.mentions ?? []).flatMap(({ from, to }) => within({ from, to: to ?? from }).map(nameOf));
    dependencies.set(
      name,
      all.filter((each) => formulas.has(each)),
    );
  }
  const values = new Map<string, Value>();
  const valueOf = (name: string): Value => {
    const known = values.get(name);
    if (known !== undefined) return known;
    const value = isCircular(name, dependencies) ? failure("#CYCLE!") : fresh(inputs.get(name) ?? "", name);
    values.set(name, value);
    return value;
  };
  const fresh = (input: string, name: string): Value => {
    if (input === "") return { kind: "empty" };
    if (/^-?\d+(\.\d+)?$/.test(input)) return { kind: "number", number: Number(input) };
    if (!input.startsWith("=")) return { kind: "text", text: input };
    const formula = formulas.get(name) ?? null;
    return formula === null ? failure("#PARSE!") : evaluate(formula.root, (at) => valueOf(nameOf(at)));
  };
  for (const name of inputs.keys()) valueOf(name);
  return values;
}

function isCircular(start: string, dependencies: ReadonlyMap<string, string[]>): boolean {
  const seen = new Set<string>();
  const waiting = [...(dependencies.get(start) ?? [])];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (name === start) return true;
    if (seen.has(name)) continue;
    seen.add(name);
    waiting.push(...(dependencies.get(name) ?? []));
  }
  return false;
}
