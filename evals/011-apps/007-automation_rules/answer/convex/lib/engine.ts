import type { Infer } from "convex/values";
import { fields } from "../fields";
import type { entry } from "../schema";
import { type ActionOf, type ConditionOf, fill, type IssueOf, isAllowed, type RuleOf, rulesFor } from "./rules";

export const library = rulesFor(fields);
export type Issue = IssueOf<typeof fields>;
export type Rule = RuleOf<typeof fields>;
export type Action = ActionOf<typeof fields>;
type Condition = ConditionOf<typeof fields>;
type FieldName = keyof Issue;
type Value = Issue[FieldName];
export type Entry = Infer<typeof entry>;
/** A rule at work; `id` is what chains consist of. */
export type Active = { id: string; rule: Rule; counter: number; runs: number };
export type Delayed = { rule: Active; minutes: number; actions: Action[]; chain: string[] };
type Call = { rule: Active; url: string; values: Issue };
type Event = { on: Rule["on"]; before: Issue; after: Issue; chain: string[] };

const DAY = 24 * 60 * 60 * 1000;
const LIMIT = 25;
export const names = Object.keys(fields) as FieldName[];

const lower = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

export function isSame(one: Value, other: Value): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** The first field whose value is not as it has to be. */
export function invalidField(values: Partial<Issue>): FieldName | undefined {
  return names.find((name) => {
    const value = values[name];
    return value !== undefined && value !== null && !isAllowed(fields[name], value);
  });
}

export function sorted(labels: readonly string[]): string[] {
  return [...new Set(labels)].sort((a, b) => (a < b ? -1 : 1));
}

/** What a call leads to for one issue, without doing it. */
export class Engine {
  readonly log: Entry[] = [];
  readonly delayed: Delayed[] = [];
  readonly calls: Call[] = [];
  private readonly waiting: Event[] = [];
  private runs = 0;

  constructor(
    public values: Issue,
    private readonly rules: Active[],
    private readonly actor: string,
    private readonly now: number,
  ) {}

  /** Gives a field another value; does nothing if it has it. */
  private set(by: string, field: FieldName, value: Value): void {
    const from = this.values[field];
    if (isSame(from, value)) return;
    this.values = { ...this.values, [field]: value };
    this.log.push({ type: "set", by, field, from, to: value });
  }

  change(user: string, changes: Partial<Issue>): void {
    const before = this.values;
    for (const name of names) {
      const value = changes[name];
      if (value !== undefined) this.set(`user:${user}`, name, Array.isArray(value) ? sorted(value) : value);
    }
    this.changed(before, []);
  }

  private changed(before: Issue, chain: string[]): void {
    const after = this.values;
    if (names.some((name) => !isSame(before[name], after[name]))) this.begin("changed", before, chain);
  }

  begin(on: Event["on"], before: Issue = this.values, chain: string[] = []): void {
    this.waiting.push({ on, before, after: this.values, chain });
  }

  resume(rule: Active, actions: Action[], chain: string[]): void {
    const before = this.values;
    this.log.push({ type: "resumed", rule: rule.rule.name });
    for (const action of actions) this.act(rule, action, chain);
    this.changed(before, chain);
    this.handle();
  }

  handle(): void {
    for (let event = this.waiting.shift(); event !== undefined; event = this.waiting.shift()) {
      for (const rule of this.rules) {
        const { name, on, when } = rule.rule;
        if (on !== event.on || (when !== undefined && !this.holds(when, event))) continue;
        if (event.chain.filter((id) => id === rule.id).length >= 2) {
          this.log.push({ type: "cut", rule: name });
        } else if (this.runs >= LIMIT) {
          this.log.push({ type: "stopped" });
          return;
        } else this.run(rule, [...event.chain, rule.id]);
      }
    }
  }

  private run(rule: Active, chain: string[]): void {
    this.runs += 1;
    rule.runs += 1;
    const before = this.values;
    this.log.push({ type: "ran", rule: rule.rule.name });
    for (const action of rule.rule.then) this.act(rule, action, chain);
    this.changed(before, chain);
  }

  private act(active: Active, action: Action, chain: string[]): void {
    const rule = active.rule.name;
    const by = `rule:${rule}`;
    if (action.do === "set") this.set(by, action.field, this.resolved(action.value));
    else if (action.do === "label") {
      const removed = action.remove ?? [];
      const all = sorted([...this.values.labels, ...(action.add ?? [])]);
      this.set(by, "labels", all.filter((label) => !removed.includes(label)));
    } else if (action.do === "rotate") {
      this.set(by, "assignee", action.among[active.counter % action.among.length] ?? null);
      active.counter += 1;
    } else if (action.do === "comment") {
      this.log.push({ type: "commented", by, text: fill(action.text, (name) => this.shown(name)) });
    } else if (action.do === "after") {
      this.delayed.push({ rule: active, minutes: action.minutes, actions: action.then, chain });
      this.log.push({ type: "delayed", rule, minutes: action.minutes });
    } else {
      this.calls.push({ rule: active, url: action.url, values: this.values });
      this.log.push({ type: "called", rule, url: action.url });
    }
  }

  private shown(placeholder: string): string {
    const name = names.find((each) => each === placeholder);
    if (name === undefined) return this.actor;
    const value = this.values[name];
    return value === null ? "" : Array.isArray(value) ? value.join(", ") : String(value);
  }

  /** The value that a rule means today. */
  private resolved<T extends string | number | null>(value: T | { days: number }): T | string {
    if (typeof value !== "object" || value === null) return value;
    return new Date(this.now + value.days * DAY).toISOString().slice(0, 10);
  }

  private holds(condition: Condition, event: Event): boolean {
    if ("all" in condition) return condition.all.every((each) => this.holds(each, event));
    if ("any" in condition) return condition.any.some((each) => this.holds(each, event));
    if ("not" in condition) return !this.holds(condition.not, event);
    const { field } = condition;
    const value = this.values[field];
    switch (condition.op) {
      case "changed": {
        const [before, after] = [event.before[field], event.after[field]];
        if (isSame(before, after)) return false;
        if (condition.field === "labels") return true;
        const { from, to } = condition;
        return (from === undefined || this.resolved(from) === before) && (to === undefined || this.resolved(to) === after);
      }
      case "has":
        return condition.value.every((label) => this.values.labels.includes(label));
      case "is":
        return value === this.resolved(condition.value);
      case "oneOf":
        return condition.value.some((each) => value === this.resolved(each));
      case "contains":
        return typeof value === "string" && lower(value).includes(lower(condition.value));
      case "lt":
        return value !== null && value < this.resolved(condition.value);
      case "gt":
        return value !== null && value > this.resolved(condition.value);
      case "between":
        return value !== null && value >= this.resolved(condition.value[0]) && value <= this.resolved(condition.value[1]);
    }
  }
}
