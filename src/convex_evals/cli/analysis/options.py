"""The options of `analyze`: those that find the cause of a failure and say what it is."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from convex_evals.analysis import PROBE_SECONDS, run_reference, run_service
from convex_evals.cli.completion import complete_model, complete_run
from convex_evals.cli.options import (
    RUN_HELP,
    EvalsFolder,
    JsonFile,
    SandboxMode,
    Scores,
    base_url_option,
    budget_option,
)

if TYPE_CHECKING:
    from convex_evals.analysis.classification import Analyst

Run = Annotated[
    str,
    typer.Argument(
        metavar="RUN", autocompletion=complete_run, help=f"{RUN_HELP.removesuffix('.')}; or the URL of its page."
    ),
]
Engine = Annotated[
    Literal["auto", "rules", "llm", "both"],
    typer.Option(
        "--engine",
        help="Classify with rules, with a language model (llm), or with both and a second opinion. "
        "auto: both if there is a key, otherwise rules.",
    ),
]
Reports = Annotated[Path, typer.Option("--reports", metavar="DIR", help="The folder of all reports.")]


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """How failures are classified."""

    engine: Engine = "auto"
    analyst: Annotated[
        str | None,
        typer.Option(
            "--analyst", metavar="MODEL", autocompletion=complete_model, help="The language model that classifies."
        ),
    ] = None
    base_url: Annotated[str | None, base_url_option("Where the analyst is served.")] = None
    budget: Annotated[float | None, budget_option("Stop asking the analyst once this many dollars are spent.")] = None
    json: JsonFile = None

    def asked_analyst(self) -> "Analyst":
        from convex_evals.analysis.classification import Analyst

        return Analyst(self.analyst, self.base_url, self.budget)


@dataclass(frozen=True, slots=True)
class AnalysisOptions(EngineOptions):
    """What is analysed, and how."""

    run: str = ""
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Failures to investigate in parallel.")] = 4
    probe_seconds: Annotated[
        float, typer.Option("--probe-seconds", min=0.0, help="Time limit for finding the cause of each failure.")
    ] = PROBE_SECONDS
    no_probe: Annotated[
        bool, typer.Option("--no-probe", help="Do not grade again: show cached causes, otherwise differences.")
    ] = False
    sandbox: SandboxMode = None
    evals: EvalsFolder = None
    reports: Reports = Path("reports")
    scores: Scores = None

    @property
    def probing(self) -> float:
        """Seconds per failure."""
        return 0.0 if self.no_probe else self.probe_seconds

    def located(self) -> "AnalysisOptions":
        """With the scores that the address of a run's page names."""
        return replace(self, scores=scores_of(self.run, self.scores))


def scores_of(run: str, scores: str | None) -> str | None:
    """Where a run is that is named by its id or by the address of its page: in the scores that the user names; else in
    those of this machine if they have it; else at the service of the page."""
    service = run_service(run)
    if scores is not None or service is None or _is_here(run_reference(run)):
        return scores
    return service


def _is_here(run: str) -> bool:
    from convex_evals.cli.runs.lookup import existing_scores
    from convex_evals.core.errors import UsageError

    try:
        with existing_scores(None) as store:
            store.find_run(run)
    except UsageError:
        return False
    return True
