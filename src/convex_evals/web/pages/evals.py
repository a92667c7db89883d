"""One eval over models and time: who passes it, how reliably, what fails, and what is asked and expected."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import APIRouter, Depends
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from convex_evals.controls import FILE, Control, controls_folder, load_controls, read_recorded
from convex_evals.runner import NOT_SCORES, RunFigures, Standing
from convex_evals.statistics import Tally, flakiness
from convex_evals.suite import BrokenError, Eval, read_answer, read_text
from convex_evals.web.charts import Tick, strip
from convex_evals.web.errors import NotFound
from convex_evals.web.pages.addresses import eval_address, links_of, result_address
from convex_evals.web.pages.errors import Moved
from convex_evals.web.pages.figures import moment
from convex_evals.web.pages.frame import Crumb, Twin, page, show
from convex_evals.web.pages.search import named
from convex_evals.web.pages.text import source_lines
from convex_evals.web.results import Results, results_of
from convex_evals.web.site import Site, site_of

router = APIRouter()
STRIP: Final = 24
"""Runs of a model that are shown, the newest."""
COLUMNS: Final = ("model", "provider", "experiment", "run", "finished_at", "passed", "failed", "failed_step")


@dataclass(frozen=True, slots=True)
class ModelRow:
    """How one model did in one experiment: all its runs together, and the newest ones as a strip."""

    provider: str
    model: str
    experiment: str
    runs: int
    tally: Tally
    strip: Markup
    newest: RunFigures


@dataclass(frozen=True, slots=True)
class Source:
    """A file to read, line by line."""

    path: str
    lines: tuple[Markup, ...]


@page(router, "/eval/{category}/{name}")
def one_eval(
    request: Request,
    site: Annotated[Site, Depends(site_of)],
    results: Annotated[Results, Depends(results_of)],
    category: str,
    name: str,
) -> Response:
    asked = f"{category}/{name}"
    known = _find_eval(site, asked)
    runs = results.once(("runs of eval", asked), lambda: _runs(results, asked))
    if known is None and not runs:
        _lead_on(site, results, asked)
    key = ("models of eval", asked, links_of(request), request.url.path)
    rows = results.once(key, lambda: _model_rows(request, asked, runs))
    recorded = read_recorded(site.reports / FILE)
    return show(
        request,
        "eval.html",
        title=asked,
        crumbs=(Crumb("home", "/"), Crumb("matrix", "/matrix"), Crumb(asked)),
        twin=_twin(asked, runs),
        asked=asked,
        known=known,
        rows=rows,
        total=_total(rows),
        flaky=_flaky(asked, runs),
        mistakes=results.once(("mistakes", asked), lambda: site.store.history.mistakes(asked)),
        answer=_answer(known),
        grader=_grader(known),
        controls=_controls(site, known),
        checked=recorded.checks.get(asked) if recorded else None,
        checked_at=recorded.at if recorded else None,
    )


def _runs(results: Results, asked: str) -> tuple[RunFigures, ...]:
    """Those that say something about a model and have a verdict on the eval, newest first."""
    return tuple(
        each
        for each in results.runs()
        if not NOT_SCORES & set(each.run.labels) and asked in each.standings and each.standings[asked].verdicts
    )


def _find_eval(site: Site, asked: str) -> Eval | None:
    return next((each for each in site.suite.evals if each.id == asked), None) if site.suite else None


def _lead_on(site: Site, results: Results, asked: str) -> None:
    """Redirects to the only eval whose name begins like this, or has these words. Always raises."""
    names = {each.id for each in site.suite.evals} if site.suite else set()
    names |= {name for each in results.runs() for name in each.standings}
    if found := named(asked, names):
        raise Moved(eval_address(found))
    raise NotFound(f"There is no eval {asked!r} in this suite or in these scores.")


def _model_rows(request: Request, asked: str, runs: Sequence[RunFigures]) -> tuple[ModelRow, ...]:
    groups: dict[tuple[str, str, str], list[RunFigures]] = {}
    for each in runs:
        groups.setdefault((each.run.provider, each.run.model, each.run.experiment), []).append(each)
    rows = [_model_row(request, asked, *key, group) for key, group in groups.items()]
    return tuple(sorted(rows, key=lambda each: (-each.tally.rate, each.model, each.experiment)))


def _model_row(
    request: Request, asked: str, provider: str, model: str, experiment: str, group: Sequence[RunFigures]
) -> ModelRow:
    standings = [each.standings[asked] for each in group]
    tally = Tally(sum(each.passed for each in standings), sum(each.verdicts for each in standings))
    ticks = [_tick(request, asked, each) for each in reversed(group[:STRIP])]
    drawn = strip(f"{asked} by {model}, oldest run first", ticks)
    return ModelRow(provider, model, experiment, len(group), tally, drawn, group[0])


def _tick(request: Request, asked: str, figures: RunFigures) -> Tick:
    run, standing = figures.run, figures.standings[asked]
    link = links_of(request)(request.url.path, result_address(run.experiment, run.id, asked))
    return Tick(standing.rate, f"{moment(run.started_at)}: {outcome(standing)}", link)


def outcome(standing: Standing) -> str:
    if standing.verdicts == 1:
        return "passed" if standing.passed else f"failed at {standing.failed_step}"
    return f"{standing.passed} of {standing.verdicts} trials passed"


def _total(rows: Sequence[ModelRow]) -> Tally | None:
    trials = sum(each.tally.trials for each in rows)
    return Tally(sum(each.tally.passed for each in rows), trials) if trials else None


def _flaky(asked: str, runs: Sequence[RunFigures]) -> tuple[int, int]:
    """Of runs with several trials of it, in how many they disagree."""
    repeated = {each.run.id: each.standings[asked] for each in runs if each.standings[asked].verdicts > 1}
    found = flakiness({run: Tally(each.passed, each.verdicts) for run, each in repeated.items()})
    return len(found.flaky), found.repeated


def _answer(known: Eval | None) -> tuple[Source, ...]:
    if known is None:
        return ()
    return tuple(_source(path, text) for path, text in read_answer(known).items())


def _grader(known: Eval | None) -> Source | None:
    if known is None or known.grader is None:
        return None
    return _source(known.grader.path.name, read_text(known.grader.path))


def _source(path: str, text: str) -> Source:
    return Source(path, source_lines(path, text))


def _controls(site: Site, known: Eval | None) -> tuple[Control, ...]:
    if known is None or site.suite is None:
        return ()
    try:
        return load_controls(controls_folder(site.suite.root), known, read_answer(known)).controls
    except BrokenError:
        return ()


def _twin(asked: str, runs: Sequence[RunFigures]) -> Twin:
    rows = (
        (
            *(each.run.model, each.run.provider, each.run.experiment, each.run.id, each.run.finished_at),
            *(each.standings[asked].passed, each.standings[asked].failed, each.standings[asked].failed_step),
        )
        for each in runs
    )
    return Twin("runs", COLUMNS, rows, {"eval": asked})
