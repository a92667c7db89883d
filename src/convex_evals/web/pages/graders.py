"""Grader health: do graders accept right answers, refuse wrong ones, and always say the same?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from convex_evals.analysis import SharedFailure, suite_health
from convex_evals.controls import FILE, RecordedCheck, RecordedControls, read_recorded
from convex_evals.runner import RunFigures
from convex_evals.statistics import Flakiness, Tally, flakiness, merged
from convex_evals.web.pages.frame import Crumb, Twin, page, show
from convex_evals.web.results import Results, results_of
from convex_evals.web.site import Site, site_of

router = APIRouter()
REFERENCE: Final = "reference"
EMPTY: Final = "empty"
COLUMNS: Final = (
    *("eval", "reference_passed", "reference_trials", "validated_at", "empty_refused", "empty_trials"),
    *("wrong_caught", "wrong_controls", "alternatives_accepted", "alternatives", "mutants_caught", "mutants"),
    *("flaky", "labels_against_grader", "labels"),
)


@dataclass(frozen=True, slots=True)
class Seen:
    """What became of answers to an eval whose verdict is known beforehand: passes among trials, and when last."""

    tally: Tally
    at: datetime


@dataclass(frozen=True, slots=True)
class Health:
    """One grader. None is "not measured". `against` are labels of people that blame the eval, not the model."""

    eval: str
    reference: Seen | None
    empty: Seen | None
    check: RecordedCheck | None
    against: int
    labelled: int

    @property
    def is_flaky(self) -> bool:
        return self.reference is not None and self.reference.tally.is_flaky

    @property
    def is_well(self) -> bool:
        """Nothing that was measured speaks against it."""
        refused = self.empty is None or self.empty.tally.passed == 0
        accepted = self.reference is None or self.reference.tally.rate == 1
        return refused and accepted and (self.check is None or self.check.ok)


@page(router, "/graders")
def graders(
    request: Request,
    site: Annotated[Site, Depends(site_of)],
    results: Annotated[Results, Depends(results_of)],
) -> Response:
    recorded = read_recorded(site.reports / FILE)
    found = _health(site, results.runs(), recorded)
    return show(
        request,
        "graders.html",
        title="Graders",
        crumbs=(Crumb("home", "/"), Crumb("graders")),
        twin=Twin("graders", COLUMNS, [_row(each) for each in found]),
        found=found,
        recorded=recorded,
        file=site.reports / FILE,
        flaky=_flakiness(found),
        suspicious=_suspicious(site, results),
    )


def _suspicious(site: Site, results: Results) -> tuple[SharedFailure, ...]:
    """Read again when a run has ended: looking through many runs takes longer than a page may."""
    found = results.once_settled("health", lambda: suite_health(site.store))
    return tuple(each for each in found if each.is_suspicious)


def _health(site: Site, runs: Sequence[RunFigures], recorded: RecordedControls | None) -> tuple[Health, ...]:
    current = {each.id: each.fingerprints.grader for each in site.suite.evals} if site.suite else None
    reference, empty = (_seen(runs, model, current) for model in (REFERENCE, EMPTY))
    labels, checks = _labels(site), recorded.checks if recorded else {}
    names = current if current is not None else {*reference, *empty, *checks, *labels}
    return tuple(
        Health(name, reference.get(name), empty.get(name), checks.get(name), *labels.get(name, (0, 0)))
        for name in sorted(names)
    )


def _seen(runs: Sequence[RunFigures], model: str, current: Mapping[str, str | None] | None) -> dict[str, Seen]:
    """By eval, all trials of its present grader together."""
    chosen = [each for each in runs if each.run.model == model]
    tallies = [_of_grader(each, current) for each in chosen]
    newest: dict[str, datetime] = {}
    for figures, found in zip(chosen, tallies, strict=True):
        for name in found:
            newest.setdefault(name, figures.run.finished_at or figures.run.started_at)
    return {name: Seen(tally, newest[name]) for name, tally in merged(tallies).items()}


def _of_grader(figures: RunFigures, current: Mapping[str, str | None] | None) -> dict[str, Tally]:
    same = {each.eval for each in figures.planned if current is None or current.get(each.eval) == each.grader}
    return {name: tally for name, tally in figures.tallies.items() if name in same}


def _labels(site: Site) -> dict[str, tuple[int, int]]:
    """By eval, how many labels blame it and how many there are; the latest about each failure counts."""
    latest = {(each.run_id, each.eval, each.trial): each for each in site.store.labels.of_every_run()}
    found: dict[str, tuple[int, int]] = {}
    for each in latest.values():
        against, total = found.get(each.eval, (0, 0))
        found[each.eval] = (against + (each.failure_class != "MODEL_FAULT"), total + 1)
    return found


def _flakiness(found: Sequence[Health]) -> Flakiness:
    return flakiness({each.eval: each.reference.tally for each in found if each.reference})


def _row(each: Health) -> tuple[object, ...]:
    check = each.check
    wrong = (check.wrong.right, check.wrong.total) if check else (None, None)
    alternatives = (check.alternatives.right, check.alternatives.total) if check else (None, None)
    mutants = (check.mutants.right, check.mutants.total) if check and check.mutants else (None, None)
    reference = each.reference
    passed = (reference.tally.passed, reference.tally.trials, reference.at) if reference else (None, None, None)
    empty = each.empty.tally if each.empty else None
    refused = (empty.trials - empty.passed, empty.trials) if empty else (None, None)
    flaky = each.is_flaky if reference and reference.tally.trials > 1 else None
    return (each.eval, *passed, *refused, *wrong, *alternatives, *mutants, flaky, each.against, each.labelled)
