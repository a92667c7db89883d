"""Forms as data: what is right in them and in answers, what the results are, and what the compiler knows."""

# ruff: noqa: E501 (snippets of TypeScript)

import copy
import json
import math
import random
import re
from dataclasses import dataclass, field
from datetime import date
from statistics import median
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, Route, TypeChecks

HEAD = """
import { order } from "./orders";
import { defineForm, type AnswerOf, type Field, type PathOf, type ResultOf, type ValueAt } from "./lib/forms";
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? (0 extends 1 & A ? false : true) : false) : false;
type Optional<T> = { [K in keyof T]-?: object extends Pick<T, K> ? K : never }[keyof T];
type Order = typeof order.fields;
declare const someText: string;
declare const draft: unknown;
const small = defineForm([
  { key: "age", kind: "number", required: true },
  { key: "note", kind: "text", required: false },
  { key: "size", kind: "choice", required: true, options: ["s", "m"] },
  { key: "fits", kind: "choices", required: true, options: ["a", "b", "c"], showIf: { field: "age", atLeast: 18 } },
  { key: "kids", kind: "group", min: 0, max: 4, showIf: { field: "size", is: "s" }, fields: [
    { key: "name", kind: "text", required: true },
    { key: "born", kind: "date", required: false },
    { key: "cost", kind: "computed", formula: { op: "*", left: { field: "age" }, right: 2 }, showIf: { field: "fits", includes: "c" } },
  ] },
  { key: "all", kind: "computed", formula: { sum: "kids.cost" } },
]);
type Small = typeof small.fields;
export function use() {
%s
}
"""
EARLIER = """
    { key: "age", kind: "number", required: true },
    { key: "size", kind: "choice", required: true, options: ["s", "m"] },
    { key: "fits", kind: "choices", required: true, options: ["a", "b"] },
    { key: "note", kind: "text", required: true },
    { key: "kids", kind: "group", min: 0, max: 4, fields: [
      { key: "year", kind: "number", required: true },
      { key: "name", kind: "text", required: true },
      { key: "half", kind: "computed", formula: { op: "/", left: { field: "year" }, right: 2 } },
    ] },
    { key: "twice", kind: "computed", formula: { op: "*", left: { field: "age" }, right: 2 } },"""


def form(fields: str) -> str:
    return f"\n  return defineForm([{fields}]);"


def then(fields: str) -> str:
    return form(f"{EARLIER}\n    {fields}")


def computes(formula: str) -> str:
    return then(f'{{ key: "it", kind: "computed", formula: {formula} }}')


def shown(condition: str) -> str:
    return then(f'{{ key: "it", kind: "date", required: true, showIf: {condition} }}')


def grouped(field: str) -> str:
    return then(
        f'{{ key: "pets", kind: "group", min: 0, max: 2, fields: [{{ key: "legs", kind: "number", required: true }}, {field}] }}'
    )


def inside(formula: str) -> str:
    return grouped(f'{{ key: "it", kind: "computed", formula: {formula} }}')


def shown_inside(condition: str) -> str:
    return grouped(f'{{ key: "it", kind: "text", required: true, showIf: {condition} }}')


COMPILES: dict[str, str] = {
    "answers": """
  type Answer = AnswerOf<Small>;
  const same: [Same<Answer["age"], number>, Same<Answer["note"], string | undefined>, Same<Answer["size"], "s" | "m">, Same<Answer["fits"], ("a" | "b" | "c")[] | undefined>,
    Same<NonNullable<Answer["kids"]>[number], { name: string; born?: string }>, Same<keyof Answer, "age" | "note" | "size" | "fits" | "kids">,
    Same<Optional<Answer>, "note" | "fits" | "kids">] = [true, true, true, true, true, true, true];
  const answer: Answer = { age: 4, size: "s", kids: [{ name: "a" }] };
  answer.note = "b";
  return [same, answer];""",
    "answers of the given form": """
  type Answer = AnswerOf<Order>;
  const same: [Same<Optional<Answer>, "street" | "extras" | "value">, Same<Optional<Answer["items"][number]>, "name" | "count" | "wish">, Same<Answer["extras"], ("gift" | "insured" | "cold")[] | undefined>] = [true, true, true];
  return same;""",
    "results": """
  type Result = ResultOf<Small>;
  const same: [Same<Result["all"], number | null>, Same<NonNullable<Result["kids"]>[number], { name: string; born?: string; cost: number | null }>, Same<Optional<Result>, "note" | "fits" | "kids">,
    Same<keyof Result, "age" | "note" | "size" | "fits" | "kids" | "all">] = [true, true, true, true];
  const answer: AnswerOf<Small> = { age: 4, size: "m" };
  const result: Result = small.result(answer);
  return [same, result.all?.toFixed(), result.size satisfies "s" | "m"];""",
    "checked": """
  const checked = small.check(draft);
  if (!checked.ok) return checked.mistakes.map(({ path, code }) => path.trim() + code.trim());
  const same: Same<typeof checked.answer, AnswerOf<Small>> = true;
  return [same, small.result(checked.answer), checked.answer.fits?.length];""",
    "paths": """
  const paths: PathOf<Small>[] = ["age", "note", "size", "fits", "kids[0].name", "kids[12].born", `kids[${[].length}].name`];
  const same: Same<PathOf<Small>, "age" | "note" | "size" | "fits" | `kids[${number}].name` | `kids[${number}].born`> = true;
  return [paths, same];""",
    "values at paths": """
  const same: [Same<ValueAt<Small, "age">, number>, Same<ValueAt<Small, "note">, string>, Same<ValueAt<Small, "size">, "s" | "m">, Same<ValueAt<Small, "fits">, ("a" | "b" | "c")[]>,
    Same<ValueAt<Small, "kids[3].born">, string>, Same<ValueAt<Small, `kids[${number}].name`>, string>, Same<ValueAt<Order, "items[0].price">, number>] = [true, true, true, true, true, true, true];
  return same;""",
    "get": """
  const answer: AnswerOf<Small> = { age: 4, size: "m" };
  const [age, size, fits, name] = [small.get(answer, "age"), small.get(answer, "size"), small.get(answer, "fits"), small.get(answer, "kids[1].name")] as const;
  const same: [Same<typeof age, number | undefined>, Same<typeof size, "s" | "m" | undefined>, Same<typeof fits, ("a" | "b" | "c")[] | undefined>, Same<typeof name, string | undefined>] = [true, true, true, true];
  return same;""",
    "fields": """
  const all: readonly Field[] = small.fields;
  const one: Field = { key: "a", kind: "choices", required: false, options: ["a"] };
  const same: Same<(typeof small.fields)[2]["options"][number], "s" | "m"> = true;
  return [all, one, same, small.fields.map(({ key }) => key)];""",
    "a form without fields": """
  const none = defineForm([]);
  const answer: AnswerOf<typeof none.fields> = {};
  return none.result(answer);""",
    "a form of constants": """
  const fields = [{ key: "a", kind: "number", required: true }, { key: "b", kind: "computed", formula: { field: "a" } }] as const;
  return defineForm(fields).result({ a: 4 }).b?.toFixed();""",
    "a form with many fields": form(
        "".join(f'{{ key: "a{n}", kind: "number", required: {"true" if n % 2 else "false"} }}, ' for n in range(20))
        + '{ key: "it", kind: "computed", formula: { op: "+", left: { field: "a0" }, right: { op: "-", left: { op: "*", left: { field: "a3" }, right: 3 }, right: { op: "/", left: 2, right: { field: "a19" } } } } }'
    ),
}
REFUSED: dict[str, str] = {
    "an answer without what is required": 'const answer: AnswerOf<Small> = { size: "s" }; return answer;',
    "an answer with another option": 'const answer: AnswerOf<Small> = { age: 4, size: "l" }; return answer;',
    "an answer with another option of several": 'const answer: AnswerOf<Small> = { age: 4, size: "s", fits: ["a", "d"] }; return answer;',
    "an answer with a number": 'const answer: AnswerOf<Small> = { age: 4, size: "s", all: 4 }; return answer;',
    "an answer with a number in a row": 'const answer: AnswerOf<Small> = { age: 4, size: "s", kids: [{ name: "a", cost: 4 }] }; return answer;',
    "an answer with a row that lacks what is required": 'const answer: AnswerOf<Small> = { age: 4, size: "s", kids: [{ born: "2026-01-01" }] }; return answer;',
    "the result of something else": 'return small.result({ age: "4", size: "s" });',
    "the result of an answer to another form": "const checked = order.check(draft); return checked.ok ? small.result(checked.answer) : null;",
    "an answer that was not checked": "return small.check(draft).answer;",
    "the path of a group": 'const path: PathOf<Small> = "kids"; return path;',
    "the path of a row": 'const path: PathOf<Small> = "kids[0]"; return path;',
    "the path of a number": 'const path: PathOf<Small> = "all"; return path;',
    "the path of a number in a row": 'const path: PathOf<Small> = "kids[0].cost"; return path;',
    "the path of a field in a group without the group": 'const path: PathOf<Small> = "name"; return path;',
    "the path of a row that is not a number": 'const path: PathOf<Small> = "kids[x].name"; return path;',
    "the path of a field that is not there": 'const path: PathOf<Small> = "kids[0].age"; return path;',
    "getting what is not there": 'const answer: AnswerOf<Small> = { age: 4, size: "m" }; return small.get(answer, "kids[0].nam");',
    "getting any text": 'const answer: AnswerOf<Small> = { age: 4, size: "m" }; return small.get(answer, someText);',
    "getting another type": 'const answer: AnswerOf<Small> = { age: 4, size: "m" }; const age: string | undefined = small.get(answer, "age"); return age;',
    "an unknown kind": form('{ key: "a", kind: "date", required: true }, { key: "b", kind: "time", required: true }'),
    "a field without required": form('{ key: "a", kind: "date" }'),
    "a field without a key": form('{ kind: "date", required: true }'),
    "a choice without options": form('{ key: "a", kind: "choice", required: true }'),
    "a group without fields": form('{ key: "a", kind: "group", min: 0, max: 2 }'),
    "a group in a group": form(
        '{ key: "a", kind: "group", min: 0, max: 2, fields: [{ key: "b", kind: "group", min: 0, max: 2, fields: [] }] }'
    ),
    "a computed field without a formula": form('{ key: "a", kind: "computed" }'),
    "an unknown operation": computes('{ op: "%%", left: 4, right: 2 }'),
    "no array": '\n  return defineForm({ key: "a", kind: "date", required: true });',
    "a key twice": then('{ key: "note", kind: "date", required: true }'),
    "a key twice in a row": then(
        '{ key: "new", kind: "date", required: true }, { key: "new", kind: "date", required: true }'
    ),
    "a key of the group before": then('{ key: "year", kind: "number", required: true }'),
    "a key twice in a group": grouped('{ key: "legs", kind: "number", required: true }'),
    "a key in a group and before it": grouped('{ key: "note", kind: "text", required: true }'),
    "a key in two groups": grouped('{ key: "name", kind: "text", required: true }'),
    "a key in a group that is its own": grouped('{ key: "pets", kind: "text", required: true }'),
}
PAIRS: dict[str, tuple[object, list[str], list[str]]] = {
    "formulas": (
        computes,
        [
            "4",
            '{ field: "age" }',
            '{ field: "twice" }',
            '{ sum: "kids.year" }',
            '{ sum: "kids.half" }',
            '{ op: "+", left: { field: "age" }, right: { sum: "kids.year" } }',
        ],
        [
            '"age"',
            '{ field: "note" }',
            '{ field: "ages" }',
            '{ field: "year" }',
            '{ field: "it" }',
            '{ field: "kids" }',
            '{ field: "size" }',
            '{ sum: "kids.name" }',
            '{ sum: "kids.age" }',
            '{ sum: "age.year" }',
            '{ sum: "kids" }',
            '{ sum: "age" }',
            '{ op: "+", left: { field: "ages" }, right: 2 }',
            '{ op: "+", left: 2, right: { op: "*", left: 3, right: { op: "-", left: { field: "note" }, right: 2 } } }',
        ],
    ),
    "conditions": (
        shown,
        [
            '{ field: "size", is: "m" }',
            '{ field: "fits", includes: "a" }',
            '{ field: "age", atLeast: 3 }',
            '{ field: "twice", atLeast: 3 }',
        ],
        [
            '{ field: "size", is: "l" }',
            '{ field: "size", includes: "m" }',
            '{ field: "fits", is: "a" }',
            '{ field: "fits", includes: "s" }',
            '{ field: "age", is: "s" }',
            '{ field: "note", atLeast: 3 }',
            '{ field: "year", atLeast: 3 }',
            '{ field: "it", atLeast: 3 }',
            '{ field: "size" }',
            '{ field: "sizes", is: "m" }',
            '{ field: "age", atLeast: "3" }',
        ],
    ),
    "formulas in groups": (
        inside,
        [
            '{ field: "legs" }',
            '{ field: "age" }',
            '{ sum: "kids.half" }',
            '{ op: "*", left: { field: "legs" }, right: { field: "twice" } }',
        ],
        ['{ field: "year" }', '{ field: "pets" }', '{ sum: "pets.legs" }', '{ field: "it" }', '{ field: "leg" }'],
    ),
    "conditions in groups": (
        shown_inside,
        ['{ field: "legs", atLeast: 2 }', '{ field: "size", is: "s" }', '{ field: "fits", includes: "b" }'],
        ['{ field: "year", atLeast: 2 }', '{ field: "size", is: "a" }', '{ field: "it", atLeast: 2 }'],
    ),
}
for title, (make, right, wrong) in PAIRS.items():
    COMPILES |= {f"{title}: {each}": make(each) for each in right}  # type: ignore[operator]
    REFUSED |= {f"{title}: {each}": make(each) for each in wrong}  # type: ignore[operator]
REFUSED["a field of later"] = form(
    '{ key: "it", kind: "computed", formula: { field: "age" } }, { key: "age", kind: "number", required: true }'
)
REFUSED["a sum of later"] = form(
    '{ key: "it", kind: "computed", formula: { sum: "a.b" } }, { key: "a", kind: "group", min: 0, max: 1, fields: [{ key: "b", kind: "number", required: true }] }'
)
COMPILES["a sum of earlier"] = form(
    '{ key: "a", kind: "group", min: 0, max: 1, fields: [{ key: "b", kind: "number", required: true }] }, { key: "it", kind: "computed", formula: { sum: "a.b" } }'
)
SNIPPETS = {
    name: HEAD % body.replace("%%", "%")
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
Fields = list[Data]
Mistakes = list[dict[str, str]]
NUMERIC = ("number", "computed")


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_day(text: str) -> bool:
    try:
        return bool(re.fullmatch(r"20\d\d-\d\d-\d\d", text, re.ASCII)) and bool(date.fromisoformat(text))
    except ValueError:
        return False


def is_none(kind: str, value: Any) -> bool:
    return value is None or (value == "" and kind in ("text", "choice", "date")) or (value == [] and kind == "choices")


@dataclass
class Checked:
    """An answer as TASK.txt defines it: what is right in it, what follows, and what is wrong."""

    fields: Fields
    mistakes: Mistakes = field(default_factory=list)

    def add(self, path: str, code: str) -> None:
        self.mistakes.append({"path": path, "code": code})

    def look(self, draft: Any) -> "tuple[Data, Data]":
        return self.object(self.fields, draft, "", {})

    def object(self, fields: Fields, draft: Any, path: str, outer: Data) -> tuple[Data, Data]:
        """The right answers, and these with the numbers."""
        if not isinstance(draft, dict):
            self.add(path, "TYPE")
            return {}, {}
        scope, answer, result = dict(outer), {}, {}
        before = f"{path}." if path else ""
        for each in fields:
            key, kind = each["key"], each["kind"]
            shown = self.is_visible(each.get("showIf"), scope)
            if kind == "computed":
                result[key] = scope[key] = self.number(each["formula"], scope) if shown else None
            elif shown and kind == "group":
                rows = self.rows(each, draft.get(key), before + key, scope)
                if rows is not None:
                    answer[key], result[key] = [row[0] for row in rows], [row[1] for row in rows]
                    scope[key] = result[key]
            elif shown:
                value = self.value(each, draft.get(key), before + key)
                if value is not None:
                    answer[key] = result[key] = scope[key] = value
        known = {each["key"] for each in fields if each["kind"] != "computed"}
        for key in sorted(set(draft) - known):
            self.add(before + key, "UNKNOWN")
        return answer, result

    def is_visible(self, condition: Data | None, scope: Data) -> bool:
        if condition is None:
            return True
        value = scope.get(condition["field"])
        if "is" in condition:
            return value == condition["is"]
        if "includes" in condition:
            return value is not None and condition["includes"] in value
        return value is not None and value >= condition["atLeast"]

    def number(self, formula: Any, scope: Data) -> float | None:
        if is_number(formula):
            return formula
        if "field" in formula:
            return scope.get(formula["field"])
        if "sum" in formula:
            group, key = formula["sum"].split(".")
            return sum(row[key] for row in scope.get(group, []) if row.get(key) is not None)
        left, right = self.number(formula["left"], scope), self.number(formula["right"], scope)
        if left is None or right is None or (formula["op"] == "/" and right == 0):
            return None
        match formula["op"]:
            case "+":
                made = left + right
            case "-":
                made = left - right
            case "*":
                made = left * right
            case _:
                made = left / right
        return made if math.isfinite(made) else None

    def rows(self, each: Data, value: Any, path: str, scope: Data) -> list[tuple[Data, Data]] | None:
        value = [] if value is None else value
        if not isinstance(value, list):
            return self.add(path, "TYPE")
        if not each["min"] <= len(value) <= each["max"]:
            self.add(path, "ROWS")
        return [self.object(each["fields"], row, f"{path}[{index}]", scope) for index, row in enumerate(value)]

    def value(self, each: Data, value: Any, path: str) -> Any:
        kind, before = each["kind"], len(self.mistakes)
        if is_none(kind, value):
            return self.add(path, "REQUIRED") if each["required"] else None
        if not (is_number(value) if kind == "number" else isinstance(value, list if kind == "choices" else str)):
            return self.add(path, "TYPE")
        match kind:
            case "text" if len(value) > each.get("maxLength", len(value)):
                self.add(path, "LENGTH")
            case "number" if not each.get("min", value) <= value <= each.get("max", value):
                self.add(path, "RANGE")
            case "date" if not is_day(value):
                self.add(path, "DATE")
            case "choice" if value not in each["options"]:
                self.add(path, "OPTION")
            case "choices":
                for index, option in enumerate(value):
                    if not isinstance(option, str):
                        self.add(f"{path}[{index}]", "TYPE")
                    elif option not in each["options"] or option in value[:index]:
                        self.add(f"{path}[{index}]", "OPTION")
        if len(self.mistakes) > before:
            return None
        return sorted(value, key=each["options"].index) if kind == "choices" else value


def checked(fields: Fields, draft: Any) -> Data:
    checking = Checked(fields)
    answer, _ = checking.look(draft)
    return {"ok": False, "mistakes": checking.mistakes} if checking.mistakes else {"ok": True, "answer": answer}


def places(fields: Fields, group: str | None = None) -> dict[str, tuple[str, str | None]]:
    found = {}
    for each in fields:
        found[each["key"]] = (each["kind"], group)
        found |= places(each.get("fields", []), each["key"])
    return found


def mistakes_of(fields: Fields, former: dict[str, tuple[str, str | None]]) -> Mistakes:
    """What is wrong in the definition of a form."""
    mistakes: Mistakes = []
    used: set[str] = set()

    def look_at_keys(fields: Fields, path: str) -> None:
        for index, each in enumerate(fields):
            at = f"{path}[{index}]"
            code = "" if re.fullmatch("[a-z]{1,20}", each["key"]) else "KEY"
            code = code or ("DUPLICATE" if each["key"] in used else "")
            if code:
                mistakes.append({"path": f"{at}.key", "code": code})
            used.add(each["key"])
            look_at_keys(each.get("fields", []), f"{at}.fields")

    def look(fields: Fields, path: str, reach: Fields, group: str | None) -> None:
        for index, each in enumerate(fields):
            in_reach = {other["key"]: other for other in [*reach, *fields[:index]]}
            found = mistakes_in(each, in_reach, former.get(each["key"]), group)
            mistakes.extend({"path": f"{path}[{index}].{where}", "code": code} for where, code in found)
            look(each.get("fields", []), f"{path}[{index}].fields", list(in_reach.values()), each["key"])

    look_at_keys(fields, "fields")
    if not mistakes:
        look(fields, "fields", [], None)
    return mistakes


def is_whole(value: float, least: int) -> bool:
    return value == int(value) and value >= least


def mistakes_in(each: Data, reach: dict[str, Data], former: Any, group: str | None) -> list[tuple[str, str]]:
    found = [("kind", "KIND")] if former not in (None, (each["kind"], group)) else []
    found += [(name, "LIMIT") for name in wrong_limits(each)]
    options = each.get("options", ["a"])
    if not options or "" in options or len(set(options)) < len(options):
        found.append(("options", "OPTIONS"))
    found += wrong_references(each.get("formula", 0), "formula", reach)
    if condition := each.get("showIf"):
        named = reach.get(condition["field"], {"kind": None})
        [(name, kinds)] = [(name, kinds) for name, kinds in NAMED.items() if name in condition]
        if named["kind"] not in kinds:
            found.append(("showIf.field", "FIELD"))
        elif name != "atLeast" and condition[name] not in named["options"]:
            found.append((f"showIf.{name}", "OPTION"))
    return found


NAMED = {"is": ("choice",), "includes": ("choices",), "atLeast": NUMERIC}


def wrong_limits(each: Data) -> list[str]:
    found = [] if is_whole(each.get("maxLength", 1), 1) else ["maxLength"]
    is_group = each["kind"] == "group"
    if is_group and not is_whole(each["min"], 0):
        found.append("min")
    is_too_small = "min" in each and "max" in each and each["max"] < each["min"]
    if is_too_small or (is_group and (not is_whole(each["max"], 1) or each["max"] > 10)):
        found.append("max")
    return found


def wrong_references(made: Any, path: str, reach: dict[str, Data]) -> list[tuple[str, str]]:
    if is_number(made):
        return []
    if "op" in made:
        return [each for side in ("left", "right") for each in wrong_references(made[side], f"{path}.{side}", reach)]
    if "field" in made:
        return [] if reach.get(made["field"], {}).get("kind") in NUMERIC else [(f"{path}.field", "FIELD")]
    sums = [
        f"{key}.{inner['key']}"
        for key, other in reach.items()
        for inner in other.get("fields", [])
        if inner["kind"] in NUMERIC
    ]
    return [] if made["sum"] in sums else [(f"{path}.sum", "FIELD")]


# Results


def merged(versions: list[Fields]) -> list[Data]:
    found: dict[str, Data] = {}
    for fields in versions:
        for each in fields:
            question = found.setdefault(
                each["key"], {"key": each["key"], "kind": each["kind"], "options": [], "versions": []}
            )
            question["options"] += [option for option in each.get("options", []) if option not in question["options"]]
            question["versions"].append(each.get("fields", []))
    return [question | {"inner": merged(question["versions"])} for question in found.values()]


def summary_of(questions: list[Data], rows: list[Data]) -> list[Data]:
    found = []
    for question in questions:
        values = [row[question["key"]] for row in rows if row.get(question["key"]) is not None]
        entry = {"key": question["key"], "kind": question["kind"], "answers": len(values)}
        match question["kind"]:
            case "number" | "computed":
                made = (
                    {"sum": sum(values), "min": min(values), "max": max(values), "median": median(values)}
                    if values
                    else None
                )
                entry |= made or dict.fromkeys(("sum", "min", "max", "median"))
            case "date":
                entry |= {"first": min(values, default=None), "last": max(values, default=None)}
            case "choice" | "choices":
                chosen = [option for value in values for option in ([value] if isinstance(value, str) else value)]
                entry["counts"] = [{"option": option, "count": chosen.count(option)} for option in question["options"]]
            case "group":
                entry["rows"] = sum(map(len, values))
        found.append(entry)
        found += summary_of(question["inner"], [row for value in values for row in value] if question["inner"] else [])
    return found


def cell_of(value: Any) -> str:
    if isinstance(value, list):
        return ";".join(value)
    if is_number(value):
        return str(int(value)) if value == int(value) else repr(value)
    return value or ""


def csv_of(questions: list[Data], submitted: list[tuple[int, Data]]) -> str:
    columns: list[tuple[str, ...] | tuple[str, int, str]] = []
    for question in questions:
        key = question["key"]
        if question["kind"] != "group":
            columns.append((key,))
            continue
        most = max((len(result.get(key, [])) for _, result in submitted), default=0)
        columns += [(key, row, inner["key"]) for row in range(most) for inner in question["inner"]]

    def value(result: Data, column: Any) -> str:
        if len(column) == 1:
            return cell_of(result.get(column[0]))
        rows = result.get(column[0], [])
        return cell_of(rows[column[1]].get(column[2])) if column[1] < len(rows) else ""

    names = [column[0] if len(column) == 1 else f"{column[0]}[{column[1]}].{column[2]}" for column in columns]
    lines = [["number", "version", *names]]
    for index, (version, result) in enumerate(submitted, 1):
        lines.append([str(index), str(version), *(value(result, column) for column in columns)])
    cells = [
        ['"' + cell.replace('"', '""') + '"' if re.search('[",\r\n]', cell) else cell for cell in line]
        for line in lines
    ]
    return "".join(",".join(line) + "\r\n" for line in cells)


# Random forms and answers

WORDS = ["a", "b,c", 'say "d"', "two\nlines", "e\r", "ff", "long enough", ""]
DAYS = ["2026-03-31", "2026-02-29", "2028-02-29", "2000-01-01", "2099-12-31", "2100-01-01", "soon", ""]


@dataclass
class Dice:
    chance: random.Random

    def form(self, former: dict[str, tuple[str, str | None]]) -> Fields:
        """A right form that fits the former versions."""
        self.former = former
        self.keys = ["age", "size", "fits", "note", "day", "cost", "kids", "pets", "fee", "tax", "sum", "way"]
        self.chance.shuffle(self.keys)
        self.used: set[str] = set()
        fields: Fields = []
        for _ in range(self.chance.randint(4, 7)):
            if each := self.field(fields, None):
                fields.append(each)
        return fields

    def key(self, group: str | None) -> tuple[str, str | None] | None:
        for key in self.keys:
            kind, where = self.former.get(key, (None, group))
            if key not in self.used and where == group:
                self.used.add(key)
                return key, kind
        return None

    def field(self, reach: Fields, group: str | None) -> Data | None:
        named = self.key(group)
        if named is None:
            return None
        key, kind = named
        pick = self.chance.choice
        kinds = ["text", "number", "number", "choice", "choice", "choices", "date", "computed", "computed"]
        kind = kind or pick(kinds + ["group"] * 3 * (group is None))
        each: Data = {"key": key, "kind": kind}
        if kind not in ("group", "computed"):
            each["required"] = self.chance.random() < 0.4
        match kind:
            case "text" if self.chance.random() < 0.5:
                each["maxLength"] = pick([1, 4, 8])
            case "number":
                each |= {
                    name: value
                    for name, value in (("min", pick([-2, 0, 1])), ("max", pick([3, 5])))
                    if self.chance.random() < 0.4
                }
            case "choice" | "choices":
                each["options"] = self.chance.sample(["s", "m,l", "x", 'q"', "a b"], self.chance.randint(2, 4))
            case "computed":
                each["formula"] = self.formula(reach)
            case "group":
                least = pick([0, 0, 1])
                each |= {"min": least, "max": pick([1, 2, 3]), "fields": []}
                for _ in range(self.chance.randint(1, 3)):
                    if inner := self.field([*reach, *each["fields"]], key):
                        each["fields"].append(inner)
        condition = self.condition(reach)
        if condition and self.chance.random() < 0.35:
            each["showIf"] = condition
        return each

    def formula(self, reach: Fields, depth: int = 0) -> Any:
        fields = [{"field": other["key"]} for other in reach if other["kind"] in NUMERIC]
        sums = [
            {"sum": f"{other['key']}.{inner['key']}"}
            for other in reach
            for inner in other.get("fields", [])
            if inner["kind"] in NUMERIC
        ]
        if depth == 4 or self.chance.random() < (0.25 if depth == 0 else 0.5):
            return self.chance.choice([*fields * 2, *sums * 3, self.chance.choice([0, 2, 0.5, -1])])
        op = self.chance.choice(["+", "-", "*", "+", "-", "*", "/"])
        right = self.chance.choice([0, 2, 4]) if op == "/" else self.formula(reach, depth + 1)
        return {"op": op, "left": self.formula(reach, depth + 1), "right": right}

    def condition(self, reach: Fields) -> Data | None:
        found: list[Data] = []
        for other in reach:
            if other["kind"] in NUMERIC:
                found.append({"field": other["key"], "atLeast": self.chance.choice([-1, 0, 1, 2.5])})
            elif "options" in other:
                name = "is" if other["kind"] == "choice" else "includes"
                found.append({"field": other["key"], name: self.chance.choice(other["options"])})
        return self.chance.choice(found) if found else None

    def value(self, each: Data, right: float = 0.85) -> Any:
        """An answer of the right type, most of the time a right one."""
        is_right = self.chance.random() < right
        pick = self.chance.choice
        match each["kind"]:
            case "text":
                fitting = [word for word in WORDS if len(word) <= each.get("maxLength", 99)]
                return pick(fitting if is_right else WORDS)
            case "number":
                low = each.get("min", 0)
                return pick([low, low + 1, each.get("max", low + 2)] if is_right else [-7, 0.5, 9])
            case "date":
                return pick(DAYS[2:5] if is_right else DAYS)
            case "choice":
                return pick(each["options"] if is_right else ["none", ""])
        options = self.chance.sample(each["options"], self.chance.randint(0, len(each["options"])))
        return options if is_right else [*options, *options[:1], "none"]

    def spoiled(self, fields: Fields) -> Fields:
        """A form of the right shape that may be wrong."""
        fields = copy.deepcopy(fields)
        holders = [(fields, index) for index in range(len(fields))]
        holders += [(each["fields"], index) for each in fields for index in range(len(each.get("fields", [])))]
        keys = [holder[index]["key"] for holder, index in holders]
        for _ in range(self.chance.choice([1, 1, 2, 3])):
            holder, index = self.chance.choice(holders)
            each = holder[index]
            pick = self.chance.choice
            choice = self.chance.random()
            if choice < 0.08:
                each["key"] = pick(["", "Age", "a1", "x" * 21, "a b", *keys])
            elif choice < 0.2:
                other = self.chance.randrange(len(holder))
                holder[index], holder[other] = holder[other], holder[index]
            elif choice < 0.5:
                name = pick(["is", "includes", "atLeast"])
                each["showIf"] = {
                    "field": pick([*keys, "it"]),
                    name: 2 if name == "atLeast" else pick(["s", "x", "none"]),
                }
            elif each["kind"] == "computed":
                one, two = {"field": pick([*keys, "it"])}, {"sum": f"{pick(keys)}.{pick(keys)}"}
                each["formula"] = pick(
                    [one, two, {"op": "+", "left": one, "right": {"op": "*", "left": two, "right": one}}]
                )
            elif "options" in each:
                each["options"] = pick([[], ["a", ""], ["a", "b", "a"], each["options"] * 2, ["s", "x"]])
            elif each["kind"] == "text":
                each["maxLength"] = pick([0, 1.5, -1, 3])
            elif each["kind"] == "number":
                each |= {"min": pick([1, 2.5]), "max": pick([0, 1, 2.5, 3])}
            elif each["kind"] == "group":
                each |= {"min": pick([0, -1, 1.5, 4, 11]), "max": pick([0, 1.5, 4, 10, 11])}
        return fields


@dataclass
class Desk:
    """A form of `ada`, its versions and its responses, in the deployment and in truth."""

    project: Deployment
    form: str
    versions: list[Fields] = field(default_factory=list)
    submitted: list[tuple[int, Data]] = field(default_factory=list)

    @classmethod
    def begin(cls, project: Deployment, *versions: Fields) -> "Desk":
        desk = cls(project, project.mutation("forms:create", user="ada"))
        for fields in versions:
            assert desk.publish(fields) == []
        return desk

    def publish(self, fields: Fields) -> Mistakes:
        assert self.project.mutation("forms:edit", user="ada", form=self.form, fields=fields) is None
        received = self.project.mutation("forms:publish", user="ada", form=self.form)
        assert received == mistakes_of(fields, self.former()), json.dumps([fields, self.former()])
        if not received:
            self.versions.append(fields)
        return received

    def former(self) -> dict[str, tuple[str, str | None]]:
        return {key: place for version in self.versions for key, place in places(version).items()}

    def respond(self, user: str = "ben") -> "Response":
        response = self.project.mutation("forms:begin", user=user, form=self.form)
        groups = {each["key"]: [] for each in self.versions[-1] if each["kind"] == "group"}
        return Response(self, user, response, len(self.versions), groups)

    def answered(self, **answers: Any) -> "Response":
        """A response to the latest version that has been submitted."""
        response = self.respond()
        for path, value in answers.items():
            response.save(re.sub(r"_(\d+)_", r"[\1].", path), value)
        assert response.submit() == []
        return response

    def check(self) -> None:
        questions, results = merged(self.versions), [result for _, result in self.submitted]
        assert self.summary() == summary_of(questions, results), json.dumps(self.versions)
        chosen = [each for each in questions if each["kind"] in ("choice", "choices")]
        for rows in chosen:
            for columns in chosen:
                assert self.cross(rows["key"], columns["key"]) == self.crossed(rows, columns)
        assert self.csv() == csv_of(questions, self.submitted)

    def summary(self) -> list[Data]:
        return self.project.query("forms:summary", user="ada", form=self.form)

    def cross(self, rows: str, columns: str) -> Data:
        return self.project.query("forms:cross", user="ada", form=self.form, rows=rows, columns=columns)

    def crossed(self, rows: Data, columns: Data) -> Data:
        def has(result: Data, question: Data, option: str) -> bool:
            value = result.get(question["key"], [])
            return option in ([value] if isinstance(value, str) else value)

        counts = [
            [
                sum(has(result, rows, down) and has(result, columns, across) for _, result in self.submitted)
                for across in columns["options"]
            ]
            for down in rows["options"]
        ]
        return {"rows": rows["options"], "columns": columns["options"], "counts": counts}

    def csv(self) -> str:
        response = self.project.http.get(f"/results?form={self.form}&user=ada")
        assert response.status == 200
        assert (response.header("Content-Type") or "").split(";")[0] == "text/csv"
        return response.body.decode()


@dataclass
class Response:
    desk: Desk
    user: str
    id: str
    version: int
    draft: Data
    done: list[Any] = field(default_factory=list)

    def call(self, name: str, **arguments: Any) -> Any:
        return self.desk.project.mutation(f"forms:{name}", user=self.user, response=self.id, **arguments)

    def save(self, path: str, value: Any) -> None:
        self.done.append((path, value))
        assert self.call("save", path=path, value=value) is None
        fields, place = self.desk.versions[self.version - 1], self.draft
        if found := re.fullmatch(r"(\w+)\[(\d+)\]\.(\w+)", path):
            rows = self.draft[found[1]]
            if int(found[2]) == len(rows):
                rows.append({})
            [fields] = [each["fields"] for each in fields if each["key"] == found[1]]
            place, path = rows[int(found[2])], found[3]
        [each] = [each for each in fields if each["key"] == path]
        place.pop(path, None)
        if not is_none(each["kind"], value):
            place[path] = value

    def remove(self, group: str, row: int) -> None:
        self.done.append(("remove", group, row))
        assert self.call("removeRow", path=f"{group}[{row}]") is None
        self.draft[group].pop(row)

    def submit(self) -> Mistakes:
        received = self.call("submit")
        checking = Checked(self.desk.versions[self.version - 1])
        answer, result = checking.look(self.draft)
        assert received == checking.mistakes, json.dumps([checking.fields, self.draft])
        if not received:
            self.desk.submitted.append((self.version, result))
            self.draft = answer
        self.check(submitted=not received)
        return received

    def check(self, submitted: bool = False) -> None:
        received = self.desk.project.query("forms:response", user=self.user, response=self.id)
        assert received == {"version": self.version, "submitted": submitted, "answer": self.draft}, f"after {self.done}"


def fill(response: Response, dice: Dice, share: float) -> None:
    fields = response.desk.versions[response.version - 1]
    for each in fields:
        if each["kind"] == "group":
            for row in range(dice.chance.randint(0, each["max"])):
                for inner in each["fields"]:
                    if inner["kind"] != "computed" and (dice.chance.random() < share):
                        rows = len(response.draft[each["key"]])
                        response.save(f"{each['key']}[{min(row, rows)}].{inner['key']}", dice.value(inner))
        elif each["kind"] != "computed" and dice.chance.random() < share:
            response.save(each["key"], dice.value(each))


def mend(response: Response, dice: Dice) -> None:
    """Gives better answers until the response can be submitted, or gives up."""
    for _ in range(6):
        mistakes = response.submit()
        if not mistakes:
            return
        for mistake in mistakes:
            path = mistake["path"]
            fields = {each["key"]: each for each in response.desk.versions[response.version - 1]}
            group, key = re.fullmatch(r"(?:(\w+)\[\d+\]\.)?(\w+)(?:\[\d+\])?", path).groups()  # type: ignore[union-attr]
            each = (
                fields[key]
                if group is None
                else next(inner for inner in fields[group]["fields"] if inner["key"] == key)
            )
            if each["kind"] == "group":
                first = next((inner for inner in each["fields"] if inner["kind"] != "computed"), None)
                if first is not None:
                    response.save(f"{key}[0].{first['key']}", dice.value(first, 1))
            else:
                at = path if each["kind"] != "choices" or not path.endswith("]") else path[: path.rindex("[")]
                response.save(at, dice.value(each, 1))


@pytest.mark.parametrize("seed", range(6))
def test_forms_are_answered_and_evaluated_over_all_versions(project: Deployment, seed: int) -> None:
    dice = Dice(random.Random(seed))
    desk = Desk.begin(project, dice.form({}))
    desk.check()
    for step in range(8):
        if step in (3, 6):
            assert desk.publish(dice.form(desk.former())) == []
        response = desk.respond(f"user{step}")
        fill(response, dice, 0.8)
        response.check()
        for key, rows in response.draft.items():
            if isinstance(rows, list) and rows and isinstance(rows[0], dict) and dice.chance.random() < 0.3:
                response.remove(key, dice.chance.randrange(len(rows)))
        mend(response, dice)
    assert len(desk.submitted) >= 4
    desk.check()


@pytest.mark.parametrize("seed", range(4))
def test_all_mistakes_in_forms_are_found(project: Deployment, seed: int) -> None:
    dice = Dice(random.Random(200 + seed))
    desk = Desk.begin(project, dice.form({}))
    for _ in range(25):
        desk.publish(dice.spoiled(dice.form(desk.former() if dice.chance.random() < 0.5 else {})))


def text(key: str, **more: Any) -> Data:
    return {"key": key, "kind": "text", "required": False, **more}


def number(key: str, **more: Any) -> Data:
    return {"key": key, "kind": "number", "required": False, **more}


def choice(key: str, *options: str, **more: Any) -> Data:
    return {"key": key, "kind": "choice", "required": False, "options": list(options or ("a", "b")), **more}


def choices(key: str, *options: str, **more: Any) -> Data:
    return choice(key, *options, kind="choices", **more)


def group(key: str, *fields: Data, least: float = 0, most: float = 3, **more: Any) -> Data:
    return {"key": key, "kind": "group", "min": least, "max": most, "fields": list(fields), **more}


def computed(key: str, formula: Any, **more: Any) -> Data:
    return {"key": key, "kind": "computed", "formula": formula, **more}


def if_(key: str, **more: Any) -> Data:
    return {"showIf": {"field": key, **more}}


def of(key: str) -> Data:
    return {"field": key}


WRONG_FORMS: list[tuple[Fields, list[tuple[str, str]]]] = [
    ([], []),
    (
        [text(""), text("A"), text("a b"), text("é"), text("x" * 21), text("x" * 20)],
        [(f"fields[{n}].key", "KEY") for n in range(5)],
    ),
    ([text("a"), text("a"), text("a", maxLength=0)], [("fields[1].key", "DUPLICATE"), ("fields[2].key", "DUPLICATE")]),
    ([text("A"), text("A")], [("fields[0].key", "KEY"), ("fields[1].key", "KEY")]),
    (
        [text("a"), group("g", text("a"), text("g"), text("b")), group("h", text("b"), text("C"))],
        [
            ("fields[1].fields[0].key", "DUPLICATE"),
            ("fields[1].fields[1].key", "DUPLICATE"),
            ("fields[2].fields[0].key", "DUPLICATE"),
            ("fields[2].fields[1].key", "KEY"),
        ],
    ),
    (
        [text("a", maxLength=0), text("b", maxLength=1.5), text("c", maxLength=1)],
        [("fields[0].maxLength", "LIMIT"), ("fields[1].maxLength", "LIMIT")],
    ),
    (
        [number("a", min=2, max=1), number("b", min=1, max=1), number("c", max=-5), number("d", min=1.5)],
        [("fields[0].max", "LIMIT")],
    ),
    (
        [
            group("a", least=-1, most=0),
            group("b", least=0.5, most=1.5),
            group("c", least=4, most=3),
            group("d", most=11),
            group("e", least=10, most=10),
        ],
        [
            ("fields[0].min", "LIMIT"),
            ("fields[0].max", "LIMIT"),
            ("fields[1].min", "LIMIT"),
            ("fields[1].max", "LIMIT"),
            ("fields[2].max", "LIMIT"),
            ("fields[3].max", "LIMIT"),
        ],
    ),
    (
        [choice("a") | {"options": []}, choices("b", "x", ""), choice("c", "x", "x"), choices("d", "X", "x", "x ")],
        [("fields[0].options", "OPTIONS"), ("fields[1].options", "OPTIONS"), ("fields[2].options", "OPTIONS")],
    ),
    (
        [computed("a", of("a")), computed("b", of("c")), number("c"), computed("d", of("c"))],
        [("fields[0].formula.field", "FIELD"), ("fields[1].formula.field", "FIELD")],
    ),
    (
        [text("a"), choice("b"), group("g", number("n")), *(computed(f"y{key}", of(key)) for key in "abgn")],
        [(f"fields[{n}].formula.field", "FIELD") for n in (3, 4, 5, 6)],
    ),
    (
        [
            group("g", number("n"), text("t"), computed("c", of("n"))),
            *(
                computed(f"s{chr(97 + n)}", {"sum": each})
                for n, each in enumerate(["g.n", "g.c", "g.t", "g", "n", "g.x", "h.n", "g.n.", "g. n"])
            ),
        ],
        [(f"fields[{n}].formula.sum", "FIELD") for n in range(3, 10)],
    ),
    (
        [
            number("n"),
            group(
                "g",
                number("a"),
                computed("b", of("n")),
                computed("c", of("d")),
                computed("d", {"sum": "g.a"}),
                text("e", **if_("a", atLeast=1)),
            ),
        ],
        [("fields[1].fields[2].formula.field", "FIELD"), ("fields[1].fields[3].formula.sum", "FIELD")],
    ),
    (
        [
            computed(
                "a",
                {"op": "+", "left": {"op": "*", "left": of("x"), "right": 1}, "right": {"sum": "y.z"}},
                **if_("w", atLeast=1),
            )
        ],
        [
            ("fields[0].formula.left.left.field", "FIELD"),
            ("fields[0].formula.right.sum", "FIELD"),
            ("fields[0].showIf.field", "FIELD"),
        ],
    ),
    (
        [
            choice("a"),
            choices("b"),
            text("c", **if_("a", includes="a")),
            text("d", **if_("b", **{"is": "a"})),
            text("e", **if_("a", **{"is": "z"})),
            text("f", **if_("b", includes="z")),
            text("g", **if_("a", atLeast=1)),
        ],
        [
            ("fields[2].showIf.field", "FIELD"),
            ("fields[3].showIf.field", "FIELD"),
            ("fields[4].showIf.is", "OPTION"),
            ("fields[5].showIf.includes", "OPTION"),
            ("fields[6].showIf.field", "FIELD"),
        ],
    ),
    (
        [text("a", **if_("b", **{"is": "a"})), choice("b"), text("c", **if_("b", **{"is": "b"}))],
        [("fields[0].showIf.field", "FIELD")],
    ),
    (
        [group("g", choice("a"), **if_("a", **{"is": "a"})), group("h", text("b", **if_("a", **{"is": "a"})))],
        [("fields[0].showIf.field", "FIELD"), ("fields[1].fields[0].showIf.field", "FIELD")],
    ),
]


def test_each_mistake_in_a_form_is_reported(project: Deployment) -> None:
    for fields, pairs in WRONG_FORMS:
        expected = [{"path": path, "code": code} for path, code in pairs]
        assert mistakes_of(fields, {}) == expected, fields
        assert Desk.begin(project).publish(fields) == expected


def test_a_key_keeps_its_kind_and_its_place(project: Deployment) -> None:
    desk = Desk.begin(project, [text("a"), group("g", number("n"))], [choice("b"), group("g", text("c"))])
    assert [each["path"] for each in desk.publish([number("a"), text("g"), choices("b"), text("d")])] == [
        "fields[0].kind",
        "fields[1].kind",
        "fields[2].kind",
    ]
    moved = desk.publish([group("h", number("n")), number("c"), group("g", text("a", maxLength=0))])
    assert moved == [
        {"path": "fields[0].fields[0].kind", "code": "KIND"},
        {"path": "fields[1].kind", "code": "KIND"},
        {"path": "fields[2].fields[0].kind", "code": "KIND"},
        {"path": "fields[2].fields[0].maxLength", "code": "LIMIT"},
    ]
    assert desk.publish([group("g", text("c"), number("n")), text("a"), choice("b", "z")]) == []


def test_versions_never_change(project: Deployment) -> None:
    one, two = [text("a", maxLength=3, required=True)], [text("a"), group("g", number("n", min=1))]
    desk = Desk.begin(project)
    with project.fails(data={"code": "UNPUBLISHED"}):
        project.mutation("forms:begin", user="ben", form=desk.form)
    desk.publish(one)
    first = desk.respond()
    first.save("a", "long")
    desk.publish(two)
    project.mutation("forms:edit", user="ada", form=desk.form, fields=[text("A")])
    assert project.mutation("forms:publish", user="ada", form=desk.form) == [{"path": "fields[0].key", "code": "KEY"}]
    assert [project.query("forms:version", form=desk.form, version=number) for number in (0, 1, 2, 3, 1.5)] == [
        None,
        one,
        two,
        None,
        None,
    ]
    second = desk.respond("cyd")
    second.check()
    assert first.submit() == [{"path": "a", "code": "LENGTH"}]
    first.save("a", "ok")
    assert first.submit() == []
    second.save("g[0].n", 4)
    assert second.submit() == []
    assert (first.version, second.version) == (1, 2)
    desk.check()


def test_a_draft_can_be_published_again(project: Deployment) -> None:
    desk = Desk.begin(project, [text("a")])
    assert project.mutation("forms:publish", user="ada", form=desk.form) == []
    assert project.query("forms:version", form=desk.form, version=2) == [text("a")]
    other = Desk.begin(project)
    assert project.mutation("forms:publish", user="ada", form=other.form) == []
    assert project.query("forms:version", form=other.form, version=1) == []


FORM = [
    number("age", min=1),
    text("note", maxLength=4),
    choice("size", "s", "m"),
    choices("fits", "x", "y", "z", **if_("size", **{"is": "s"})),
    {"key": "day", "kind": "date", "required": True, **if_("age", atLeast=18)},
    group(
        "kids",
        text("name", required=True),
        number("years", min=0),
        choice("sex", "f", "m"),
        computed("half", {"op": "/", "left": of("years"), "right": 2}),
        least=1,
        most=2,
    ),
]


def test_answers_are_saved_field_by_field(project: Deployment) -> None:
    desk = Desk.begin(project, FORM)
    response = desk.respond()
    response.check()
    saved: list[tuple[str, Any]] = [
        ("age", -4),
        ("note", "too long"),
        ("size", "none"),
        ("fits", ["x", "x", "w"]),
        ("day", "soon"),
        ("kids[0].years", 3),
        ("kids[0].name", ""),
        ("kids[1].name", "b"),
        ("kids[0].sex", "x"),
    ]
    for path, value in saved:
        response.save(path, value)
        response.check()
    for path, value in [
        ("age", None),
        ("note", ""),
        ("fits", []),
        ("size", ""),
        ("day", None),
        ("kids[0].years", None),
        ("kids[1].name", ""),
    ]:
        response.save(path, value)
        response.check()
    assert response.draft == {"kids": [{"sex": "x"}, {}]}
    response.remove("kids", 0)
    response.save("kids[1].years", None)
    response.save("kids[1].years", 0)
    response.check()
    assert response.draft == {"kids": [{}, {"years": 0}]}
    response.save("fits", ["z", "x"])
    response.save("size", "s")
    assert response.submit() == [
        {"path": "kids[0].name", "code": "REQUIRED"},
        {"path": "kids[1].name", "code": "REQUIRED"},
    ]
    response.remove("kids", 0)
    response.save("kids[0].name", "a")
    assert response.submit() == []
    assert response.draft == {"fits": ["x", "z"], "size": "s", "kids": [{"name": "a", "years": 0}]}


def test_what_is_not_visible_is_dropped_only_when_it_is_submitted(project: Deployment) -> None:
    desk = Desk.begin(
        project,
        [
            number("n"),
            choice("c", "a", "b", **if_("n", atLeast=2)),
            text("t", required=True, **if_("c", **{"is": "a"})),
            group("g", text("u"), **if_("c", **{"is": "a"})),
        ],
    )
    response = desk.respond()
    for path, value in (("n", 2), ("c", "a"), ("t", "x"), ("g[0].u", "y"), ("n", 1)):
        response.save(path, value)
        response.check()
    assert response.submit() == []
    assert response.draft == {"n": 1}
    desk.check()


def test_only_answers_to_fields_can_be_saved(project: Deployment) -> None:
    desk = Desk.begin(project, FORM)
    response = desk.respond()
    response.save("kids[0].name", "a")
    paths = [
        "",
        "ages",
        "kids",
        "kids[0]",
        "kids[0].half",
        "kids[2].name",
        "kids[-1].name",
        "kids[00].name",
        "kids[0.0].name",
        "kids[ 0].name",
        "kids.name",
        "name",
        "kids[0].age",
        "age[0].name",
        "kids[0].name.x",
    ]
    for path in [
        *paths,
        "kids[].name",
        "kids[x].name",
        "fits[0]",
        "toString",
        "age ",
        "kids[1]name",
        "kids[1]..name",
        "age.",
        ".age",
    ]:
        for value in ("a", None):
            with project.fails(data={"code": "PATH"}):
                response.call("save", path=path, value=value)
    response.save("kids[1].name", "b")
    with project.fails(data={"code": "PATH"}):
        response.call("save", path="kids[2].name", value="c")
    for path in (
        "kids",
        "kids[2]",
        "kids[-1]",
        "kids[01]",
        "age[0]",
        "age",
        "",
        "kids[0].name",
        "kids[]",
        "kids[0] ",
        "[0]",
    ):
        with project.fails(data={"code": "PATH"}):
            response.call("removeRow", path=path)
    typed: list[tuple[str, list[Any]]] = [
        ("age", ["1", "", ["1"], []]),
        ("note", [1, ["a"], []]),
        ("size", [0, ["s"]]),
        ("fits", ["x", "", 5]),
        ("day", [2026, []]),
        ("kids[0].years", ["", "3"]),
        ("kids[0].sex", [["f"]]),
    ]
    for path, values in typed:
        for value in values:
            with project.fails(data={"code": "TYPE"}):
                response.call("save", path=path, value=value)
    response.check()


def test_a_response_is_of_one_user_and_submitted_once(project: Deployment) -> None:
    desk = Desk.begin(project, FORM)
    response = desk.respond()
    response.save("kids[0].name", "a")
    calls = [("save", {"path": "x", "value": 5}), ("removeRow", {"path": "x"}), ("submit", {})]
    for user in ("ada", "cyd", ""):
        for name, arguments in calls:
            with project.fails(data={"code": "FORBIDDEN"}):
                project.mutation(f"forms:{name}", user=user, response=response.id, **arguments)
        with project.fails(data={"code": "FORBIDDEN"}):
            project.query("forms:response", user=user, response=response.id)
    assert response.submit() == []
    for name, arguments in calls:
        with project.fails(data={"code": "SUBMITTED"}):
            project.mutation(f"forms:{name}", user="ben", response=response.id, **arguments)
        with project.fails(data={"code": "FORBIDDEN"}):
            project.mutation(f"forms:{name}", user="ada", response=response.id, **arguments)
    response.check(submitted=True)
    again = desk.respond()
    again.check()


def test_a_form_is_of_its_owner(project: Deployment) -> None:
    desk = Desk.begin(project, [choice("a")])
    calls = [
        ("mutation", "edit", {"fields": []}),
        ("mutation", "publish", {}),
        ("query", "summary", {}),
        ("query", "cross", {"rows": "x", "columns": "y"}),
    ]
    for user in ("ben", ""):
        for kind, name, arguments in calls:
            with project.fails(data={"code": "FORBIDDEN"}):
                getattr(project, kind)(f"forms:{name}", user=user, form=desk.form, **arguments)
        assert project.http.get(f"/results?form={desk.form}&user={user}").status == 403
    assert project.query("forms:version", form=desk.form, version=1) == [choice("a")]
    response = desk.respond()
    for wrong in ("x", response.id, ""):
        assert project.http.get(f"/results?form={wrong}&user=ada").status == 404


def test_results_of_the_fields_of_all_versions(project: Deployment) -> None:
    inner = [number("n"), computed("twice", {"op": "*", "left": of("n"), "right": 2})]
    desk = Desk.begin(project, [choice("c", "x", "y"), number("k"), group("g", *inner)])
    desk.answered(c="x", k=3, g_0_n=1, g_1_n=0.5)
    desk.answered(k=1)
    assert desk.summary()[:2] == [
        {
            "key": "c",
            "kind": "choice",
            "answers": 1,
            "counts": [{"option": "x", "count": 1}, {"option": "y", "count": 0}],
        },
        {"key": "k", "kind": "number", "answers": 2, "sum": 4, "min": 1, "max": 3, "median": 2},
    ]
    desk.publish(
        [
            {"key": "day", "kind": "date", "required": False},
            group("g", choices("f", "q", "r"), *inner[:1], **if_("c", **{"is": "z"})),
            choice("c", "z", "y"),
        ][::-1]
    )
    desk.answered(c="z", day="2026-03-31", g_0_f=["r", "q"])
    desk.answered(c="y", day="2025-01-01")
    desk.publish([choices("e", "u", "v"), choice("c", "x", "z"), text("t")])
    desk.answered(e=["u", "v"], c="x", t="a")
    desk.answered(e=["v"], c="z", t="")
    assert [entry["key"] for entry in desk.summary()] == ["c", "k", "g", "n", "twice", "f", "day", "e", "t"]
    assert desk.summary()[2:7] == [
        {"key": "g", "kind": "group", "answers": 3, "rows": 3},
        {"key": "n", "kind": "number", "answers": 2, "sum": 1.5, "min": 0.5, "max": 1, "median": 0.75},
        {"key": "twice", "kind": "computed", "answers": 2, "sum": 3, "min": 1, "max": 2, "median": 1.5},
        {
            "key": "f",
            "kind": "choices",
            "answers": 1,
            "counts": [{"option": "q", "count": 1}, {"option": "r", "count": 1}],
        },
        {"key": "day", "kind": "date", "answers": 2, "first": "2025-01-01", "last": "2026-03-31"},
    ]
    assert desk.cross("c", "e") == {"rows": ["x", "y", "z"], "columns": ["u", "v"], "counts": [[1, 1], [0, 0], [0, 1]]}
    desk.check()


def test_forms_have_nothing_to_do_with_each_other(project: Deployment) -> None:
    one = Desk.begin(project, [choice("a", "x", "y"), group("g", number("n"))])
    two = Desk.begin(project, [number("a"), text("g"), text("n")], [number("a"), choice("c")])
    one.answered(a="x", g_0_n=1)
    two.answered(a=5, c="b")
    one.answered(a="y")
    two.answered(c="a")
    for desk in (one, two):
        desk.check()
    assert one.csv() == "number,version,a,g[0].n\r\n1,1,x,1\r\n2,1,y,\r\n"
    assert one.publish([text("c"), choice("a", "z")]) == []


def test_nothing_has_been_submitted_yet(project: Deployment) -> None:
    desk = Desk.begin(project)
    assert (desk.summary(), desk.csv()) == ([], "number,version\r\n")
    desk.publish(
        [
            choice("c"),
            number("n"),
            {"key": "d", "kind": "date", "required": True},
            group("g", text("t")),
            computed("k", 4),
        ]
    )
    desk.respond().save("n", 4)
    desk.check()
    assert desk.csv() == "number,version,c,n,d,k\r\n"
    assert desk.summary()[1] == {
        "key": "n",
        "kind": "number",
        "answers": 0,
        "sum": None,
        "min": None,
        "max": None,
        "median": None,
    }


def test_responses_are_in_the_order_in_which_they_were_submitted(project: Deployment) -> None:
    desk = Desk.begin(project, [text("t")])
    responses = [desk.respond(f"user{number}") for number in range(4)]
    desk.publish([text("t"), text("more")])
    responses.append(desk.respond())
    for number in (2, 4, 0, 3):
        responses[number].save("t", str(number))
        assert responses[number].submit() == []
    assert desk.csv() == "number,version,t,more\r\n1,1,2,\r\n2,2,4,\r\n3,1,0,\r\n4,1,3,\r\n"


def test_cells_are_quoted_where_they_must_be(project: Deployment) -> None:
    desk = Desk.begin(
        project,
        [
            text("t"),
            choices("c", "a", "b;", 'c"', "d,e"),
            number("n"),
            group("g", text("u"), computed("k", {"op": "/", "left": of("n"), "right": 4})),
        ],
    )
    desk.answered(t='say "hi"', c=['c"', "a"], n=1)
    desk.answered(t="a,b", c=["b;", "a"], n=-0.5, g_0_u="two\r\nlines", g_1_u=" space ")
    desk.answered(t="line\n", n=1e21, g_0_u="cr\r")
    desk.answered(t="it's; plain\t", n=3)
    assert desk.csv() == (
        "number,version,t,c,n,g[0].u,g[0].k,g[1].u,g[1].k\r\n"
        '1,1,"say ""hi""","a;c""",1,,,,\r\n'
        '2,1,"a,b",a;b;,-0.5,"two\r\nlines",-0.125, space ,-0.125\r\n'
        '3,1,"line\n",,1e+21,"cr\r",250000000000000000000,,\r\n'
        "4,1,it's; plain\t,,3,,,,\r\n"
    )


def test_only_choices_outside_of_groups_can_be_crossed(project: Deployment) -> None:
    desk = Desk.begin(project, [choice("a"), text("t"), group("g", choice("b")), choices("c")])
    for rows, columns in (("a", "t"), ("t", "a"), ("b", "a"), ("a", "g"), ("c", "x"), ("g.b", "a"), ("", "a")):
        with project.fails(data={"code": "FIELD"}):
            desk.cross(rows, columns)
    desk.answered(a="b", c=["a", "b"])
    assert desk.cross("c", "c")["counts"] == [[1, 1], [1, 1]]
    assert desk.cross("a", "a")["counts"] == [[0, 0], [0, 1]]


def test_numbers_that_do_not_exist(project: Deployment) -> None:
    div, product = {"op": "/", "left": of("a"), "right": of("b")}, {"op": "*", "left": 0, "right": of("div")}
    fields = [
        number("a"),
        number("b"),
        computed("div", div),
        computed("zero", product),
        computed(
            "huge",
            {
                "op": "-",
                "left": 1,
                "right": {"op": "*", "left": {"op": "*", "left": of("a"), "right": 1e308}, "right": 10},
            },
        ),
    ]
    fields += [
        group(
            "g", number("c"), computed("d", {"op": "+", "left": of("c"), "right": of("a")}), **if_("zero", atLeast=0)
        ),
        computed("sum", {"sum": "g.d"}),
        text("t", **if_("sum", atLeast=1)),
        computed("no", 5, **if_("div", atLeast=2)),
        computed("more", {"op": "+", "left": of("no"), "right": 1}),
    ]
    desk = Desk.begin(project, fields)
    desk.answered(a=1, b=0, g_0_c=4, t="x")
    desk.answered(a=6, b=2, g_0_c=4, t="x")
    desk.answered(a=1, b=1, g_0_c=4, g_1_c=None, t="x")
    desk.answered(b=3)
    desk.answered(a=2, b=1, g_0_c=4, g_1_c=5)
    desk.check()
    lines = desk.csv().split("\r\n")
    assert lines[0] == "number,version,a,b,div,zero,huge,g[0].c,g[0].d,g[1].c,g[1].d,sum,t,no,more"
    assert lines[1:6] == [
        "1,1,1,0,,,,,,,,0,,,",
        "2,1,6,2,3,0,,4,10,,,10,x,5,6",
        "3,1,1,1,1,0,,4,5,,,5,x,,",
        "4,1,,3,,,,,,,,0,,,",
        "5,1,2,1,2,0,,4,6,5,7,13,,5,6",
    ]


# The form in code

ORDER: Fields = [
    text("customer", required=True, maxLength=20),
    choice("delivery", "pickup", "courier", required=True),
    text("street", required=True, **if_("delivery", **{"is": "courier"})),
    choices("extras", "gift", "insured", "cold"),
    number("value", required=True, min=1, **if_("extras", includes="insured")),
    group(
        "items",
        text("name"),
        number("price", required=True, min=0, max=1000),
        number("count", min=1),
        computed("cost", {"op": "*", "left": of("price"), "right": of("count")}),
        {"key": "wish", "kind": "date", "required": False, **if_("cost", atLeast=100)},
        least=1,
    ),
    computed("fee", {"op": "/", "left": of("value"), "right": 100}, **if_("extras", includes="insured")),
    computed("total", {"sum": "items.cost"}),
    computed("gross", {"op": "+", "left": of("total"), "right": of("fee")}),
]
BASE: Data = {"customer": "ada", "delivery": "pickup", "items": [{"price": 5}]}


def item(**more: Any) -> Data:
    return BASE | {"items": [{"price": 50, "count": 2} | more]}


DRAFTS: list[tuple[Any, list[tuple[str, str]]]] = [
    (BASE, []),
    *((wrong, [("", "TYPE")]) for wrong in (5, None, [], "a", True)),
    ({}, [("customer", "REQUIRED"), ("delivery", "REQUIRED"), ("items", "ROWS")]),
    (
        {"items": None, "customer": "", "delivery": None},
        [("customer", "REQUIRED"), ("delivery", "REQUIRED"), ("items", "ROWS")],
    ),
    ({"customer": [], "delivery": 5, "items": {}}, [("customer", "TYPE"), ("delivery", "TYPE"), ("items", "TYPE")]),
    (BASE | {"customer": "x" * 21, "delivery": "mail"}, [("customer", "LENGTH"), ("delivery", "OPTION")]),
    (BASE | {"customer": "x" * 20, "delivery": "courier"}, [("street", "REQUIRED")]),
    (BASE | {"street": 5}, []),
    (BASE | {"extras": "gift"}, [("extras", "TYPE")]),
    (BASE | {"extras": {}}, [("extras", "TYPE")]),
    (
        BASE | {"extras": ["cold", 5, "gift", "cold", "warm", None]},
        [("extras[1]", "TYPE"), ("extras[3]", "OPTION"), ("extras[4]", "OPTION"), ("extras[5]", "TYPE")],
    ),
    (BASE | {"extras": ["insured", "insured"]}, [("extras[1]", "OPTION")]),
    (BASE | {"extras": ["insured"]}, [("value", "REQUIRED")]),
    (BASE | {"extras": ["insured"], "value": 0}, [("value", "RANGE")]),
    (BASE | {"extras": ["insured"], "value": ""}, [("value", "TYPE")]),
    (BASE | {"extras": ["cold", "insured"], "value": 1}, []),
    (BASE | {"extras": []}, []),
    (BASE | {"extras": None, "street": None}, []),
    (BASE | {"extras": ""}, [("extras", "TYPE")]),
    (
        BASE | {"total": 5, "b": 1, "Z": 2, "toString": 3},
        [("Z", "UNKNOWN"), ("b", "UNKNOWN"), ("toString", "UNKNOWN"), ("total", "UNKNOWN")],
    ),
    (BASE | {"items": [5, {"price": 1}, []]}, [("items[0]", "TYPE"), ("items[2]", "TYPE")]),
    (BASE | {"items": [None] * 4}, [("items", "ROWS"), *((f"items[{n}]", "TYPE") for n in range(4))]),
    (BASE | {"items": [{"price": 1}] * 3}, []),
    (BASE | {"items": "a"}, [("items", "TYPE")]),
    (item(wish="2026-02-29"), [("items[0].wish", "DATE")]),
    (item(wish="2026-02-29", count=1), []),
    (item(wish=5, price=1001), [("items[0].price", "RANGE")]),
    (item(wish=20260101), [("items[0].wish", "TYPE")]),
    (item(wish="2028-02-29", x=1, cost=4), [("items[0].cost", "UNKNOWN"), ("items[0].x", "UNKNOWN")]),
    (item(name="", wish=""), []),
    (
        {"z": 1, "items": [{"q": 1}]},
        [
            ("customer", "REQUIRED"),
            ("delivery", "REQUIRED"),
            ("items[0].price", "REQUIRED"),
            ("items[0].q", "UNKNOWN"),
            ("z", "UNKNOWN"),
        ],
    ),
]


def test_drafts_of_anything_are_checked(project: Deployment) -> None:
    for draft, pairs in DRAFTS:
        expected = checked(ORDER, draft)
        assert expected.get("mistakes", []) == [{"path": path, "code": code} for path, code in pairs], draft
        assert project.query("orders:check", draft=draft) == expected, draft


@pytest.mark.parametrize("seed", range(4))
def test_random_drafts_are_checked(project: Deployment, seed: int) -> None:
    dice = Dice(random.Random(300 + seed))
    junk = [None, 5, -1, "", "a", [], ["gift", "insured"], [5], {}, [{}], "2026-05-05", "courier", 1500]
    for _ in range(30):
        draft: Data = {
            each["key"]: dice.value(each, 0.9) for each in ORDER if each["kind"] not in ("group", "computed")
        }
        draft["customer"] = dice.chance.choice(["ada", "ben", ""])
        rows = range(dice.chance.choice([0, 1, 2, 2, 3, 4]))
        draft["items"] = [
            {each["key"]: dice.value(each, 0.95) for each in ORDER[5]["fields"] if each["kind"] != "computed"}
            for _ in rows
        ]
        for holder in (draft, *draft["items"]):
            for key in list(holder):
                if dice.chance.random() < 0.08:
                    holder[key] = dice.chance.choice(junk)
                elif dice.chance.random() < 0.1:
                    del holder[key]
            if dice.chance.random() < 0.08:
                holder[dice.chance.choice(["x", "fee", "cost"])] = 1
        expected = checked(ORDER, draft)
        assert project.query("orders:check", draft=draft) == expected, draft
        if expected["ok"]:
            received = project.query("orders:confirm", draft=draft)
            assert received["result"] == Checked(ORDER).look(draft)[1], draft


def test_results_and_values_of_checked_answers(project: Deployment) -> None:
    draft = {
        "customer": "ada",
        "delivery": "courier",
        "street": "s",
        "extras": ["cold", "insured"],
        "value": 50,
        "items": [{"price": 8, "count": 3}, {"price": 100, "count": 1, "name": "", "wish": "2026-01-01"}, {"price": 7}],
    }
    confirmed = project.query("orders:confirm", draft=draft)
    items = [
        {"price": 8, "count": 3, "cost": 24},
        {"price": 100, "count": 1, "wish": "2026-01-01", "cost": 100},
        {"price": 7, "cost": None},
    ]
    result = draft | {"extras": ["insured", "cold"], "items": items, "fee": 0.5, "total": 124, "gross": 124.5}
    assert confirmed == {
        "line": "ada: 3 items, 100 at most, 124 in total",
        "delivery": "will be brought",
        "result": result,
        "firstPrice": "8.00",
        "street": "s",
    }
    confirmed = project.query("orders:confirm", draft=BASE | {"street": "x", "value": 7})
    result = BASE | {"items": [{"price": 5, "cost": None}], "fee": None, "total": 0, "gross": None}
    assert confirmed == {
        "line": "ada: 1 items, 0 at most, 0 in total",
        "delivery": "will be fetched",
        "result": result,
        "firstPrice": "5.00",
        "street": "",
    }
    assert project.query("orders:confirm", draft={}) is None


FUNCTIONS: dict[str, tuple[str, Data]] = {
    "create": ("mutation", {"user": "ada"}),
    "edit": ("mutation", {"user": "ada", "form": "", "fields": []}),
    "publish": ("mutation", {"user": "ada", "form": ""}),
    "version": ("query", {"form": "", "version": 1}),
    "begin": ("mutation", {"user": "ada", "form": ""}),
    "save": ("mutation", {"user": "ada", "response": "", "path": "a", "value": None}),
    "removeRow": ("mutation", {"user": "ada", "response": "", "path": "a"}),
    "submit": ("mutation", {"user": "ada", "response": ""}),
    "response": ("query", {"user": "ada", "response": ""}),
    "summary": ("query", {"user": "ada", "form": ""}),
    "cross": ("query", {"user": "ada", "form": "", "rows": "a", "columns": "b"}),
}


def test_clients_can_call_these_functions_and_no_others_and_arguments_are_validated(project: Deployment) -> None:
    public = {name: spec.kind for name, spec in project.functions().items() if spec.is_public}
    mine = {f"forms:{name}": kind for name, (kind, _) in FUNCTIONS.items()}
    assert public == mine | {"orders:check": "query", "orders:confirm": "query"}
    assert project.routes() == [Route("GET", "/results")]
    desk = Desk.begin(project, [text("a")])
    ids = {"form": desk.form, "response": desk.respond("ada").id}
    for name, (kind, declared) in FUNCTIONS.items():
        arguments = declared | {key: ids[key] for key in declared if key in ids}
        for argument in arguments:
            for rejected in (
                {**arguments, argument: {"x": 1}},
                {key: arguments[key] for key in arguments if key != argument},
                {**arguments, "x": 1},
            ):
                with project.fails("ArgumentValidationError"):
                    getattr(project, kind)(f"forms:{name}", rejected)
    for value in ([5], True, [["a"]]):
        with project.fails("ArgumentValidationError"):
            project.mutation(
                "forms:save", FUNCTIONS["save"][1] | {"response": ids["response"], "path": "a", "value": value}
            )


def nested(depth: int) -> Any:
    return 1 if depth == 0 else {"op": "+", "left": 1, "right": nested(depth - 1)}


def test_definitions_are_validated_completely(project: Deployment) -> None:
    desk = Desk.begin(project)
    deep = {
        "op": "*",
        "left": nested(3),
        "right": {
            "op": "-",
            "left": {"sum": "g.n"},
            "right": {"op": "/", "left": 1, "right": {"op": "+", "left": of("x"), "right": 2}},
        },
    }
    for right in (
        [group("g", computed("c", deep))],
        [computed("c", nested(4))],
        [text("a", maxLength=-1), number("b", max=0), group("g", least=-5)],
    ):
        assert project.mutation("forms:edit", user="ada", form=desk.form, fields=right) is None
    wrong: Fields = [
        {"kind": "text", "required": True},
        {"key": "a", "required": True},
        {"key": "a", "kind": "text"},
        {"key": 5, "kind": "text", "required": True},
        {"key": "a", "kind": "time", "required": True},
        text("a", required="yes"),
        text("a", maxLength="5"),
        text("a", min=5),
        text("a", options=["a"]),
        number("a", min="1"),
        number("a", maxLength=1),
        number("a", max=None),
        {"key": "a", "kind": "choice", "required": True},
        choice("a") | {"options": [5]},
        choices("a", max=5),
        {"key": "a", "kind": "date", "required": True, "min": 1},
        {"key": "a", "kind": "date"},
        computed("a", "b"),
        computed("a", {"sum": 5}),
        computed("a", {"field": "b", "sum": "c"}),
        computed("a", {"op": "%", "left": 1, "right": 2}),
        computed("a", {"op": "+", "left": 1}),
        computed("a", nested(5)),
        computed("a", 1, required=True),
        {"key": "a", "kind": "computed"},
        text("a", **if_("b")),
        text("a", **if_("b", **{"is": 5})),
        text("a", **if_("b", **{"is": "a", "includes": "a"})),
        text("a", **if_("b", atLeast="3")),
        text("a", showIf=None),
        group("a", group("b")),
        group("a", least="0"),  # type: ignore[arg-type]
        group("a", required=True),
        group("a", {"key": "b", "kind": "text"}),
        {"key": "a", "kind": "group", "min": 0, "max": 1},
    ]
    for field_ in wrong:
        with project.fails("ArgumentValidationError"):
            project.mutation("forms:edit", user="ada", form=desk.form, fields=[field_])
