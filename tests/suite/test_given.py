"""Given files: what a project has before the model writes, and what of it an answer may change."""

from pathlib import Path

import pytest
from tests.suite.conftest import WriteEval

from convex_evals.suite import Given, load_suite, read_answer, read_changes, read_given, read_question

GIVEN = {"given/convex/a.ts": "a\n", "given/convex/b.ts": "b\n", "given/package.json": "{}\n"}
PROJECT = Given({"convex/a.ts": "a\n", "convex/b.ts": "one\ntwo\n"}, ("convex/a.ts", "convex/new/**"))


def test_the_reference_answer_is_the_given_project_with_its_changes(root: Path, write_eval: WriteEval) -> None:
    changes = {**GIVEN, "answer/convex/b.ts": "", "answer/package.json": None, "answer/convex/a.ts": "A\n"}
    write_eval(changes=changes)
    (asked,) = load_suite(root).evals
    assert read_given(asked).files == {"convex/a.ts": "a\n", "convex/b.ts": "b\n", "package.json": "{}\n"}
    assert read_answer(asked) == {"convex/a.ts": "A\n", "package.json": "{}\n", "convex/index.ts": "export {};\n"}
    assert sorted(read_changes(asked)) == ["convex/a.ts", "convex/b.ts", "convex/index.ts"]


def test_an_eval_without_given_files_starts_from_nothing(root: Path, write_eval: WriteEval) -> None:
    write_eval()
    (asked,) = load_suite(root).evals
    assert (asked.given, bool(read_given(asked))) == (None, False)
    assert read_answer(asked) == read_changes(asked)


def test_given_files_are_part_of_what_is_asked(root: Path, write_eval: WriteEval) -> None:
    write_eval()
    (before,) = load_suite(root).evals
    assert read_question(before) == before.task
    write_eval(changes=GIVEN)
    (before,) = load_suite(root).evals
    assert read_question(before).startswith(f"{before.task}\n\ngiven/convex/a.ts:\na\n")
    write_eval(changes={**GIVEN, "given/convex/a.ts": "another\n"})
    (after,) = load_suite(root).evals
    assert before.fingerprints.content != after.fingerprints.content
    assert before.fingerprints.grader == after.fingerprints.grader


@pytest.mark.parametrize(
    ("answer", "forbidden"),
    [
        ({}, []),
        ({"convex/a.ts": "anything"}, []),
        ({"convex/a.ts": ""}, []),
        ({"convex/c.ts": "a new file"}, []),
        ({"convex/b.ts": "one  \ntwo"}, []),
        ({"convex/b.ts": "one\r\ntwo\r\n"}, []),
        ({"convex/b.ts": "one\n\ntwo\n"}, ["convex/b.ts"]),
        ({"convex/b.ts": " \n"}, ["convex/b.ts"]),
    ],
)
def test_only_what_the_eval_allows_may_be_changed(answer: dict[str, str], forbidden: list[str]) -> None:
    assert PROJECT.forbidden_changes(answer) == forbidden


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"given/.DS_Store": "x"}, "is empty"),
        ({"eval.json": '{"mayChange": ["convex/a.ts"]}'}, "has mayChange without a folder given/"),
        ({**GIVEN, "eval.json": '{"mayChange": ["../a.ts"]}'}, 'has ["../a.ts"] as mayChange'),
        ({**GIVEN, "eval.json": '{"mayChange": "convex/a.ts"}'}, 'has "convex/a.ts" as mayChange'),
    ],
)
def test_a_mistake_about_given_files_is_named(
    root: Path, write_eval: WriteEval, changes: dict[str, str], found: str
) -> None:
    write_eval(changes=changes)
    suite = load_suite(root)
    assert [problem.found for problem in suite.problems] == [found]
