"""`convex-evals analyze`: why did each eval fail, and what should change?"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperGroup

from convex_evals.analysis.defaults import PROBE_SECONDS
from convex_evals.cli.options import EvalsFolder, Json, JsonFile, SandboxMode, Scores
from convex_evals.core.verdicts import FailureClass

DEFAULT = "run"


class WithDefault(TyperGroup):
    """`analyze RUN` means `analyze run RUN`: whatever is not the name of a command is given to that one."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)


analyze = typer.Typer(
    cls=WithDefault,
    help="Find out why evals failed and what should change.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
Run = Annotated[str, typer.Argument(metavar="RUN", help="A run id, its first characters, or the URL of its page.")]
Engine = Annotated[
    Literal["auto", "rules", "llm"],
    typer.Option(
        "--engine", help="Classify with rules, with a language model, or with the model if it has a key (auto)."
    ),
]
AnalystModel = Annotated[
    str | None, typer.Option("--analyst", metavar="MODEL", help="The language model that classifies.")
]
BaseUrl = Annotated[str | None, typer.Option("--base-url", metavar="URL", help="Where the analyst is served.")]
Budget = Annotated[
    float | None,
    typer.Option("--budget", metavar="USD", min=0.0, help="Stop asking the analyst once this many dollars are spent."),
]
ProbeSeconds = Annotated[
    float, typer.Option("--probe-seconds", min=0.0, help="Time limit for finding the cause of each failure.")
]
NoProbe = Annotated[
    bool, typer.Option("--no-probe", help="Do not grade again: show cached causes, or else differences.")
]
Reports = Annotated[Path, typer.Option("--reports", metavar="DIR", help="The folder of all reports.")]
AnalyzeJobs = Annotated[int, typer.Option("--jobs", "-j", min=1, help="Failures to investigate in parallel.")]
Trial = Annotated[int, typer.Option("--trial", min=1, help="Which trial of the eval.")]


@analyze.callback()
def group() -> None:
    """Find out why evals failed and what should change.

    `analyze RUN` is short for `analyze run RUN`.
    """


@analyze.command(DEFAULT)
def run(
    run: Run,
    engine: Engine = "auto",
    jobs: AnalyzeJobs = 4,
    probe_seconds: ProbeSeconds = PROBE_SECONDS,
    no_probe: NoProbe = False,
    sandbox: SandboxMode = None,
    evals: EvalsFolder = None,
    reports: Reports = Path("reports"),
    analyst: AnalystModel = None,
    base_url: BaseUrl = None,
    budget: Budget = None,
    json: JsonFile = None,
    scores: Scores = None,
) -> None:
    """Investigate every failure of a run and write a report.

    The report is reports/PROVIDER/MODEL/RUN_DATE.md with a JSON twin; on the same day it is updated. Nothing else is
    changed: no task, grader, lint rule or code.
    """
    from convex_evals.analysis.classification import Analyst
    from convex_evals.cli.analysis import AnalysisOptions, perform

    seconds = 0.0 if no_probe else probe_seconds
    asked = AnalysisOptions(run, engine, jobs, seconds, evals, reports, scores, Analyst(analyst, base_url, budget))
    perform(replace(asked, sandbox=sandbox or "required"), json)


@analyze.command("eval")
def eval(
    run: Run,
    eval: Annotated[str, typer.Argument(metavar="EVAL", help="One eval of it (name or category/name).")],
    trial: Trial = 1,
    engine: Engine = "auto",
    probe_seconds: ProbeSeconds = PROBE_SECONDS,
    no_probe: NoProbe = False,
    sandbox: SandboxMode = None,
    evals: EvalsFolder = None,
    reports: Reports = Path("reports"),
    json: Json = False,
    scores: Scores = None,
) -> None:
    """Show everything about one failure: complaints, differences, cause, counterfactuals, class. Writes no report."""
    from convex_evals.cli.analysis import AnalysisOptions, show_failure

    seconds = 0.0 if no_probe else probe_seconds
    asked = AnalysisOptions(run, engine, 1, seconds, evals, reports, scores, sandbox=sandbox or "required")
    show_failure(asked, eval, trial, as_json=json)


@analyze.command("label")
def label(
    run: Run,
    eval: Annotated[str, typer.Argument(metavar="EVAL", help="The failed eval (name or category/name).")],
    failure_class: Annotated[FailureClass, typer.Argument(metavar="CLASS", help="Your classification.")],
    why: Annotated[str, typer.Option("--why", help="Your reason, in a sentence.")],
    trial: Trial = 1,
    author: Annotated[str | None, typer.Option("--author", help="Your name (default: from git or the system).")] = None,
    reports: Reports = Path("reports"),
    scores: Scores = None,
) -> None:
    """Overrule the classification of one failure. Later reports keep it, with its author and date."""
    from convex_evals.cli.analysis import label_failure

    label_failure(run, eval, trial, failure_class, why, author, reports, scores)


@analyze.command("record-action")
def record_action(
    report: Annotated[Path, typer.Argument(metavar="REPORT", help="The report: its .md or .json file.")],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What was changed, and where.")],
    evals: Annotated[
        list[str] | None, typer.Option("--evals", metavar="EVAL", help="The failure it addresses (default: all).")
    ] = None,
    author: Annotated[str | None, typer.Option("--author", help="Your name (default: from git or the system).")] = None,
) -> None:
    """Record in a report what was done about its failures, so that the next one can say whether it helped."""
    from convex_evals.cli.analysis import add_action

    add_action(report, text, tuple(evals or ()), author)


@analyze.command("trends")
def trends(
    model: Annotated[str, typer.Option("--model", "-m", metavar="MODEL", help="The model whose reports are read.")],
    reports: Reports = Path("reports"),
    json: Json = False,
) -> None:
    """List causes that recur in the reports of a model, and whether the newest one still has them."""
    from convex_evals.cli.analysis import show_trends

    show_trends(model, reports, as_json=json)


@analyze.command("score")
def score(
    labels: Annotated[Path, typer.Argument(metavar="LABELS", help="A labelled set (JSON).")],
    engine: Engine = "auto",
    analyst: AnalystModel = None,
    base_url: BaseUrl = None,
    budget: Budget = None,
    json: JsonFile = None,
) -> None:
    """Compare an engine with people's labels: agreement, precision and recall per class, macro-F1, confusion matrix."""
    from convex_evals.analysis.classification import Analyst
    from convex_evals.cli.analysis import score_labels

    score_labels(labels, engine, Analyst(analyst, base_url, budget), json)
