import asyncio
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.examples import exhaustively

from convex_evals.cli import main
from convex_evals.cli.checks import Check, CheckResult, Selection, checks, development_environment, run_checks
from convex_evals.core.distribution import checkout_root
from convex_evals.core.settings import read_settings


def python(code: str, *, name: str = "check", live: bool = False, beside: bool = False) -> Check:
    return Check(name, (sys.executable, "-c", code), live, beside)


async def results_of(*chosen: Check, root: Path, **variables: str) -> tuple[bool, list[CheckResult]]:
    results: list[CheckResult] = []
    return await run_checks(chosen, root, variables, results.append), results


async def test_every_check_runs_even_after_one_failed(tmp_path: Path) -> None:
    failing, passing = python("print('why'); exit(1)", name="first"), python("", name="second")
    passed, results = await results_of(failing, passing, root=tmp_path)
    assert not passed
    assert [(result.check.name, result.passed, result.output) for result in results] == [
        ("first", False, "why\n"),
        ("second", True, ""),
    ]
    assert all(result.seconds > 0 for result in results)


async def test_when_all_pass_the_whole_passes(tmp_path: Path) -> None:
    passed, _ = await results_of(python(""), python("", live=True), root=tmp_path)
    assert passed


async def test_a_live_check_prints_while_it_runs(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    _, (result,) = await results_of(python("print('1 passed in 0.01s')", live=True), root=tmp_path)
    assert capfd.readouterr().out == "1 passed in 0.01s\n"
    assert result.output == ""


async def test_a_check_can_run_in_parallel_and_is_reported_after_the_others(tmp_path: Path) -> None:
    beside = python("open('here', 'w').close(); print('found'); exit(1)", beside=True)
    waits = python("import os, time\nwhile not os.path.exists('here'): time.sleep(0.01)")
    passed, results = await results_of(beside, waits, root=tmp_path)
    assert not passed
    assert [result.output for result in results] == ["", "found\n"]


async def test_a_check_runs_in_the_clone(tmp_path: Path) -> None:
    _, (result,) = await results_of(python("import os; print(os.getcwd()); exit(1)"), root=tmp_path)
    assert result.output == f"{tmp_path}\n"


async def result_of_pytest(root: Path, tests: str) -> tuple[bool, CheckResult]:
    """As the complete command runs pytest, on `tests` alone, and without plugins, which load for half a second."""
    (root / "test_some.py").write_text(tests)
    check = replace(checks(root)[-1], arguments=(sys.executable, "-m", "pytest", "-q"))
    passed, (result,) = await results_of(check, root=root, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    return passed, result


FLAKY = """\
from pathlib import Path

def test_steady(): pass

def test_flaky():
    seen = Path("seen")
    first = not seen.exists()
    seen.touch()
    assert not first
"""


async def test_a_test_that_fails_in_parallel_and_passes_alone_is_named_as_flaky(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    passed, result = await result_of_pytest(tmp_path, FLAKY)
    assert passed
    assert result.flaky == ("test_some.py::test_flaky",)
    shown = capfd.readouterr().out
    assert "1 failed, 1 passed" in shown
    assert shown.count("1 passed") == 2


async def test_a_test_that_fails_alone_as_well_fails_the_check(tmp_path: Path) -> None:
    passed, result = await result_of_pytest(tmp_path, "def test_wrong(): assert False")
    assert not passed
    assert result.flaky == ()


async def test_many_failures_are_not_repeated(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    failing = "\n".join(f"def test_{number}(): assert False" for number in range(6))
    passed, _ = await result_of_pytest(tmp_path, failing)
    assert not passed
    assert capfd.readouterr().out.count(" failed") == 1


def test_options_given_to_pytest_are_not_repeated(tmp_path: Path) -> None:
    assert checks(tmp_path, ["-k", "one"])[-1].repeat == ()


def test_the_checks_are_formatter_linter_types_layers_and_tests(tmp_path: Path) -> None:
    assert [check.name for check in checks(tmp_path)] == ["ruff format", "ruff check", "mypy", "lint-imports", "pytest"]


@pytest.mark.parametrize(
    ("selection", "collected"),
    [
        ("usual", ["controls_belong"]),
        ("all", ["controls_belong", "every_grader"]),
        *exhaustively(("fast", ["controls_belong"])),
    ],
)
async def test_the_exhaustive_tests_run_when_all_are_asked_for(
    capfd: pytest.CaptureFixture[str], selection: Selection, collected: list[str]
) -> None:
    chosen = ["tests/controls/test_our_controls.py", "-k", "tells_right or belong", "--collect-only"]
    root = checkout_root()
    assert root is not None
    await results_of(checks(root, ["-n", "0", *chosen], selection=selection)[-1], root=root)
    shown = capfd.readouterr().out
    assert [name for name in ("controls_belong", "every_grader") if name in shown] == collected


def test_what_mypy_learns_is_kept_for_the_next_clone(tmp_path: Path) -> None:
    (clone := tmp_path / "clone").mkdir()
    (clone / "mypy.ini").write_text("[mypy]\nfiles = a.py\n")
    (clone / "a.py").write_text("x: int = 1\n")
    passed, _ = asyncio.run(results_of(checks(tmp_path / "cache")[2], root=clone))
    assert passed
    assert list((tmp_path / "cache" / "mypy").iterdir())
    assert not (clone / ".mypy_cache").exists()


def test_fast_and_all_cannot_be_combined(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["test", "--fast", "--all"]) == 2
    assert "--fast leaves tests out and --all adds some; choose one of them." in capsys.readouterr().err


def test_tools_never_see_a_providers_key(tmp_path: Path) -> None:
    given = {"HOME": str(tmp_path), "PATH": "/bin", "OPENAI_API_KEY": "key", "HTTPS_PROXY": "http://proxy"}
    environment = development_environment(read_settings(environment=given, cwd=tmp_path))
    assert environment["PATH"] == "/bin"
    assert environment["HTTPS_PROXY"] == "http://proxy"
    assert not [name for name in environment if re.search("KEY|TOKEN", name)]
