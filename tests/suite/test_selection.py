from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from convex_evals.core.errors import UsageError
from convex_evals.suite import Problem, Selection, Suite, load_suite, select

WriteEval = Callable[..., Path]


@pytest.fixture
def suite(root: Path, write_eval: WriteEval) -> Suite:
    for name in ("000-basics/000-first", "000-basics/001-second", "001-queries/000-first", "001-queries/002-index"):
        write_eval(name)
    return load_suite(root)


@pytest.mark.parametrize(
    ("selection", "chosen"),
    [
        (Selection(), "000-basics/000-first 000-basics/001-second 001-queries/000-first 001-queries/002-index"),
        (Selection(categories=["000-basics"]), "000-basics/000-first 000-basics/001-second"),
        (Selection(categories=["basics"]), "000-basics/000-first 000-basics/001-second"),
        (Selection(categories=["001"]), "001-queries/000-first 001-queries/002-index"),
        (
            Selection(categories=["queries", "basics"], pattern="first"),
            "000-basics/000-first 001-queries/000-first",
        ),
        (Selection(pattern="^000-basics/0"), "000-basics/000-first 000-basics/001-second"),
        (Selection(pattern="second|index$"), "000-basics/001-second 001-queries/002-index"),
        (Selection(names=["000-first"]), "000-basics/000-first 001-queries/000-first"),
        (Selection(names=["001-queries/000-first"]), "001-queries/000-first"),
        (Selection(categories=["basics"], names=["000-first"]), "000-basics/000-first"),
    ],
)
def test_a_selection_keeps_what_meets_every_condition_in_the_suites_order(
    suite: Suite, selection: Selection, chosen: str
) -> None:
    assert [each.id for each in select(suite, selection)] == chosen.split()


@pytest.mark.parametrize(
    ("selection", "sentence"),
    [
        (Selection(pattern="("), "Expected a regular expression as filter, found '(': missing ), unterminated"),
        (Selection(categories=["querys"]), "There is no category 'querys' in this suite; did you mean queries?"),
        (Selection(names=["frist"]), "There is no eval 'frist' in this suite; did you mean first?"),
        (Selection(names=["zzz"]), "There is no eval 'zzz' in this suite; `convex-evals list` shows what there is."),
        (Selection(pattern="nothing"), "No eval matches; `convex-evals list` without filters shows all 4."),
    ],
)
def test_an_impossible_selection_says_why(suite: Suite, selection: Selection, sentence: str) -> None:
    with pytest.raises(UsageError) as raised:
        select(suite, selection)
    assert str(raised.value).startswith(sentence)


@pytest.mark.parametrize("selection", [Selection(pattern="second"), Selection(names=["second"])])
def test_broken_evals_that_match_are_named(suite: Suite, selection: Selection) -> None:
    problem = Problem(suite.root / "000-basics" / "001-second" / "TASK.txt", "is empty", "write it")
    for others in ((suite.evals[0],), ()):
        with pytest.raises(UsageError) as raised:
            select(replace(suite, evals=others, problems=(problem,)), selection)
        assert str(raised.value).startswith("The only eval that matches, 000-basics/001-second, is broken;")
    both = (problem, replace(problem, path=suite.root / "000-basics" / "009-second"))
    with pytest.raises(UsageError, match="All 2 evals that match are broken"):
        select(replace(suite, evals=suite.evals[:1], problems=both), selection)


@pytest.mark.parametrize(
    ("selection", "path", "taken"),
    [
        (Selection(), "000-basics/000-first/TASK.txt", True),
        (Selection(categories=["basics"]), "000-basics/000-first", True),
        (Selection(categories=["queries"]), "000-basics/000-first/answer/x.ts", False),
        (Selection(names=["000-first"]), "000-basics/000-first", True),
        (Selection(pattern="second"), "000-basics/000-first", False),
        (Selection(pattern="second"), "suite.json", True),
    ],
)
def test_a_problem_is_selected_with_its_eval(selection: Selection, path: str, taken: bool) -> None:
    suite = Suite(Path("/suite"), (), "")
    assert selection.takes_problem(suite, Problem(suite.root / path, "is wrong", "correct it")) is taken
