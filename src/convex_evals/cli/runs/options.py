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

from convex_evals.cli.completion import complete_run
from convex_evals.cli.options import (
    MOST_TRIALS,
    AdminKey,
    AnswerFiles,
    Backend,
    BaseUrl,
    Budget,
    Categories,
    CompilerVersion,
    EvalsFolder,
    Events,
    Executor,
    Experiment,
    Filter,
    Guidelines,
    Jobs,
    JsonFile,
    JunitFile,
    Keep,
    LinterName,
    Models,
    Names,
    PackagesBefore,
    SandboxMode,
    Scores,
    TagNames,
    To,
    flag_of,
)
from convex_evals.core.errors import UsageError

if TYPE_CHECKING:
    from convex_evals.core.settings import Settings
    from convex_evals.pipeline import GradingOptions
    from convex_evals.suite import Selection

BACKENDS: Final = ("embedded", "official")
LOCAL: Final = "local/"
LOCAL_EXECUTOR: Final = "local"
RAY_EXECUTOR: Final = "ray"
Purpose = Literal["run", "validate", "check", "scheduled"]

ASKING: Final = frozenset(
    {"models", "failed", "experiment", "guidelines", "base_url", "trials", "until_sure", "against", "no_cache"}
)
"""What decides whom to ask and how. Nothing of it is left to decide when stored answers are graded."""
DECIDED_ANEW: Final = frozenset(
    {
        "budget",
        "jobs",
        "executor",
        "evals",
        "admin_key",
        "resume",
        "dry_run",
        "keep",
        "json",
        "junit",
        "events",
        "fail_under",
        "scores",
        "to",
    }
)
"""What may be said when a run is resumed; all other options were decided when it was planned."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """As they were given; None, False or empty means not given."""

    models: Models = None
    categories: Categories = None
    pattern: Filter = None
    names: Names = None
    tags: TagNames = None
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, metavar="N", help="Only the first N of the chosen evals.")
    ] = None
    sample: Annotated[
        int | None, typer.Option("--sample", min=1, metavar="N", help="Only N of the chosen evals, drawn at random.")
    ] = None
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="S", help="With --sample: the same number draws the same evals.")
    ] = None
    failed: Annotated[bool, typer.Option("--failed", help="Only evals that failed when the model last ran them.")] = (
        False
    )
    experiment: Experiment = None
    guidelines: Guidelines = None
    base_url: BaseUrl = None
    trials: Annotated[
        int | None,
        typer.Option(
            "--trials",
            min=1,
            max=MOST_TRIALS,
            metavar="N",
            help="Trials per task (default: 1); with --until-sure the most per task (default: 5).",
        ),
    ] = None
    until_sure: Annotated[
        bool,
        typer.Option("--until-sure", help="Add trials until it is clear which is better, or --trials are used up."),
    ] = False
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="RUN",
            autocompletion=complete_run,
            help="With --until-sure: compare with this run, not with each other.",
        ),
    ] = None
    budget: Budget = None
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Ignore the response cache.")] = False
    jobs: Jobs = None
    executor: Executor = None
    evals: EvalsFolder = None
    backend: Backend = None
    admin_key: AdminKey = None
    answer_files: AnswerFiles = None
    packages_before: PackagesBefore = None
    linter: LinterName = None
    compiler: CompilerVersion = None
    sandbox: SandboxMode = None
    resume: Annotated[
        str | None,
        typer.Option(
            "--resume", metavar="RUN", autocompletion=complete_run, help="Continue the unfinished evals of a run."
        ),
    ] = None
    regrade: Annotated[
        str | None,
        typer.Option(
            "--regrade",
            metavar="RUN",
            autocompletion=complete_run,
            help="Grade a run's stored answers again and show what changed.",
        ),
    ] = None
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="List what would run, what is already stored, and what it would cost."),
    ] = False
    keep: Keep = False
    fail_under: Annotated[
        float | None,
        typer.Option(
            "--fail-under",
            min=0,
            max=1,
            metavar="RATE",
            help="Exit with code 1 when less than this passed, such as 0.8.",
        ),
    ] = None
    json: JsonFile = None
    junit: JunitFile = None
    events: Events = None
    scores: Scores = None
    to: To = None
    purpose: Purpose = "run"

    @property
    def selection(self) -> "Selection":
        from convex_evals.suite import Selection

        return Selection(self.categories or (), self.pattern, self.names or (), self.tags or ())

    def completed(self, settings: "Settings") -> "RunOptions":
        """What was not given is taken from the environment, unless an earlier run already decided it."""
        if self.resume is not None:
            return self
        asked = replace(self, pattern=self.pattern or settings.test_filter, models=_separated(self.models))
        if self.regrade is not None:
            return asked
        return replace(
            asked, models=asked.models or list(settings.models), experiment=self.experiment or settings.experiment
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
        self._check_executor()
        if self.seed is not None and self.sample is None:
            raise UsageError("--seed says which evals --sample draws; add --sample N.")
        if "-" == self.json == self.events:
            raise UsageError("--json and --events cannot both be standard output; write one of them to a file.")
        if self.base_url is not None and not any(name.startswith(LOCAL) for name in self.models or ()):
            raise UsageError("--base-url says where local/NAME is served, and no such model was named.")

    def _check_until_sure(self) -> None:
        if self.against is not None and not self.until_sure:
            raise UsageError("--against says which run --until-sure compares with; add --until-sure.")
        if self.until_sure and self.against is None and len(set(self.models or ())) < 2:
            raise UsageError("--until-sure needs something to compare: name two models, or a run with --against RUN.")
        if self.until_sure and self.trials == 1:
            raise UsageError("--until-sure adds trials, so --trials must be at least 2, but it is 1.")

    def _check_executor(self) -> None:
        if self.executor in (None, LOCAL_EXECUTOR):
            return
        if self.executor != RAY_EXECUTOR and not str(self.executor).startswith(f"{RAY_EXECUTOR}://"):
            raise UsageError(f"--executor must be local, ray or ray://HOST:PORT, but it is {self.executor!r}.")
        if self.keep:
            raise UsageError(
                "--keep keeps what is written on this machine, and a cluster writes elsewhere; leave it out."
            )

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


SELECTING: Final = frozenset({"categories", "pattern", "names", "tags", "evals"})
"""What decides which evals there are."""
FOR_CONTROLS: Final = SELECTING | {"jobs", "sandbox", "json", "mutate", "mutants"}
MOST_MUTANTS: Final = 25


@dataclass(frozen=True, slots=True)
class ControlsOptions(RunOptions):
    """`mutants` is how many to make of each answer at most."""

    mutate: Annotated[
        bool,
        typer.Option("--mutate", help="Also mutate the reference answers, and report how many mutants are caught."),
    ] = False
    mutants: Annotated[
        int | None,
        typer.Option(
            "--mutants",
            min=1,
            metavar="N",
            help=f"With --mutate: at most N mutants per eval (default: {MOST_MUTANTS}).",
        ),
    ] = None

    @property
    def most_mutants(self) -> int | None:
        """None: no mutants. Raises UsageError."""
        if self.mutants is not None and not self.mutate:
            raise UsageError("--mutants says how many mutants to make; add --mutate.")
        return (self.mutants or MOST_MUTANTS) if self.mutate else None


FOR_ABLATION: Final = (
    SELECTING
    | (ASKING - {"failed", "until_sure", "against", "no_cache"})
    | {"budget", "jobs", "resume", "dry_run", "json", "scores", "sections"}
)


@dataclass(frozen=True, slots=True)
class AblationOptions(RunOptions):
    """`resume` names an ablation, which is several runs."""

    sections: Annotated[
        list[str] | None,
        typer.Option("--section", metavar="NAME", help="Leave out only this section (default: each in turn)."),
    ] = None

    def check(self) -> None:
        if (self.resume is None) == (not self.models):
            raise UsageError("Name the model to ask with --model, or the ablation to continue with --resume.")
        if self.resume is None:
            if len(self.models or ()) > 1:
                raise UsageError("--model must be one model here: an ablation is about one.")
            RunOptions.check(self)
        elif self.planned():
            raise UsageError("--resume goes on with an ablation as it was planned; leave out what was decided then.")


def _separated(models: list[str] | None) -> list[str] | None:
    """`-m a,b` is `-m a -m b`; folders that are replayed may have commas in their names."""
    if models is None:
        return None
    split = (each.split(",") if not each.startswith("replay:") else [each] for each in models)
    return [name.strip() for names in split for name in names if name.strip()]


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
