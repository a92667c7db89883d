"""Search: any run, model or eval by a part of its name. The jump dialog reads the JSON twin of this page."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Annotated, Final, NamedTuple

from fastapi import APIRouter, Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from convex_evals.core.ids import prefix
from convex_evals.web.errors import NotFound
from convex_evals.web.pages.addresses import eval_address, links_of, model_address, run_address, with_query
from convex_evals.web.pages.errors import Moved
from convex_evals.web.pages.figures import moment
from convex_evals.web.pages.frame import Crumb, Twin, page, show
from convex_evals.web.results import Results, results_of
from convex_evals.web.site import Site, site_of

router = APIRouter()
LONGEST: Final = 200
SHORTEST_ID: Final = 4
MOST: Final = 10
"""Of each kind."""


class Hit(NamedTuple):
    kind: str
    name: str
    address: str


@page(router, "/search")
def search(
    request: Request,
    site: Annotated[Site, Depends(site_of)],
    results: Annotated[Results, Depends(results_of)],
    q: Annotated[str, Query()] = "",
) -> Response:
    text = q.strip()[:LONGEST]
    hits = tuple(dict.fromkeys(_hits(site, results, text)))
    return show(
        request,
        "search.html",
        title=f"Search: {text}" if text else "Search",
        crumbs=(Crumb("home", "/"), Crumb("search")),
        twin=_twin(request, hits),
        text=text,
        hits=hits,
        cut=MOST if MOST in Counter(hit.kind for hit in hits).values() else None,
    )


@page(router, "/run/{run}", twins=False)
def moved_run(run: str, site: Annotated[Site, Depends(site_of)]) -> Response:
    """A run by its id or the beginning of it, whatever its experiment."""
    raise Moved(find_run(site, run))


@page(router, "/model/{model}", twins=False)
def moved_model(model: str, site: Annotated[Site, Depends(site_of)]) -> Response:
    found = site.store.pages.find_models(model)
    exact = [each for each in found if model in (each.name, each.name.rpartition("/")[2])] or found
    if len(exact) == 1:
        raise Moved(model_address(exact[0].provider, exact[0].name))
    raise Moved(with_query("/search", q=model)) if exact else NotFound(f"There is no model {model!r} in these scores.")


@page(router, "/eval/{eval}", twins=False)
def moved_eval(
    eval: str, site: Annotated[Site, Depends(site_of)], results: Annotated[Results, Depends(results_of)]
) -> Response:
    found = _evals(site, results, eval)
    if len(found) == 1:
        raise Moved(eval_address(found[0]))
    raise Moved(with_query("/search", q=eval)) if found else NotFound(f"There is no eval {eval!r} in these scores.")


def find_run(site: Site, reference: str, rest: str = "") -> str:
    """The address of a run that is named by its id or the beginning of it, and of `rest` below it."""
    found = site.store.pages.find_runs(reference, 2) if len(reference) >= SHORTEST_ID else ()
    if not found:
        raise NotFound(
            f"There is no run {reference!r}; runs are named by their id or at least its first four characters."
        )
    if len(found) > 1:
        return with_query("/search", q=reference)
    return f"{run_address(found[0].experiment, found[0].id)}{rest}"


def named(asked: str, names: Iterable[str]) -> str | None:
    """The only name that is `category/eval` in short: parts may be beginnings, or the words after their numbers."""
    wanted = asked.split("/")
    found = {
        name for name in names if len(parts := name.split("/")) == len(wanted) and all(map(_is_short, wanted, parts))
    }
    return found.pop() if len(found) == 1 else None


def _is_short(wanted: str, part: str) -> bool:
    return bool(wanted) and (part.startswith(wanted) or part.partition("-")[2] == wanted)


def _evals(site: Site, results: Results, text: str) -> list[str]:
    """Names of evals with this in them: those of the suite at hand, and those that were ever planned."""
    planned = results.once(
        "evals", lambda: {each.eval for plan in {run.planned for run in results.runs()} for each in plan}
    )
    names = planned | {each.id for each in site.suite.evals} if site.suite else planned
    return [name for name in sorted(names) if text.lower() in name.lower()][:MOST]


def _hits(site: Site, results: Results, text: str) -> Iterator[Hit]:
    """What begins with an id first; of an empty search, the latest runs."""
    asked = site.store.pages
    by_id = asked.find_runs(text, MOST) if len(text) >= SHORTEST_ID else ()
    runs = tuple(dict.fromkeys((*by_id, *asked.find_runs_of(text, MOST))))
    for run in runs[:MOST]:
        name = f"{prefix(run.id)} · {run.model} · {run.experiment} · {moment(run.started_at)}"
        yield Hit("run", name, run_address(run.experiment, run.id))
    if not text:
        return
    for model in asked.find_models(text, MOST):
        yield Hit(
            "model",
            f"{model.provider}/{model.name.removeprefix(f'{model.provider}/')}",
            model_address(model.provider, model.name),
        )
    for eval in _evals(site, results, text):
        yield Hit("eval", eval, eval_address(eval))


def _twin(request: Request, hits: tuple[Hit, ...]) -> Twin:
    link = links_of(request)
    rows = [(hit.kind, hit.name, link(request.url.path, hit.address)) for hit in hits]
    return Twin("found", Hit._fields, rows)
