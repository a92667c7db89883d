import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

import pytest

from convex_evals.core.errors import SuiteError
from convex_evals.suite import GraderKind, Pipeline, load_suite

WriteEval = Callable[..., Path]
Write = Callable[[str, str | bytes], Path]


def test_an_eval_is_loaded_with_everything_its_folder_says(root: Path, write_eval: WriteEval) -> None:
    path = write_eval(changes={"GAPS.txt": "Weak on errors.\n", "eval.json": '{"pipeline": "static"}'})
    suite = load_suite(root)
    assert not suite.problems
    assert not suite.warnings
    (found,) = suite.evals
    assert found.id == "000-basics/000-first"
    assert (found.category, found.name, found.path) == ("000-basics", "000-first", path)
    assert found.task == "Write a query.\n"
    assert found.pipeline is Pipeline.STATIC
    assert found.grader is not None
    assert (found.grader.kind, found.grader.path) == (GraderKind.PYTEST, path / "grader.py")
    assert found.gaps == "Weak on errors."
    assert found.answer == path / "answer"


def test_what_is_optional_may_be_missing(root: Path, write_eval: WriteEval) -> None:
    write_eval(changes={"GAPS.txt": " \n"})
    (found,) = load_suite(root).evals
    assert found.pipeline is Pipeline.FULL
    assert found.gaps is None


def test_a_vitest_grader_is_recognized(root: Path, write_eval: WriteEval) -> None:
    write_eval(changes={"grader.py": None, "grader.test.ts": "test('x', () => {});\n"})
    (found,) = load_suite(root).evals
    assert found.grader is not None
    assert found.grader.kind is GraderKind.VITEST


def test_an_eval_without_a_grader_loads_with_a_warning(root: Path, write_eval: WriteEval) -> None:
    path = write_eval(changes={"grader.py": None})
    suite = load_suite(root)
    (found,) = suite.evals
    assert found.grader is None
    assert found.fingerprints.grader is None
    assert [str(warning) for warning in suite.warnings] == [f"{path}: has no grader yet; write grader.py."]


def test_evals_come_in_the_order_of_their_names(root: Path, write_eval: WriteEval) -> None:
    names = ["002-b/001-x", "000-a/010-z", "002-b/000-y", "000-a/002-w"]
    for name in names:
        write_eval(name)
    suite = load_suite(root)
    assert [each.id for each in suite.evals] == sorted(names)
    assert suite.categories == ("000-a", "002-b")


BROKEN: dict[str, tuple[dict[str, str | bytes | None], str, str]] = {
    "no task": ({"TASK.txt": None}, "", "has no TASK.txt"),
    "empty task": ({"TASK.txt": " \n\t"}, "TASK.txt", "is empty"),
    "task is not UTF-8": ({"TASK.txt": b"caf\xe9"}, "TASK.txt", "is not UTF-8 (byte 3)"),
    "no answer": ({"answer/package.json": None, "answer/convex/index.ts": None}, "", "has no answer/ folder"),
    "answer with generated files only": (
        {
            "answer/package.json": None,
            "answer/convex/index.ts": None,
            "answer/node_modules/x/index.js": "1",
            "answer/convex/_generated/api.js": "1",
        },
        "answer",
        "is empty",
    ),
    "answer is a file": (
        {"answer/package.json": None, "answer/convex/index.ts": None, "answer": "x"},
        "answer",
        "cannot be listed (Not a directory)",
    ),
    "answer source is not UTF-8": (
        {"answer/convex/index.ts": b"\xff\xfe"},
        "answer/convex/index.ts",
        "is not UTF-8 (byte 0)",
    ),
    "two graders": ({"grader.test.ts": ""}, "", "has two graders (grader.py and grader.test.ts)"),
    "grader is not UTF-8": ({"grader.py": b"\x80"}, "grader.py", "is not UTF-8 (byte 0)"),
    "unknown pipeline": ({"eval.json": '{"pipeline": "quick"}'}, "eval.json", 'names the unknown pipeline "quick"'),
    "pipeline is no text": ({"eval.json": '{"pipeline": ["static"]}'}, "eval.json", 'the unknown pipeline ["static"]'),
    "invalid JSON": ({"eval.json": "{pipeline: static}"}, "eval.json", "is not valid JSON (line 1, column 2"),
    "JSON that is no object": ({"eval.json": "[1]"}, "eval.json", "must hold a JSON object, not [1]"),
    "JSON nested too deeply": ({"eval.json": "[" * 100_000}, "eval.json", "is nested too deeply"),
    "gaps are not UTF-8": ({"GAPS.txt": b"\xc3("}, "GAPS.txt", "is not UTF-8 (byte 0)"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_eval_is_reported_and_the_rest_still_load(root: Path, write_eval: WriteEval, case: str) -> None:
    changes, where, what = BROKEN[case]
    write_eval("000-basics/000-good")
    broken = write_eval("000-basics/001-broken", changes)
    write_eval("001-more/000-good")
    suite = load_suite(root)
    assert [each.id for each in suite.evals] == ["000-basics/000-good", "001-more/000-good"]
    (problem,) = suite.problems
    assert problem.path == (broken / where if where else broken)
    assert what in problem.found
    assert str(problem) == f"{problem.path}: {problem.found}; {problem.fix}."


@pytest.mark.parametrize("name", ["00-short", "1000-long", "001_underscore", "001-", "001-naïve", "001-a b", "first"])
@pytest.mark.parametrize("level", ["category", "eval"])
def test_a_name_that_breaks_the_pattern_is_reported(root: Path, write_eval: WriteEval, level: str, name: str) -> None:
    write_eval("000-basics/000-good")
    write_eval(f"{name}/000-lost" if level == "category" else f"000-basics/{name}")
    suite = load_suite(root)
    assert [each.id for each in suite.evals] == ["000-basics/000-good"]
    (problem,) = suite.problems
    assert problem.path.name == name
    assert problem.found == "is not named with three digits, a dash and a word"


def test_an_eval_outside_a_category_is_reported(root: Path, write_eval: WriteEval) -> None:
    write_eval("000-lost")
    assert [problem.found for problem in load_suite(root).problems] == ["is an eval outside a category"]


def test_other_folders_and_files_next_to_evals_are_left_alone(root: Path, write_eval: WriteEval, write: Write) -> None:
    write_eval("000-basics/000-good")
    for name in ("README.md", "node_modules/a/b.js", "000-basics/notes/x.md", "shared/y.ts", ".hidden/z"):
        write(name, "text")
    suite = load_suite(root)
    assert len(suite.evals) == 1
    assert not suite.problems


@pytest.mark.parametrize(
    "link", ["TASK.txt", "answer", "answer/extra.ts", "answer/lib", "grader.py", "GAPS.txt", "eval.json"]
)
def test_a_symbolic_link_is_refused_wherever_it_points(
    root: Path, write_eval: WriteEval, tmp_path: Path, link: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("{}")
    parts = {name: None for name in ("TASK.txt", "grader.py") if name == link}
    answer = {"answer/package.json": None, "answer/convex/index.ts": None} if link == "answer" else {}
    path = write_eval(changes={**parts, **answer})
    (path / link).symlink_to(outside if link in ("answer", "answer/lib") else outside / "file")
    suite = load_suite(root)
    assert not suite.evals
    (problem,) = suite.problems
    assert problem.path == path / link
    assert problem.found == "is a symbolic link"


@pytest.mark.parametrize("level", ["000-linked", "000-basics/001-linked"])
def test_a_linked_category_or_eval_is_refused(root: Path, write_eval: WriteEval, tmp_path: Path, level: str) -> None:
    target = write_eval("000-basics/000-good")
    (root / level).symlink_to(target if "/" in level else target.parent)
    suite = load_suite(root)
    assert [problem.path for problem in suite.problems] == [root / level]
    assert [each.name for each in suite.evals] == ["000-good"]


def test_a_named_pipe_is_reported_instead_of_waited_for(root: Path, write_eval: WriteEval) -> None:
    path = write_eval()
    os.mkfifo(path / "answer" / "pipe.ts")
    (problem,) = load_suite(root).problems
    assert (problem.path.name, problem.found) == ("pipe.ts", "is not a regular file")


def test_an_unprintable_file_name_is_shown_escaped(root: Path, write_eval: WriteEval, write: Write) -> None:
    write_eval()
    write("000-basics/000-first/answer/evil\x1b[31m.ts", "")
    (problem,) = load_suite(root).problems
    assert str(problem).isprintable()
    assert r"evil\x1b[31m.ts" in str(problem)


@contextmanager
def as_nobody() -> Iterator[None]:
    """Root may read everything, so permission is tested as someone else."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


@pytest.fixture
def public_root() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.parametrize(
    ("closed", "found"),
    [
        ("TASK.txt", "cannot be read (Permission denied)"),
        ("answer/index.ts", "cannot be read (Permission denied)"),
        ("answer", "cannot be listed (Permission denied)"),
        (".", "cannot be listed (Permission denied)"),
    ],
)
def test_what_may_not_be_read_is_reported(public_root: Path, closed: str, found: str) -> None:
    path = public_root / "000-basics" / "000-closed"
    (path / "answer").mkdir(parents=True)
    (path / "TASK.txt").write_text("x")
    (path / "answer" / "index.ts").write_text("x")
    (path / closed).chmod(0)
    with as_nobody():
        problems = load_suite(public_root).problems
    (path / closed).chmod(0o755)
    (problem,) = problems
    assert problem.path == path / closed
    assert problem.found == found


def test_a_folder_without_evals_is_an_error(root: Path) -> None:
    with pytest.raises(SuiteError, match="holds no evals; expected folders like"):
        load_suite(root)


def test_suite_settings_are_read(root: Path, write_eval: WriteEval, write: Write) -> None:
    write_eval()
    write("suite.json", '{"packagesBefore": "2026-11-01", "answerFiles": ["convex/**/*.ts", "package.json"]}')
    suite = load_suite(root)
    settings = suite.settings
    assert settings.packages_before == date(2026, 11, 1)
    assert settings.answer_files == ("convex/**/*.ts", "package.json")
    assert [each.settings for each in suite.evals] == [settings]


def test_without_suite_json_nothing_is_restricted(root: Path, write_eval: WriteEval) -> None:
    write_eval()
    settings = load_suite(root).settings
    assert settings.packages_before is None
    assert settings.answer_files == ("**/*",)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("nonsense", "is not valid JSON"),
        ("null", "must hold a JSON object, not null"),
        ('{"packagesBefore": "tomorrow"}', 'packagesBefore is "tomorrow"'),
        ('{"packagesBefore": "2026-13-01"}', 'packagesBefore is "2026-13-01"'),
        ('{"packagesBefore": "20261101"}', 'packagesBefore is "20261101"'),
        ('{"packagesBefore": 20261101}', "packagesBefore is 20261101"),
        ('{"answerFiles": "**/*"}', 'answerFiles is "**/*"'),
        ('{"answerFiles": []}', "answerFiles is []"),
        ('{"answerFiles": [1]}', "answerFiles is [1]"),
        ('{"answerFiles": ["/etc/*"]}', 'answerFiles is ["/etc/*"]'),
        ('{"answerFiles": ["../x"]}', 'answerFiles is ["../x"]'),
    ],
)
def test_a_broken_suite_json_is_reported_and_the_evals_still_load(
    root: Path, write_eval: WriteEval, write: Write, content: str, found: str
) -> None:
    write_eval()
    path = write("suite.json", content)
    suite = load_suite(root)
    assert len(suite.evals) == 1
    (problem,) = suite.problems
    assert problem.path == path
    assert found in problem.found


def test_unknown_keys_are_only_warned_about(root: Path, write_eval: WriteEval, write: Write) -> None:
    write_eval(changes={"eval.json": '{"pipelines": "static"}'})
    write("suite.json", '{"title": "Mine"}')
    suite = load_suite(root)
    assert not suite.problems
    assert [warning.found for warning in suite.warnings] == [
        "has the unknown key 'title'",
        "has the unknown key 'pipelines'",
    ]
