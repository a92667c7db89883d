"""`convex-evals analyze`: why did each eval fail, and what should change?"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from convex_evals.cli.analysis import AnalysisOptions, EngineOptions, Reports, Run
from convex_evals.cli.completion import complete_eval
from convex_evals.cli.options import (
    EVAL_OF_RUN,
    Author,
    EvalsFolder,
    Jobs,
    Json,
    SandboxMode,
    Scores,
    Trial,
    Why,
    model_option,
    takes,
)
from convex_evals.cli.tree import Commands, OurGroup
from convex_evals.core.errors import UsageError
from convex_evals.core.verdicts import FailureClass

DEFAULT = "run"


class WithDefault(OurGroup):
    """`analyze RUN` means `analyze run RUN`: whatever is not the name of a command is given to that one."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args:
            raise UsageError(
                "Name the run to explain, as in `convex-evals analyze latest`; "
                "`convex-evals analyze --help` shows what else there is."
            )
        if args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return ["[OPTIONS] RUN", "|", "COMMAND [ARGS]..."]


analyze = Commands(cls=WithDefault)


@analyze.callback()
def group() -> None:
    """Find out why evals failed and what should change.

    `analyze RUN` is short for `analyze run RUN`: it investigates every failure of a run and writes a report.

    Examples:
      convex-evals analyze latest
      convex-evals analyze eval latest 012-index_and_filter
    """


@analyze.command(DEFAULT)
@takes(AnalysisOptions)
def run(run: Run, options: AnalysisOptions) -> None:
    """Investigate every failure of a run and write a report.

    The report is reports/PROVIDER/MODEL/RUN_DATE.md with a JSON twin. A report of the same day is overwritten, but the
    actions recorded in it are kept. Nothing else is changed: no task, grader, lint rule or code.

    Examples:
      convex-evals analyze latest
      convex-evals analyze 0a1b2c3d --engine rules
      convex-evals analyze http://127.0.0.1:8484/experiment/default/run/0a1b2c3d
    """
    from convex_evals.cli.analysis import perform

    perform(replace(options, run=run))


@analyze.command("eval")
@takes(AnalysisOptions, without={"jobs", "analyst", "base_url", "budget"})
def eval(run: Run, eval: Annotated[str, EVAL_OF_RUN], options: AnalysisOptions, trial: Trial = 1) -> None:
    """Show everything about one failure: complaints, differences, cause, counterfactuals, class. Writes no report.

    Examples:
      convex-evals analyze eval latest index_and_filter
    """
    from convex_evals.cli.analysis import show_failure

    show_failure(replace(options, run=run, jobs=1), eval, trial)


@analyze.command("label")
def label(
    run: Run,
    eval: Annotated[str, EVAL_OF_RUN],
    failure_class: Annotated[
        FailureClass,
        typer.Argument(
            metavar="CLASS",
            case_sensitive=False,
            help="MODEL_FAULT, OVERLY_STRICT, AMBIGUOUS_TASK or KNOWN_GAP.",
        ),
    ],
    why: Why,
    trial: Trial = 1,
    author: Author = None,
    scores: Scores = None,
) -> None:
    """Overrule the classification of one failure. The scores keep it with author and date; later reports show it.

    Examples:
      convex-evals analyze label latest index_and_filter OVERLY_STRICT --why 'The task allows it.'
    """
    from convex_evals.cli.analysis import label_failure

    label_failure(run, eval, trial, failure_class, why, author, scores)


@analyze.command("record-action")
def record_action(
    report: Annotated[Path, typer.Argument(metavar="REPORT", help="The report: its .md or .json file.")],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What was changed, and where.")],
    evals: Annotated[
        list[str] | None,
        typer.Option(
            "--eval",
            "--evals",
            metavar="EVAL",
            autocompletion=complete_eval,
            help="The failure it addresses (default: all).",
        ),
    ] = None,
    author: Author = None,
) -> None:
    """Record in a report what was done about its failures, so that the next one can say whether it helped.

    Examples:
      convex-evals analyze record-action reports/openai/gpt-5.2/0a1b2c3d_2026-11-17.md 'Reworded the task.'
    """
    from convex_evals.cli.analysis import add_action

    add_action(report, text, tuple(evals or ()), author)


@analyze.command("trends")
def trends(
    model: Annotated[str, model_option("The model whose reports are read.")],
    reports: Reports = Path("reports"),
    json: Json = False,
) -> None:
    """List causes that recur in the reports of a model, and whether the newest one still has them.

    Examples:
      convex-evals analyze trends -m openai/gpt-5.2
    """
    from convex_evals.cli.analysis import show_trends

    show_trends(model, reports, as_json=json)


@analyze.command("apply")
def apply(
    report: Annotated[Path, typer.Argument(metavar="REPORT", help="The report: its .md or .json file.")],
    recommendation: Annotated[
        str, typer.Argument(metavar="RECOMMENDATION", help="Which of its changes, by its id, such as R1.")
    ],
    text: Annotated[str, typer.Option("--text", help="The sentence to add, instead of the report's own.")] = "",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Make the change without asking.")] = False,
    evals: EvalsFolder = None,
    jobs: Jobs = None,
    sandbox: SandboxMode = None,
    author: Author = None,
    scores: Scores = None,
) -> None:
    """Make a change that a report recommends: drop a lint rule, add a line to GAPS.txt or a sentence to a task.

    The patch is shown first and applied only after you confirm it. Then the eval is validated, its controls are
    checked, its stored answers are graded again, and the action is recorded in the report. If the reference answer or a
    control fails, the change is undone, and the exit code is 1. It is also undone if there is no verdict (3) and after
    Ctrl-C (130).

    Examples:
      convex-evals analyze apply reports/openai/gpt-5.2/0a1b2c3d_2026-11-17.md R1
    """
    from convex_evals.cli.analysis import ApplyOptions, apply_recommendation

    asked = ApplyOptions(report, recommendation, text, evals, jobs, sandbox or "required", scores, yes, author)
    raise typer.Exit(apply_recommendation(asked))


@analyze.command("health")
def health(
    everything: Annotated[
        bool, typer.Option("--all", help="Also list checks that related models fail, or that fail in different ways.")
    ] = False,
    json: Json = False,
    scores: Scores = None,
) -> None:
    """List checks that unrelated models fail in the same way, over all runs: signs that the eval is wrong.

    Examples:
      convex-evals analyze health
    """
    from convex_evals.cli.analysis import show_health

    show_health(scores, everything=everything, as_json=json)


@analyze.command("score")
@takes(EngineOptions)
def score(
    labels: Annotated[Path, typer.Argument(metavar="LABELS", help="A labelled set (JSON).")], options: EngineOptions
) -> None:
    """Compare engines with people's labels, and with always guessing the most frequent one.

    Shows agreement, macro-F1, agreement on whose fault it is, calibration, precision and recall per class, the
    confusion matrix, and the cases on which they disagree.

    Examples:
      convex-evals analyze score labels.json --engine rules
    """
    from convex_evals.cli.analysis import score_labels

    score_labels(labels, options.engine, options.asked_analyst(), options.json)
