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
    help="Say why evals failed and what should change.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
Run = Annotated[
    str, typer.Argument(metavar="RUN", help="The run: its id, the beginning of it, or the address of its page.")
]
Engine = Annotated[
    Literal["auto", "rules", "llm"],
    typer.Option("--engine", help="Classify by rules, by a language model, or by the model if there is a key for it."),
]
AnalystModel = Annotated[
    str | None, typer.Option("--analyst", metavar="MODEL", help="The language model that classifies.")
]
BaseUrl = Annotated[str | None, typer.Option("--base-url", metavar="URL", help="Where the analyst is served.")]
Budget = Annotated[
    float | None,
    typer.Option("--budget", metavar="USD", min=0.0, help="The analyst is asked no more once it has cost so much."),
]
ProbeSeconds = Annotated[
    float, typer.Option("--probe-seconds", min=0.0, help="Look for the cause of each failure at most so long.")
]
NoProbe = Annotated[
    bool, typer.Option("--no-probe", help="Grade nothing again: show causes that were found before, else differences.")
]
Reports = Annotated[Path, typer.Option("--reports", metavar="DIR", help="The folder of all reports.")]
AnalyzeJobs = Annotated[int, typer.Option("--jobs", "-j", min=1, help="Investigate so many failures at once.")]
Trial = Annotated[int, typer.Option("--trial", min=1, help="Which trial of the eval.")]


@analyze.callback()
def group() -> None:
    """Say why evals failed and what should change.

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
    from convex_evals.cli.analysis.performing import Asked, perform

    seconds = 0.0 if no_probe else probe_seconds
    asked = Asked(run, engine, jobs, seconds, evals, reports, scores, Analyst(analyst, base_url, budget))
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
    from convex_evals.cli.analysis.looking import show_failure
    from convex_evals.cli.analysis.performing import Asked

    seconds = 0.0 if no_probe else probe_seconds
    asked = Asked(run, engine, 1, seconds, evals, reports, scores, sandbox=sandbox or "required")
    show_failure(asked, eval, trial, as_json=json)


@analyze.command("label")
def label(
    run: Run,
    eval: Annotated[str, typer.Argument(metavar="EVAL", help="The failed eval (name or category/name).")],
    failure_class: Annotated[FailureClass, typer.Argument(metavar="CLASS", help="What it is in your judgement.")],
    why: Annotated[str, typer.Option("--why", help="Your reason, in a sentence.")],
    trial: Trial = 1,
    author: Annotated[
        str | None, typer.Option("--author", help="Who says so; otherwise the name that git or the system knows.")
    ] = None,
    reports: Reports = Path("reports"),
    scores: Scores = None,
) -> None:
    """Overrule the classification of one failure. It is kept with author and date, and stands in later reports."""
    from convex_evals.cli.analysis.people import label_failure

    label_failure(run, eval, trial, failure_class, why, author, reports, scores)


@analyze.command("record-action")
def record_action(
    report: Annotated[Path, typer.Argument(metavar="REPORT", help="The report: its .md or .json file.")],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What was changed, and where.")],
    evals: Annotated[
        list[str] | None, typer.Option("--evals", metavar="EVAL", help="A failure it is meant for; otherwise all.")
    ] = None,
    author: Annotated[
        str | None, typer.Option("--author", help="Who did it; otherwise the name that git or the system knows.")
    ] = None,
) -> None:
    """Write into a report what was done about its failures, so that the next one can say whether it helped."""
    from convex_evals.cli.analysis.people import add_action

    add_action(report, text, tuple(evals or ()), author)


@analyze.command("trends")
def trends(
    model: Annotated[str, typer.Option("--model", "-m", metavar="MODEL", help="The model whose reports are read.")],
    reports: Reports = Path("reports"),
    json: Json = False,
) -> None:
    """List causes that recur over the reports of a model, and whether they are still there in the newest one."""
    from convex_evals.cli.analysis.looking import show_trends

    show_trends(model, reports, as_json=json)


@analyze.command("score")
def score(
    labels: Annotated[Path, typer.Argument(metavar="LABELS", help="A labelled set, a JSON file.")],
    engine: Engine = "auto",
    analyst: AnalystModel = None,
    base_url: BaseUrl = None,
    budget: Budget = None,
    json: JsonFile = None,
) -> None:
    """Compare an engine with people: agreement, precision and recall per class, macro-F1, confusion matrix."""
    from convex_evals.analysis.classification import Analyst
    from convex_evals.cli.analysis.scoring import score_labels

    score_labels(labels, engine, Analyst(analyst, base_url, budget), json)
