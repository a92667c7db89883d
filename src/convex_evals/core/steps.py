"""One step of grading, from the pipeline that runs it to the page that shows it."""

from dataclasses import dataclass
from pathlib import Path

from convex_evals.core.diagnostics import Diagnostic, TestResult
from convex_evals.core.verdicts import Status, StepName


@dataclass(frozen=True, slots=True)
class Command:
    """A program that a step ran."""

    arguments: tuple[str, ...]
    ending: str  # "exit code 1", "stopped after 30 s"
    wall_ms: float
    cpu_ms: float


@dataclass(frozen=True, slots=True)
class TestCounts:
    __test__ = False  # not a test class: pytest must not collect it

    passed: int
    total: int


@dataclass(frozen=True, slots=True)
class StepResult:
    """`excerpt` quotes the lines that matter; `log` is the complete output of everything the step did, for people.

    `log` is a file while the step is being recorded; the scores keep it as an artifact, and a step read from them has
    none here.
    """

    name: StepName
    status: Status
    duration_ms: float = 0.0
    cpu_ms: float = 0.0
    commands: tuple[Command, ...] = ()
    excerpt: str = ""
    log: Path | None = None
    failure: str | None = None  # the kind of failure, a key of the table in pipeline/failures.py
    notes: tuple[str, ...] = ()  # what was normalised or assumed
    diagnostics: tuple[Diagnostic, ...] = ()  # why it did not pass
    test_results: tuple[TestResult, ...] = ()  # of the step `tests`: every test that was reported

    @property
    def cause(self) -> str:
        """What to say first: the `convex` CLI begins with which request failed, and comes to the reason later."""
        if self.name != "deploy" or not self.diagnostics:
            return self.excerpt
        first = self.diagnostics[0]
        where = f" ({first.file}{f':{first.line}' if first.line else ''})" if first.file else ""
        said = next((line for line in first.message.splitlines() if line.strip()), "")
        return f"{said.strip()}{where}"
