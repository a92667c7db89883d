"""What the shell offers when Tab is pressed: the runs, models, evals, categories, experiments … that there are.

A key press must never end in an error, so whatever cannot be read offers nothing.
"""

import io
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from functools import wraps
from itertools import chain

import typer

from convex_evals.core.errors import ConvexEvalsError

LATEST = "latest"
_ASKED = "_CONVEX_EVALS_COMPLETE"
MOST_RUNS = 30
Offer = str | tuple[str, str]
Complete = Callable[[typer.Context, str], list[Offer]]


def _quietly(offers: Callable[[typer.Context, str], Iterable[Offer]]) -> Complete:
    @wraps(offers)
    def complete(context: typer.Context, incomplete: str) -> list[Offer]:
        try:
            return list(offers(context, incomplete))
        except (ConvexEvalsError, OSError):
            return []

    return complete


@contextmanager
def whole_words_for_bash() -> Iterator[None]:
    """Bash takes `latest:MODEL` for three words, and wants only what follows the colon: it is asked about as one word,
    and what is printed is cut."""
    line = os.environ.get("COMP_WORDS", "")
    whole = re.sub(r"\s:(\s|$)", ":", line)
    if os.environ.get(_ASKED) != "complete_bash" or whole == line:
        yield
        return
    os.environ |= {"COMP_WORDS": whole, "COMP_CWORD": str(len(whole.split()) - 1)}
    before = f"{whole.split()[-1].rpartition(':')[0]}:"
    offered = io.StringIO()
    try:
        with redirect_stdout(offered):
            yield
    finally:
        print("\n".join(each.removeprefix(before) for each in offered.getvalue().splitlines()))


@_quietly
def complete_run(context: typer.Context, incomplete: str) -> Iterable[Offer]:
    from convex_evals.cli.runs.lookup import existing_scores
    from convex_evals.core.ids import prefix
    from convex_evals.scores import RunFilter

    with existing_scores(context.params.get("scores")) as store:
        runs = store.runs(RunFilter(limit=MOST_RUNS))
    models = dict.fromkeys(run.model for run in runs) if incomplete else ()
    latest = ((f"{LATEST}:{model}", f"the latest run of {model}") for model in models)
    described = ((prefix(run.id), f"{run.model}, {run.started_at:%Y-%m-%d %H:%M}") for run in runs)
    return [(LATEST, "the latest run"), *latest, *described]


@_quietly
def complete_model(context: typer.Context, incomplete: str) -> Iterable[Offer]:
    from convex_evals.models import load_registry

    return [(entry.slug, entry.name) for entry in load_registry().models.values()]


@_quietly
def complete_provider(context: typer.Context, incomplete: str) -> Iterable[Offer]:
    from convex_evals.models import load_registry

    return sorted({entry.provider for entry in load_registry().models.values() if entry.needs_key})


@_quietly
def complete_benchmark(context: typer.Context, incomplete: str) -> Iterable[Offer]:
    from convex_evals.cli.runs.lookup import existing_scores

    with existing_scores(context.params.get("scores")) as store:
        return [(each.name, f"{each.minted_at:%Y-%m-%d}") for each in store.benchmarks()]


@_quietly
def complete_experiment(context: typer.Context, incomplete: str) -> Iterable[Offer]:
    from convex_evals.models import load_experiments

    return [(each.name, each.description) for each in load_experiments().values()]


@_quietly
def complete_category(context: typer.Context, incomplete: str) -> Iterable[Offer]:
    categories = dict.fromkeys(category for category, _ in _evals(context))
    return [*categories, *(category.partition("-")[2] for category in categories if incomplete)]


@_quietly
def complete_eval(context: typer.Context, incomplete: str) -> Iterable[Offer]:
    """By name, or in another spelling once the user has begun to type one."""
    from convex_evals.suite import spellings

    evals = _evals(context)
    if not incomplete:
        return sorted({name for _, name in evals})
    return sorted(set(chain.from_iterable(spellings(*each) for each in evals)))


def _evals(context: typer.Context) -> list[tuple[str, str]]:
    from convex_evals.suite import find_suite, load_suite

    return [(each.category, each.name) for each in load_suite(find_suite(context.params.get("evals"))).evals]
