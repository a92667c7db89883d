"""The checks a change must pass: formatter, linter, types, layers, tests."""

import asyncio
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from convex_evals.core.errors import UsageError
from convex_evals.core.processes import base_environment, run, start
from convex_evals.core.settings import Settings

Selection = Literal["fast", "usual", "all"]

TEST_WORKERS = 4  # on two cores: tests often wait for programs that they have started
SELECTIONS: dict[Selection, tuple[str, ...]] = {"fast": ("-m", "not slow"), "usual": (), "all": ("--exhaustive",)}
MOST_REPEATED = 5
LAST_FAILED = Path(".pytest_cache/v/cache/lastfailed")
MODULES = ("ruff", "mypy", "importlinter", "pytest", "xdist")


@dataclass(frozen=True)
class Check:
    name: str
    arguments: tuple[str, ...]
    live: bool = False
    """Whether its output is shown while it runs, instead of only after it failed."""
    beside: bool = False
    """Whether it runs while the others do, and is reported after them."""
    repeat: tuple[str, ...] = ()
    """What runs the tests that failed again, alone: beside others, a test may fail because the machine is busy."""


@dataclass(frozen=True)
class CheckResult:
    check: Check
    passed: bool
    seconds: float
    output: str
    flaky: tuple[str, ...] = ()
    """Tests that failed beside others and passed alone."""


def checks(cache: Path, pytest_arguments: Sequence[str] = (), *, selection: Selection = "usual") -> tuple[Check, ...]:
    python, scripts = sys.executable, Path(sys.executable).parent
    # What the tests of a file share is made once; tests/conftest.py says which files begin.
    parallel = ("-n", str(TEST_WORKERS), "--dist", "loadfile", "--no-loadscope-reorder")
    pytest = (python, "-m", "pytest", *SELECTIONS[selection])
    tests = (*pytest, *parallel, *pytest_arguments)
    repeat = () if pytest_arguments else (*pytest, "--last-failed", "--last-failed-no-failures", "none")
    return (
        Check("ruff format", (python, "-m", "ruff", "format", "--check", ".")),
        Check("ruff check", (python, "-m", "ruff", "check", ".")),
        # What it learned about the packages we use is worth 40 s, also in the next clone.
        Check("mypy", (python, "-m", "mypy", "--cache-dir", str(cache / "mypy")), beside=True),
        Check("lint-imports", (str(scripts / "lint-imports"),)),
        Check("pytest", tests, live=True, repeat=repeat),
    )


def require_development_packages() -> None:
    missing = [module for module in MODULES if find_spec(module) is None]
    if missing:
        raise UsageError(
            f"The checks need {', '.join(missing)}, which this environment lacks; run ./convex-evals test in a clone."
        )


def development_environment(settings: Settings) -> dict[str, str]:
    """What the tools need and no more: tests never see a provider's key."""
    extra = {"CONVEX_EVALS_CACHE": str(settings.cache_folder), **settings.network_environment()}
    return base_environment(settings.home, extra, path=settings.search_path)


async def run_checks(
    chosen: Sequence[Check], root: Path, environment: Mapping[str, str], report: Callable[[CheckResult], None]
) -> bool:
    """Runs every check, also after one failed, reports each as it ends, and says whether all passed."""
    passed = True

    def end(result: CheckResult) -> None:
        nonlocal passed
        report(result)
        passed = passed and result.passed

    async with asyncio.TaskGroup() as group:
        beside = [group.create_task(_run_quietly(check, root, environment)) for check in chosen if check.beside]
        for check in chosen:
            if not check.beside:
                end(await (_run_and_repeat if check.live else _run_quietly)(check, root, environment))
        for task in beside:
            end(await task)
    return passed


async def _run_quietly(check: Check, root: Path, environment: Mapping[str, str]) -> CheckResult:
    result = await run(check.arguments, cwd=root, timeout=None, environment=environment)
    return CheckResult(check, result.ok, result.usage.wall, result.output.read().decode(errors="replace"))


async def _run_and_repeat(check: Check, root: Path, environment: Mapping[str, str]) -> CheckResult:
    if check.repeat:
        (root / LAST_FAILED).unlink(missing_ok=True)
    result = await _run_live(check, root, environment)
    failed = _failed_tests(root) if check.repeat and not result.passed else ()
    if not 0 < len(failed) <= MOST_REPEATED:
        return result
    again = await _run_live(replace(check, arguments=check.repeat), root, environment)
    flaky = failed if again.passed else ()
    return CheckResult(check, again.passed, result.seconds + again.seconds, "", flaky)


def _failed_tests(root: Path) -> tuple[str, ...]:
    file = root / LAST_FAILED
    return tuple(sorted(json.loads(file.read_bytes()))) if file.is_file() else ()


async def _run_live(check: Check, root: Path, environment: Mapping[str, str]) -> CheckResult:
    async with await start(
        check.arguments, cwd=root, stdin=0, stdout=1, stderr=2, environment=environment, timeout=None
    ) as process:
        ended = await process.wait()
    return CheckResult(check, ended.exit_code == 0, ended.usage.wall, "")
