"""One run, or one category of it: evals x steps while it happens and after, why evals failed, and its settings."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import chain
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from convex_evals.analysis.report import KeptReport, newest_report
from convex_evals.core.ids import LENGTH, prefix
from convex_evals.core.verdicts import GATES, STEPS, FailureClass
from convex_evals.runner import Sum, TagsOfEvals, by_difficulty, repeat_command, selection_text
from convex_evals.scores import GridRow, RunGrid, RunRecord
from convex_evals.statistics import Score, Tally, score
from convex_evals.web.errors import NotFound
from convex_evals.web.pages.addresses import category_address, run_address
from convex_evals.web.pages.errors import Moved
from convex_evals.web.pages.frame import Crumb, Twin, page, show
from convex_evals.web.pages.search import find_run, named
from convex_evals.web.site import Site, site_of

router = APIRouter()
ORDER: Final = ("failed", "infrastructure", "interrupted", "running", "pending", "skipped", "passed")
PER_PAGE: Final = 500
SILENT: Final = timedelta(minutes=15)
"""A run that nobody holds and that recorded nothing for so long has died."""


@dataclass(frozen=True, slots=True)
class Group:
    """Evals of one category, or of one difficulty."""

    name: str
    score: Score | None
    passed: int
    verdicts: int
    total: int


@dataclass(frozen=True, slots=True)
class Cause:
    """Failures that share a step and what it complained about. `shape` tells compiler errors of one code apart."""

    step: str
    name: str
    shape: str
    example: str
    rows: tuple[GridRow, ...]

    @property
    def slug(self) -> str:
        """An id for it in the page that does not depend on the order."""
        return sha256(f"{self.step} {self.name} {self.shape}".encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Progress:
    done: int
    total: int
    left: timedelta | None  # None: nothing is known yet


@page(router, "/experiment/{experiment}/run/{run}")
def run(
    request: Request,
    experiment: str,
    run: str,
    site: Annotated[Site, Depends(site_of)],
    page: Annotated[int, Query(ge=1)] = 1,
) -> Response:
    return _show(request, site, find_grid(site, experiment, run), None, page)


@page(router, "/experiment/{experiment}/run/{run}/{category}")
def category(
    request: Request,
    experiment: str,
    run: str,
    category: str,
    site: Annotated[Site, Depends(site_of)],
    page: Annotated[int, Query(ge=1)] = 1,
) -> Response:
    grid = find_grid(site, experiment, run, f"/{category}")
    categories = {row.category for row in grid.rows}
    if category not in categories:
        if found := named(category, categories):
            raise Moved(category_address(grid.run.experiment, grid.run.id, found))
        raise NotFound(f"Run {prefix(grid.run.id)} has no category {category!r}.")
    return _show(request, site, grid, category, page)


def find_grid(site: Site, experiment: str, run: str, rest: str = "") -> RunGrid:
    """Another experiment, or the beginning of the id, leads to the address of the run."""
    if len(run) < LENGTH:
        raise Moved(find_run(site, run, rest))
    grid = site.store.pages.grid(run)
    if grid.run.experiment != experiment:
        raise Moved(f"{run_address(grid.run.experiment, run)}{rest}")
    return grid


def _show(request: Request, site: Site, grid: RunGrid, category: str | None, page: int) -> Response:
    rows = [row for row in grid.rows if category in (None, row.category)]
    run = grid.run
    report = newest_report(site.reports, run.provider, run.model, run.id)
    above = (Crumb("home", "/"), Crumb("runs", "/runs"))
    title = f"{run.model} · {prefix(run.id)}"
    inside = (Crumb(title, run_address(run.experiment, run.id)), Crumb(category)) if category else (Crumb(title),)
    return show(
        request,
        "run.html",
        title=f"{category} · {title}" if category else title,
        crumbs=(*above, *inside),
        twin=_twin(run, rows),
        run=run,
        condition=condition(site, grid),
        category=category,
        rows=sorted(rows, key=lambda row: (ORDER.index(row.status), row.eval, row.trial))[_slice(page)],
        total=len(rows),
        page=page,
        pages=-(-len(rows) // PER_PAGE),
        steps=STEPS,
        several=any(row.trial > 1 for row in rows),
        priced=any(row.cost_usd is not None for row in rows),
        score=score_of(run, rows),
        numbers={name: sum(row.status == name for row in rows) for name in ORDER},
        categories=_categories(run, grid.rows),
        difficulties=_difficulties(run, rows, site.suite.tags if site.suite else {}),
        causes=_causes(rows),
        spent=_spent(site, run, rows),
        progress=_progress(grid),
        report=report,
        classes=classes_of(report),
        decisions=site.store.decisions.of_run(run.id),
        command=repeat_command(run, {row.eval for row in grid.rows}),
        selected=selection_text(run),
        setting=setting_text,
    )


def _slice(page: int) -> slice:
    return slice((page - 1) * PER_PAGE, page * PER_PAGE)


def condition(site: Site, grid: RunGrid) -> str:
    """The status of a run, and `died` when nobody works on it although nobody ended it."""
    run = grid.run
    if run.status != "running" or site.store.is_run_held(run.id):
        return run.status
    silent = datetime.now(UTC) - (grid.last_sign or run.started_at)
    return "died" if silent > SILENT else "running"


def score_of(run: RunRecord, rows: Iterable[GridRow]) -> Score | None:
    """Of the trials that every eval has."""
    verdicts: dict[str, list[bool]] = {}
    for row in rows:
        if row.status in ("passed", "failed") and row.trial <= run.trials:
            verdicts.setdefault(row.eval, []).append(row.status == "passed")
    return score({name: Tally(sum(each), len(each)) for name, each in verdicts.items()})


def setting_text(value: object) -> str:
    """An option as people write it, not as Python does."""
    match value:
        case None:
            return "–"
        case bool():
            return "yes" if value else "no"
        case list() | tuple():
            return ", ".join(map(setting_text, value)) or "–"
        case dict():
            return ", ".join(f"{name}: {setting_text(each)}" for name, each in value.items()) or "–"
    return str(value)


def classes_of(report: KeptReport | None) -> dict[tuple[str, int], FailureClass]:
    """By eval and trial, what the analysis or a person says about a failure."""
    return {(each.eval, each.trial): each.failure_class for each in report.report.failures} if report else {}


def _categories(run: RunRecord, rows: Sequence[GridRow]) -> list[Group]:
    names = dict.fromkeys(row.category for row in rows)
    return [_group(run, name, [row for row in rows if row.category == name]) for name in names]


def _difficulties(run: RunRecord, rows: Sequence[GridRow], tags: TagsOfEvals) -> list[Group]:
    by_eval: dict[str, list[GridRow]] = {}
    for row in rows:
        by_eval.setdefault(row.eval, []).append(row)
    groups = by_difficulty(by_eval, tags).items()
    return [_group(run, name, [*chain.from_iterable(evals.values())]) for name, evals in groups]


def _group(run: RunRecord, name: str, rows: Sequence[GridRow]) -> Group:
    passed = sum(row.status == "passed" for row in rows)
    verdicts = passed + sum(row.status == "failed" for row in rows)
    return Group(name, score_of(run, rows), passed, verdicts, len(rows))


def _causes(rows: Iterable[GridRow]) -> list[Cause]:
    """The most frequent first. A test's name means something within its eval only, so tests are one cause per eval."""
    groups: dict[tuple[str, str, str], list[GridRow]] = {}
    for row in rows:
        if row.status == "failed" and row.attempt is not None:
            step = row.attempt.failed_step or "no step"
            named = row.cause.name if row.cause and row.cause.name and step not in GATES else row.attempt.failure
            shape = row.cause.fingerprint if row.cause and step == "tsc" else ""
            groups.setdefault((step, named or step, shape), []).append(row)
    causes = [Cause(*key, _example(found), tuple(found)) for key, found in groups.items()]
    return sorted(causes, key=lambda each: (-len(each.rows), each.step, each.name, each.shape))


def _example(rows: Sequence[GridRow]) -> str:
    return next((row.cause.message for row in rows if row.cause), "")


def _spent(site: Site, run: RunRecord, rows: Sequence[GridRow]) -> Sum:
    names = {row.eval for row in rows}
    answers = site.store.history.answers([run.id])[run.id]
    return Sum.of(answer.cost_usd for answer in answers if answer.eval in names)


def _progress(grid: RunGrid) -> Progress:
    """Estimated from the mean time that was worked for what is done; not from pauses before the run was resumed."""
    done = sum(row.status not in ("pending", "running", "interrupted") for row in grid.rows)
    left = len(grid.rows) - done
    if not done or not left:
        return Progress(done, len(grid.rows), timedelta(0) if not left else None)
    now = datetime.now(UTC)
    worked = grid.run.worked + (now - (grid.working_since or now))
    return Progress(done, len(grid.rows), worked / done * left)


def _twin(run: RunRecord, rows: Sequence[GridRow]) -> Twin:
    columns = (
        *("eval", "trial", "status", "failedStep", "failure", "testsPassed", "testsTotal", "durationMs", "costUsd"),
        *STEPS,
    )
    facts = {"run": run.id, "model": run.model, "provider": run.provider, "experiment": run.experiment}
    return Twin("evals", columns, (_values(row) for row in rows), {**facts, "status": run.status})


def _values(row: GridRow) -> tuple[object, ...]:
    attempt = row.attempt
    steps = tuple(row.steps[name].status if name in row.steps else None for name in STEPS)
    if attempt is None:
        return (row.eval, row.trial, row.status, None, None, None, None, None, None, *steps)
    tests = (attempt.tests.passed, attempt.tests.total) if attempt.tests else (None, None)
    ended = (row.status, attempt.failed_step, attempt.failure)
    return (row.eval, row.trial, *ended, *tests, attempt.duration_ms, row.cost_usd, *steps)
