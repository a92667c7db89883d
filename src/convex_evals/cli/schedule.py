"""`convex-evals schedule`: shows who is due and why, runs what is due, and tries out the rules."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from convex_evals.cli.main import INTERRUPTED
from convex_evals.cli.output import count, print_json, print_lines, print_table, remark, table
from convex_evals.cli.runs.command import perform
from convex_evals.cli.runs.lookup import open_service
from convex_evals.cli.runs.options import RunOptions
from convex_evals.core.errors import ConvexEvalsError, UsageError
from convex_evals.core.settings import Settings
from convex_evals.models import Connections, ModelEntry, Registry, has_key, has_price, load_registry
from convex_evals.runner import dollars, plan_rest, suite_of
from convex_evals.schedule import (
    Agenda,
    Rules,
    SimulatedRun,
    Turn,
    agenda_json,
    candidates,
    newest_minting,
    read_agenda,
    read_rules,
    simulate,
    spent_since,
    spent_this_month,
)
from convex_evals.scores import RunRecord, ScoresStore, is_service
from convex_evals.suite import load_suite

HOLD: Final = "schedule"


def show_agenda(scores: str | None, settings: Settings, json: bool) -> None:
    with _open(scores) as store:
        agenda = read_agenda(store, settings, load_registry(), can_resume=_can_resume(store, settings, scores))
    if json:
        print_json(agenda_json(agenda))
        return
    rows = table(["model", "experiment", "state", "when", "cost", "why"], drop=("experiment", "cost"), fold="why")
    for turn in agenda.turns:
        rows.add_row(
            turn.candidate.model, turn.candidate.experiment, turn.state, _when(turn), dollars(turn.cost), turn.why
        )
    print_table(rows)
    print_lines(["", _budget_line(agenda)])


def _open(scores: str | None) -> ScoresStore:
    """To look at. A schedule without any runs yet is worth a look, too."""
    return open_service(scores) if scores is not None and is_service(scores) else ScoresStore.open(scores)


def run_due(asked: RunOptions, settings: Settings, models: Sequence[str]) -> int:
    """One model after another. Whoever comes second leaves it to the first."""
    registry = load_registry()
    with ScoresStore.open(asked.scores) as store, ExitStack() as stack:
        try:
            stack.enter_context(store.hold_run(HOLD))
        except UsageError:
            remark("Another `convex-evals schedule run` is working on these scores; it does what is due.")
            return 0
        agenda = read_agenda(store, settings, registry, can_resume=_can_resume(store, settings, asked.scores))
        due = [turn for turn in agenda.due if not models or turn.candidate.model in models]
        print_lines([_budget_line(agenda), f"{count(len(due), 'run')} due"])
        left = partial(_left, store, agenda.rules, datetime.now(UTC))
        return max((_run(turn, asked, left(), registry) for turn in _with_key(due, registry, settings)), default=0)


def _left(store: ScoresStore, rules: Rules, began: datetime) -> float:
    """Of the budgets of the tick that began then, and of the month."""
    month = spent_this_month(store, rules, datetime.now(UTC)).month
    return min(rules.budget_per_tick - spent_since(began, store, rules), rules.budget_per_month - month)


def _can_resume(store: ScoresStore, settings: Settings, scores: str | None) -> Callable[[RunRecord], bool]:
    """Whether the suite and the prompts are what they were. Runs of a service have theirs on another machine."""

    def can_resume(run: RunRecord) -> bool:
        try:
            plan_rest(run, load_suite(suite_of(run)), store, connections=Connections(settings, estimates=True))
        except UsageError:
            return False
        return True

    return (lambda run: True) if scores is not None and is_service(scores) else can_resume


def _run(turn: Turn, asked: RunOptions, left: float, registry: Registry) -> int:
    """The exit code. What goes wrong with one model must not keep others from their turn; only Ctrl-C does."""
    candidate = turn.candidate
    named = f"{candidate.model} ({candidate.experiment})"
    if turn.cost > left:
        remark(f"{named} waits: of the budget, {dollars(max(left, 0.0))} is left, and it is expected to cost more.")
        return 0
    print_lines(["", f"{named}: {turn.why}"])
    try:
        code = perform(options_for(turn, asked, left, registry.find(candidate.model)))
    except ConvexEvalsError as error:
        remark(str(error))
        return error.exit_code
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    return code


def options_for(turn: Turn, asked: RunOptions, left: float, entry: ModelEntry) -> RunOptions:
    """A new run, or the rest of one. A model whose price nobody knows cannot be kept below a limit."""
    candidate = turn.candidate
    common = RunOptions(
        jobs=asked.jobs,
        scores=asked.scores,
        events=asked.events,
        budget=left if has_price(entry) else None,
        purpose="scheduled",
    )
    if candidate.unfinished is not None:
        return replace(common, resume=candidate.unfinished)
    models = [candidate.model]
    return replace(common, models=models, experiment=candidate.experiment, evals=asked.evals, sandbox=asked.sandbox)


def _with_key(due: Sequence[Turn], registry: Registry, settings: Settings) -> Iterator[Turn]:
    for turn in due:
        if has_key(registry.find(turn.candidate.model), settings):
            yield turn
        else:
            remark(f"{turn.candidate.model} is left out: there is no key for its provider.")


def show_simulation(scores: str | None, settings: Settings, days: int, json: bool) -> None:
    now = datetime.now(UTC)
    with _open(scores) as store:
        rules = read_rules(settings.project_file)
        known = candidates(load_registry(), store, rules, _can_resume(store, settings, scores))
        runs = simulate(known, rules, now, days, newest_minting(store), spent_this_month(store, rules, now))
    if json:
        print_json({"days": days, "cost": sum(run.cost for run in runs), "runs": [_run_json(run) for run in runs]})
        return
    rows = table(["model", "experiment", "runs", "cost", "about every"], drop=("experiment", "cost"))
    number = Counter((run.model, run.experiment) for run in runs)
    for (model, experiment), times in sorted(number.items(), key=lambda each: (-each[1], each[0])):
        cost = sum(run.cost for run in runs if (run.model, run.experiment) == (model, experiment))
        rows.add_row(model, experiment, str(times), dollars(cost), f"{days / times:.0f} days")
    print_table(rows)
    total = dollars(sum(run.cost for run in runs))
    print_lines(["", f"{count(len(runs), 'run')} in {count(days, 'day')}, {total}, if every run goes well"])


def _run_json(run: SimulatedRun) -> dict[str, Any]:
    return {
        "at": run.at.isoformat(),
        "model": run.model,
        "experiment": run.experiment,
        "expectedCost": run.cost,
        "why": run.why,
    }


def _budget_line(agenda: Agenda) -> str:
    rules = agenda.rules
    month = f"{dollars(agenda.spent.month)} of {dollars(rules.budget_per_month)} spent this month"
    return f"{month}; at most {dollars(rules.budget_per_tick)} and {count(rules.runs_per_tick, 'run')} per tick"


def _when(turn: Turn) -> str:
    return "now" if turn.state in ("due", "running", "queued") else turn.at.strftime("%Y-%m-%d %H:%M")
