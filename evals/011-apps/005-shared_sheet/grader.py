"""A sheet that is always what the edits in force make it, with formulas that follow their cells."""

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LIMITS = {"row": 60, "column": 26}
TOKEN = re.compile(
    r" *(?:(?P<number>\d+(?:\.\d+)?)|(?P<cell>[A-Z][1-9]\d*)|(?P<name>SUM|COUNT|MAX)|(?P<sign>#REF!|[-+*/():]))"
)
NUMBER = re.compile(r"-?\d+(\.\d+)?")

Place = tuple[int, int]
"""Row and column, counted from 0."""


class Fault(str):
    """An error as the value of a cell, which is not text."""


def place_of(name: str) -> Place:
    return int(name[1:]) - 1, LETTERS.index(name[0])


def name_of(place: Place) -> str:
    return f"{LETTERS[place[1]]}{place[0] + 1}"


def cells_between(first: Place, last: Place) -> Iterator[Place]:
    for row in range(first[0], last[0] + 1):
        for column in range(first[1], last[1] + 1):
            yield row, column


class NotAFormula(Exception):
    pass


@dataclass
class Formula:
    """Reads a formula, and evaluates it while reading it again."""

    text: str
    tokens: list[tuple[str, str, int]] = field(default_factory=list)
    mentions: list[tuple[int, int, Place, Place | None]] = field(default_factory=list)
    next: int = 0
    lookup: Callable[[Place], Any] = lambda place: None

    @classmethod
    def read(cls, text: str) -> "Formula | None":
        try:
            formula = cls(text)
            formula.tokenize()
            formula.value()
        except NotAFormula:
            return None
        return formula

    def tokenize(self) -> None:
        at = 1
        while self.text[at:].strip(" "):
            found = TOKEN.match(self.text, at)
            if found is None:
                raise NotAFormula
            kind = str(found.lastgroup)
            self.tokens.append((kind, found[kind], found.start(kind)))
            at = found.end()

    def value(self, lookup: Callable[[Place], Any] = lambda place: None) -> Any:
        self.lookup, self.next, self.mentions = lookup, 0, []
        value = self.expression()
        if self.next != len(self.tokens):
            raise NotAFormula
        return value

    def peek(self) -> str:
        return self.tokens[self.next][1] if self.next < len(self.tokens) else ""

    def take(self, *kinds: str) -> tuple[str, str, int]:
        if self.next >= len(self.tokens) or self.tokens[self.next][0] not in kinds:
            raise NotAFormula
        self.next += 1
        return self.tokens[self.next - 1]

    def sign(self, sign: str) -> None:
        if self.take("sign")[1] != sign:
            raise NotAFormula

    def expression(self) -> Any:
        value = self.term()
        while self.peek() in ("+", "-"):
            value = operate(self.take("sign")[1], value, self.term())
        return value

    def term(self) -> Any:
        value = self.factor()
        while self.peek() in ("*", "/"):
            value = operate(self.take("sign")[1], value, self.factor())
        return value

    def factor(self) -> Any:
        kind, text, start = self.take("number", "cell", "name", "sign")
        if kind == "number":
            return float(text)
        if kind == "name":
            return self.call(text)
        if kind == "cell":
            self.mentions.append((start, start + len(text), place_of(text), None))
            value = self.lookup(place_of(text))
            return 0.0 if value is None else value
        if text == "#REF!":
            return Fault(text)
        if text == "-":
            return operate("*", self.factor(), -1.0)
        if text != "(":
            raise NotAFormula
        value = self.expression()
        self.sign(")")
        return value

    def call(self, name: str) -> Any:
        self.sign("(")
        if self.peek() == "#REF!":
            self.next += 1
            self.sign(")")
            return Fault("#REF!")
        _, first, start = self.take("cell")
        self.sign(":")
        _, last, end = self.take("cell")
        self.sign(")")
        corners = place_of(first), place_of(last)
        if corners[0][0] > corners[1][0] or corners[0][1] > corners[1][1]:
            raise NotAFormula
        self.mentions.append((start, end + len(last), *corners))
        values = [self.lookup(place) for place in cells_between(*corners)]
        numbers = [value for value in values if isinstance(value, float)]
        for value in values:
            if isinstance(value, Fault):
                return value
        if name == "COUNT":
            return float(len(numbers))
        return reduce(add, numbers, 0.0) if name == "SUM" else max(numbers, default=0.0)


def operate(operator: str, left: Any, right: Any) -> Any:
    for operand in (left, right):
        if isinstance(operand, Fault):
            return operand
    if isinstance(left, str) or isinstance(right, str):
        return Fault("#VALUE!")
    if operator == "/":
        return Fault("#DIV/0!") if right == 0 else left / right
    return left + right if operator == "+" else left - right if operator == "-" else left * right


def values_of(inputs: dict[Place, str]) -> dict[Place, Any]:
    formulas = {place: Formula.read(text) for place, text in inputs.items() if text.startswith("=")}
    needs: dict[Place, set[Place]] = {}
    for place, formula in formulas.items():
        named = [(first, last or first) for _, _, first, last in (formula.mentions if formula else [])]
        needs[place] = {cell for corners in named for cell in cells_between(*corners) if cell in inputs}
    reached = {place: set(needed) for place, needed in needs.items()}
    for _ in range(len(reached)):
        for place, found in reached.items():
            reached[place] = found.union(*(reached.get(other, set()) for other in found))
    values: dict[Place, Any] = {}

    def value_of(place: Place) -> Any:
        if place not in inputs:
            return None
        if place not in values:
            text, formula = inputs[place], formulas.get(place)
            if place in reached.get(place, ()):
                values[place] = Fault("#CYCLE!")
            elif formula is not None:
                values[place] = formula.value(value_of)
            elif text.startswith("="):
                values[place] = Fault("#PARSE!")
            else:
                values[place] = float(text) if NUMBER.fullmatch(text) else text
        return values[place]

    for place in inputs:
        value_of(place)
    return values


@dataclass(eq=False)
class Line:
    """A row or a column."""

    inserted: "Edit | None" = None
    removed: "list[Edit]" = field(default_factory=list)

    @property
    def is_visible(self) -> bool:
        return (self.inserted is None or self.inserted.in_force) and not any(edit.in_force for edit in self.removed)


Part = str | tuple[Line, Line] | tuple[Line, Line, Line, Line]


@dataclass(eq=False)
class Edit:
    user: str
    kind: str
    cells: dict[tuple[Line, Line], list[Part]] = field(default_factory=dict)
    in_force: bool = True


class Refused(Exception):
    pass


@dataclass
class Truth:
    """The sheet as TASK.txt defines it: nothing is stored but the lines and the edits."""

    lines: dict[str, list[Line]]
    edits: list[Edit] = field(default_factory=list)
    undone: dict[str, list[Edit]] = field(default_factory=dict)

    @classmethod
    def create(cls, rows: int, columns: int) -> "Truth":
        return cls({"row": [Line() for _ in range(rows)], "column": [Line() for _ in range(columns)]})

    def visible(self, axis: str) -> list[Line]:
        return [line for line in self.lines[axis] if line.is_visible]

    def is_inside(self, place: Place) -> bool:
        return 0 <= place[0] < len(self.visible("row")) and 0 <= place[1] < len(self.visible("column"))

    def cell(self, place: Place) -> tuple[Line, Line]:
        if not self.is_inside(place):
            raise Refused("OUTSIDE")
        return self.visible("row")[place[0]], self.visible("column")[place[1]]

    def bind(self, text: str) -> list[Part]:
        formula = Formula.read(text) if text.startswith("=") else None
        parts: list[Part] = []
        end = 0
        for start, stop, first, last in formula.mentions if formula else []:
            parts.append(text[end:start])
            end = stop
            if not self.is_inside(first) or (last and not self.is_inside(last)):
                parts.append("#REF!")
            else:
                parts.append((*self.cell(first), *self.cell(last)) if last else self.cell(first))
        return [*parts, text[end:]]

    def render(self, parts: list[Part]) -> str:
        return "".join(part if isinstance(part, str) else self.written(part) for part in parts)

    def written(self, part: tuple[Line, ...]) -> str:
        corners = part if len(part) == 4 else (*part, *part)
        rows = self.span("row", corners[0], corners[2])
        columns = self.span("column", corners[1], corners[3])
        if not rows or not columns:
            return "#REF!"
        names = [name_of((rows[0], columns[0])), name_of((rows[-1], columns[-1]))]
        return ":".join(names[: len(part) // 2])

    def span(self, axis: str, first: Line, last: Line) -> list[int]:
        lines, visible = self.lines[axis], self.visible(axis)
        return [visible.index(line) for line in lines[lines.index(first) : lines.index(last) + 1] if line in visible]

    def inputs(self) -> dict[Place, tuple[str, str]]:
        contents: dict[tuple[Line, Line], tuple[list[Part], str]] = {}
        for edit in self.edits:
            if edit.in_force:
                contents.update({cell: (parts, edit.user) for cell, parts in edit.cells.items()})
        rows, columns = self.visible("row"), self.visible("column")
        found = {}
        for (row, column), (parts, user) in contents.items():
            if row in rows and column in columns and self.render(parts):
                found[rows.index(row), columns.index(column)] = (self.render(parts), user)
        return found

    def view(self) -> dict[str, Any]:
        inputs = self.inputs()
        values = values_of({place: text for place, (text, _) in inputs.items()})
        cells = [
            {"cell": name_of(place), "input": inputs[place][0], "value": values[place], "by": inputs[place][1]}
            for place in sorted(inputs)
        ]
        return {"rows": len(self.visible("row")), "columns": len(self.visible("column")), "cells": cells}

    def history(self) -> list[dict[str, Any]]:
        return [{"user": edit.user, "kind": edit.kind, "inForce": edit.in_force} for edit in reversed(self.edits)]

    def add(self, edit: Edit) -> None:
        self.edits.append(edit)
        self.undone[edit.user] = []

    def set(self, user: str, cells: list[dict[str, str]]) -> None:
        inputs = {self.cell(place_of(each["cell"])): self.bind(each["input"]) for each in cells}
        self.add(Edit(user, "set", inputs))

    def copy(self, user: str, source: str, to: str) -> None:
        first, last = map(place_of, source.split(":"))
        target = place_of(to)
        rows, columns = target[0] - first[0], target[1] - first[1]
        if not self.is_inside(last) or not self.is_inside((last[0] + rows, last[1] + columns)):
            raise Refused("OUTSIDE")
        inputs = self.inputs()
        copied = {}
        for row, column in cells_between(first, last):
            text = self.moved(inputs.get((row, column), ("", ""))[0], rows, columns)
            copied[self.cell((row + rows, column + columns))] = self.bind(text)
        self.add(Edit(user, "set", copied))

    def moved(self, text: str, rows: int, columns: int) -> str:
        formula = Formula.read(text) if text.startswith("=") else None
        result, end = "", 0
        for start, stop, first, last in formula.mentions if formula else []:
            corners = [(row + rows, column + columns) for row, column in (first, last or first)]
            names = ":".join(
                name_of(corner) if self.is_inside(corner) else "" for corner in corners[: 2 if last else 1]
            )
            result += text[end:start] + (names if all(map(self.is_inside, corners)) else "#REF!")
            end = stop
        return result + text[end:]

    def insert(self, user: str, axis: str, at: int, count: int) -> None:
        visible, lines = self.visible(axis), self.lines[axis]
        if at > len(visible) + 1:
            raise Refused("OUTSIDE")
        if len(visible) + count > LIMITS[axis]:
            raise Refused("SIZE")
        edit = Edit(user, "insert")
        place = lines.index(visible[at - 1]) if at <= len(visible) else len(lines)
        lines[place:place] = [Line(edit) for _ in range(count)]
        self.add(edit)

    def remove(self, user: str, axis: str, at: int, count: int) -> None:
        visible = self.visible(axis)
        if at - 1 + count > len(visible):
            raise Refused("OUTSIDE")
        if count == len(visible):
            raise Refused("SIZE")
        edit = Edit(user, "remove")
        for line in visible[at - 1 : at - 1 + count]:
            line.removed.append(edit)
        self.add(edit)

    def undo(self, user: str) -> None:
        edits = [edit for edit in self.edits if edit.user == user and edit.in_force]
        if not edits:
            raise Refused("NOTHING")
        self.switch(edits[-1])
        self.undone.setdefault(user, []).append(edits[-1])

    def redo(self, user: str) -> None:
        if not self.undone.get(user):
            raise Refused("NOTHING")
        self.switch(self.undone[user][-1])
        self.undone[user].pop()

    def switch(self, edit: Edit) -> None:
        edit.in_force = not edit.in_force
        if not all(1 <= len(self.visible(axis)) <= LIMITS[axis] for axis in LIMITS):
            edit.in_force = not edit.in_force
            raise Refused("SIZE")


@dataclass
class Desk:
    """Does the same to a sheet of the deployment and to the truth."""

    project: Deployment
    truth: Truth
    sheet: str
    done: list[Any] = field(default_factory=list)

    @classmethod
    def begin(cls, project: Deployment, rows: int = 5, columns: int = 4) -> "Desk":
        sheet = project.mutation("sheets:create", user="ada", rows=rows, columns=columns)
        project.mutation("sheets:share", user="ada", sheet=sheet, other="ben", role="editor")
        return cls(project, Truth.create(rows, columns), sheet)

    def do(self, what: str, user: str, **arguments: Any) -> None:
        self.done.append((what, user, arguments))
        sent = {key: value for key, value in arguments.items() if key != "source"}
        sent |= {"from": arguments["source"]} if "source" in arguments else {}
        try:
            getattr(self.truth, what)(user, **arguments)
        except Refused as refusal:
            with self.project.fails(data={"code": str(refusal)}):
                self.project.mutation(f"sheets:{what}", {**sent, "user": user, "sheet": self.sheet})
        else:
            assert self.project.mutation(f"sheets:{what}", {**sent, "user": user, "sheet": self.sheet}) is None

    def set(self, user: str = "ada", **inputs: str) -> None:
        self.do("set", user, cells=[{"cell": cell, "input": text} for cell, text in inputs.items()])

    def view(self) -> dict[str, Any]:
        return self.project.query("sheets:view", user="ada", sheet=self.sheet)

    def inputs(self) -> dict[str, str]:
        return {cell["cell"]: cell["input"] for cell in self.view()["cells"]}

    def values(self) -> dict[str, Any]:
        return {cell["cell"]: cell["value"] for cell in self.view()["cells"]}

    def check(self) -> None:
        received, expected = self.view(), self.truth.view()
        if received != expected:
            assert received == expected, f"after {self.done[-25:]}"


def random_name(chance: random.Random, rows: int = 5, columns: int = 4) -> str:
    return name_of((chance.randrange(rows), chance.randrange(columns)))


def random_range(chance: random.Random) -> str:
    first = (chance.randrange(5), chance.randrange(4))
    last = (chance.randrange(first[0], 6), chance.randrange(first[1], 4))
    return f"{name_of(first)}:{name_of(last)}"


def random_factor(chance: random.Random, depth: int) -> str:
    choice = chance.random()
    if choice < 0.4:
        return random_name(chance, 6, 4)
    if choice < 0.55:
        return chance.choice(["0", "2", "3", "10", "0.5"])
    if choice < 0.8:
        return f"{chance.choice(['SUM', 'COUNT', 'MAX'])}({random_range(chance)})"
    if choice < 0.85:
        return f"-{random_factor(chance, depth + 1)}"
    if choice < 0.87:
        return "#REF!"
    return f"({random_expression(chance, depth + 1)})" if depth < 2 else "1"


def random_expression(chance: random.Random, depth: int = 0) -> str:
    text = random_factor(chance, depth)
    for _ in range(chance.choice([0, 0, 1, 1, 2])):
        text += chance.choice(["+", "-", "*", "/", " + ", " / "]) + random_factor(chance, depth)
    return text


BROKEN = [
    "=",
    "=A1+",
    "=SUM(A1)",
    "=A1:B2",
    "=B3:A1",
    "=SUM(B2:A1)",
    "=sum(A1:B2)",
    "=A01",
    "=1.",
    "=AB1",
    "=2 3",
    "=(A1",
]


def random_input(chance: random.Random) -> str:
    choice = chance.random()
    if choice < 0.25:
        return chance.choice(["0", "1", "-4", "7", "12", "0.25", "-2.5"])
    if choice < 0.35:
        return chance.choice(["text", "#REF!", "-", "1e3", " 5", "+1", "A1"])
    if choice < 0.4:
        return ""
    if choice < 0.43:
        return chance.choice(BROKEN)
    return f"={random_expression(chance)}"


def random_step(desk: Desk, chance: random.Random) -> None:
    user = chance.choice(["ada", "ben"])
    axis = chance.choice(["row", "row", "column"])
    size = len(desk.truth.visible(axis))
    choice = chance.random()
    if choice < 0.4:
        count = chance.choice([1, 1, 2, 3])
        cells = [{"cell": random_name(chance), "input": random_input(chance)} for _ in range(count)]
        desk.do("set", user, cells=cells)
    elif choice < 0.5:
        desk.do("copy", user, source=random_range(chance), to=random_name(chance))
    elif choice < 0.6 and size < 7:
        desk.do("insert", user, axis=axis, at=chance.randint(1, size + 1), count=chance.choice([1, 2]))
    elif choice < 0.72:
        at = chance.randint(1, size)
        desk.do("remove", user, axis=axis, at=at, count=chance.choice([1, 1, 2]))
    elif choice < 0.9:
        desk.do("undo", user)
    else:
        desk.do("redo", user)


@pytest.mark.parametrize("seed", range(3))
def test_the_sheet_is_always_what_the_edits_in_force_make_it(project: Deployment, seed: int) -> None:
    chance = random.Random(seed)
    desk = Desk.begin(project)
    texts = ["3", "=A1*2", "note", "=SUM(A1:C3)", "=B1/A2", "4", "=A2+D1", "=COUNT(A1:D5)"]
    names = chance.sample([name_of(place) for place in cells_between((0, 0), (4, 3))], len(texts))
    desk.set(**dict(zip(names, texts, strict=True)))
    for _ in range(60):
        random_step(desk, chance)
        desk.check()
    received = [
        edit
        for page in project.pages("sheets:history", num_items=7, user="ben", sheet=desk.sheet)
        for edit in page.items
    ]
    assert received == desk.truth.history()


@pytest.mark.parametrize("seed", range(6))
def test_values_follow_from_the_inputs(project: Deployment, seed: int) -> None:
    chance = random.Random(100 + seed)
    desk = Desk.begin(project)
    places = chance.sample(list(cells_between((0, 0), (4, 3))), 17)
    desk.set(**{name_of(place): random_input(chance) for place in places})
    desk.check()
    desk.set(**{name_of(place): random_input(chance) for place in places[:5]})
    desk.check()


def test_an_input_that_is_not_a_formula_stays_as_it_was_entered(project: Deployment) -> None:
    desk = Desk.begin(project, 20, 4)
    inputs = {f"A{number}": text for number, text in enumerate(BROKEN, 1)}
    desk.set(**inputs)
    assert desk.values() == dict.fromkeys(inputs, "#PARSE!")
    desk.do("insert", "ben", axis="column", at=1, count=1)
    desk.do("insert", "ben", axis="row", at=1, count=2)
    assert list(desk.inputs().values()) == BROKEN
    desk.check()


def test_the_first_error_counts(project: Deployment) -> None:
    desk = Desk.begin(project, 12, 4)
    desk.set(A1="=1/0", A2="text", A3="=A2+1", A4="=#REF!", A5="#REF!", A6="=A6", A7="=A6+A1", B1="=A2+A1")
    desk.set(B2="=A4/0", B3="=A2/0", B4="=SUM(A1:A5)", B5="=SUM(A2:A4)", B6="=A5", B7="=A5+1", B8="=COUNT(A5:A5)")
    desk.set(C1="=-A2", C2="=(A3)*A1", C3="=A1*(A3)", C4="=1-2-3", C5="=8/4/2", C6="=2--3", C7="=SUM(D1:D9)", C8="=D1")
    values = desk.values()
    assert {cell: values[cell] for cell in ("A1", "A3", "A4", "A5", "A6", "A7", "B1", "B2", "B3")} == {
        "A1": "#DIV/0!",
        "A3": "#VALUE!",
        "A4": "#REF!",
        "A5": "#REF!",
        "A6": "#CYCLE!",
        "A7": "#CYCLE!",
        "B1": "#DIV/0!",
        "B2": "#REF!",
        "B3": "#VALUE!",
    }
    desk.check()


def test_references_follow_their_cells_and_come_back_with_them(project: Deployment) -> None:
    desk = Desk.begin(project, 6, 4)
    desk.set(A2="5", A3="6", A4="7", C1="=A3 * 2", C2="=SUM(A2:A4)", C6="=SUM(A3:A3)+ A4")
    desk.do("insert", "ben", axis="row", at=3, count=2)
    assert desk.inputs()["C1"] == "=A5 * 2"
    assert desk.inputs()["C2"] == "=SUM(A2:A6)"
    desk.do("remove", "ada", axis="row", at=5, count=2)
    assert desk.inputs() == {"A2": "5", "C1": "=#REF! * 2", "C2": "=SUM(A2:A4)", "C6": "=SUM(#REF!)+ #REF!"}
    assert desk.values()["C6"] == "#REF!"
    desk.do("undo", "ben")
    assert desk.inputs() == {"A2": "5", "C1": "=#REF! * 2", "C2": "=SUM(A2:A2)", "C4": "=SUM(#REF!)+ #REF!"}
    desk.do("insert", "ben", axis="row", at=3, count=1)
    desk.do("undo", "ada")
    assert desk.inputs()["C2"] == "=SUM(A2:A4)"
    assert desk.values()["C7"] == 13
    desk.check()
    desk.do("redo", "ada")
    desk.check()


def test_undoing_what_somebody_has_overwritten_since_leaves_the_later_edit_in_place(project: Deployment) -> None:
    desk = Desk.begin(project)
    desk.set("ada", A1="first")
    desk.set("ada", A1="second", B1="mine")
    desk.set("ben", A1="third")
    desk.do("undo", "ada")
    assert desk.inputs() == {"A1": "third"}
    desk.do("undo", "ben")
    assert desk.inputs() == {"A1": "first"}
    desk.do("redo", "ada")
    assert desk.inputs() == {"A1": "second", "B1": "mine"}
    desk.do("redo", "ben")
    assert desk.inputs() == {"A1": "third", "B1": "mine"}
    desk.check()


def test_what_was_undone_is_final_after_a_new_edit_of_the_same_user(project: Deployment) -> None:
    desk = Desk.begin(project)
    for text in ("1", "2", "3"):
        desk.set("ada", A1=text)
    desk.do("undo", "ada")
    desk.do("undo", "ada")
    desk.set("ben", B1="other")
    desk.do("redo", "ada")
    assert desk.inputs()["A1"] == "2"
    desk.set("ada", C1="new")
    desk.do("redo", "ada")
    desk.do("undo", "ada")
    desk.do("redo", "ada")
    desk.do("redo", "ada")
    assert desk.inputs() == {"A1": "2", "B1": "other", "C1": "new"}
    desk.check()


def test_a_row_that_was_removed_twice_comes_back_when_both_are_undone(project: Deployment) -> None:
    desk = Desk.begin(project)
    desk.set(B3="=A3", A3="9")
    desk.do("remove", "ada", axis="row", at=3, count=1)
    desk.do("undo", "ada")
    desk.do("remove", "ben", axis="row", at=2, count=2)
    desk.do("redo", "ada")
    assert desk.view()["rows"] == 3
    desk.do("undo", "ben")
    assert desk.inputs() == {}
    desk.do("undo", "ada")
    assert desk.values() == {"A3": 9, "B3": 9}
    desk.check()


def test_copies_move_references_and_may_overlap(project: Deployment) -> None:
    desk = Desk.begin(project)
    desk.set("ada", A1="1", A2="=A1+1", A3="=SUM(A1:A2)", B1="=B5")
    desk.do("copy", "ben", source="A1:A3", to="A2")
    assert desk.inputs() == {"A1": "1", "A2": "1", "A3": "=A2+1", "A4": "=SUM(A2:A3)", "B1": "=B5"}
    desk.do("copy", "ben", source="A3:B4", to="B1")
    assert desk.inputs() == {
        "A1": "1",
        "A2": "1",
        "A3": "=A2+1",
        "A4": "=SUM(A2:A3)",
        "B1": "=#REF!",
        "B2": "=#REF!",
    } | {cell: text for cell, text in desk.inputs().items() if cell in ("B1", "B2")}
    desk.do("copy", "ada", source="A1:A2", to="D4")
    assert {cell["by"] for cell in desk.view()["cells"]} == {"ada", "ben"}
    desk.do("copy", "ada", source="A4:A4", to="A1")
    assert desk.inputs()["A1"] == "=SUM(#REF!)"
    desk.check()


def test_a_sheet_never_gets_too_small_or_too_large_not_even_by_undoing(project: Deployment) -> None:
    desk = Desk.begin(project, 2, 25)
    desk.do("remove", "ada", axis="row", at=1, count=2)
    desk.do("insert", "ada", axis="column", at=26, count=2)
    desk.do("insert", "ada", axis="row", at=3, count=1)
    desk.do("remove", "ben", axis="row", at=1, count=2)
    desk.do("undo", "ada")
    desk.check()
    desk.do("remove", "ben", axis="column", at=3, count=1)
    desk.do("insert", "ada", axis="column", at=1, count=2)
    desk.do("undo", "ben")
    desk.check()
    desk.do("undo", "ada")
    desk.do("undo", "ben")
    desk.do("redo", "ada")
    desk.check()


def test_calls_that_cannot_be_carried_out_are_refused(project: Deployment) -> None:
    desk = Desk.begin(project)
    desk.set(A1="1")

    def refused(code: str, what: str, user: str = "ada", **arguments: Any) -> None:
        call = project.query if what in ("cell", "view", "history") else project.mutation
        with project.fails(data={"code": code}):
            call(f"sheets:{what}", {"user": user, "sheet": desk.sheet, **arguments})

    for name in ("a1", "A0", "A01", "1A", "AA1", "", "A1 ", "A1:A1"):
        refused("INVALID", "set", cells=[{"cell": "A1", "input": "2"}, {"cell": name, "input": "1"}])
        refused("INVALID", "cell", cell=name)
        refused("INVALID", "copy", to=name, **{"from": "A1:A1"})
    for source in ("A1", "A1:", "B1:A1", "A2:A1", "A1:B0", "A1 : B2"):
        refused("INVALID", "copy", to="A1", **{"from": source})
    for name in ("A6", "E1"):
        refused("OUTSIDE", "set", cells=[{"cell": "A1", "input": "2"}, {"cell": name, "input": "1"}])
        refused("OUTSIDE", "cell", cell=name)
        refused("OUTSIDE", "copy", to="A1", **{"from": f"A1:{name}"})
        refused("OUTSIDE", "copy", to=name, **{"from": "A1:A1"})
    refused("OUTSIDE", "copy", to="A5", **{"from": "A1:A2"})
    refused("INVALID", "set", cells=[{"cell": "A9", "input": "1"}, {"cell": "a", "input": "1"}])
    for at, count in ((0, 1), (1, 0), (1.5, 1), (1, 1.5), (-1, 1), (99, 0)):
        refused("INVALID", "insert", axis="row", at=at, count=count)
        refused("INVALID", "remove", axis="row", at=at, count=count)
    refused("OUTSIDE", "insert", axis="row", at=7, count=99)
    refused("OUTSIDE", "remove", axis="row", at=2, count=5)
    refused("SIZE", "insert", axis="row", at=6, count=56)
    refused("NOTHING", "redo")
    refused("NOTHING", "undo", "ben")
    for rows, columns in ((0, 1), (61, 1), (1, 0), (1, 27), (1.5, 1), (2, -1)):
        with project.fails(data={"code": "INVALID"}):
            project.mutation("sheets:create", user="ada", rows=rows, columns=columns)
    desk.check()
    assert len(desk.truth.history()) == 1
    project.mutation("sheets:create", user="ada", rows=60, columns=26)


def test_roles_say_who_may_do_what(project: Deployment) -> None:
    desk = Desk.begin(project)
    desk.set(A1="1")
    own = project.mutation("sheets:create", user="ben", rows=1, columns=1)
    for other, role in (("cyd", "viewer"), ("dan", "editor"), ("dan", None), ("ada", "viewer"), ("eve", None)):
        assert project.mutation("sheets:share", user="ada", sheet=desk.sheet, other=other, role=role) is None
    changes: list[tuple[str, dict[str, Any]]] = [
        ("set", {"cells": [{"cell": "x", "input": ""}]}),
        ("copy", {"from": "A1:A1", "to": "A2"}),
        ("insert", {"axis": "row", "at": 1, "count": 1}),
        ("remove", {"axis": "row", "at": 1, "count": 1}),
        ("undo", {}),
        ("redo", {}),
    ]
    for user in ("cyd", "dan", "nobody"):
        for what, arguments in changes:
            with project.fails(data={"code": "FORBIDDEN"}):
                project.mutation(f"sheets:{what}", {"user": user, "sheet": desk.sheet, **arguments})
    for user in ("ben", "cyd", "dan"):
        with project.fails(data={"code": "FORBIDDEN"}):
            project.mutation("sheets:share", user=user, sheet=desk.sheet, other="cyd", role="editor")
    pages = {"paginationOpts": {"numItems": 3, "cursor": None}}
    for what, looked in (("view", {}), ("cell", {"cell": "A1"}), ("history", pages)):
        project.query(f"sheets:{what}", {"user": "cyd", "sheet": desk.sheet, **looked})
        with project.fails(data={"code": "FORBIDDEN"}):
            project.query(f"sheets:{what}", {"user": "dan", "sheet": desk.sheet, **looked})
    assert project.query("sheets:sheets", user="ben") == [
        {"sheet": desk.sheet, "owner": "ada", "role": "editor"},
        {"sheet": own, "owner": "ben", "role": "owner"},
    ]
    assert project.query("sheets:sheets", user="ada") == [{"sheet": desk.sheet, "owner": "ada", "role": "owner"}]
    assert [each["role"] for each in project.query("sheets:sheets", user="cyd")] == ["viewer"]
    assert project.query("sheets:sheets", user="dan") == []
    project.mutation("sheets:share", user="ada", sheet=desk.sheet, other="cyd", role="editor")
    desk.set("cyd", A1="2")
    desk.check()


def test_one_cell_is_returned_like_in_the_view(project: Deployment) -> None:
    desk = Desk.begin(project)
    desk.set("ben", B2="=1/4")
    found = project.query("sheets:cell", user="ada", sheet=desk.sheet, cell="B2")
    assert found == {"cell": "B2", "input": "=1/4", "value": 0.25, "by": "ben"}
    desk.do("undo", "ben")
    for name in ("B2", "A1"):
        found = project.query("sheets:cell", user="ada", sheet=desk.sheet, cell=name)
        assert found == {"cell": name, "input": "", "value": None, "by": None}


def test_a_subscription_to_a_cell_is_not_run_again_because_of_other_cells(project: Deployment) -> None:
    desk = Desk.begin(project)
    desk.set(A1="1", B1="=A1+1", C1="=SUM(A1:B5)", D1="x")
    with project.subscribe("sheets:cell", user="ada", sheet=desk.sheet, cell="B1") as live:
        desk.set("ada", D2="=A1", A3="=B1*2")
        desk.set("ben", D1="y")
        desk.do("undo", "ben")
        desk.do("copy", "ben", source="A3:A3", to="D4")
        assert live.executions() == 1
        desk.set("ben", A1="5")
        live.wait_until(lambda cell: cell["value"] == 6)
        desk.do("insert", "ben", axis="row", at=1, count=1)
        live.wait_until(lambda cell: cell["input"] == "")


def test_work_does_not_grow_with_the_number_of_edits(project: Deployment) -> None:
    desk = Desk.begin(project, 10, 5)
    names = [name_of(place) for place in cells_between((0, 0), (3, 2))]
    project.mutation(
        "sheets:set", user="ada", sheet=desk.sheet, cells=[{"cell": name, "input": "=D9"} for name in names]
    )
    with project.clients(2) as (one, two):
        for number in range(150):
            cells = [{"cell": names[number % 11], "input": f"{number}"}]
            one.mutation("sheets:set", user="ada", sheet=desk.sheet, cells=cells)
            two.mutation("sheets:set", user="ben", sheet=desk.sheet, cells=cells)
        for _ in range(130):
            two.mutation("sheets:undo", user="ben", sheet=desk.sheet)
    pages = {"paginationOpts": {"numItems": 5, "cursor": None}}
    calls: list[tuple[str, str, dict[str, Any]]] = [
        ("mutation", "undo", {}),
        ("mutation", "redo", {}),
        ("query", "view", {}),
        ("query", "cell", {"cell": "A1"}),
        ("query", "history", pages),
        ("mutation", "set", {"cells": [{"cell": "B2", "input": "=A1"}]}),
        ("mutation", "set", {"cells": [{"cell": names[11], "input": "set once before, by the first edit"}]}),
        ("mutation", "undo", {}),
        ("mutation", "copy", {"from": "A1:B2", "to": "B1"}),
        ("mutation", "insert", {"axis": "row", "at": 2, "count": 2}),
        ("mutation", "remove", {"axis": "column", "at": 1, "count": 2}),
        ("mutation", "share", {"other": "cyd", "role": "viewer"}),
    ]
    for kind, what, arguments in calls:
        with project.trace() as work:
            user = "ada" if what == "share" else "ben"
            getattr(project, kind)(f"sheets:{what}", {"user": user, "sheet": desk.sheet, **arguments})
        assert work.documents_read < 120, f"{what} reads {work.documents_read} documents"


OF_SHEET: dict[str, Any] = {"user": "ada", "sheet": ""}
FUNCTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "create": ("mutation", {"user": "ada", "rows": 1, "columns": 1}),
    "share": ("mutation", {**OF_SHEET, "other": "ben", "role": "viewer"}),
    "set": ("mutation", {**OF_SHEET, "cells": [{"cell": "A1", "input": ""}]}),
    "copy": ("mutation", {**OF_SHEET, "from": "A1:A1", "to": "A1"}),
    "insert": ("mutation", {**OF_SHEET, "axis": "row", "at": 1, "count": 1}),
    "remove": ("mutation", {**OF_SHEET, "axis": "row", "at": 1, "count": 1}),
    "undo": ("mutation", OF_SHEET),
    "redo": ("mutation", OF_SHEET),
    "view": ("query", OF_SHEET),
    "cell": ("query", {**OF_SHEET, "cell": "A1"}),
    "history": ("query", {**OF_SHEET, "paginationOpts": {"numItems": 1, "cursor": None}}),
    "sheets": ("query", {"user": "ada"}),
}


def test_clients_can_call_these_functions_and_no_others_and_arguments_are_validated(project: Deployment) -> None:
    public = {name: spec.kind for name, spec in project.functions().items() if spec.is_public}
    assert public == {f"sheets:{name}": kind for name, (kind, _) in FUNCTIONS.items()}
    sheet = Desk.begin(project).sheet
    for name, (kind, declared) in FUNCTIONS.items():
        arguments = {key: sheet if key == "sheet" else value for key, value in declared.items()}
        for argument, value in arguments.items():
            wrong = {**arguments, argument: "1" if isinstance(value, int) else 1}
            for rejected in (wrong, {key: arguments[key] for key in arguments if key != argument}):
                with project.fails("ArgumentValidationError"):
                    getattr(project, kind)(f"sheets:{name}", rejected)
    for name, wrong in (("share", {"role": "owner"}), ("insert", {"axis": "both"}), ("remove", {"axis": "columns"})):
        with project.fails("ArgumentValidationError"):
            project.mutation(f"sheets:{name}", {**FUNCTIONS[name][1], "sheet": sheet, **wrong})
