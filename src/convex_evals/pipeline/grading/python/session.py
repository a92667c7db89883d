"""Runs pytest on a grader, inside the process that was made for it."""

import sys
from pathlib import Path

import pytest

from convex_evals.pipeline.grading.kit import Clock
from convex_evals.pipeline.grading.python.browsing import Browsing
from convex_evals.pipeline.grading.python.fixtures import Fixtures
from convex_evals.pipeline.grading.python.job import Job
from convex_evals.pipeline.grading.python.limits import TimeLimits
from convex_evals.pipeline.grading.python.recorder import Recorder

# Plugins of pytest that graders have no use for; each costs time at every start.
UNUSED = (
    "cacheprovider",
    "debugging",
    "doctest",
    "junitxml",
    "legacypath",
    "pastebin",
    "setuponly",
    "setupplan",
    "stepwise",
    "unittest",
)
OPTIONS = (
    "-vv",
    "--tb=short",
    "--color=no",
    "--noconftest",
    "--disable-plugin-autoload",
    "--import-mode=importlib",
    "--override-ini=python_files=*.py",
    "--config-file=/dev/null",
    *(f"-pno:{name}" for name in UNUSED),
)


def _only_grader(imports: Path, private: Path) -> Path:
    """A folder that holds the package `grader` and nothing else that could be imported."""
    folder = private / "imports"
    folder.mkdir(exist_ok=True)
    if not (folder / "grader").exists():
        (folder / "grader").symlink_to(imports / "grader")
    return folder


def run_session(job: Job) -> int:
    """pytest's exit code. The report is on disk by then."""
    sys.dont_write_bytecode = True
    if job.imports is not None:
        sys.path.insert(0, str(_only_grader(job.imports, job.private)))
    clock = Clock()
    plugins = [
        Fixtures(job, clock),
        Browsing(job, clock),
        TimeLimits(clock, job.test_seconds, job.grader_seconds),
        Recorder(job.grader, job.report),
    ]
    temporary = job.report.parent / "temporary"
    places = (f"--rootdir={job.suite}", f"--confcutdir={job.grader.parent}", f"--basetemp={temporary}")
    arguments = [*OPTIONS, *places, str(job.grader)]
    if job.collect_only:
        arguments.append("--collect-only")
    return int(pytest.main(arguments, plugins=plugins))
