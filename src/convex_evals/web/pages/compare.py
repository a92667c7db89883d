"""Runs against each other: what flipped first, what the difference means, and two answers line by line."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from convex_evals.core.ids import prefix
from convex_evals.runner import ComparedEval, ComparedRuns, RunFigures, Standing, by_difficulty
from convex_evals.scores import RunFilter
from convex_evals.statistics import Score, score
from convex_evals.web.errors import NotFound, RequestRefused
from convex_evals.web.pages.diff import FileDiff, compare_answers
from convex_evals.web.pages.frame import Crumb, Twin, page, show
from convex_evals.web.results import Results, results_of
from convex_evals.web.site import Site, site_of

router = APIRouter()
MOST: Final = 6
COLUMNS: Final = (
    *("before", "after", "eval", "change", "before_passed", "before_failed", "before_failed_step"),
    *("after_passed", "after_failed", "after_failed_step"),
)


@dataclass(frozen=True, slots=True)
class Groups:
    """Shared evals by who passes them; what flipped is in `only_before` and `only_after`, too."""

    both: tuple[ComparedEval, ...]
    only_before: tuple[ComparedEval, ...]
    only_after: tuple[ComparedEval, ...]
    neither: tuple[ComparedEval, ...]

    @classmethod
    def of(cls, compared: ComparedRuns) -> "Groups":
        shared = [each for each in compared.shared if _rate(each.before) is not None and _rate(each.after) is not None]
        by_passing: dict[tuple[bool, bool], list[ComparedEval]] = {}
        for each in shared:
            by_passing.setdefault((_rate(each.before) == 1, _rate(each.after) == 1), []).append(each)
        keys = ((True, True), (True, False), (False, True), (False, False))
        return cls(*(tuple(by_passing.get(key, ())) for key in keys))


@dataclass(frozen=True, slots=True)
class ComparedScores:
    """Both sides of the shared evals of one difficulty."""

    difficulty: str
    before: Score | None
    after: Score | None


@page(router, "/compare")
def compare(
    request: Request,
    site: Annotated[Site, Depends(site_of)],
    results: Annotated[Results, Depends(results_of)],
    runs: Annotated[list[str] | None, Query()] = None,
    eval: Annotated[str, Query()] = "",
    trial: Annotated[int, Query(ge=1)] = 1,
) -> Response:
    asked = list(dict.fromkeys(name.strip() for each in runs or () for name in each.split(",") if name.strip()))
    crumbs = (Crumb("home", "/"), Crumb("runs", "/runs"), Crumb("compare"))
    if len(asked) < 2:
        recent = site.store.runs(RunFilter(limit=20))
        empty = Twin("evals", COLUMNS, ())
        return show(request, "compare.html", title="Compare", crumbs=crumbs, twin=empty, pairs=(), recent=recent)
    if len(asked) > MOST:
        raise RequestRefused(400, "InvalidRequest", f"At most {MOST} runs can be compared, not {len(asked)}.")
    found = _find(site, results, asked)
    pairs = results.compare(found)
    return show(
        request,
        "compare.html",
        title=f"Compare {' and '.join(prefix(each.run.id) for each in found)}",
        crumbs=crumbs,
        twin=_twin(pairs),
        runs=found,
        asked=",".join(each.run.id for each in found),
        pairs=pairs,
        groups=[Groups.of(each) for each in pairs],
        difficulties=[_difficulties(site, each) for each in pairs],
        eval=eval,
        trial=trial,
        diff=_diff(site, found, eval, trial) if eval else None,
    )


def _difficulties(site: Site, pair: ComparedRuns) -> list[ComparedScores]:
    groups = by_difficulty(pair.tallies, site.suite.tags if site.suite else {})
    found = []
    for name, group in groups.items():
        before, after = (score({each: both[side] for each, both in group.items()}) for side in (0, 1))
        found.append(ComparedScores(name, before, after))
    return found


def _find(site: Site, results: Results, asked: Sequence[str]) -> tuple[RunFigures, ...]:
    """By their ids or the beginnings of them; hidden runs, too, for whoever knows them."""
    ids = [site.store.find_run(name).id for name in asked]
    known = {each.run.id: each for each in results.runs()}
    missing = [run_id for run_id in ids if run_id not in known]
    known |= {each.run.id: each for each in results.read(missing)}
    return tuple(known[run_id] for run_id in dict.fromkeys(ids))


def _diff(site: Site, found: Sequence[RunFigures], eval: str, trial: int) -> tuple[FileDiff, ...]:
    """The first two answers to an eval."""
    first, second = (_files(site, each, eval, trial) for each in found[:2])
    return compare_answers(first, second)


def _files(site: Site, figures: RunFigures, eval: str, trial: int) -> dict[str, str]:
    details = [each for each in site.store.details(figures.run.id, eval) if each.attempt.trial == trial]
    generation = next((each.generation for each in reversed(details) if each.generation), None)
    if generation is None:
        raise NotFound(f"Run {prefix(figures.run.id)} has no answer to {eval!r}, trial {trial}.")
    return site.store.read_files(generation.files)


def _rate(standing: Standing | None) -> float | None:
    return standing.rate if standing else None


def _twin(pairs: Sequence[ComparedRuns]) -> Twin:
    rows = [
        (pair.before.id, pair.after.id, each.eval, each.change, *_side(each.before), *_side(each.after))
        for pair in pairs
        for each in pair.evals
    ]
    return Twin("evals", COLUMNS, rows, {"pairs": [_pair_facts(pair) for pair in pairs]})


def _side(standing: Standing | None) -> tuple[object, ...]:
    return (standing.passed, standing.failed, standing.failed_step) if standing else (None, None, None)


def _pair_facts(pair: ComparedRuns) -> dict[str, object]:
    found = pair.statistics
    return {
        "before": pair.before.id,
        "after": pair.after.id,
        "evals": found.evals if found else 0,
        "difference": found.difference if found else None,
        "low": found.interval.low if found else None,
        "high": found.interval.high if found else None,
        "p": found.p if found else None,
        "p_corrected": pair.p,
        "test": found.test if found else None,
        "verdict": pair.verdict,
        "same_grading": pair.same_grading,
        "other_task_or_grader": list(pair.changed),
    }
