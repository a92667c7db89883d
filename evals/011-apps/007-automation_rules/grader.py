"""Rules that are read from JSON, carried out in order and cut, and what the compiler knows about them."""

# ruff: noqa: E501 (snippets of TypeScript)

import copy
import json
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, Reply, Route, TypeChecks, WebServer, wait_until

HEAD = """
import type { FunctionArgs, FunctionReturnType } from "convex/server";
import { api } from "./_generated/api";
import { fields } from "./fields";
import { rulesFor, type ActionOf, type ConditionOf, type Fields, type IssueOf, type RuleOf } from "./lib/rules";
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? (0 extends 1 & A ? false : true) : false) : false;
type Tracker = typeof fields;
const rules = rulesFor(fields);
const shop = rulesFor({
  size: { type: "choice", required: true, options: ["s", "m", "l"] },
  fit: { type: "choice", required: false, options: ["slim", "wide"] },
  price: { type: "number", required: true },
  sold: { type: "date", required: false },
  buyer: { type: "user", required: true },
  hint: { type: "text", required: false },
  tags: { type: "labels" },
});
declare const condition: ConditionOf<Tracker>;
declare const action: ActionOf<Tracker>;
declare const rule: RuleOf<Tracker>;
declare const someText: string;
const then: ActionOf<Tracker>[] = [{ do: "comment", text: "a" }];
export function use() {
%s
}
"""


def when(made: str, on: str = "changed", of: str = "rules") -> str:
    return f"""
  return {of}.define({{ name: "a", on: "{on}", when: {made}, then: [{{ do: "rotate", among: ["ada"] }}] }});"""


def acts(made: str, of: str = "rules") -> str:
    return f"""
  return {of}.define({{ name: "a", on: "created", then: [{made}] }});"""


def both(name: str, make: "object", of: str, right: list[str], wrong: list[str]) -> None:
    for index, each in enumerate(right):
        COMPILES[f"{name} {index}"] = make(each, of=of)  # type: ignore[operator]
    for index, each in enumerate(wrong):
        REFUSED[f"{name} {index}"] = make(each, of=of)  # type: ignore[operator]


COMPILES: dict[str, str] = {
    "issues": """
  const one: Same<IssueOf<Tracker>, { title: string; notes: string | null; points: number | null; status: "open" | "active" | "blocked" | "done";
    severity: "minor" | "major" | "critical" | null; assignee: string | null; due: string | null; labels: string[] }> = true;
  return one;""",
    "issues of other fields": """
  const given = { a: { type: "number", required: true }, b: { type: "choice", required: false, options: ["x", "y"] }, c: { type: "labels" } } as const satisfies Fields;
  const one: Same<IssueOf<typeof given>, { a: number; b: "x" | "y" | null; c: string[] }> = true;
  const issue: IssueOf<typeof given> = { a: 1, b: "x", c: [] };
  issue.b = null;
  issue.c.push("a");
  return [one, rulesFor(given).define({ name: "a", on: "changed", when: { field: "b", op: "changed", to: null }, then: [{ do: "set", field: "a", value: 4 }] })];""",
    "parsed": """
  const parsed = rules.parse(someText);
  if (!parsed.ok) return parsed.mistakes.map(({ path, code }) => path.trim() + code.trim());
  const same: Same<typeof parsed.rule, RuleOf<Tracker>> = true;
  return [same, parsed.rule.name.trim(), parsed.rule.then.length];""",
    "parsed of other fields": """
  const parsed = shop.parse(someText);
  if (!parsed.ok) return null;
  for (const each of parsed.rule.then) if (each.do === "set" && each.field === "fit") { const fit: "slim" | "wide" | null = each.value; return fit; }
  return null;""",
    "narrowed actions": """
  switch (action.do) {
    case "set":
      if (action.field === "points") { const same: Same<typeof action.value, number | null> = true; return same; }
      if (action.field === "status") { const same: Same<typeof action.value, "open" | "active" | "blocked" | "done"> = true; return same; }
      if (action.field === "due") { const same: Same<typeof action.value, string | { days: number } | null> = true; return same; }
      return action.field;
    case "label": return [...(action.add ?? []), ...(action.remove ?? [])].map((label) => label.trim());
    case "rotate": return action.among.map((user) => user.trim());
    case "comment": return action.text.trim();
    case "after": for (const inner of action.then) { const other: "set" | "label" | "rotate" | "comment" | "webhook" = inner.do; return other; } return action.minutes.toFixed();
    case "webhook": return action.url.trim();
  }""",
    "narrowed conditions": """
  if ("all" in condition) return condition.all.length;
  if ("any" in condition) return condition.any.length;
  if ("not" in condition) { const inner: ConditionOf<Tracker> = condition.not; return inner; }
  if (condition.op === "contains") return [condition.value.trim(), condition.field satisfies "title" | "notes"];
  if (condition.op === "has") return condition.value.map((label) => label.trim());
  if (condition.op === "between") {
    if (condition.field === "points") { const [low, high] = condition.value; const same: [Same<typeof low, number>, Same<typeof high, number>] = [true, true]; return same; }
    const [low, high] = condition.value;
    const same: [Same<typeof low, string | { days: number }>, Same<typeof condition.field, "due">] = [true, true];
    return [same, high];
  }
  if (condition.op === "lt" || condition.op === "gt") { const same: Same<typeof condition.field, "points" | "due"> = true; return same; }
  if (condition.op === "oneOf" && condition.field === "severity") return condition.value.map((each) => each satisfies "minor" | "major" | "critical");
  if (condition.op === "changed" && condition.field === "points") { const same: Same<typeof condition.to, number | null | undefined> = true; return same; }
  if (condition.op === "is" && condition.field === "title") return condition.value.trim();
  return condition.field;""",
    "narrowed rules": """
  if (rule.on === "changed") { const same: Same<NonNullable<typeof rule.when>, ConditionOf<Tracker>> = true; return same; }
  const { when } = rule;
  return when === undefined || "all" in when || "any" in when || "not" in when ? null : (when.op satisfies "is" | "oneOf" | "contains" | "lt" | "gt" | "between" | "has");""",
    "results of functions": """
  type Entry = FunctionReturnType<typeof api.tracker.log>[number];
  type Previewed = FunctionReturnType<typeof api.tracker.preview>[number];
  const same: [Same<FunctionReturnType<typeof api.tracker.rules>[number]["rule"], RuleOf<Tracker>>, Same<FunctionReturnType<typeof api.tracker.issue>, IssueOf<Tracker>>,
    Same<Entry["type"], "created" | "commented" | "set" | "ran" | "cut" | "stopped" | "delayed" | "resumed" | "called" | "answered">] = [true, true, true];
  const show = (entry: Entry | Previewed) => entry.type === "delayed" ? entry.minutes.toFixed() : entry.type === "commented" ? entry.text + entry.by : entry.type === "ran" ? entry.rule.trim() : "";
  const status = (entry: Entry) => entry.type === "answered" ? entry.status?.toFixed() : entry.type === "called" ? entry.url.trim() : "";
  return [same, show, status];""",
    "arguments of functions": """
  const one: FunctionArgs<typeof api.tracker.create> = { user: "ada", values: { title: "a", status: "open" } };
  const two: FunctionArgs<typeof api.tracker.create>["values"] = { title: "a", status: "done", severity: null, points: 5, labels: ["a"] };
  return [one, two];""",
    "a rule": """
  const made: RuleOf<Tracker> = rules.define({ name: "a", on: "changed", when: { all: [{ field: "points", op: "gt", value: 3 }, { not: { any: [{ field: "status", op: "changed", from: "open" }] } }] }, then });
  return made;""",
    "comments": """
  const made: { do: "comment"; text: string }[] = [rules.comment("a"), rules.comment("{title} by {actor}: {labels}"), rules.comment("{}{{due}} }{ {"), rules.comment("{a{title}"), rules.comment(someText), shop.comment("{size}{price}")];
  return rules.define({ name: "a", on: "created", then: [...made, rules.comment("{points}")] });""",
}
REFUSED: dict[str, str] = {
    f"a comment with {text}": f'return rules.comment("{text}");'
    for text in (
        "{size}",
        "{Title}",
        "{title}{x}",
        "{ title}",
        "{x}{title}",
        "{{x}}",
        "a {title} b {a{titl}",
        "{title }",
    )
}
REFUSED |= {
    "a comment of other fields": 'return shop.comment("{title}");',
    "an option without a string": 'return rulesFor({ a: { type: "choice", required: true, options: [5] } });',
    "a type that is not there": 'return rulesFor({ a: { type: "bool", required: true } });',
    "a choice without options": 'return rulesFor({ a: { type: "choice", required: true } });',
    "a rule without a name": 'return rules.define({ on: "created", then });',
    "a rule on nothing": 'return rules.define({ name: "a", then });',
    "a rule on something else": 'return rules.define({ name: "a", on: "removed", then });',
    "a rule without actions": 'return rules.define({ name: "a", on: "created" });',
    "a rule with something else": 'return rules.define({ name: "a", on: "created", then, enabled: true });',
    "changed in a rule on creation": when('{ field: "points", op: "changed" }', "created"),
    "changed in a rule on comments": when('{ all: [{ not: { field: "points", op: "changed" } }] }', "commented"),
    "status null": 'const one: IssueOf<Tracker>["status"] = null; return one;',
}
COMPILES["other conditions in a rule on creation"] = when(
    '{ all: [{ not: { field: "points", op: "is", value: 3 } }] }', "created"
)
both(
    "conditions",
    when,
    "rules",
    [
        '{ field: "title", op: "is", value: "a" }',
        '{ field: "notes", op: "is", value: null }',
        '{ field: "status", op: "oneOf", value: ["open", "done"] }',
        '{ field: "due", op: "lt", value: { days: 3 } }',
        '{ field: "due", op: "between", value: ["2026-01-01", { days: 3 }] }',
        '{ field: "due", op: "oneOf", value: ["2026-01-01", { days: 3 }] }',
        '{ field: "due", op: "is", value: null }',
        '{ field: "points", op: "between", value: [1, 2] }',
        '{ field: "labels", op: "has", value: ["a"] }',
        '{ field: "labels", op: "changed" }',
        '{ field: "severity", op: "changed", from: null, to: "major" }',
        '{ field: "due", op: "changed", to: { days: 0 } }',
        '{ field: "assignee", op: "changed" }',
        '{ not: { all: [{ any: [{ not: { field: "assignee", op: "is", value: "ada" } }] }] } }',
    ],
    [
        '{ field: "title", op: "is", value: 5 }',
        '{ field: "title", op: "is", value: null }',
        '{ field: "status", op: "oneOf", value: ["open", "shut"] }',
        '{ field: "points", op: "lt", value: { days: 3 } }',
        '{ field: "due", op: "lt", value: { hours: 3 } }',
        '{ field: "due", op: "between", value: ["2026-01-01", 3] }',
        '{ field: "due", op: "oneOf", value: ["2026-01-01", null] }',
        '{ field: "due", op: "lt", value: null }',
        '{ field: "points", op: "between", value: [1, 2, 3] }',
        '{ field: "points", op: "between", value: [1] }',
        '{ field: "labels", op: "has", value: "a" }',
        '{ field: "labels", op: "is", value: ["a"] }',
        '{ field: "status", op: "changed", from: null, to: "open" }',
        '{ field: "severity", op: "changed", to: "open" }',
        '{ field: "points", op: "changed", to: "3" }',
        '{ field: "assignee", op: "contains", value: "a" }',
        '{ field: "points", op: "contains", value: "a" }',
        '{ field: "status", op: "lt", value: "open" }',
        '{ field: "size", op: "is", value: "s" }',
        '{ field: "title", op: "equals", value: "a" }',
        '{ field: "title", op: "is" }',
        '{ not: [{ field: "title", op: "is", value: "a" }] }',
        '{ all: { field: "title", op: "is", value: "a" } }',
        '{ not: { all: [{ any: [{ not: { field: "assignee", op: "is", value: 5 } }] }] } }',
        "{ none: [] }",
    ],
)
both(
    "conditions of other fields",
    when,
    "shop",
    [
        '{ field: "size", op: "is", value: "s" }',
        '{ field: "fit", op: "changed", to: null }',
        '{ field: "price", op: "gt", value: 3 }',
        '{ field: "sold", op: "gt", value: { days: -3 } }',
        '{ field: "tags", op: "has", value: ["a"] }',
        '{ field: "hint", op: "contains", value: "a" }',
    ],
    [
        '{ field: "size", op: "is", value: "xl" }',
        '{ field: "size", op: "is", value: "slim" }',
        '{ field: "size", op: "changed", to: null }',
        '{ field: "price", op: "is", value: null }',
        '{ field: "buyer", op: "gt", value: "a" }',
        '{ field: "labels", op: "has", value: ["a"] }',
        '{ field: "tags", op: "contains", value: "a" }',
    ],
)
both(
    "actions",
    acts,
    "rules",
    [
        '{ do: "set", field: "points", value: 3 }',
        '{ do: "set", field: "points", value: null }',
        '{ do: "set", field: "due", value: { days: 3 } }',
        '{ do: "set", field: "status", value: "done" }',
        '{ do: "label", add: ["a"] }',
        '{ do: "label", remove: ["a"] }',
        '{ do: "label", add: ["a"], remove: ["b"] }',
        '{ do: "rotate", among: ["ada", "ben"] }',
        '{ do: "after", minutes: 5, then: [{ do: "webhook", url: "http://a" }, { do: "set", field: "notes", value: "a" }] }',
        '{ do: "webhook", url: "http://a" }',
    ],
    [
        '{ do: "set", field: "points", value: "3" }',
        '{ do: "set", field: "status", value: null }',
        '{ do: "set", field: "notes", value: { days: 3 } }',
        '{ do: "set", field: "status", value: "minor" }',
        '{ do: "set", field: "labels", value: ["a"] }',
        '{ do: "set", field: "size", value: "s" }',
        '{ do: "set", field: "points" }',
        '{ do: "label" }',
        '{ do: "label", add: "a" }',
        '{ do: "rotate", among: "ada" }',
        '{ do: "rotate" }',
        '{ do: "comment" }',
        '{ do: "after", minutes: 5, then: [{ do: "after", minutes: 5, then: [] }] }',
        '{ do: "after", minutes: 5, then: [{ do: "set", field: "points", value: "a" }] }',
        '{ do: "after", then: [] }',
        '{ do: "webhook", uri: "http://a" }',
        '{ do: "close" }',
    ],
)
both(
    "actions of other fields",
    acts,
    "shop",
    [
        '{ do: "set", field: "fit", value: null }',
        '{ do: "set", field: "size", value: "l" }',
        '{ do: "set", field: "sold", value: { days: 1 } }',
    ],
    [
        '{ do: "set", field: "size", value: null }',
        '{ do: "set", field: "fit", value: "l" }',
        '{ do: "set", field: "tags", value: ["a"] }',
    ],
)
SNIPPETS = {
    name: HEAD % body
    for name, body in [
        *((f"compiles: {k}", b) for k, b in COMPILES.items()),
        *((f"refused: {k}", b) for k, b in REFUSED.items()),
    ]
}


@pytest.mark.parametrize("name", COMPILES)
def test_compiles(type_checks: TypeChecks, name: str) -> None:
    assert type_checks.errors(SNIPPETS)[f"compiles: {name}"] == ()


@pytest.mark.parametrize("name", REFUSED)
def test_does_not_compile(type_checks: TypeChecks, name: str) -> None:
    assert type_checks.errors(SNIPPETS)[f"refused: {name}"] != ()


Data = dict[str, Any]
Mistakes = list[dict[str, str]]

FIELDS: dict[str, Data] = {
    "title": {"type": "text", "required": True},
    "notes": {"type": "text", "required": False},
    "points": {"type": "number", "required": False},
    "status": {"type": "choice", "required": True, "options": ["open", "active", "blocked", "done"]},
    "severity": {"type": "choice", "required": False, "options": ["minor", "major", "critical"]},
    "assignee": {"type": "user", "required": False},
    "due": {"type": "date", "required": False},
    "labels": {"type": "labels"},
}
PLACEHOLDER = re.compile(r"\{([^{}]+)\}")


def is_day(text: str) -> bool:
    if not re.fullmatch(r"20\d\d-\d\d-\d\d", text, re.ASCII):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def is_allowed(definition: Data, value: Any) -> bool:
    """For a value of the right type."""
    match definition["type"]:
        case "text":
            return 1 <= len(value) <= 200
        case "number":
            return -1000000 <= value <= 1000000
        case "choice":
            return value in definition["options"]
        case "user":
            return bool(re.fullmatch("[a-z]{1,20}", value))
        case "date":
            return is_day(value)
    return all(is_label(label) for label in value)


def is_label(text: str) -> bool:
    return bool(re.fullmatch("[a-z0-9-]{1,20}", text))


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


Check = Callable[[Any, str], None]


class Reading:
    """Finds the mistakes in rules, as TASK.txt defines them."""

    def __init__(self, taken: set[str]) -> None:
        self.mistakes: Mistakes = []
        self.taken = set(taken)
        self.on: Any = None

    def add(self, path: str, code: str) -> None:
        self.mistakes.append({"path": path, "code": code})

    def text(self, *rules: tuple[Callable[[str], Any], str]) -> Check:
        def check(value: Any, path: str) -> None:
            wrong = ["TYPE"] if not isinstance(value, str) else [code for rule, code in rules if not rule(value)]
            for code in wrong[:1]:
                self.add(path, code)

        return check

    def whole(self, low: int, high: int) -> Check:
        def check(value: Any, path: str) -> None:
            if not is_number(value):
                self.add(path, "TYPE")
            elif value != int(value) or not low <= value <= high:
                self.add(path, "VALUE")

        return check

    def array(self, each: Check, low: int, high: int) -> Check:
        def check(value: Any, path: str) -> None:
            if not isinstance(value, list):
                self.add(path, "TYPE")
            elif not low <= len(value) <= high:
                self.add(path, "COUNT")
            else:
                for index, element in enumerate(value):
                    each(element, f"{path}[{index}]")

        return check

    def object(self, value: Data, path: str, known: dict[str, Check], optional: tuple[str, ...] = ()) -> None:
        for name, check in known.items():
            if name in value:
                check(value[name], joined(path, name))
            elif name not in optional:
                self.add(joined(path, name), "MISSING")
        for name in sorted(set(value) - set(known)):
            self.add(joined(path, name), "UNKNOWN")

    def single(self, value: Data, path: str, name: str, check: Check) -> bool:
        before = len(self.mistakes)
        self.object({key: value[key] for key in value if key == name}, path, {name: check})
        return len(self.mistakes) == before

    def value(self, definition: Data) -> Check:
        def check(value: Any, path: str) -> None:
            kind = definition["type"]
            if kind == "date" and isinstance(value, dict):
                self.object(value, path, {"days": self.whole(-365, 365)})
            elif not (is_number(value) if kind == "number" else isinstance(value, str)):
                self.add(path, "TYPE")
            elif not is_allowed(definition, value):
                self.add(path, "VALUE")

        return check

    def value_or_null(self, definition: Data) -> Check:
        def check(value: Any, path: str) -> None:
            if value is not None or definition["required"]:
                self.value(definition)(value, path)

        return check

    def between(self, definition: Data) -> Check:
        def check(value: Any, path: str) -> None:
            before = len(self.mistakes)
            self.array(self.value(definition), 2, 2)(value, path)
            if len(self.mistakes) == before:
                low, high = [each["days"] if isinstance(each, dict) else each for each in value]
                if isinstance(low, str) == isinstance(high, str) and high < low:
                    self.add(path, "VALUE")

        return check

    def operators(self, definition: Data) -> dict[str, dict[str, Check]]:
        kind = definition["type"]
        found: dict[str, dict[str, Check]] = {}
        if kind == "labels":
            found["has"] = {"value": self.array(self.text((is_label, "VALUE")), 1, 10)}
        else:
            found["is"] = {"value": self.value_or_null(definition)}
            found["oneOf"] = {"value": self.array(self.value(definition), 1, 10)}
        if kind == "text":
            found["contains"] = {"value": self.value(definition)}
        if kind in ("number", "date"):
            found |= {op: {"value": self.value(definition)} for op in ("lt", "gt")}
            found["between"] = {"value": self.between(definition)}
        if self.on not in ("created", "commented"):
            either = self.value_or_null(definition)
            found["changed"] = {} if kind == "labels" else {"from": either, "to": either}
        return found

    def condition(self, level: int) -> Check:
        def check(value: Any, path: str) -> None:
            if not isinstance(value, dict):
                return self.add(path, "TYPE")
            kind = next((name for name in ("all", "any", "not", "field") if name in value), None)
            if kind is None or level == 5:
                return self.add(path, "DEPTH" if kind else "KIND")
            inner = self.condition(level + 1)
            if kind == "not":
                return self.object(value, path, {"not": inner})
            if kind != "field":
                return self.object(value, path, {kind: self.array(inner, 1, 5)})
            if not self.single(value, path, "field", self.text((lambda name: name in FIELDS, "FIELD"))):
                return None
            operators = self.operators(FIELDS[value["field"]])
            if not self.single(value, path, "op", self.text((lambda op: op in operators, "OP"))):
                return None
            known = {"field": ignore, "op": ignore, **operators[value["op"]]}
            return self.object(value, path, known, ("from", "to"))

        return check

    def action(self, delayed: bool) -> Check:
        def check(value: Any, path: str) -> None:
            if not isinstance(value, dict):
                return self.add(path, "TYPE")
            labels = self.array(self.text((is_label, "VALUE")), 1, 10)
            placeholders = (
                lambda text: all(name in (*FIELDS, "actor") for name in PLACEHOLDER.findall(text)),
                "PLACEHOLDER",
            )
            kinds: dict[str, dict[str, Check]] = {
                "set": {},
                "label": {"add": labels, "remove": labels},
                "rotate": {
                    "among": self.array(self.text((lambda name: re.fullmatch("[a-z]{1,20}", name), "VALUE")), 1, 10)
                },
                "comment": {"text": self.text((lambda text: 1 <= len(text) <= 200, "VALUE"), placeholders)},
                "webhook": {"url": self.text((lambda url: len(url) <= 200 and re.match("https?://", url), "VALUE"))},
            }
            if not delayed:
                kinds["after"] = {"minutes": self.whole(1, 10080), "then": self.array(self.action(True), 1, 5)}
            if not self.single(value, path, "do", self.text((lambda kind: kind in kinds, "KIND"))):
                return None
            known = kinds[value["do"]]
            if value["do"] == "set":
                settable = self.text((lambda name: name in FIELDS and name != "labels", "FIELD"))
                if not self.single(value, path, "field", settable):
                    return None
                known = {"field": ignore, "value": self.value_or_null(FIELDS[value["field"]])}
            optional = ("add",) if "remove" in value else ("remove",)
            return self.object(value, path, {"do": ignore, **known}, optional if value["do"] == "label" else ())

        return check

    def rule(self, value: Any, path: str) -> None:
        if not isinstance(value, dict):
            return self.add(path, "TYPE")
        self.on = value.get("on")
        known = {
            "name": self.text(
                (lambda name: 1 <= len(name) <= 40, "VALUE"), (lambda name: name not in self.taken, "TAKEN")
            ),
            "on": self.text((lambda on: on in ("created", "changed", "commented"), "VALUE")),
            "when": self.condition(1),
            "then": self.array(self.action(False), 1, 5),
        }
        self.object(value, path, known, ("when",))
        return self.taken.add(value["name"]) if isinstance(value.get("name"), str) else None


def ignore(value: Any, path: str) -> None:
    pass


def mistakes_in(rule: Any, taken: set[str] = frozenset()) -> Mistakes:  # type: ignore[assignment]
    reading = Reading(taken)
    reading.rule(rule, "")
    return reading.mistakes


def mistakes_in_all(rules: Any, taken: set[str] = frozenset()) -> Mistakes:  # type: ignore[assignment]
    reading = Reading(taken)
    reading.array(reading.rule, 1, 20)(rules, "")
    return reading.mistakes


@dataclass(eq=False)
class Rule:
    """A rule that has been added."""

    rule: Data
    enabled: bool = True
    counter: int = 0
    runs: int = 0


@dataclass
class Event:
    on: str
    before: Data
    after: Data
    chain: list[Rule]


@dataclass
class Later:
    due: int
    issue: str
    rule: Rule
    actions: list[Data]
    chain: list[Rule]
    actor: str


@dataclass
class Truth:
    """The tracker as TASK.txt defines it."""

    rules: list[Rule] = field(default_factory=list)
    issues: dict[str, Data] = field(default_factory=dict)
    logs: dict[str, list[Data]] = field(default_factory=dict)
    later: list[Later] = field(default_factory=list)
    now: int = 0
    tied: bool = False

    def begin(self, issue: str, actor: str) -> None:
        self.issue, self.actor, self.runs, self.waiting = issue, actor, 0, []

    def log(self, kind: str, **entry: Any) -> None:
        self.logs[self.issue].append({"type": kind, **entry})

    def create(self, issue: str, user: str, values: Data) -> None:
        none = dict.fromkeys(FIELDS)
        self.issues[issue] = none | values | {"labels": sorted(set(values.get("labels", [])))}
        self.logs[issue] = []
        self.begin(issue, user)
        self.log("created", by=f"user:{user}")
        self.happen("created", self.issues[issue], [])
        self.handle()

    def change(self, issue: str, user: str, changes: Data) -> None:
        self.begin(issue, user)
        before = dict(self.issues[issue])
        for name in FIELDS:
            if name in changes:
                self.set(f"user:{user}", name, sorted(set(changes[name])) if name == "labels" else changes[name])
        self.changed(before, [])
        self.handle()

    def comment(self, issue: str, user: str, text: str) -> None:
        self.begin(issue, user)
        self.log("commented", by=f"user:{user}", text=text)
        self.happen("commented", self.issues[issue], [])
        self.handle()

    def advance(self, minutes: int) -> None:
        end = self.now + minutes * 60_000
        while due := [each for each in self.later if each.due <= end]:
            each = min(due, key=lambda later: later.due)
            self.tied |= any(other is not each and other.due - each.due < 5_000 for other in self.later)
            self.later.remove(each)
            self.now = each.due
            if each.rule.enabled and each.rule in self.rules:
                self.begin(each.issue, each.actor)
                before = dict(self.issues[each.issue])
                self.log("resumed", rule=each.rule.rule["name"])
                self.act(each.rule, each.actions, each.chain)
                self.changed(before, each.chain)
                self.handle()
        self.now = end

    def has_ties(self, minutes: int) -> bool:
        """Whether several things would be due at (about) the same time: their order is not stated."""
        ahead = copy.deepcopy(self)
        ahead.advance(minutes)
        return ahead.tied

    def set(self, by: str, name: str, value: Any) -> None:
        values = self.issues[self.issue]
        if values[name] != value:
            self.log("set", by=by, field=name, **{"from": values[name], "to": value})
            values[name] = value

    def happen(self, on: str, before: Data, chain: list[Rule]) -> None:
        self.waiting.append(Event(on, dict(before), dict(self.issues[self.issue]), chain))

    def changed(self, before: Data, chain: list[Rule]) -> None:
        if before != self.issues[self.issue]:
            self.happen("changed", before, chain)

    def handle(self) -> None:
        while self.waiting:
            event = self.waiting.pop(0)
            for rule in self.rules:
                when = rule.rule.get("when")
                if not rule.enabled or rule.rule["on"] != event.on or (when and not self.holds(when, event)):
                    continue
                if event.chain.count(rule) == 2:
                    self.log("cut", rule=rule.rule["name"])
                    continue
                if self.runs == 25:
                    self.waiting = []
                    return self.log("stopped")
                self.runs += 1
                rule.runs += 1
                before, chain = dict(self.issues[self.issue]), [*event.chain, rule]
                self.log("ran", rule=rule.rule["name"])
                self.act(rule, rule.rule["then"], chain)
                self.changed(before, chain)
        return None

    def act(self, rule: Rule, actions: list[Data], chain: list[Rule]) -> None:
        name = rule.rule["name"]
        by = f"rule:{name}"
        values = self.issues[self.issue]
        for action in actions:
            match action["do"]:
                case "set":
                    self.set(by, action["field"], self.resolved(action["value"]))
                case "label":
                    self.set(
                        by, "labels", sorted({*values["labels"], *action.get("add", [])} - {*action.get("remove", [])})
                    )
                case "rotate":
                    self.set(by, "assignee", action["among"][rule.counter % len(action["among"])])
                    rule.counter += 1
                case "comment":
                    self.log(
                        "commented", by=by, text=PLACEHOLDER.sub(lambda found: self.shown(found[1]), action["text"])
                    )
                case "after":
                    due = self.now + action["minutes"] * 60_000
                    self.later.append(Later(due, self.issue, rule, action["then"], chain, self.actor))
                    self.log("delayed", rule=name, minutes=action["minutes"])
                case "webhook":
                    self.log("called", rule=name, url=action["url"])

    def shown(self, name: str) -> str:
        value = self.actor if name == "actor" else self.issues[self.issue][name]
        if isinstance(value, list):
            return ", ".join(value)
        return "" if value is None else f"{value}".removesuffix(".0")

    def resolved(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return (datetime.fromtimestamp(self.now / 1000, UTC).date() + timedelta(days=value["days"])).isoformat()

    def holds(self, condition: Data, event: Event) -> bool:
        for kind, every in (("all", all), ("any", any)):
            if kind in condition:
                return every(self.holds(each, event) for each in condition[kind])
        if "not" in condition:
            return not self.holds(condition["not"], event)
        name, op, given = condition["field"], condition["op"], condition.get("value")
        value = self.issues[self.issue][name]
        match op:
            case "is":
                return value == self.resolved(given)
            case "oneOf":
                return value in [self.resolved(each) for each in given]
            case "has":
                return set(given) <= set(value)
            case "changed":
                before, after = event.before[name], event.after[name]
                wanted = [(condition[key], got) for key, got in (("from", before), ("to", after)) if key in condition]
                return before != after and all(self.resolved(each) == got for each, got in wanted)
        if value is None:
            return False
        match op:
            case "contains":
                return given.lower() in value.lower()
            case "lt":
                return value < self.resolved(given)
            case "gt":
                return value > self.resolved(given)
        return self.resolved(given[0]) <= value <= self.resolved(given[1])


# Random rules


@dataclass
class Dice:
    """Makes rules and values; `today` makes dates that matter."""

    chance: random.Random
    today: date

    def day(self) -> str:
        return (self.today + timedelta(days=self.chance.randint(-3, 3))).isoformat()

    def plain(self, name: str) -> Any:
        pick = self.chance.choice
        match FIELDS[name]["type"]:
            case "text":
                return pick(["Alpha", "beta Alpha", "gamma {x}", "a"])
            case "number":
                return pick([1, 2, 3, 2.5, -4])
            case "choice":
                return pick(FIELDS[name]["options"])
            case "user":
                return pick(["ada", "ben", "cyd"])
            case "date":
                return self.day()
        return self.labels(0)

    def labels(self, least: int = 1) -> list[str]:
        return [self.chance.choice(["ui", "db", "v-2", "0day"]) for _ in range(self.chance.randint(least, 3))]

    def value(self, name: str) -> Any:
        if FIELDS[name]["type"] == "date" and self.chance.random() < 0.5:
            return {"days": self.chance.randint(-2, 2)}
        return self.plain(name)

    def value_or_null(self, name: str) -> Any:
        return None if not FIELDS[name]["required"] and self.chance.random() < 0.25 else self.value(name)

    def condition(self, on: str, level: int = 1) -> Data:
        choice = self.chance.random() if level < 4 else 1
        if choice < 0.3:
            inner = [self.condition(on, level + 1) for _ in range(self.chance.randint(1, 3))]
            return {self.chance.choice(["all", "any"]): inner}
        if choice < 0.45:
            return {"not": self.condition(on, level + 1)}
        name = self.chance.choice(list(FIELDS))
        kind = FIELDS[name]["type"]
        if on == "changed" and self.chance.random() < 0.4:
            made = {"field": name, "op": "changed"}
            if kind != "labels":
                made |= {key: self.value_or_null(name) for key in ("from", "to") if self.chance.random() < 0.3}
            return made
        if kind == "labels":
            return {"field": name, "op": "has", "value": self.labels()[:2]}
        ops = ["is", "is", "oneOf"] + (
            ["contains"] * 2 if kind == "text" else ["lt", "gt", "between"] * (kind in ("number", "date"))
        )
        op = self.chance.choice(ops)
        value: Any = self.value_or_null(name) if op == "is" else self.value(name)
        if op == "contains":
            value = self.chance.choice(["ALPHA", "A", "beta"])
        elif op == "oneOf":
            value = [self.value(name) for _ in range(self.chance.randint(1, 3))]
        elif op == "between":
            value = [self.value(name), self.value(name)]
            if isinstance(value[0], dict) == isinstance(value[1], dict):
                value.sort(key=lambda each: each["days"] if isinstance(each, dict) else each)
        return {"field": name, "op": op, "value": value}

    def action(self, delayed: bool = False) -> Data:
        kinds = ["set"] * 6 + ["label"] * 2 + ["rotate", "comment"] + ["after"] * (not delayed)
        match self.chance.choice(kinds):
            case "set":
                name = self.chance.choice([name for name in FIELDS if name != "labels"])
                return {"do": "set", "field": name, "value": self.value_or_null(name)}
            case "label":
                keys = self.chance.choice([("add",), ("remove",), ("add", "remove")])
                return {"do": "label"} | {key: self.labels() for key in keys}
            case "rotate":
                return {"do": "rotate", "among": self.chance.sample(["ada", "ben", "cyd"], self.chance.randint(1, 3))}
            case "comment":
                text = self.chance.choice(
                    ["{title}: {points}", "{actor} {{due}} {labels}}", "{} {assignee}|{notes}|{severity}{"]
                )
                return {"do": "comment", "text": text}
        actions = [self.action(True) for _ in range(self.chance.randint(1, 2))]
        return {"do": "after", "minutes": self.chance.choice([30, 60, 1500]), "then": actions}

    def rule(self, name: str) -> Data:
        on = self.chance.choice(["changed", "changed", "changed", "created", "commented"])
        rule = {"name": name, "on": on, "then": [self.action() for _ in range(self.chance.randint(1, 3))]}
        if self.chance.random() < 0.8:
            rule["when"] = self.condition(on)
        return rule

    def changes(self) -> Data:
        names = self.chance.sample(list(FIELDS), self.chance.randint(1, 4))
        return {
            name: self.plain(name)
            if name == "labels" or self.chance.random() < 0.8 or FIELDS[name]["required"]
            else None
            for name in names
        }

    def spoiled(self, rule: Any) -> Any:
        """Changes something somewhere in a rule."""
        rule = copy.deepcopy(rule)
        holder: Any = {"it": rule}
        key: Any = "it"
        places = [(holder, key)]
        for inner, at in places:
            value = inner[at]
            if isinstance(value, dict | list):
                places += [(value, each) for each in (value if isinstance(value, dict) else range(len(value)))]
        inner, key = self.chance.choice(places[1:])
        value = inner[key]
        choice = self.chance.random()
        if choice < 0.2 and isinstance(inner, dict):
            del inner[key]
        elif choice < 0.4 and isinstance(value, dict):
            extra = [
                "value",
                "from",
                "x",
                "A",
                "toString",
                "any",
                "not",
                "field",
                "op",
                "name",
                "add",
                "then",
                "__proto__",
            ]
            value.setdefault(self.chance.choice(extra), self.chance.choice([1, "a", None, []]))
        elif choice < 0.5 and isinstance(value, list):
            inner[key] = value * 6 if self.chance.random() < 0.5 else []
        elif choice < 0.75 and isinstance(value, str):
            texts = [
                "",
                "labels",
                "points",
                "title",
                "changed",
                "is",
                "between",
                "after",
                "toString",
                "Ada",
                "2026-02-30",
                "x" * 201,
                "{x}",
            ]
            inner[key] = self.chance.choice(texts)
        elif choice < 0.85 and is_number(value):
            inner[key] = self.chance.choice([0, 1.5, 400, 10081, -1000001])
        elif choice < 0.92:
            inner[key] = {"not": {"not": {"not": {"not": value}}}}
        else:
            inner[key] = self.chance.choice([None, True, 5, "a", [], {}, [1], {"days": 3}])
        return rule


# The tests


@dataclass
class Desk:
    """Does the same to the deployment and to the truth."""

    project: Deployment
    truth: Truth
    done: list[Any] = field(default_factory=list)

    @classmethod
    def begin(cls, project: Deployment) -> "Desk":
        return cls(project, Truth(now=project.now()))

    def add(self, *rules: Data) -> None:
        for rule in rules:
            self.done.append(rule)
            assert self.project.mutation("tracker:addRule", text=json.dumps(rule)) == []
            self.truth.rules.append(Rule(rule))

    def create(self, user: str = "ada", **values: Any) -> str:
        values = {"title": "a", "status": "open"} | values
        self.done.append(("create", user, values))
        issue = self.project.mutation("tracker:create", user=user, values=values)
        self.truth.now = max(self.truth.now, self.project.now())
        self.truth.create(issue, user, values)
        self.check(issue)
        return issue

    def change(self, issue: str, user: str = "ada", **changes: Any) -> None:
        self.done.append(("change", user, changes))
        assert self.project.mutation("tracker:change", user=user, issue=issue, changes=changes) is None
        self.truth.change(issue, user, changes)
        self.check(issue)

    def comment(self, issue: str, user: str = "ada", text: str = "hi") -> None:
        self.done.append(("comment", user, text))
        assert self.project.mutation("tracker:comment", user=user, issue=issue, text=text) is None
        self.truth.comment(issue, user, text)
        self.check(issue)

    def advance(self, minutes: int) -> None:
        self.done.append(("advance", minutes))
        self.project.advance(minutes=minutes)
        self.truth.advance(minutes)

    def values(self, issue: str) -> Data:
        return self.project.query("tracker:issue", issue=issue)

    def log(self, issue: str) -> list[Data]:
        return self.project.query("tracker:log", issue=issue)

    def check(self, issue: str) -> None:
        for received, expected in (
            (self.log(issue), self.truth.logs[issue]),
            (self.values(issue), self.truth.issues[issue]),
        ):
            if received != expected:
                assert received == expected, f"after {self.done[-30:]}"

    def preview(self, issue: str, user: str, changes: Data, rule: Data | None = None) -> list[Data]:
        given = {} if rule is None else {"text": json.dumps(rule)}
        now = self.project.now()
        return self.project.query("tracker:preview", now=now, user=user, issue=issue, changes=changes, **given)

    def expected_preview(self, issue: str, user: str, changes: Data, rule: Data | None = None) -> list[Data]:
        truth = copy.deepcopy(self.truth)
        truth.now = self.project.now()
        if rule is not None:
            truth.rules.append(Rule(rule))
        length = len(truth.logs[issue])
        truth.change(issue, user, changes)
        return truth.logs[issue][length:]


def noon(project: Deployment) -> date:
    """Moves the clock to the beginning of an afternoon (UTC), so that nothing happens to happen at midnight."""
    now = datetime.fromtimestamp(project.now() / 1000, UTC)
    project.advance(minutes=(36 - now.hour) % 24 * 60 + 5)
    return datetime.fromtimestamp(project.now() / 1000, UTC).date()


@pytest.mark.parametrize("seed", range(6))
def test_rules_are_carried_out_as_they_are_written(project: Deployment, seed: int) -> None:
    with project.stopped_clock():
        dice = Dice(random.Random(seed), noon(project))
        desk = Desk.begin(project)
        desk.add(*(dice.rule(f"r{number}") for number in range(8)))
        issues = [desk.create(**dice.changes()) for _ in range(2)]
        for _ in range(14):
            issue, user = dice.chance.choice(issues), dice.chance.choice(["ada", "ben"])
            choice = dice.chance.random()
            if choice < 0.6:
                changes = dice.changes()
                rule = dice.rule("new") if dice.chance.random() < 0.5 else None
                assert desk.preview(issue, user, changes, rule) == desk.expected_preview(issue, user, changes, rule)
                desk.change(issue, user, **changes)
            elif choice < 0.75:
                desk.comment(issue, user)
            elif choice < 0.85:
                rule_ = dice.chance.choice(desk.truth.rules)
                rule_.enabled = not rule_.enabled
                project.mutation("tracker:setRule", name=rule_.rule["name"], enabled=rule_.enabled)
            elif not desk.truth.has_ties(minutes := dice.chance.choice([45, 70, 1600])):
                desk.advance(minutes)
                for each in issues:
                    desk.check(each)
        received = project.query("tracker:rules")
        assert received == [
            {"name": each.rule["name"], "enabled": each.enabled, "runs": each.runs, "rule": each.rule}
            for each in desk.truth.rules
        ]


@pytest.mark.parametrize("seed", range(8))
def test_all_mistakes_are_found(project: Deployment, seed: int) -> None:
    dice = Dice(random.Random(100 + seed), date(2026, 3, 5))
    for _ in range(5):
        rules = [dice.rule(f"r{number}") for number in range(18)]
        rules = [dice.spoiled(rule) for rule in rules]
        rules = [dice.spoiled(rule) if dice.chance.random() < 0.4 else rule for rule in rules] + [5]
        response = project.http.post("/rules", json=rules)
        expected = mistakes_in_all(rules)
        assert response.status == 400
        received = response.json()["mistakes"]
        for index, rule in enumerate(rules):
            mine = [each for each in received if each["path"].startswith(f"[{index}]")]
            assert mine == [each for each in expected if each["path"].startswith(f"[{index}]")], json.dumps(rule)
        assert received == expected
    assert project.query("tracker:rules") == []


def comparison(name: str, op: str, **more: Any) -> Data:
    return {"field": name, "op": op, **more}


def rule_with(when: Any = None, *actions: Any, on: str = "changed", name: str = "it") -> Data:
    rule = {"name": name, "on": on, "when": when, "then": list(actions) or [{"do": "comment", "text": "a"}]}
    return rule if when is not None else {key: value for key, value in rule.items() if key != "when"}


def deep(levels: int) -> Data:
    """A condition whose innermost one is at this level."""
    return comparison("points", "gt", value=1) if levels == 1 else {"not": deep(levels - 1)}


SET = {"do": "set", "field": "points", "value": 1}
WRONG: list[tuple[Any, list[tuple[str, str]]]] = [
    (5, [("", "TYPE")]),
    (None, [("", "TYPE")]),
    ([], [("", "TYPE")]),
    ({}, [("name", "MISSING"), ("on", "MISSING"), ("then", "MISSING")]),
    (
        {"then": [SET], "on": "created", "b": 1, "a": 2, "A": 3},
        [("name", "MISSING"), ("A", "UNKNOWN"), ("a", "UNKNOWN"), ("b", "UNKNOWN")],
    ),
    ({"name": "", "on": "now", "then": []}, [("name", "VALUE"), ("on", "VALUE"), ("then", "COUNT")]),
    ({"name": 5, "on": None, "then": {}}, [("name", "TYPE"), ("on", "TYPE"), ("then", "TYPE")]),
    ({"name": "x" * 41, "on": "created", "then": [SET] * 6}, [("name", "VALUE"), ("then", "COUNT")]),
    ({"name": "x" * 40, "on": "created", "when": None, "then": [SET] * 5}, [("when", "TYPE")]),
    (rule_with({}), [("when", "KIND")]),
    (rule_with({"op": "is", "value": 5}), [("when", "KIND")]),
    (rule_with({"all": []}), [("when.all", "COUNT")]),
    (rule_with({"all": {}}), [("when.all", "TYPE")]),
    (rule_with({"any": [deep(1)] * 6}), [("when.any", "COUNT")]),
    (rule_with({"any": [deep(1), {"not": {"not": 5}}, 5]}), [("when.any[1].not.not", "TYPE"), ("when.any[2]", "TYPE")]),
    (rule_with({"not": {}, "all": []}), [("when.all", "COUNT"), ("when.not", "UNKNOWN")]),
    (rule_with({"not": deep(1), "field": "points"}), [("when.field", "UNKNOWN")]),
    (rule_with(deep(5)), [("when.not.not.not.not", "DEPTH")]),
    (rule_with({"not": {"not": {"not": {"not": {}}}}}), [("when.not.not.not.not", "KIND")]),
    (rule_with({"not": {"not": {"not": {"not": {"field": 5}}}}}), [("when.not.not.not.not", "DEPTH")]),
    (rule_with({"not": {"not": {"not": {"not": 5}}}}), [("when.not.not.not.not", "TYPE")]),
    (rule_with({"field": 5, "x": 1}), [("when.field", "TYPE")]),
    (rule_with({"field": "x", "op": 5, "x": 1}), [("when.field", "FIELD")]),
    (rule_with({"field": "constructor", "op": "is", "value": 1}), [("when.field", "FIELD")]),
    (rule_with({"field": "points", "x": 1}), [("when.op", "MISSING")]),
    (rule_with({"field": "points", "op": 5, "x": 1}), [("when.op", "TYPE")]),
    (rule_with(comparison("points", "contains", value=5)), [("when.op", "OP")]),
    (rule_with(comparison("points", "toString", value=5)), [("when.op", "OP")]),
    (rule_with(comparison("labels", "is", value=[])), [("when.op", "OP")]),
    (rule_with(comparison("title", "lt", value="a")), [("when.op", "OP")]),
    (rule_with(comparison("assignee", "contains", value="a")), [("when.op", "OP")]),
    (rule_with(comparison("points", "changed"), on="created"), [("when.op", "OP")]),
    (rule_with({"not": comparison("points", "changed")}, on="commented"), [("when.not.op", "OP")]),
    (rule_with(comparison("points", "changed"), on="other"), [("on", "VALUE")]),
    (
        {"name": "a", "when": comparison("points", "changed", to="x"), "then": [SET]},
        [("on", "MISSING"), ("when.to", "TYPE")],
    ),
    (rule_with(comparison("points", "changed", value=5)), [("when.value", "UNKNOWN")]),
    (
        rule_with(comparison("labels", "changed", to=["a"], **{"from": []})),
        [("when.from", "UNKNOWN"), ("when.to", "UNKNOWN")],
    ),
    (
        rule_with(comparison("points", "is", value=1, to=2, **{"from": 1})),
        [("when.from", "UNKNOWN"), ("when.to", "UNKNOWN")],
    ),
    (
        rule_with(comparison("status", "changed", to="shut", **{"from": None})),
        [("when.from", "TYPE"), ("when.to", "VALUE")],
    ),
    (rule_with(comparison("severity", "changed", to=None, **{"from": "minor"})), []),
    (rule_with(comparison("points", "is")), [("when.value", "MISSING")]),
    (rule_with(comparison("points", "is", value="1")), [("when.value", "TYPE")]),
    (rule_with(comparison("points", "is", value=True)), [("when.value", "TYPE")]),
    (rule_with(comparison("points", "is", value=1000001)), [("when.value", "VALUE")]),
    (rule_with(comparison("points", "is", value=-1000000)), []),
    (rule_with(comparison("points", "is", value={"days": 1})), [("when.value", "TYPE")]),
    (rule_with(comparison("points", "lt", value=None)), [("when.value", "TYPE")]),
    (rule_with(comparison("points", "is", value=None)), []),
    (rule_with(comparison("title", "is", value=None)), [("when.value", "TYPE")]),
    (rule_with(comparison("title", "is", value="")), [("when.value", "VALUE")]),
    (rule_with(comparison("title", "is", value="x" * 200)), []),
    (rule_with(comparison("title", "contains", value="x" * 201)), [("when.value", "VALUE")]),
    (rule_with(comparison("assignee", "is", value="Ada")), [("when.value", "VALUE")]),
    (rule_with(comparison("assignee", "is", value="a" * 21)), [("when.value", "VALUE")]),
    (rule_with(comparison("assignee", "is", value="ada\n")), [("when.value", "VALUE")]),
    (
        rule_with(comparison("status", "oneOf", value=["open", None, "toString"])),
        [("when.value[1]", "TYPE"), ("when.value[2]", "VALUE")],
    ),
    (rule_with(comparison("status", "oneOf", value="open")), [("when.value", "TYPE")]),
    (rule_with(comparison("points", "oneOf", value=[])), [("when.value", "COUNT")]),
    (rule_with(comparison("points", "oneOf", value=["a"] * 11)), [("when.value", "COUNT")]),
    (rule_with(comparison("points", "oneOf", value=[1] * 10)), []),
    (rule_with(comparison("due", "gt", value="2026-02-29")), [("when.value", "VALUE")]),
    (rule_with(comparison("due", "gt", value="2028-02-29")), []),
    (rule_with(comparison("due", "gt", value="2026-2-3")), [("when.value", "VALUE")]),
    (rule_with(comparison("due", "gt", value="1999-12-31")), [("when.value", "VALUE")]),
    (rule_with(comparison("due", "gt", value="2026-01-01T00:00")), [("when.value", "VALUE")]),
    (rule_with(comparison("due", "is", value="2100-01-01")), [("when.value", "VALUE")]),
    (rule_with(comparison("due", "is", value=5)), [("when.value", "TYPE")]),
    (rule_with(comparison("due", "is", value=[])), [("when.value", "TYPE")]),
    (rule_with(comparison("due", "is", value={})), [("when.value.days", "MISSING")]),
    (
        rule_with(comparison("due", "is", value={"days": "1", "x": 1})),
        [("when.value.days", "TYPE"), ("when.value.x", "UNKNOWN")],
    ),
    (rule_with(comparison("due", "is", value={"days": 1.5})), [("when.value.days", "VALUE")]),
    (rule_with(comparison("due", "is", value={"days": 366})), [("when.value.days", "VALUE")]),
    (rule_with(comparison("due", "is", value={"days": -365})), []),
    (rule_with(comparison("points", "between", value=[2, 1])), [("when.value", "VALUE")]),
    (rule_with(comparison("points", "between", value=[1, 1])), []),
    (rule_with(comparison("points", "between", value=["a", 1])), [("when.value[0]", "TYPE")]),
    (rule_with(comparison("points", "between", value=[1])), [("when.value", "COUNT")]),
    (rule_with(comparison("points", "between", value=[3, 2, 1])), [("when.value", "COUNT")]),
    (rule_with(comparison("points", "between", value=5)), [("when.value", "TYPE")]),
    (rule_with(comparison("due", "between", value=["2026-01-02", "2026-01-01"])), [("when.value", "VALUE")]),
    (rule_with(comparison("due", "between", value=[{"days": 2}, {"days": -2}])), [("when.value", "VALUE")]),
    (rule_with(comparison("due", "between", value=[{"days": 2}, "2000-01-01"])), []),
    (rule_with(comparison("due", "between", value=["2099-01-01", {"days": 2}])), []),
    (
        rule_with(comparison("labels", "has", value=["a", "B", 5])),
        [("when.value[1]", "VALUE"), ("when.value[2]", "TYPE")],
    ),
    (rule_with(comparison("labels", "has", value=[])), [("when.value", "COUNT")]),
    (rule_with(comparison("labels", "has", value="a")), [("when.value", "TYPE")]),
    (rule_with(None, 5, [], {}), [("then[0]", "TYPE"), ("then[1]", "TYPE"), ("then[2].do", "MISSING")]),
    (rule_with(None, {"do": 5, "x": 1}, {"do": "toString"}), [("then[0].do", "TYPE"), ("then[1].do", "KIND")]),
    (
        rule_with(None, {"do": "set", "x": 1}, {"do": "set", "field": 5, "x": 1}),
        [("then[0].field", "MISSING"), ("then[1].field", "TYPE")],
    ),
    (
        rule_with(None, {"do": "set", "field": "labels", "value": []}, {"do": "set", "field": "x"}),
        [("then[0].field", "FIELD"), ("then[1].field", "FIELD")],
    ),
    (rule_with(None, {"do": "set", "field": "status", "value": None}), [("then[0].value", "TYPE")]),
    (
        rule_with(None, {"do": "set", "field": "due", "to": 5}),
        [("then[0].value", "MISSING"), ("then[0].to", "UNKNOWN")],
    ),
    (rule_with(None, {"do": "set", "field": "due", "value": {"days": 366}}), [("then[0].value.days", "VALUE")]),
    (rule_with(None, {"do": "label"}), [("then[0].add", "MISSING")]),
    (rule_with(None, {"do": "label", "labels": []}), [("then[0].add", "MISSING"), ("then[0].labels", "UNKNOWN")]),
    (rule_with(None, {"do": "label", "remove": 5, "add": []}), [("then[0].add", "COUNT"), ("then[0].remove", "TYPE")]),
    (rule_with(None, {"do": "label", "remove": ["a b"]}), [("then[0].remove[0]", "VALUE")]),
    (rule_with(None, {"do": "label", "add": ["a"] * 11}), [("then[0].add", "COUNT")]),
    (
        rule_with(None, {"do": "rotate", "among": []}, {"do": "rotate"}),
        [("then[0].among", "COUNT"), ("then[1].among", "MISSING")],
    ),
    (
        rule_with(None, {"do": "rotate", "among": ["ada", "", 5]}),
        [("then[0].among[1]", "VALUE"), ("then[0].among[2]", "TYPE")],
    ),
    (
        rule_with(None, {"do": "comment", "text": ""}, {"do": "comment", "text": 5}),
        [("then[0].text", "VALUE"), ("then[1].text", "TYPE")],
    ),
    (rule_with(None, {"do": "comment", "text": "{x}" * 67}), [("then[0].text", "VALUE")]),
    (
        rule_with(None, {"do": "comment", "text": "{x} {y}"}, {"do": "comment", "text": "{ title}"}),
        [("then[0].text", "PLACEHOLDER"), ("then[1].text", "PLACEHOLDER")],
    ),
    (
        rule_with(None, {"do": "comment", "text": "{{x}}"}, {"do": "comment", "text": "{constructor}"}),
        [("then[0].text", "PLACEHOLDER"), ("then[1].text", "PLACEHOLDER")],
    ),
    (rule_with(None, {"do": "comment", "text": "{} { x } {actor}".replace("{ x }", "{title{")}), []),
    (rule_with(None, {"do": "after"}), [("then[0].minutes", "MISSING"), ("then[0].then", "MISSING")]),
    (
        rule_with(None, {"do": "after", "minutes": 0, "then": []}),
        [("then[0].minutes", "VALUE"), ("then[0].then", "COUNT")],
    ),
    (
        rule_with(None, {"do": "after", "minutes": 1.5, "then": [SET] * 6}),
        [("then[0].minutes", "VALUE"), ("then[0].then", "COUNT")],
    ),
    (
        rule_with(None, {"do": "after", "minutes": 10081, "then": [{"do": "label"}]}),
        [("then[0].minutes", "VALUE"), ("then[0].then[0].add", "MISSING")],
    ),
    (
        rule_with(None, {"do": "after", "minutes": 10080, "then": [{"do": "after", "minutes": 1, "then": [SET]}]}),
        [("then[0].then[0].do", "KIND")],
    ),
    (
        rule_with(None, {"do": "webhook", "url": "ftp://a"}, {"do": "webhook", "url": "http://" + "a" * 194}),
        [("then[0].url", "VALUE"), ("then[1].url", "VALUE")],
    ),
    (
        rule_with(None, {"do": "webhook", "url": None}, {"do": "webhook", "uri": "http://a"}),
        [("then[0].url", "TYPE"), ("then[1].url", "MISSING"), ("then[1].uri", "UNKNOWN")],
    ),
    (rule_with(None, {"do": "webhook", "url": "http://" + "a" * 193}, {"do": "webhook", "url": "https://a"}), []),
]


def test_each_mistake_is_reported(project: Deployment) -> None:
    for rule, pairs in WRONG:
        expected = [{"path": path, "code": code} for path, code in pairs]
        assert mistakes_in(rule) == expected, rule
        assert project.mutation("tracker:addRule", text=json.dumps(rule)) == expected, json.dumps(rule)
        if not expected:
            assert [each["rule"] for each in project.query("tracker:rules")] == [rule]
            project.mutation("tracker:removeRule", name=rule["name"])
    assert project.query("tracker:rules") == []


def test_text_that_is_not_json_is_a_mistake(project: Deployment) -> None:
    for text in ("", "{", "{'name': 1}", "undefined", "[1,]"):
        assert project.mutation("tracker:addRule", text=text) == [{"path": "", "code": "JSON"}]
        response = project.http.post("/rules", body=text.encode())
        assert (response.status, response.json()) == (400, {"mistakes": [{"path": "", "code": "JSON"}]})


def test_properties_that_all_objects_have_are_not_there(project: Deployment) -> None:
    text = '{"name": "a", "on": "created", "then": [{"do": "label", "__proto__": {"add": ["a"]}}], "__proto__": {"when": 5}}'
    assert project.mutation("tracker:addRule", text=text) == [
        {"path": "then[0].add", "code": "MISSING"},
        {"path": "then[0].__proto__", "code": "UNKNOWN"},
        {"path": "__proto__", "code": "UNKNOWN"},
    ]


def test_names_are_taken_once(project: Deployment) -> None:
    desk = Desk.begin(project)
    desk.add(rule_with(name="a"))
    taken = {"path": "name", "code": "TAKEN"}
    assert project.mutation("tracker:addRule", text=json.dumps(rule_with(name="a"))) == [taken]
    wrong = {"name": "a", "on": 5, "then": []}
    assert project.mutation("tracker:addRule", text=json.dumps(wrong)) == [taken, *mistakes_in(wrong)]
    project.mutation("tracker:setRule", name="a", enabled=False)
    assert project.mutation("tracker:addRule", text=json.dumps(rule_with(name="a"))) == [taken]
    rules = [
        rule_with(name="b"),
        rule_with(name="a"),
        {**rule_with(name="c"), "x": 1},
        rule_with(name="c"),
        rule_with(name="b"),
    ]
    response = project.http.post("/rules", json=rules)
    assert (response.status, response.json()) == (400, {"mistakes": mistakes_in_all(rules, {"a"})})
    assert [each["path"] for each in response.json()["mistakes"]] == ["[1].name", "[2].x", "[3].name", "[4].name"]
    project.mutation("tracker:removeRule", name="a")
    assert project.mutation("tracker:addRule", text=json.dumps(rule_with(name="a"))) == []


def test_rules_are_imported_all_or_none(project: Deployment) -> None:
    rules = [rule_with(name="b"), rule_with(deep(4), SET, on="created", name="a"), rule_with(name="c")]
    response = project.http.post("/rules", json=[*rules, rule_with(deep(5), name="d")])
    assert (response.status, response.json()) == (
        400,
        {"mistakes": [{"path": "[3].when.not.not.not.not", "code": "DEPTH"}]},
    )
    assert project.query("tracker:rules") == []
    response = project.http.post("/rules", json=rules)
    assert (response.status, response.json()) == (200, {"mistakes": []})
    assert project.query("tracker:rules") == [
        {"name": each["name"], "enabled": True, "runs": 0, "rule": each} for each in rules
    ]
    for wrong, code in (
        ([], "COUNT"),
        ({}, "TYPE"),
        (5, "TYPE"),
        ([rule_with(name=f"x{n}") for n in range(21)], "COUNT"),
    ):
        response = project.http.post("/rules", json=wrong)
        assert (response.status, response.json()) == (400, {"mistakes": [{"path": "", "code": code}]})


def test_there_are_at_most_twenty_rules(project: Deployment) -> None:
    limit = [{"path": "", "code": "LIMIT"}]
    rules = [rule_with(name=f"r{number}") for number in range(20)]
    for number in range(10):
        assert project.mutation("tracker:addRule", text=json.dumps(rules[number])) == []
    response = project.http.post("/rules", json=[*rules[10:], rule_with(name="more")])
    assert (response.status, response.json()) == (400, {"mistakes": limit})
    response = project.http.post("/rules", json=[*rules[10:], {"name": "more"}])
    assert response.json()["mistakes"] == [
        {"path": "[10].on", "code": "MISSING"},
        {"path": "[10].then", "code": "MISSING"},
    ]
    assert project.http.post("/rules", json=rules[10:]).status == 200
    assert [each["name"] for each in project.query("tracker:rules")] == [each["name"] for each in rules]
    assert project.mutation("tracker:addRule", text=json.dumps(rule_with(name="more"))) == limit
    assert project.mutation("tracker:addRule", text=json.dumps(rule_with(name="r1"))) == [
        {"path": "name", "code": "TAKEN"}
    ]
    project.mutation("tracker:removeRule", name="r3")
    assert project.mutation("tracker:addRule", text=json.dumps(rule_with(name="more"))) == []
    assert [each["name"] for each in project.query("tracker:rules")][-1] == "more"


def setting(name: str, value: Any) -> Data:
    return {"do": "set", "field": name, "value": value}


def test_a_rule_that_is_already_twice_in_the_chain_is_cut(project: Deployment) -> None:
    desk = Desk.begin(project)
    desk.add(rule_with(None, {"do": "rotate", "among": ["ada", "ben"]}, name="turn"))
    issue = desk.create()
    desk.change(issue, points=1)
    assert [entry["type"] for entry in desk.log(issue)] == ["created", "set", "ran", "set", "ran", "set", "cut"]
    desk.add(rule_with(comparison("points", "is", value=1), setting("points", 2), name="up"))
    desk.add(rule_with(comparison("points", "is", value=2), setting("points", 1), name="down"))
    for points in (3, 1, 2):
        desk.change(issue, points=points)
    assert [each["runs"] for each in project.query("tracker:rules")] == [each.runs for each in desk.truth.rules]


def test_after_25_runs_handling_stops(project: Deployment) -> None:
    desk = Desk.begin(project)
    for number in range(6):
        name, other = (("points", "notes"), ("notes", "due"), ("due", "points"))[number % 3]
        value = {"points": number, "notes": f"n{number}", "due": f"2026-01-0{number + 1}"}[other]
        desk.add(rule_with(comparison(name, "changed"), setting(other, value), name=f"r{number}"))
    desk.add(
        rule_with(None, {"do": "after", "minutes": 5, "then": [setting("points", 77)]}, on="commented", name="later")
    )
    issue = desk.create()
    desk.change(issue, points=99)
    stopped = [entry for entry in desk.log(issue) if entry["type"] == "stopped"]
    ran = [entry for entry in desk.log(issue) if entry["type"] == "ran"]
    assert (len(stopped), len(ran)) == (1, 25)
    assert desk.log(issue)[-1] == {"type": "stopped"}
    desk.comment(issue)
    desk.advance(6)
    desk.check(issue)
    assert len([entry for entry in desk.log(issue) if entry["type"] == "ran"]) == 51
    desk.change(issue, points=98)
    assert len([entry for entry in desk.log(issue) if entry["type"] == "stopped"]) == 3


def test_exactly_25_runs_do_not_stop_anything(project: Deployment) -> None:
    desk = Desk.begin(project)
    desk.add(
        *(rule_with(None, {"do": "comment", "text": "a"}, on="created", name=f"c{number}") for number in range(13))
    )
    desk.add(rule_with(None, setting("points", 5), on="created", name="last"))
    desk.add(*(rule_with(None, {"do": "comment", "text": "b"}, name=f"d{number}") for number in range(5)))
    desk.add(rule_with(comparison("points", "is", value=5), setting("points", 6), name="six"))
    kinds = [entry["type"] for entry in desk.log(desk.create())]
    assert (kinds.count("ran"), kinds.count("stopped")) == (25, 0)
    project.mutation("tracker:removeRule", name="c0")
    desk.truth.rules.pop(0)
    desk.add(rule_with(None, {"do": "comment", "text": "b"}, name="d5"))
    kinds = [entry["type"] for entry in desk.log(desk.create())]
    assert (kinds.count("ran"), kinds.count("stopped")) == (25, 1)


def test_events_wait_for_their_turn(project: Deployment) -> None:
    desk = Desk.begin(project)
    desk.add(rule_with(None, setting("points", 1), on="commented", name="a"))
    desk.add(rule_with(comparison("points", "is", value=1), setting("status", "active"), on="commented", name="b"))
    desk.add(rule_with(comparison("points", "changed", to=1), setting("points", 2), name="c"))
    desk.add(
        rule_with(
            comparison("status", "changed", to="active"), {"do": "comment", "text": "{points} by {actor}"}, name="d"
        )
    )
    desk.add(
        rule_with(
            comparison("points", "changed", **{"from": None}), setting("notes", "x"), setting("notes", None), name="e"
        )
    )
    issue = desk.create()
    desk.comment(issue, "ben")
    assert [entry["rule"] for entry in desk.log(issue) if entry["type"] == "ran"] == ["a", "b", "c", "e", "d"]
    assert desk.log(issue)[-1] == {"type": "commented", "by": "rule:d", "text": "2 by ben"}


def test_a_change_that_changes_nothing_is_no_event(project: Deployment) -> None:
    desk = Desk.begin(project)
    desk.add(rule_with(None, {"do": "comment", "text": "changed"}, name="a"))
    issue = desk.create(points=3, labels=["b", "a", "b"])
    assert desk.values(issue)["labels"] == ["a", "b"]
    desk.change(issue, points=3, labels=["b", "a", "a"], notes=None)
    desk.change(issue)
    assert desk.log(issue) == [{"type": "created", "by": "user:ada"}]
    desk.change(issue, labels=["b"], title="b", points=None)
    assert [entry.get("field") for entry in desk.log(issue)[1:]] == ["title", "points", "labels", None, None]


def test_what_is_for_later_is_dropped_without_its_rule(project: Deployment) -> None:
    with project.stopped_clock():
        noon(project)
        desk = Desk.begin(project)
        later = {
            "do": "after",
            "minutes": 60,
            "then": [setting("due", {"days": 1}), {"do": "comment", "text": "{actor}: {due}"}],
        }
        for name in ("off", "gone", "again", "back", "stays"):
            desk.add(rule_with(None, later | {"minutes": 60 + len(name)}, on="commented", name=name))
        issue = desk.create()
        desk.comment(issue, "ben")
        desk.advance(30)
        for name in ("gone", "again"):
            project.mutation("tracker:removeRule", name=name)
        for name, enabled in (("off", False), ("back", False), ("back", True)):
            project.mutation("tracker:setRule", name=name, enabled=enabled)
        desk.truth.rules = [each for each in desk.truth.rules if each.rule["name"] not in ("gone", "again")]
        desk.truth.rules[0].enabled = False
        desk.add(
            rule_with(comparison("due", "changed", to={"days": 1}), {"do": "comment", "text": "due"}, name="again")
        )
        desk.advance(60)
        desk.check(issue)
        assert [entry["rule"] for entry in desk.log(issue) if entry["type"] == "resumed"] == ["back", "stays"]
        project.mutation("tracker:setRule", name="off", enabled=True)
        desk.advance(600)
        assert [entry["rule"] for entry in desk.log(issue) if entry["type"] == "resumed"] == ["back", "stays"]


def test_today_is_the_day_on_which_the_actions_are_carried_out(project: Deployment) -> None:
    with project.stopped_clock():
        today = noon(project)
        desk = Desk.begin(project)
        desk.add(
            rule_with(
                None,
                {"do": "after", "minutes": 1440 * 2, "then": [setting("due", {"days": -1})]},
                on="commented",
                name="a",
            )
        )
        desk.add(rule_with(comparison("due", "changed", to={"days": -1}), setting("notes", "{title}"), name="b"))
        issue = desk.create(due=today.isoformat())
        desk.comment(issue)
        desk.advance(1440 * 2 + 1)
        desk.check(issue)
        assert desk.values(issue)["due"] == (today + timedelta(days=1)).isoformat()
        assert desk.values(issue)["notes"] == "{title}"


def test_a_delay_keeps_its_chain(project: Deployment) -> None:
    desk = Desk.begin(project)
    on, off = comparison("points", "is", value=1), comparison("points", "is", value=2)
    desk.add(rule_with(on, {"do": "after", "minutes": 1, "then": [setting("points", 2)]}, name="on"))
    desk.add(rule_with(off, {"do": "after", "minutes": 2, "then": [setting("points", 1)]}, name="off"))
    issue = desk.create()
    desk.change(issue, points=1)
    desk.advance(60)
    desk.check(issue)
    assert [entry["type"] for entry in desk.log(issue)].count("resumed") == 4
    assert desk.log(issue)[-1] == {"type": "cut", "rule": "on"}


def test_rotation_goes_on_where_it_was(project: Deployment) -> None:
    desk = Desk.begin(project)
    one, two = {"do": "rotate", "among": ["ada", "ben", "cyd"]}, {"do": "rotate", "among": ["dan", "eve"]}
    desk.add(rule_with(None, one, on="commented", name="a"), rule_with(None, two, one, on="created", name="b"))
    issues = [desk.create() for _ in range(3)]
    assert [desk.values(issue)["assignee"] for issue in issues] == ["ben", "ada", "cyd"]
    found = []
    for _ in range(4):
        desk.comment(issues[0])
        found.append(desk.values(issues[0])["assignee"])
    assert found == ["ada", "ben", "cyd", "ada"]
    project.mutation("tracker:removeRule", name="a")
    desk.truth.rules.pop(0)
    desk.add(rule_with(None, one, on="commented", name="a"))
    desk.comment(issues[1])
    assert desk.values(issues[1])["assignee"] == "ada"


def test_webhooks_are_called_once_after_the_transaction(project: Deployment, web_server: WebServer) -> None:
    url = web_server.reply("POST", "/hook", Reply.text("no", 503))
    dead = f"{web_server.nobody}/x"
    desk = Desk.begin(project)
    hook = {"do": "webhook", "url": url}
    desk.add(
        rule_with(
            None, setting("points", 4), hook, setting("points", 5), setting("due", None), on="created", name="first"
        )
    )
    desk.add(
        rule_with(
            None,
            {"do": "webhook", "url": dead},
            {"do": "after", "minutes": 9, "then": [hook]},
            on="commented",
            name="second",
        )
    )
    issue = project.mutation(
        "tracker:create", user="ada", values={"title": "t", "status": "open", "labels": ["b", "a"], "due": "2026-01-01"}
    )

    def answers() -> list[Data]:
        return [entry for entry in desk.log(issue) if entry["type"] == "answered"]

    wait_until(answers, "the entry of the answer")
    values = {
        "title": "t",
        "notes": None,
        "points": 4,
        "status": "open",
        "severity": None,
        "assignee": None,
        "due": "2026-01-01",
        "labels": ["a", "b"],
    }
    assert [request.json() for request in web_server.requests] == [{"rule": "first", "issue": issue, "values": values}]
    assert desk.log(issue)[1:4] == [
        {"type": "ran", "rule": "first"},
        {"type": "set", "by": "rule:first", "field": "points", "from": None, "to": 4},
        {"type": "called", "rule": "first", "url": url},
    ]
    assert desk.log(issue)[-1] == {"type": "answered", "rule": "first", "url": url, "status": 503}
    project.mutation("tracker:comment", user="ada", issue=issue, text="x")
    wait_until(lambda: len(answers()) == 2, "the second entry")
    assert answers()[-1] == {"type": "answered", "rule": "second", "url": dead, "status": None}
    project.query(
        "tracker:preview",
        now=project.now(),
        user="ada",
        issue=issue,
        changes={"points": 1},
        text=json.dumps(rule_with(None, hook, name="new")),
    )
    project.advance(minutes=10)
    wait_until(lambda: len(answers()) == 3, "the third entry")
    project.advance(minutes=600)
    assert [request.json()["rule"] for request in web_server.requests] == ["first", "second"]
    assert [entry["type"] for entry in desk.log(issue)][-3:] == ["resumed", "called", "answered"]


def test_a_preview_does_nothing(project: Deployment) -> None:
    with project.stopped_clock():
        noon(project)
        desk = Desk.begin(project)
        desk.add(
            rule_with(
                None,
                {"do": "rotate", "among": ["ada", "ben"]},
                {"do": "after", "minutes": 5, "then": [SET]},
                setting("due", {"days": 3}),
                name="a",
            )
        )
        issue = desk.create()
        new = rule_with(
            comparison("points", "is", value=7),
            {"do": "rotate", "among": ["cyd", "dan"]},
            {"do": "webhook", "url": "http://127.0.0.1:1/"},
            name="a",
        )
        for _ in range(3):
            assert desk.preview(issue, "ben", {"points": 7}, new) == desk.expected_preview(
                issue, "ben", {"points": 7}, new
            )
        now = project.now() + 40 * 86_400_000
        entries = project.query("tracker:preview", now=now, user="ben", issue=issue, changes={"points": 8})
        ahead = (datetime.fromtimestamp(now / 1000, UTC).date() + timedelta(days=3)).isoformat()
        assert {"type": "set", "by": "rule:a", "field": "due", "from": None, "to": ahead} in entries
        assert {"type": "delayed", "rule": "a", "minutes": 5} in entries
        assert desk.preview(issue, "ben", {"points": None}, new) == []
        desk.advance(60)
        desk.check(issue)
        assert project.query("tracker:rules") == [
            {"name": "a", "enabled": True, "runs": 0, "rule": desk.truth.rules[0].rule}
        ]
        desk.change(issue, points=7)


def test_a_preview_says_what_is_wrong_with_its_rule(project: Deployment) -> None:
    desk = Desk.begin(project)
    issue = desk.create()
    arguments = {"now": project.now(), "user": "ada", "issue": issue}
    for text, mistakes in (("{", [{"path": "", "code": "JSON"}]), (json.dumps(WRONG[4][0]), mistakes_in(WRONG[4][0]))):
        with project.fails(data={"code": "INVALID", "mistakes": mistakes}):
            project.query("tracker:preview", **arguments, changes={"title": ""}, text=text)
    for given in ({}, {"text": json.dumps(rule_with())}):
        with project.fails(data={"code": "INVALID", "field": "title"}):
            project.query("tracker:preview", **arguments, changes={"points": 1, "title": ""}, **given)
    for number in range(20):
        desk.add(rule_with(deep(1), name=f"r{number}"))
    entries = project.query(
        "tracker:preview", **arguments, changes={"points": 0.5}, text=json.dumps(rule_with(None, name="r3"))
    )
    assert [entry.get("rule") for entry in entries] == [None, "r3", None]


WRONG_VALUES: list[tuple[str, Data]] = [
    ("title", {"title": ""}),
    ("title", {"title": "x" * 201, "notes": ""}),
    ("notes", {"notes": "", "labels": ["A"]}),
    ("points", {"points": 1000001, "assignee": ""}),
    ("assignee", {"assignee": "Ada"}),
    ("due", {"due": "2026-04-31"}),
    ("due", {"due": "tomorrow", "labels": [""]}),
    ("labels", {"labels": ["a", "b_c"]}),
]


def test_values_must_be_as_stated(project: Deployment) -> None:
    desk = Desk.begin(project)
    desk.add(rule_with(None, name="a"))
    issue = desk.create()
    for name, values in WRONG_VALUES:
        with project.fails(data={"code": "INVALID", "field": name}):
            project.mutation("tracker:change", user="ada", issue=issue, changes=values)
        with project.fails(data={"code": "INVALID", "field": name}):
            project.mutation("tracker:create", user="ada", values={"title": "a", "status": "open", **values})
    desk.check(issue)
    refused: list[Data] = [
        {"title": None},
        {"title": 5},
        {"status": None},
        {"status": "shut"},
        {"severity": "open"},
        {"points": "1"},
        {"labels": None},
        {"labels": "a"},
        {"labels": [5]},
    ]
    refused += [{"due": 5}, {"due": {"days": 1}}, {"assignee": True}, {"notes": 5}, {"other": 5}]
    for changes in refused:
        with project.fails("ArgumentValidationError"):
            project.mutation("tracker:change", user="ada", issue=issue, changes=changes)
        with project.fails("ArgumentValidationError"):
            project.mutation("tracker:create", user="ada", values={"title": "a", "status": "open", **changes})
        with project.fails("ArgumentValidationError"):
            project.query("tracker:preview", now=0, user="ada", issue=issue, changes=changes)
    for values in ({"title": "a"}, {"status": "open"}):
        with project.fails("ArgumentValidationError"):
            project.mutation("tracker:create", user="ada", values=values)
    desk.change(
        issue,
        user="",
        notes="x" * 200,
        points=-1000000,
        severity="minor",
        assignee="z" * 20,
        due="2000-01-01",
        labels=["-"],
    )
    desk.comment(issue, user="{x}", text="")


def test_rules_that_are_not_there_cannot_be_changed(project: Deployment) -> None:
    desk = Desk.begin(project)
    desk.add(rule_with(name="a"))
    for name in ("b", "", "A"):
        with project.fails(data={"code": "NO_RULE"}):
            project.mutation("tracker:setRule", name=name, enabled=True)
        with project.fails(data={"code": "NO_RULE"}):
            project.mutation("tracker:removeRule", name=name)
    assert project.mutation("tracker:setRule", name="a", enabled=False) is None
    assert project.query("tracker:rules")[0]["enabled"] is False
    assert project.mutation("tracker:removeRule", name="a") is None
    assert project.query("tracker:rules") == []
    with project.fails(data={"code": "NO_RULE"}):
        project.mutation("tracker:removeRule", name="a")


FUNCTIONS: dict[str, tuple[str, Data]] = {
    "create": ("mutation", {"user": "ada", "values": {"title": "a", "status": "open"}}),
    "change": ("mutation", {"user": "ada", "issue": "", "changes": {}}),
    "comment": ("mutation", {"user": "ada", "issue": "", "text": "a"}),
    "issue": ("query", {"issue": ""}),
    "log": ("query", {"issue": ""}),
    "preview": ("query", {"now": 5, "user": "ada", "issue": "", "changes": {}}),
    "addRule": ("mutation", {"text": ""}),
    "setRule": ("mutation", {"name": "", "enabled": True}),
    "removeRule": ("mutation", {"name": ""}),
    "rules": ("query", {}),
}


def test_clients_can_call_these_functions_and_no_others_and_arguments_are_validated(project: Deployment) -> None:
    public = {name: spec.kind for name, spec in project.functions().items() if spec.is_public}
    assert public == {f"tracker:{name}": kind for name, (kind, _) in FUNCTIONS.items()}
    assert project.routes() == [Route("POST", "/rules")]
    issue = project.mutation("tracker:create", FUNCTIONS["create"][1])
    for name, (kind, declared) in FUNCTIONS.items():
        arguments = {key: issue if key == "issue" else value for key, value in declared.items()}
        for argument in arguments:
            for rejected in (
                {**arguments, argument: [1]},
                {key: arguments[key] for key in arguments if key != argument},
                {**arguments, "x": 1},
            ):
                with project.fails("ArgumentValidationError"):
                    getattr(project, kind)(f"tracker:{name}", rejected)
    with project.fails("ArgumentValidationError"):
        project.query("tracker:rules", x=1)
    with project.fails("ArgumentValidationError"):
        project.query("tracker:preview", {**FUNCTIONS["preview"][1], "issue": issue, "text": 5})
