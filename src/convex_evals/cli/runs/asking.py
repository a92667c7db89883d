"""What a user asked for on the command line or in the environment."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from convex_evals.core.errors import UsageError
from convex_evals.core.processes import Sandbox
from convex_evals.core.settings import Settings
from convex_evals.pipeline.types import Compiler, GradingOptions, Linter
from convex_evals.suite import Selection

BACKENDS = ("embedded", "official")
LOCAL = "local/"
Purpose = Literal["run", "validate", "check"]


@dataclass(frozen=True, slots=True)
class Asked:
    """Options as they were given; None or empty means not given."""

    models: Sequence[str] = ()
    categories: Sequence[str] = ()
    pattern: str | None = None
    names: Sequence[str] = ()
    failed: bool = False
    experiment: str | None = None
    guidelines: Path | None = None
    base_url: str | None = None
    no_cache: bool = False
    budget: float | None = None
    trials: int | None = None
    until_sure: bool = False
    against: str | None = None
    jobs: int | None = None
    evals: Path | None = None
    backend: str | None = None
    admin_key: str | None = None
    answer_files: str | None = None
    packages_before: str | None = None
    linter: Linter | None = None
    compiler: Compiler | None = None
    sandbox: Sandbox | None = None
    resume: str | None = None
    regrade: str | None = None
    dry_run: bool = False
    keep: bool = False
    json: str | None = None
    events: str | None = None
    scores: str | None = None
    purpose: Purpose = "run"

    @property
    def selection(self) -> Selection:
        return Selection(self.categories, self.pattern, self.names)

    def completed(self, settings: Settings) -> "Asked":
        """What was not given is taken from the environment, unless an earlier run already decided it."""
        if self.resume is not None:
            return self
        asked = replace(self, pattern=self.pattern or settings.test_filter)
        if self.regrade is not None:
            return asked
        return replace(asked, models=self.models or settings.models, experiment=self.experiment or settings.experiment)

    def check(self) -> None:
        """Raises UsageError for options that contradict each other."""
        if self.resume is not None:
            self._refuse("--resume", "continues a run as it was planned", self.planning_options())
        elif self.regrade is not None:
            reason = "grades the answers that a run has stored"
            self._refuse("--regrade", reason, {**self._asking_options(), "--failed": self.failed})
        elif not self.models:
            raise UsageError("No model was named; add --model, for example --model reference, or set MODELS.")
        self._check_until_sure()
        if self.base_url is not None and not any(name.startswith(LOCAL) for name in self.models):
            raise UsageError("--base-url says where local/NAME is served, and no such model was named.")

    def _check_until_sure(self) -> None:
        if self.against is not None and not self.until_sure:
            raise UsageError("--against says which run --until-sure compares with; add --until-sure.")
        if self.until_sure and self.against is None and len(set(self.models)) < 2:
            raise UsageError("--until-sure needs something to compare: name two models, or a run with --against RUN.")
        if self.until_sure and self.trials == 1:
            raise UsageError("--until-sure adds trials, so --trials must be at least 2, but it is 1.")

    def grading_options(self) -> GradingOptions:
        return GradingOptions(
            linter=self.linter or "oxlint",
            compiler=self.compiler or "7",
            backend=_backend(self.backend, self.admin_key),
            admin_key=self.admin_key,
            packages_before=_day(self.packages_before),
            answer_files=_globs(self.answer_files),
            sandbox=self.sandbox or "required",
        )

    def _asking_options(self) -> dict[str, object]:
        return {
            "--model": self.models,
            "--experiment": self.experiment,
            "--guidelines": self.guidelines,
            "--base-url": self.base_url,
            "--no-cache": self.no_cache,
            "--trials": self.trials,
            "--until-sure": self.until_sure,
            "--against": self.against,
        }

    def planning_options(self) -> dict[str, object]:
        """What decides which work there is, and how it is done."""
        return {
            **self._asking_options(),
            "--category": self.categories,
            "--filter": self.pattern,
            "--name": self.names,
            "--failed": self.failed,
            "--regrade": self.regrade,
            "--backend": self.backend,
            "--answer-files": self.answer_files,
            "--packages-before": self.packages_before,
            "--linter": self.linter,
            "--compiler": self.compiler,
            "--sandbox": self.sandbox,
        }

    def _refuse(self, option: str, reason: str, others: dict[str, object]) -> None:
        given = [name for name, value in others.items() if value]
        if given:
            raise UsageError(f"{option} {reason}; leave out {', '.join(given)}.")


def _backend(given: str | None, admin_key: str | None) -> str:
    if given is None or given in BACKENDS:
        return given or BACKENDS[0]
    if urlsplit(given).scheme not in ("http", "https"):
        raise UsageError(f"--backend must be embedded, official or the URL of a deployment, but it is {given!r}.")
    if admin_key is None:
        raise UsageError(f"--backend {given} needs the deployment's admin key; add --admin-key KEY.")
    return given


def _day(given: str | None) -> date | None:
    try:
        return None if given is None else date.fromisoformat(given)
    except ValueError as error:
        raise UsageError(f"--packages-before must be a day like 2026-11-01, but it is {given!r}.") from error


def _globs(given: str | None) -> tuple[str, ...] | None:
    if given is None:
        return None
    globs = tuple(part.strip() for part in given.split(",") if part.strip())
    if not globs:
        raise UsageError("--answer-files must be globs separated by commas, like '*.ts,package.json'; it is empty.")
    return globs
