import json
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Command = Callable[..., subprocess.CompletedProcess[str]]
MakeSuite = Callable[..., Path]
Start = Callable[..., subprocess.Popen[str]]
HEADER = "Step: tests\nTest: test_says_it_to_the_right_one\nWhy: Somebody else is meant.\n\n"
DIFF = "--- a/to.txt\n+++ b/to.txt\n@@ -1 +1 @@\n-world\n+moon\n"


@pytest.fixture
def control(hello_suite: MakeSuite) -> Callable[..., Path]:
    """Writes a control of the only eval of a suite."""
    suite = hello_suite(1)

    def control(name: str = "wrong-moon.patch", header: str = HEADER, diff: str = DIFF) -> Path:
        path = suite.parent / "controls" / "000-basics" / "000-hello" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(header + diff)
        return path

    return control


def test_a_grader_that_tells_right_from_wrong_is_in_order(convex_evals: Command, control: Callable[..., Path]) -> None:
    control()
    result = convex_evals("controls", "--json", "result.json")
    assert result.returncode == 0, result.stderr
    assert "1/1  ok  000-basics/000-hello" in result.stderr
    assert "1 eval · 3 of 3 answers judged as they must be" in result.stdout
    assert not (control().parents[3] / "scores").exists()
    (written,) = json.loads((control().parents[3] / "result.json").read_text())["evals"]
    assert written["wrong"][0]["caughtBy"] == "tests"


def test_a_control_with_an_unexpected_verdict_is_explained_in_one_line(
    convex_evals: Command, control: Callable[..., Path]
) -> None:
    control(header=HEADER.replace("it_to_the_right_one", "hello"))
    result = convex_evals("controls")
    assert result.returncode == 1
    assert (
        "000-basics/000-hello: wrong-moon must fail at tests (test_says_hello), but fails at tests "
        "(in test_says_it_to_the_right_one): ✗ test_says_it_to_the_right_one (grader.py:12)"
    ) in result.stdout
    assert "2 of 3 answers judged as they must be" in result.stdout


def test_ctrl_c_keeps_what_was_found(started: Start, hello_suite: MakeSuite, tmp_path: Path) -> None:
    hello_suite(3, seconds=280, quick=1)
    process = started("controls", "--jobs", "1", "--json", "result.json")
    assert process.stderr is not None
    while "1/3  ok  000-basics/000-hello" not in process.stderr.readline():
        pass
    process.send_signal(signal.SIGINT)
    (tmp_path / "hurry").touch()
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "of 3 evals had been checked." in errors
    assert "answers judged as they must be" in output
    assert json.loads((tmp_path / "result.json").read_text())["evals"][0]["reference"] == "passed"


def test_malformed_controls_are_a_failure(convex_evals: Command, control: Callable[..., Path]) -> None:
    path = control(header="Step: tasting\nWhy: x\n\n")
    control("alternative-x.patch", "Expect: passed\nWhy: x\n\n", DIFF.replace("-world", "-mars"))
    result = convex_evals("controls")
    assert result.returncode == 1
    assert f"broken: {path}: names the unknown step 'tasting'; write Step: and one of filesystem" in result.stdout
    assert "cannot be applied: line 1 of to.txt must be 'mars', but is 'world'; make the diff again." in result.stdout
    assert "2 files broken" in result.stdout


def test_controls_without_their_eval_are_reported_unless_evals_are_selected(
    convex_evals: Command, control: Callable[..., Path]
) -> None:
    (control().parent.parent / "001-gone").mkdir()
    result = convex_evals("controls")
    assert result.returncode == 1
    assert "001-gone: belongs to no eval of the suite; rename it like its eval, or remove it." in result.stdout
    assert convex_evals("controls", "-f", "hello").returncode == 0


def test_a_suite_without_controls_is_checked_as_far_as_possible(convex_evals: Command, hello_suite: MakeSuite) -> None:
    hello_suite(1)
    result = convex_evals("controls")
    assert result.returncode == 0
    assert "There are no controls" in result.stderr
    assert "2 of 2 answers judged as they must be" in result.stdout


def test_mistakes_on_the_command_line_are_reported(convex_evals: Command, hello_suite: MakeSuite) -> None:
    hello_suite(1)
    assert convex_evals("controls", "-f", "nothing").returncode == 2
    result = convex_evals("controls", "--mutants", "5")
    assert (result.returncode, result.stderr) == (
        2,
        "convex-evals: --mutants says how many mutants to make; add --mutate.\n",
    )


def test_json_alone_goes_to_standard_output(convex_evals: Command, hello_suite: MakeSuite) -> None:
    hello_suite(1)
    result = convex_evals("controls", "--json", "-")
    assert json.loads(result.stdout)["ok"] is True
    assert "2 of 2 answers" in result.stderr


def test_mutants_that_survive_are_shown_as_small_diffs(convex_evals: Command, hello_suite: MakeSuite) -> None:
    suite = hello_suite(1)
    path = suite / "000-basics" / "000-hello"
    (path / "answer" / "limit.ts").write_text("export const isFew = (n: number) => n < 10;\n")
    (path / "grader.py").write_text("def test_knows_the_limit(files):\n    assert '10' in files.text('limit.ts')\n")
    found = convex_evals("controls", "--mutate")
    assert found.returncode == 1
    assert "1/1  ok  000-basics/000-hello  1 of 2 mutants caught" in found.stderr
    assert "1 of 2 mutants caught (50.0%) · 95% interval 9.5% to 90.5% · the target is 90%" in found.stdout
    assert found.stdout.splitlines()[-1] == "survivors: 000-basics/000-hello (1)"
    survivor = next(line for line in found.stdout.splitlines() if line.endswith("survives"))
    assert "shift-comparison limit.ts:1" in survivor
    assert "    +export const isFew = (n: number) => n <= 10;" in found.stdout
    folder = suite.parent / "controls" / "000-basics" / "000-hello"
    folder.mkdir(parents=True)
    (folder / "equivalent.txt").write_text(f"{survivor.split()[1]} Ten is few, too.\n")
    explained = convex_evals("controls", "--mutate")
    assert explained.returncode == 0
    assert "is equivalent: Ten is few, too." in explained.stdout
    assert "1 of 1 mutant caught (100.0%) · 95% interval 20.7% to 100.0% · 1 known as equivalent" in explained.stdout
