"""What pages ask: many things in few statements. The number of statements never grows with the number of rows."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from sqlalchemy import Select, and_, func, or_, select
from sqlalchemy.orm import Session

from convex_evals.core.diagnostics import Diagnostic
from convex_evals.core.verdicts import Status, StepName
from convex_evals.scores import attempts, runs
from convex_evals.scores.database import Database
from convex_evals.scores.records import AttemptRecord, RunRecord
from convex_evals.scores.rows import (
    AttemptRow,
    DiagnosticRow,
    GenerationRow,
    ModelRow,
    RunRow,
    StepRow,
    UsageRow,
)
from convex_evals.scores.steps import diagnostic_of

_EXCERPT: Final = 600


@dataclass(frozen=True, slots=True)
class NamedRun:
    """Enough of a run to name it and to link to it."""

    id: str
    model: str
    provider: str
    experiment: str
    started_at: datetime


@dataclass(frozen=True, slots=True)
class NamedModel:
    provider: str
    name: str


@dataclass(frozen=True, slots=True)
class GridStep:
    """`excerpt` is the beginning of it, of a step that did not pass."""

    status: Status
    failure: str | None
    excerpt: str


@dataclass(frozen=True, slots=True)
class GridRow:
    """An eval and trial of a run: the attempt that counts, or the one under way; None: it has not begun."""

    eval: str
    trial: int
    attempt: AttemptRecord | None = None
    tried: int = 0
    steps: Mapping[StepName, GridStep] = field(default_factory=dict)
    cause: Diagnostic | None = None  # the first thing that the failed step said
    cost_usd: float | None = None

    @property
    def category(self) -> str:
        return self.eval.partition("/")[0]

    @property
    def name(self) -> str:
        return self.eval.partition("/")[2]

    @property
    def status(self) -> str:
        return "pending" if self.attempt is None else self.attempt.status


@dataclass(frozen=True, slots=True)
class RunGrid:
    """Evals x steps of one run, by eval and trial."""

    run: RunRecord
    rows: tuple[GridRow, ...]
    last_sign: datetime | None  # when something was recorded last
    working_since: datetime | None = None  # when the period of work began that is under way


class PageQueries:
    """`store.pages`. Every method reads one consistent view."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find_runs(self, beginning: str, most: int = 10) -> tuple[NamedRun, ...]:
        """Runs whose id begins so, the newest first."""
        with self._database.reading() as session:
            query = _named_runs().where(RunRow.id.startswith(beginning.lower(), autoescape=True)).limit(most)
            return tuple(NamedRun(*row) for row in session.execute(query))

    def find_models(self, text: str, most: int = 10) -> tuple[NamedModel, ...]:
        """Models with this in their name or their provider's."""
        whole = ModelRow.provider + "/" + ModelRow.name
        query = select(ModelRow.provider, ModelRow.name).where(whole.icontains(text, autoescape=True))
        with self._database.reading() as session:
            rows = session.execute(query.order_by(ModelRow.name, ModelRow.provider).limit(most))
            return tuple(NamedModel(*row) for row in rows)

    def find_runs_of(self, text: str, most: int = 10) -> tuple[NamedRun, ...]:
        """Runs of models or experiments with this in their name, the newest first."""
        named = or_(*(column.icontains(text, autoescape=True) for column in (ModelRow.name, RunRow.experiment)))
        with self._database.reading() as session:
            return tuple(NamedRun(*row) for row in session.execute(_named_runs().where(named).limit(most)))

    def grid(self, run_id: str) -> RunGrid:
        with self._database.reading() as session:
            run = runs.read_run(session, run_id)
            tried = attempts.read_attempts(session, attempts.Attempts(run_id))
            steps, costs = _steps(session, run_id), _costs(session, run_id)
            places = _places(session, run)
            causes = _causes(session, run_id)
            since = runs.working_since(session, run_id) if run.status == "running" else None
            last_sign = runs.last_sign_of_work(session, run_id) if run.status == "running" else run.finished_at
        counting = _counting(tried)
        numbers: defaultdict[tuple[str, int], int] = defaultdict(int)
        for each in tried:
            numbers[each.eval, each.trial] += 1
        rows = (_row(place, counting.get(place), numbers[place], steps, causes, costs) for place in places)
        return RunGrid(run, tuple(rows), last_sign, since)


def _places(session: Session, run: RunRecord) -> list[tuple[str, int]]:
    planned = runs.read_planned(session, run.id)
    every = [(each.eval, trial) for each in planned for trial in range(1, run.trials + 1)]
    return sorted({*every, *runs.read_extra_trials(session, run.id)})


def _counting(tried: Iterable[AttemptRecord]) -> dict[tuple[str, int], AttemptRecord]:
    """By eval and trial, the attempt under way, else the latest with a result, else the latest."""
    found: dict[tuple[str, int], AttemptRecord] = {}
    for each in tried:  # by number
        if each.status != "interrupted" or (each.eval, each.trial) not in found:
            found[each.eval, each.trial] = each
    return found


def _row(
    place: tuple[str, int],
    attempt: AttemptRecord | None,
    tried: int,
    steps: Mapping[str, Mapping[StepName, GridStep]],
    causes: Mapping[str, Diagnostic],
    costs: Mapping[str, float],
) -> GridRow:
    if attempt is None:
        return GridRow(*place)
    found = steps.get(attempt.id, {})
    return GridRow(*place, attempt, tried, found, causes.get(attempt.id), costs.get(attempt.id))


def _steps(session: Session, run_id: str) -> Mapping[str, Mapping[StepName, GridStep]]:
    """By attempt."""
    excerpt = func.substr(StepRow.excerpt, 1, _EXCERPT)
    query = (
        select(StepRow.attempt_id, StepRow.name, StepRow.status, StepRow.failure, excerpt)
        .join(AttemptRow, AttemptRow.id == StepRow.attempt_id)
        .where(AttemptRow.run_id == run_id)
    )
    found: defaultdict[str, dict[StepName, GridStep]] = defaultdict(dict)
    for attempt_id, name, status, failure, said in session.execute(query):
        found[attempt_id][name] = GridStep(status, failure, "" if status == "passed" else said)
    return found


def _causes(session: Session, run_id: str) -> dict[str, Diagnostic]:
    """By attempt, the first diagnostic of the step that it failed at."""
    failed = and_(AttemptRow.id == DiagnosticRow.attempt_id, AttemptRow.failed_step == DiagnosticRow.step)
    query = select(DiagnosticRow).join(AttemptRow, failed).where(AttemptRow.run_id == run_id)
    found: dict[str, Diagnostic] = {}
    for row in session.scalars(query.order_by(DiagnosticRow.attempt_id, DiagnosticRow.position)):
        if row.attempt_id not in found:
            found[row.attempt_id] = diagnostic_of(row)
    return found


def _costs(session: Session, run_id: str) -> dict[str, float]:
    """By attempt, of its answer, whichever attempt asked for that, or of answers that were of no use."""
    asked_by = func.coalesce(GenerationRow.reused_from, AttemptRow.id)
    query = (
        select(AttemptRow.id, UsageRow.cost_usd)
        .outerjoin(GenerationRow, GenerationRow.attempt_id == AttemptRow.id)
        .join(UsageRow, UsageRow.attempt_id == asked_by)
        .where(AttemptRow.run_id == run_id, UsageRow.cost_usd.is_not(None), GenerationRow.from_cache.is_not(True))
    )
    return {attempt_id: cost for attempt_id, cost in session.execute(query) if cost is not None}


def _named_runs() -> Select[str, str, str, str, datetime]:
    return (
        select(RunRow.id, ModelRow.name, ModelRow.provider, RunRow.experiment, RunRow.started_at)
        .join(ModelRow, ModelRow.id == RunRow.model_id)
        .order_by(RunRow.started_at.desc(), RunRow.id)
    )
