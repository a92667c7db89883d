"""Carries out `controls`: load, grade, print, exit code."""

import asyncio
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from convex_evals.cli.controls.display import print_findings
from convex_evals.cli.controls.progress import watching
from convex_evals.cli.output import count, remark, write_json
from convex_evals.cli.runs.session import check_sandbox, cores
from convex_evals.controls import (
    TARGET,
    Checkup,
    Findings,
    Watcher,
    check,
    controls_folder,
    findings_json,
    plan_checkup,
    share,
    strays,
)
from convex_evals.core.errors import InfrastructureError, UsageError
from convex_evals.core.processes import Sandbox
from convex_evals.core.settings import Settings, read_settings
from convex_evals.core.toolchain import prepare_toolchain
from convex_evals.pipeline.types import GradingOptions
from convex_evals.runner import GradingPool, open_workspace
from convex_evals.suite import BrokenError, Problem, Selection, Suite, find_suite, load_suite, select

NOT_OK = 1


@dataclass(frozen=True, slots=True)
class ControlsOptions:
    """Options as they were given; None means not given."""

    selection: Selection
    evals: Path | None = None
    mutants: int | None = None
    """At most so many of each answer; None: no mutants."""
    jobs: int | None = None
    json: str | None = None
    sandbox: Sandbox = "required"


@dataclass(frozen=True, slots=True)
class Prepared:
    """`problems` belong to no eval that is checked."""

    suite: Suite
    checkups: tuple[Checkup, ...]
    problems: tuple[Problem, ...]


def perform(asked: ControlsOptions) -> int:
    """Does what was asked for and returns the exit code."""
    settings = read_settings()
    prepared = prepare(asked)
    found: list[Findings] = []
    try:
        found = asyncio.run(_check(prepared, asked, settings, found.append))
    except KeyboardInterrupt:
        remark(f"Interrupted. {len(found)} of {count(len(prepared.checkups), 'eval')} had been checked.")
        _tell(found, prepared, asked)
        raise
    _tell(found, prepared, asked)
    return _exit_code(found, prepared.problems)


def _tell(found: Sequence[Findings], prepared: Prepared, asked: ControlsOptions) -> None:
    print_findings(found, prepared.problems, out=sys.stderr if asked.json == "-" else sys.stdout)
    if asked.json is not None:
        write_json(findings_json(found, prepared.problems), asked.json)


def prepare(asked: ControlsOptions) -> Prepared:
    """Reads the suite and its controls. Raises UsageError."""
    suite = load_suite(find_suite(asked.evals))
    evals = select(suite, asked.selection)
    if not evals:
        raise UsageError(f"No eval of {suite.root} can be loaded; `convex-evals list` says what is wrong with them.")
    folder = controls_folder(suite.root)
    if not folder.is_dir():
        remark(
            f"There are no controls: {folder} is not a folder. Only reference answers and empty projects are graded."
        )
    problems = [each for each in suite.problems if asked.selection.takes_problem(suite, each)]
    problems += strays(folder, suite) if asked.selection == Selection() else ()
    checkups: list[Checkup] = []
    for each in evals:
        try:
            checkups.append(plan_checkup(suite, each, folder, asked.mutants))
        except BrokenError as error:
            problems.append(error.problem)
    return Prepared(suite, tuple(checkups), tuple(problems))


async def _check(
    prepared: Prepared, asked: ControlsOptions, settings: Settings, checked: Callable[[Findings], None]
) -> list[Findings]:
    """`checked` is told of every eval, in the order in which they are done."""
    await check_sandbox(asked.sandbox)
    await prepare_toolchain(settings, remark)
    options = GradingOptions(sandbox=asked.sandbox).completed(prepared.suite.settings)
    with open_workspace(settings.output_folder) as folder, watching(prepared.checkups) as watcher:
        async with GradingPool.open(settings, folder, asked.jobs or cores()) as pool:
            return await check(prepared.checkups, pool, options, _telling(watcher, checked))


def _telling(watcher: Watcher, also: Callable[[Findings], None]) -> Watcher:
    def checked(found: Findings) -> None:
        watcher.checked(found)
        also(found)

    return replace(watcher, checked=checked)


def _exit_code(found: Sequence[Findings], problems: Sequence[Problem]) -> int:
    """What is wrong for certain weighs more than what has no verdict."""
    caught = share([each.mutants for each in found if each.mutants])
    if problems or any(each.has_mistakes for each in found) or (caught is not None and caught < TARGET):
        return NOT_OK
    return InfrastructureError.exit_code if any(each.without_verdict for each in found) else 0
