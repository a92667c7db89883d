"""Choices that a task leaves open: recognised in the code that differs, or in the words of a complaint."""

import pytest

from convex_evals.analysis.classification.rules.choices import (
    BOUNDS,
    CAPITALS,
    CHOICES,
    NOTHING,
    OFFSET,
    ORDER,
    ROUNDING,
    UNIT,
    ZONE,
    Choice,
    chosen_in_code,
    chosen_in_words,
    other_condition,
)
from convex_evals.analysis.evidence import Cause, Evidence

IN_CODE = [
    (ORDER, 'rows.order("desc")', "rows"),
    (ORDER, "names.sort().reverse()", "names.sort()"),
    (BOUNDS, 'q.gt("at", from)', 'q.gte("at", from)'),
    (BOUNDS, "if (a.end < b.start) {}", "if (a.end <= b.start) {}"),
    (UNIT, "return (end - start) / 1000;", "return end - start;"),
    (ROUNDING, "return sum / count;", "return Math.round((sum / count) * 100) / 100;"),
    (CAPITALS, "name === wanted", "name.toLowerCase() === wanted.toLowerCase()"),
    (ZONE, "date.getDate()", "date.getUTCDate()"),
    (NOTHING, 'throw new Error("no such thing");', "return null;"),
    (OFFSET, "return better.length;", "return better.length + 1;"),
]
IN_WORDS = [
    (ORDER, "the same rows in a different order"),
    (BOUNDS, "the range was meant to be inclusive"),
    (UNIT, "milliseconds were expected, and seconds came"),
    (ROUNDING, "the mean should be rounded"),
    (CAPITALS, "the search should be case-insensitive"),
    (NOTHING, "expected null for a missing row, but it threw"),
    (ZONE, "the day was meant in UTC"),
    (OFFSET, "ranks are zero-based"),
]
TOLD = [
    (ORDER, "The newest comes first."),
    (BOUNDS, "Events at or after `from` and before `to`."),
    (UNIT, "It waits for so many seconds."),
    (ROUNDING, "The average, not rounded."),
    (CAPITALS, "Upper and lower case are the same."),
    (NOTHING, "The row, or null."),
    (ZONE, "Days are those of UTC."),
    (OFFSET, "The rank of the best is 1."),
]


def differing(model: str, expected: str) -> Evidence:
    return Evidence(failed_step="tests", cause=Cause("isolated", model, expected))


@pytest.mark.parametrize(("choice", "model", "expected"), IN_CODE)
def test_code_that_differs_in_one_choice_only_shows_it(choice: Choice, model: str, expected: str) -> None:
    assert choice in chosen_in_code(differing(model, expected))
    assert choice in chosen_in_code(differing(expected, model))


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("rows.take(11)", "rows.take(10)"),
        ('rows.order("desc").filter(isOpen)', "rows"),
        ("a.price", "a.cost"),
        ("same", "same"),
        ("", "return null;"),
    ],
)
def test_code_that_differs_in_anything_else_shows_no_choice(model: str, expected: str) -> None:
    shown = chosen_in_code(differing(model, expected))
    assert not any(each.is_open("Return the rows.") for each in shown)


@pytest.mark.parametrize(("choice", "said"), IN_WORDS)
def test_words_show_a_choice_when_they_name_both_sides(choice: Choice, said: str) -> None:
    assert chosen_in_words(said) == (choice,)


def test_a_unit_alone_shows_no_choice() -> None:
    assert chosen_in_words("the job did not run after 5 seconds") == ()


@pytest.mark.parametrize(("choice", "task"), TOLD)
def test_a_task_that_decides_it_leaves_nothing_open(choice: Choice, task: str) -> None:
    assert not choice.is_open(task)


@pytest.mark.parametrize(
    ("model", "expected", "field"),
    [
        ("rows.length", "rows.filter((row) => !row.hidden).length", "hidden"),
        ("rows.filter((row) => row.open)", "rows", "open"),
        ("hidden: v.string()", "open: v.string()", None),
        ("rows.filter((row) => row.open && row.hidden)", "rows", None),
        ("first(rows)", "last(rows.filter(isNew))", None),
    ],
)
def test_a_condition_on_one_field_that_only_one_of_them_has(model: str, expected: str, field: str | None) -> None:
    schema = {"convex/schema.ts": "defineTable({ hidden: v.boolean(), open: v.boolean() })"}
    evidence = Evidence(failed_step="tests", cause=Cause("isolated", model, expected), answer=schema)
    assert other_condition(evidence) == field


def test_every_choice_has_a_case_of_each_kind() -> None:
    for cases in (IN_CODE, IN_WORDS, TOLD):
        assert {each[0].name for each in cases} == {each.name for each in CHOICES}
