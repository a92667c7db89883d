import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from convex_evals.cli import main
from convex_evals.core.diagnostics import TestResult, failed_test
from convex_evals.core.settings import read_settings
from convex_evals.core.steps import Command as RanCommand
from convex_evals.core.steps import StepResult, TestCounts
from convex_evals.core.verdicts import Status
from convex_evals.scores import Generation, Outcome, PlannedEval, RunPlan, ScoresStore, Usage
from convex_evals.suite import load_suite

Command = Callable[..., subprocess.CompletedProcess[str]]
Start = Callable[..., subprocess.Popen[str]]
PROGRAM = Path(sys.executable).parent / "convex-evals"
PRICED = '[[model]]\nslug = "local/tiny"\nprice = {{ input = {price}, output = {price} }}\n'
HELLO = """\
import pathlib, time


def test_says_hello(files):
    end = time.monotonic() + {seconds}
    while time.monotonic() < end and not pathlib.Path("{hurry}").exists():
        time.sleep(0.02)
    assert files.text("hello.txt") == "hello\\n"


def test_says_it_to_the_right_one(files):
    assert files.text("to.txt") == "{to}\\n"
"""

RIGHT = """\
# Files

## hello.txt

```txt
hello
```

## to.txt

```txt
world
```
"""
FLAKY = """

def test_passes_in_the_first_trial_only(files):
    assert "/1-1" in str(files.root)
"""


@pytest.fixture(autouse=True)
def one_core(ready_scores: None, ready_workers: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands in the test's own process use one worker, because each takes half a second before its first answer.

    Those of `installed` and `started` have all cores.
    """
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {0})


@pytest.fixture
def convex_evals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs a command line in a temporary folder, in the test's own process: loading takes longer than most commands.

    `installed` is for tests that are about the process.
    """

    def convex_evals(
        *arguments: str | Path, cwd: Path = tmp_path, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        with monkeypatch.context() as patch:
            patch.chdir(cwd)
            for name, value in variables.items():
                patch.setenv(name, value)
            return run_here(arguments, capsys)

    return convex_evals


def run_here(arguments: Sequence[str | Path], capture: pytest.CaptureFixture[str]) -> subprocess.CompletedProcess[str]:
    capture.readouterr()
    code = main.run([str(argument) for argument in arguments])
    said = capture.readouterr()
    return subprocess.CompletedProcess(arguments, code, said.out, said.err)


@pytest.fixture
def installed(tmp_path: Path) -> Command:
    """Runs the installed command in a temporary folder, as a user would."""

    def installed(*arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, **variables}
        return subprocess.run(
            [PROGRAM, *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=280
        )

    return installed


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Start]:
    """Starts the installed command and leaves it running; what a test forgets to end is killed."""
    processes: list[subprocess.Popen[str]] = []

    def start(*arguments: str | Path, **variables: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [PROGRAM, *arguments],
            cwd=tmp_path,
            env={**os.environ, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


@pytest.fixture
def suite_folder(tmp_path: Path) -> Path:
    """Three evals in two categories, with every kind of grader and pipeline."""
    root = tmp_path / "evals"
    for name in ("000-basics/000-first", "000-basics/001-second", "001-queries/000-index"):
        path = root / name
        (path / "answer").mkdir(parents=True)
        (path / "TASK.txt").write_text(f"Task of {name}.\n")
        (path / "answer" / "index.ts").write_text("export {};\n")
    (root / "000-basics/000-first/grader.py").write_text("")
    (root / "000-basics/001-second/eval.json").write_text('{"pipeline": "static"}')
    (root / "001-queries/000-index/grader.test.ts").write_text("")
    (root / "001-queries/000-index/GAPS.txt").write_text("Order is not checked.\n")
    return root


@pytest.fixture
def hello_suite(tmp_path: Path) -> Callable[..., Path]:
    """Evals that grade files only, so that they are quick. The answers of those in `wrong` pass one test of two.

    Graders of those after the first `quick` ones take so many `seconds`, or until there is a file `hurry`. Those of
    `flaky` pass in the first trial only.
    """

    def hello_suite(
        count: int = 3, *, seconds: float = 0, quick: int = 0, wrong: Sequence[int] = (), flaky: Sequence[int] = ()
    ) -> Path:
        for number in range(count):
            takes = 0 if number < quick else seconds
            path = tmp_path / "evals" / "000-basics" / f"{number:03}-hello"
            (path / "answer").mkdir(parents=True, exist_ok=True)
            (path / "TASK.txt").write_text("Say hello.\n")
            (path / "answer" / "hello.txt").write_text("hello\n")
            (path / "answer" / "to.txt").write_text("nobody\n" if number in wrong else "world\n")
            (path / "eval.json").write_text('{"pipeline": "static"}')
            grader = HELLO.format(seconds=takes, hurry=tmp_path / "hurry", to="world")
            grader += FLAKY if number in flaky else ""
            (path / "grader.py").write_text(grader)
        return tmp_path / "evals"

    return hello_suite


@pytest.fixture
def record_run(tmp_path: Path) -> Callable[..., str]:
    """Writes a run into the scores of the temporary folder; by eval how it ended, or None when it was never begun.

    With a suite, the evals have its fingerprints.
    """

    def record_run(ends: dict[str, Status | None], model: str = "tester", suite: Path | None = None) -> str:
        evals = {each.id: each.fingerprints for each in load_suite(suite).evals} if suite else {}
        names = [f"000-basics/{name}" for name in ends]
        planned = tuple(
            PlannedEval(name, evals[name].content, evals[name].grader) if suite else PlannedEval(name) for name in names
        )
        with ScoresStore.open(tmp_path / "scores" / "scores.db") as store:
            run = store.create_run(RunPlan(model, "test", "default", planned))
            for name, status in ends.items():
                if status is not None:
                    _record_attempt(store, store.begin_attempt(run, f"000-basics/{name}").id, status, tmp_path)
            if None not in ends.values():
                store.finish_run(run, "completed")
        return run

    return record_run


def _record_attempt(store: ScoresStore, attempt: str, status: Status, folder: Path) -> None:
    log = folder / "step.log"
    log.write_text("first line\n\x1b[31mlast line\n")
    files = {"convex/index.ts": "export {};\n// end\n", "package.json": "{}"}
    usage = Usage(input_tokens=10, output_tokens=20, cost_usd=0.5, cost_source="provider")
    store.record_generation(attempt, Generation("Write it.", "Here it is.", files, usage))
    store.record_step(attempt, StepResult("filesystem", "passed", 100, 50, log=log))
    store.record_step(attempt, _tests_step(status, log))
    log.unlink()
    failed = status == "failed"
    tests = None if status == "infrastructure" else TestCounts(1 if failed else 2, 2)
    failure = "tests-failed" if failed else "grader-crashed" if status == "infrastructure" else None
    store.finish_attempt(attempt, Outcome(status, "tests" if failed else None, failure, tests, 1500, 750))


def _tests_step(status: Status, log: Path) -> StepResult:
    if status != "failed":
        return StepResult("tests", status, 1400, 700, log=log)
    test = TestResult("test_order", "failed", "expected [1, 2], received [2, 1]", "grader.py", 3, "[1, 2]", "[2, 1]")
    return StepResult(
        "tests",
        "failed",
        1400,
        700,
        (RanCommand(("pytest", "grader.py"), "exit code 1", 1300.0, 650.0),),
        "✗ test_order\nexpected [1, 2], received [2, 1]",
        log,
        "tests-failed",
        ("one thing was assumed",),
        (failed_test("pytest", test),),
        (TestResult("test_fine", "passed", duration_ms=2.5), test),
    )


class Asked:
    """The command line, in a folder with a suite, a cache of its own, and a server that knows `local/tiny`."""

    def __init__(self, server: Any, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.server, self.folder, self._capture = server, folder, capture
        self.variables = {"CONVEX_EVALS_CACHE": str(folder / "cache")}
        self.right = RIGHT
        server.answer = lambda asked: self.right

    def run(self, *options: str, code: int = 0) -> dict[str, Any]:
        result = self.start(*options, "--json", "-")
        assert result.returncode == code, result.stderr
        parsed: dict[str, Any] = json.loads(result.stdout)
        return parsed

    def start(self, *options: str) -> subprocess.CompletedProcess[str]:
        return self("run", "-m", "local/tiny", "--base-url", self.server.url, "--jobs", "1", *options)

    def __call__(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return run_here(arguments, self._capture)

    def tell_apart(self, suite: Path) -> None:
        """Evals with the same task would be one question."""
        for task in suite.rglob("TASK.txt"):
            task.write_text(f"Say hello, number {task.parent.name[:3]}.\n")

    def price(self, usd_per_million: float) -> None:
        (self.folder / "models.toml").write_text(PRICED.format(price=usd_per_million))


@pytest.fixture
def asked(
    provider_server: Any,
    hello_suite: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Asked:
    made = Asked(provider_server, tmp_path, capsys)
    made.tell_apart(hello_suite(3))
    (tmp_path / "cache").mkdir()
    # Tools are shared with everyone; only the responses are the test's own.
    (tmp_path / "cache" / "toolchain").symlink_to(read_settings().cache_folder / "toolchain")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CONVEX_EVALS_CACHE", str(tmp_path / "cache"))
    return made
