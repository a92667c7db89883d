from collections.abc import Callable
from pathlib import Path

import pytest

from convex_evals.controls import Control, controls_folder, load_controls, read_control, strays
from convex_evals.controls.control import StatedTest, find_test
from convex_evals.suite import Grader, GraderKind, Suite, read_answer
from convex_evals.suite.files import BrokenError

MakeSuite = Callable[..., Suite]
DIFF = "--- a/to.txt\n+++ b/to.txt\n@@ -1 +1 @@\n-world\n+moon\n"


def read(suite: Suite, path: Path, text: str) -> Control:
    path.write_text(text)
    return read_control(path, suite.evals[0], read_answer(suite.evals[0]))


def test_a_wrong_control_says_where_it_must_fail(hello: MakeSuite, tmp_path: Path) -> None:
    header = "Step: tests\nTest: test_says_it\nWhy: Somebody else is meant.\n\n"
    control = read(hello(), tmp_path / "wrong-moon.patch", header + DIFF)
    assert (control.name, control.kind, control.step) == ("wrong-moon", "wrong", "tests")
    assert control.test == StatedTest("test_says_it")
    assert control.files == {"hello.txt": "hello\n", "to.txt": "moon\n"}


def test_an_alternative_must_pass(hello: MakeSuite, tmp_path: Path) -> None:
    control = read(hello(), tmp_path / "alternative-moon.patch", f"Expect: passed\nWhy: The same.\r\n\n{DIFF}")
    assert (control.kind, control.step, control.why) == ("alternative", None, "The same.")


@pytest.mark.parametrize(
    ("name", "header", "complaint"),
    [
        ("other.patch", "Why: x", "is no control; name it wrong-….patch or alternative-….patch"),
        ("wrong-a.txt", "Why: x", "is no control"),
        ("wrong-a.patch", "", "does not say why it is there"),
        ("wrong-a.patch", "Step: tsc", "does not say why it is there"),
        ("wrong-a.patch", "Why: x", "does not say which step fails first"),
        ("wrong-a.patch", "Why: x\nStep: lint", "names the unknown step 'lint'; write Step: and one of filesystem,"),
        ("wrong-a.patch", "Why: x\nStep: tests", "must name a test if, and only if, its step is tests"),
        ("wrong-a.patch", "Why: x\nStep: tsc\nTest: test_says_hello", "must name a test if, and only if"),
        (
            "wrong-a.patch",
            "Why: x\nStep: tests\nTest: test_x",
            "names the test 'test_x', which the grader does not have",
        ),
        ("wrong-a.patch", "Why: x\nStep: tsc\nstep: tsc", "has the header line 'step: tsc'"),
        ("wrong-a.patch", "Why: x\nWhy: y", "has the header line 'Why: y'"),
        ("alternative-a.patch", "Why: x", "does not say what to expect; write the header Expect: passed"),
        ("alternative-a.patch", "Why: x\nExpect: failed", "does not say what to expect"),
    ],
)
def test_a_malformed_control_is_explained_in_one_sentence(
    hello: MakeSuite, tmp_path: Path, name: str, header: str, complaint: str
) -> None:
    with pytest.raises(BrokenError) as caught:
        read(hello(), tmp_path / name, f"{header}\n\n{DIFF}")
    assert complaint in str(caught.value)


def test_a_patch_that_does_not_apply_or_changes_nothing_is_refused(hello: MakeSuite, tmp_path: Path) -> None:
    suite, path, header = hello(), tmp_path / "wrong-a.patch", "Step: tsc\nWhy: x\n\n"
    with pytest.raises(BrokenError, match=r"cannot be applied: line 1 of to\.txt must be 'mars', but is 'world'"):
        read(suite, path, header + DIFF.replace("-world", "-mars"))
    with pytest.raises(BrokenError, match="changes nothing"):
        read(suite, path, header + DIFF.replace("+moon", "+world"))


PYTHON = """\
import pytest

def test_lists_all(project): ...

@pytest.mark.parametrize("n", [1])
async def test_takes(project, n): ...

class OrderOfTests:
    def test_is_stable(self): ...

def helper(): "test_in_a_string"
"""


@pytest.mark.parametrize(
    ("stated", "is_whole"),
    [
        ("test_lists_all", True),
        ("test_lists", False),
        ("test_takes[1]", False),
        ("OrderOfTests::test_is_stable", True),
        ("test_lists_all_of_them", None),
        ("test_in_a_string", None),
        ("helper", None),
    ],
)
def test_tests_of_python_graders_are_functions(tmp_path: Path, stated: str, is_whole: bool | None) -> None:
    path = tmp_path / "grader.py"
    path.write_text(PYTHON)
    expected = None if is_whole is None else StatedTest(stated, is_whole)
    assert find_test(Grader(GraderKind.PYTEST, path), stated) == expected


def test_tests_of_vitest_graders_are_titles(tmp_path: Path) -> None:
    path = tmp_path / "grader.test.ts"
    path.write_text('describe("lists", () => { test("newest first", () => {}); });')
    assert find_test(Grader(GraderKind.VITEST, path), "lists > newest first")
    assert not find_test(Grader(GraderKind.VITEST, path), "oldest first")


def test_a_grader_that_is_not_python_has_no_tests(tmp_path: Path) -> None:
    path = tmp_path / "grader.py"
    path.write_text("def test_(:")
    assert not find_test(Grader(GraderKind.PYTEST, path), "test_")


@pytest.mark.parametrize(
    ("stated", "failed", "among"),
    [
        (StatedTest("test_takes"), ("test_takes[1]", "test_other"), True),
        (StatedTest("test_takes"), ("test_takes_more",), True),
        (StatedTest("test_takes"), ("test_other",), False),
        (StatedTest("test_is_stable"), ("OrderOfTests::test_is_stable",), True),
        (StatedTest("test_takes"), (), False),
        (StatedTest("test_takes", is_whole=True), ("test_takes_more", "test_takes_more[1]"), False),
        (StatedTest("test_takes", is_whole=True), ("test_takes_more", "test_takes[1]"), True),
        (StatedTest("test_takes", is_whole=True), ("OrderOfTests::test_takes",), True),
        (StatedTest("OrderOfTests::test_takes", is_whole=True), ("OrderOfTests::test_takes",), True),
    ],
)
def test_a_test_that_is_named_in_full_must_fail_itself_with_any_parameters(
    stated: StatedTest, failed: tuple[str, ...], among: bool
) -> None:
    assert stated.is_among(failed) is among


def test_controls_are_next_to_the_suite_or_inside_it(tmp_path: Path) -> None:
    suite = tmp_path / "evals"
    suite.mkdir()
    assert controls_folder(suite) == tmp_path / "controls"
    (suite / "controls").mkdir()
    assert controls_folder(suite) == suite / "controls"
    assert controls_folder(tmp_path / "_evals") == tmp_path / "_controls"


def test_controls_of_an_eval_are_read_in_order_and_broken_ones_are_reported(hello: MakeSuite, tmp_path: Path) -> None:
    suite = hello()
    folder = tmp_path / "controls" / "000-basics" / "000-hello"
    (folder / "notes.md").write_text("Remember this.\n")
    (folder / "equivalent.txt").write_text("")
    found = load_controls(tmp_path / "controls", suite.evals[0], read_answer(suite.evals[0]))
    assert [control.name for control in found.controls] == ["alternative-loud", "wrong-moon"]
    assert [problem.path.name for problem in found.problems] == ["notes.md"]


def test_an_eval_without_controls_has_none(hello: MakeSuite, tmp_path: Path) -> None:
    suite = hello()
    found = load_controls(tmp_path / "nowhere", suite.evals[0], read_answer(suite.evals[0]))
    assert (found.controls, found.problems) == ((), ())


def test_controls_of_an_eval_that_is_gone_are_reported(hello: MakeSuite, tmp_path: Path) -> None:
    suite = hello()
    assert strays(tmp_path / "controls", suite) == ()
    (tmp_path / "controls" / "000-basics" / "001-gone").mkdir()
    (problem,) = strays(tmp_path / "controls", suite)
    assert "001-gone: belongs to no eval of the suite" in str(problem)
