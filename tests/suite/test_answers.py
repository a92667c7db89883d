"""Which files of a reference answer are deployed."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.suite.conftest import WriteEval

from convex_evals.suite import Given, load_suite, read_answer, read_changes, read_given, read_question, read_texts
from convex_evals.suite import is_chosen as matches
from convex_evals.suite.answers import is_chosen


@pytest.mark.parametrize(
    ("name", "globs", "chosen"),
    [
        ("package.json", ["**/*"], True),
        ("convex/lib/deep.ts", ["**/*"], True),
        ("convex/index.ts", ["*.ts", "package.json"], True),
        ("convex/index.tsx", ["*.ts", "package.json"], False),
        ("convex/index.ts", ["convex/*"], True),
        ("convex/lib/deep.ts", ["convex/*"], False),
        ("convex/lib/deep.ts", ["convex/**/*.ts"], True),
        ("convex/index.ts", ["convex/**/*.ts"], True),
        ("convex/lib/deep.ts", ["convex/**"], True),
        ("src/convex/index.ts", ["convex/**"], False),
        ("anything", [], False),
    ],
)
def test_globs_choose_files(name: str, globs: Sequence[str], chosen: bool) -> None:
    assert is_chosen(name, globs) is chosen


def test_texts_are_read_in_stable_order_without_pictures_and_what_tools_leave_behind(tmp_path: Path) -> None:
    for name, content in {
        "package.json": b"{}",
        "convex/index.ts": "export const ä = 1;\n".encode(),
        "convex/_generated/api.ts": b"generated",
        "node_modules/x/index.js": b"installed",
        "public/logo.png": b"\x89PNG\xff",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    assert list(read_texts(tmp_path).items()) == [("convex/index.ts", "export const ä = 1;\n"), ("package.json", "{}")]
    assert read_texts(tmp_path, ["*.ts"]) == {"convex/index.ts": "export const ä = 1;\n"}


@pytest.mark.parametrize(
    ("path", "globs", "expected"),
    [
        ("convex/a.ts", ("**/*",), True),
        ("package.json", ("**/*",), True),
        ("convex/deep/a.ts", ("*.ts", "package.json"), True),
        ("package.json", ("*.ts", "package.json"), True),
        ("src/App.tsx", ("*.ts", "package.json"), False),
        ("convex/a.ts", ("convex/*",), True),
        ("convex/b/a.ts", ("convex/*",), False),
        ("convex/b/a.ts", ("convex/**",), True),
        ("convex/b/a.ts", ("./convex/**/*.ts",), True),
        ("convex/axts", ("convex/a.ts",), False),
        ("a.ts", ("?.ts",), True),
    ],
)
def test_globs(path: str, globs: tuple[str, ...], expected: bool) -> None:
    assert matches(path, globs) is expected


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
