"""Carries out `demo`: runs of two recorded models, what came of them and why, who is ahead, what to try next."""

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final

from convex_evals.analysis import Request, analyse
from convex_evals.analysis.classification import choose_engine
from convex_evals.analysis.investigation import Investigated
from convex_evals.analysis.recommendations import summary_of
from convex_evals.analysis.report import Report
from convex_evals.cli.leaderboard import standing_lines
from convex_evals.cli.main import INTERRUPTED
from convex_evals.cli.output import as_typed, console, count, fitted, visible, write_json
from convex_evals.cli.progress import SIGNS
from convex_evals.cli.runs.comparison import meaning_lines
from convex_evals.cli.runs.exports import runs_json
from convex_evals.cli.runs.lookup import can_resume
from convex_evals.cli.runs.options import RunOptions
from convex_evals.cli.runs.plans import Prepared, prepare
from convex_evals.cli.runs.session import carry_out_plans
from convex_evals.cli.runs.summaries import headline, reason, unseen_line
from convex_evals.core.errors import InfrastructureError
from convex_evals.core.ids import prefix
from convex_evals.core.settings import Settings, read_settings
from convex_evals.core.text import shortened
from convex_evals.core.verdicts import Status
from convex_evals.models import RecordedModel
from convex_evals.runner import (
    RunResults,
    choose_runs,
    compare_runs,
    rank_models,
    read_figures,
    unminted_benchmark,
)
from convex_evals.scores import AttemptDetails, RunFilter, RunRecord, ScoresStore

if TYPE_CHECKING:
    from rich.console import Console

REPORTS: Final = Path("reports")
BAR_WIDTH: Final = 24
LEAST_BESIDE: Final = 24
HANGING: Final = "    "
MODEL: Final = "sample/apprentice"
SECOND: Final = "sample/expert"


@dataclass(frozen=True, slots=True)
class NextCommand:
    arguments: str
    purpose: str


def next_commands(
    store: ScoresStore, run: RunRecord, failed: tuple[AttemptDetails, ...], second: RunRecord | None = None
) -> Iterator[NextCommand]:
    """In the order in which one would want to know."""
    this = prefix(run.id)
    yield NextCommand("serve", "all of this as pages in your browser: failures, answers line by line, the leaderboard")
    yield NextCommand(f"show {this}", "every eval and every step of this run")
    if failed:
        name = failed[0].attempt.eval
        yield NextCommand(f"show {this} {name}", "one failure: what each step said, and the files")
        yield NextCommand("status --failed", "what failed when each model was last run, and why")
        yield NextCommand(f"analyze {this}", "the same report, with the cause of each failure found by experiment")
    earlier = _run_before(store, run)
    if second is not None:
        yield NextCommand(f"compare {this} {prefix(second.id)}", "both models, eval by eval")
    elif earlier is not None:
        yield NextCommand(f"compare {prefix(earlier.id)} {this}", "what changed since the run before")
    elif failed:
        name = failed[0].attempt.eval
        yield NextCommand(f"run -m reference --name {name}", "the reference answer to it, graded in the same way")
        yield NextCommand(f"compare {this} RUN", "two runs side by side; RUN is the id of the other one")
    yield NextCommand("run -m MODEL", "a model of your own: an API with a key, or replay:FOLDER with its answers")


def _run_before(store: ScoresStore, run: RunRecord) -> RunRecord | None:
    """The newest other run of the same model."""
    others = store.runs(RunFilter(model=run.model, experiment=run.experiment))
    return next((other for other in others if other.id != run.id and other.counts.passed), None)


@dataclass(frozen=True, slots=True)
class Explanation:
    """What the report says, and where it is."""

    report: Report
    path: Path

    @property
    def summary(self) -> str:
        return summary_of(self.report)

    def reason(self, eval: str) -> str | None:
        """One sentence about a failure."""
        found = (failure.classification.summary for failure in self.report.failures if failure.eval == eval)
        return next(found, None)


def explain(store: ScoresStore, settings: Settings, run: RunRecord) -> Explanation:
    """Writes the report of a run."""
    request = Request(run, choose_engine("rules", settings), REPORTS.absolute(), date.today())
    report = asyncio.run(analyse(store, settings, request, _nobody))
    return Explanation(report, request.paths.markdown)


def _nobody(found: Investigated) -> None:
    """It takes only a moment, so there is no progress to show."""


@dataclass(frozen=True, slots=True)
class Share:
    """How many of the evals with a verdict passed."""

    name: str
    passed: int
    judged: int

    @property
    def percent(self) -> str:
        return f"{100 * self.passed / self.judged:.0f} %" if self.judged else "–"

    def part_of(self, length: int) -> int:
        """Of a bar of this length."""
        return round(length * self.passed / self.judged) if self.judged else 0


def shares(results: Iterable[AttemptDetails]) -> list[Share]:
    """One per category, in the order of the suite, and one for all."""
    counts: dict[str, list[bool]] = {}
    for details in results:
        judged = counts.setdefault(details.attempt.eval.partition("/")[0], [])
        if details.attempt.status in ("passed", "failed"):
            judged.append(details.attempt.status == "passed")
    categories = [Share(name, sum(counts[name]), len(counts[name])) for name in sorted(counts)]
    return [*categories, Share("all", sum(each.passed for each in categories), sum(each.judged for each in categories))]


class DemoScreen:
    def __init__(self, out: "Console") -> None:
        self._out = out

    def _say(self, text: str, style: str = "", hanging: str = "") -> None:
        """Lines are broken between words; commands are as they must be typed here."""
        from rich.text import Text

        for line in fitted(as_typed(text), self._out.width, hanging):
            self._out.print(Text(line, style=style), soft_wrap=True)

    def introduce(self, model: str) -> None:
        self._heading("The demo")
        self._say(
            f"{model} is not a language model. Its answers were written by hand, with mistakes that models make, and "
            "are graded like any other: installed, deployed, type-checked, linted and tested. So are those of "
            f"{SECOND}, a recording of right ones. None of this needs a key."
        )
        self._out.print()

    def summarize(
        self, store: ScoresStore, run: RunRecord, why: Explanation | None, second: RunRecord | None = None
    ) -> None:
        results = store.result_details(run.id)
        self._out.print()
        self._heading("How many passed")
        self._shares(shares(results))
        self._missed("What failed, and at which step", "failed", results, why)
        self._missed("What has no verdict and is not counted", "infrastructure", results, None)
        if why is not None:
            self._why(why)
        self._out.print()
        self._say(headline(run), hanging=HANGING)
        if (unseen := unseen_line(store, run)) is not None:
            self._say(unseen, hanging=HANGING)
        if can_resume(store, run):
            self._say(f"`convex-evals run --resume {prefix(run.id)}` continues what has no verdict.", hanging=HANGING)
        if second is not None:
            self._compare(store, run, second)
        self._next(store, run, results, second)

    def _compare(self, store: ScoresStore, first: RunRecord, second: RunRecord) -> None:
        figures = tuple(read_figures(store, [second.id, first.id]))
        self._say(headline(second), hanging=HANGING)
        self._out.print()
        self._heading("Which is better")
        sides = [RunResults(each.run, each.results, tuple(each.planned)) for each in reversed(figures)]
        for line in meaning_lines(compare_runs(sides)[0].statistics):
            self._say(f"  {line}", hanging=HANGING)
        version = unminted_benchmark(figures)
        if version is None:
            return
        self._out.print()
        self._heading("The leaderboard")
        for line in standing_lines(rank_models(choose_runs(figures, version), version, first.experiment)):
            self._out.print(f"  {line}", soft_wrap=True)

    def _heading(self, text: str) -> None:
        self._out.print(text, style="bold cyan")

    def _shares(self, found: list[Share]) -> None:
        from rich.text import Text

        width = max(len(share.name) for share in found)
        for share in found:
            line = Text(f"  {share.name:<{width}}  {share.passed:>3} of {share.judged:<3} {share.percent:>5}  ")
            room = max(0, min(BAR_WIDTH, self._out.width - len(line)))
            passed = share.part_of(room)
            line.append("█" * passed, style="green")
            line.append("░" * (room - passed), style="red" if share.judged else "dim")
            line.stylize("bold" if share.name == "all" else "", 0, width + 2)
            self._out.print(line)

    def _missed(
        self, title: str, status: Status, results: tuple[AttemptDetails, ...], explained: Explanation | None
    ) -> None:
        missed = [details for details in results if details.attempt.status == status]
        if not missed:
            return
        self._out.print()
        self._heading(title)
        width = max(len(details.attempt.eval.partition("/")[2]) for details in missed)
        for category, members in groupby(missed, lambda details: details.attempt.eval.partition("/")[0]):
            self._say(f"  {category}", "dim")
            for details in members:
                self._missed_line(details, width, status, explained)

    def _missed_line(self, details: AttemptDetails, width: int, status: Status, explained: Explanation | None) -> None:
        """The reason stands beside the name, or below it where there is no room."""
        from rich.text import Text

        sign, style = SIGNS[status]
        name = details.attempt.eval.partition("/")[2]
        where, _, said = reason(details).partition(": ")
        why = visible((explained.reason(details.attempt.eval) if explained else None) or said)
        line = Text("    ").append(sign, style=style).append(f" {name:<{width}}  ").append(f"{where:<10}", style=style)
        room = self._out.width - len(line) - 2
        beside = room >= LEAST_BESIDE
        self._out.print(line.append(f"  {shortened(why, room)}") if beside else line, soft_wrap=True)
        if not beside:
            self._say(f"        {why}")

    def _why(self, why: Explanation) -> None:
        self._out.print()
        self._heading("Why, by rules and without a language model")
        self._say(f"  {visible(why.summary)}")
        for pattern in why.report.patterns:
            self._say(f"  · {visible(pattern.title)} ({count(len(pattern.evals), 'eval')})", hanging="  ")
        self._say(f"  The report is {_shown(why.path)}.")

    def _next(
        self, store: ScoresStore, run: RunRecord, results: tuple[AttemptDetails, ...], second: RunRecord | None
    ) -> None:
        failed = tuple(details for details in results if details.attempt.status == "failed")
        self._out.print()
        self._heading("Try next")
        for command in next_commands(store, run, failed, second):
            self._say(f"  # {command.purpose}", "dim", "# ")
            self._say(f"  convex-evals {command.arguments}")


def _shown(path: Path) -> Path:
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def recorded_evals() -> list[str]:
    """Those that both models have answered."""
    return sorted(RecordedModel.named(MODEL).recorded & RecordedModel.named(SECOND).recorded)


def perform_demo(asked: RunOptions) -> int:
    """Runs it and returns the exit code: 0 although evals fail, which is what the demo shows."""
    # With JSON on standard output, words for people go to standard error.
    screen = DemoScreen(console(stderr=asked.json == "-"))
    with ScoresStore.open(asked.scores) as store:
        settings = read_settings()

        def plan() -> Prepared:
            prepared = prepare(asked, store, settings)  # a mistake in the options is said without the introduction
            screen.introduce(MODEL)
            return prepared

        session = carry_out_plans(plan, (), asked, settings, store)
        run, *others = session.runs
        why = explain(store, settings, run) if run.counts.failed else None
        screen.summarize(store, run, why, others[0] if others else None)
        if asked.json is not None:
            write_json(runs_json(store, session.runs), asked.json)
    if not session.complete:
        return INTERRUPTED
    return InfrastructureError.exit_code if any(each.counts.infrastructure for each in session.runs) else 0
