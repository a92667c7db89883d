"""The options of `run`, and of the commands that run something in their own way.

A field with a typer option is an option of the command (see `cli/command.py`); one that `GradingOptions` has, too, goes
with every answer to the worker that grades it. So an option is added here, and where it has its effect.
"""

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields, replace
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal
from urllib.parse import urlsplit

import typer

from convex_evals.cli.options import (
    AdminKey,
    AnswerFiles,
    Backend,
    BaseUrl,
    Budget,
    Categories,
    CompilerVersion,
    EvalsFolder,
    Events,
    Experiment,
    Filter,
    Guidelines,
    Jobs,
    JsonFile,
    Keep,
    LinterName,
    Models,
    Names,
    PackagesBefore,
    SandboxMode,
    Scores,
    flag_of,
)
from convex_evals.core.errors import UsageError

if TYPE_CHECKING:
    from convex_evals.core.settings import Settings
    from convex_evals.pipeline import GradingOptions
    from convex_evals.suite import Selection

BACKENDS: Final = ("embedded", "official")
LOCAL: Final = "local/"
Purpose = Literal["run", "validate", "check"]

ASKING: Final = frozenset(
    {"models", "failed", "experiment", "guidelines", "base_url", "trials", "until_sure", "against", "no_cache"}
)
"""What decides whom to ask and how. Nothing of it is left to decide when stored answers are graded."""
DECIDED_ANEW: Final = frozenset(
    {"budget", "jobs", "evals", "admin_key", "resume", "dry_run", "keep", "json", "events", "scores"}
)
"""What may be said when a run is resumed; all other options were decided when it was planned."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """As they were given; None, False or empty means not given."""

    models: Models = None
    categories: Categories = None
    pattern: Filter = None
    names: Names = None
    failed: Annotated[bool, typer.Option("--failed", help="Only evals that failed in the model's last run.")] = False
    experiment: Experiment = None
    guidelines: Guidelines = None
    base_url: BaseUrl = None
    trials: Annotated[
        int | None,
        typer.Option(
            "--trials",
            min=1,
            metavar="N",
            help="Trials per task (default: 1); with --until-sure the most per task (default: 5).",
        ),
    ] = None
    until_sure: Annotated[
        bool,
        typer.Option("--until-sure", help="Add trials until it is sure which is better, or --trials are used up."),
    ] = False
    against: Annotated[
        str | None,
        typer.Option("--against", metavar="RUN", help="With --until-sure: compare with this run, not with each other."),
    ] = None
    budget: Budget = None
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Ignore the response cache.")] = False
    jobs: Jobs = None
    evals: EvalsFolder = None
    backend: Backend = None
    admin_key: AdminKey = None
    answer_files: AnswerFiles = None
    packages_before: PackagesBefore = None
    linter: LinterName = None
    compiler: CompilerVersion = None
    sandbox: SandboxMode = None
    resume: Annotated[
        str | None, typer.Option("--resume", metavar="RUN", help="Continue the unfinished evals of a run.")
    ] = None
    regrade: Annotated[
        str | None,
        typer.Option("--regrade", metavar="RUN", help="Grade a run's stored answers again and show what changed."),
    ] = None
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="List what would run, what is already stored, and what it would cost."),
    ] = False
    keep: Keep = False
    json: JsonFile = None
    events: Events = None
    scores: Scores = None
    purpose: Purpose = "run"

    @property
    def selection(self) -> "Selection":
        from convex_evals.suite import Selection

        return Selection(self.categories or (), self.pattern, self.names or ())

    def completed(self, settings: "Settings") -> "RunOptions":
        """What was not given is taken from the environment, unless an earlier run already decided it."""
        if self.resume is not None:
            return self
        asked = replace(self, pattern=self.pattern or settings.test_filter)
        if self.regrade is not None:
            return asked
        return replace(
            asked, models=self.models or list(settings.models), experiment=self.experiment or settings.experiment
        )

    def check(self) -> None:
        """Raises UsageError for options that contradict each other."""
        if self.resume is not None:
            self._refuse("--resume", "continues a run as it was planned", self.planned())
        elif self.regrade is not None:
            reason = "grades the answers that a run has stored"
            self._refuse("--regrade", reason, self.given() & ASKING)
        elif not self.models:
            raise UsageError("No model was named; add --model, for example --model reference, or set MODELS.")
        self._check_until_sure()
        if self.base_url is not None and not any(name.startswith(LOCAL) for name in self.models or ()):
            raise UsageError("--base-url says where local/NAME is served, and no such model was named.")

    def _check_until_sure(self) -> None:
        if self.against is not None and not self.until_sure:
            raise UsageError("--against says which run --until-sure compares with; add --until-sure.")
        if self.until_sure and self.against is None and len(set(self.models or ())) < 2:
            raise UsageError("--until-sure needs something to compare: name two models, or a run with --against RUN.")
        if self.until_sure and self.trials == 1:
            raise UsageError("--until-sure adds trials, so --trials must be at least 2, but it is 1.")

    def grading_options(self) -> "GradingOptions":
        """Every option that grading has a field for. Raises UsageError."""
        from convex_evals.pipeline import GradingOptions

        _check_backend(self.backend, self.admin_key)
        names = self.given() & {field.name for field in fields(GradingOptions)}
        values: dict[str, Any] = {name: getattr(self, name) for name in names}
        return GradingOptions(
            **{name: _READ[name](value) if name in _READ else value for name, value in values.items()}
        )

    def given(self) -> set[str]:
        values = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "purpose"}
        return {name for name, value in values.items() if value or value == ""}

    def planned(self) -> set[str]:
        """What was given of the options that decide which work there is, and how it is done."""
        return self.given() - DECIDED_ANEW

    def _refuse(self, option: str, reason: str, others: AbstractSet[str]) -> None:
        if others:
            flags = [flag_of(RunOptions, field.name) for field in fields(self) if field.name in others]
            raise UsageError(f"{option} {reason}; leave out {', '.join(flags)}.")


def _check_backend(given: str | None, admin_key: str | None) -> None:
    if given is None or given in BACKENDS:
        return
    if urlsplit(given).scheme not in ("http", "https"):
        raise UsageError(f"--backend must be embedded, official or the URL of a deployment, but it is {given!r}.")
    if admin_key is None:
        raise UsageError(f"--backend {given} needs the deployment's admin key; add --admin-key KEY.")


def _day(given: str) -> date:
    try:
        return date.fromisoformat(given)
    except ValueError as error:
        raise UsageError(f"--packages-before must be a day like 2026-11-01, but it is {given!r}.") from error


def _globs(given: str) -> tuple[str, ...]:
    globs = tuple(part.strip() for part in given.split(",") if part.strip())
    if not globs:
        raise UsageError("--answer-files must be globs separated by commas, like '*.ts,package.json'; it is empty.")
    return globs


_READ: Final[Mapping[str, Callable[[str], Any]]] = {"packages_before": _day, "answer_files": _globs}
