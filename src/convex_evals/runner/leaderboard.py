"""Which model is better: complete runs of one benchmark version, ranked with ties."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from convex_evals.runner.benchmarks import why_not_ranked
from convex_evals.runner.budget import Spending, Sum
from convex_evals.runner.results import NOT_SCORES, tallies
from convex_evals.scores import Benchmark, RunRecord, Usage
from convex_evals.statistics import (
    Comparison,
    Durations,
    Ranked,
    Score,
    Tallies,
    compare,
    durations,
    merged,
    rank,
    score,
    spread,
)

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore

SAMPLE: Final = "sample/"
WITHOUT_GUIDELINES: Final = "no_guidelines"


@dataclass(frozen=True, slots=True)
class LeftOut:
    run: RunRecord
    why: str


@dataclass(frozen=True, slots=True)
class RankedModel:
    """One model. `cost` is per run of the suite; `guidelines` is what they are worth: this experiment less none."""

    ranked: Ranked
    categories: Mapping[str, Score]
    runs: tuple[str, ...]
    trials: int
    spread: float | None
    cost: Sum
    first_token: Durations | None
    generation: Durations | None
    last: datetime
    guidelines: Comparison | None


@dataclass(frozen=True, slots=True)
class Guidelines:
    """What they are worth over the `models` that have runs of both: paired by eval, and by category."""

    models: tuple[str, ...]
    worth: Comparison
    categories: Mapping[str, Comparison]


@dataclass(frozen=True, slots=True)
class Leaderboard:
    benchmark: Benchmark
    experiment: str
    standings: tuple[RankedModel, ...]
    left_out: tuple[LeftOut, ...]
    guidelines: Guidelines | None


def read_leaderboard(store: "ScoresStore", benchmark: Benchmark, experiment: str) -> Leaderboard:
    chosen, left_out = _choose(store, benchmark)
    of_experiment = {model: runs for model, runs in _by_model(chosen, experiment).items() if runs}
    without = _by_model(chosen, WITHOUT_GUIDELINES) if experiment != WITHOUT_GUIDELINES else {}
    results = {model: [_tallies(store, run) for run in runs] for model, runs in of_experiment.items()}
    together = {model: merged(each) for model, each in results.items()}
    bare = {model: merged([_tallies(store, run) for run in without[model]]) for model in together if model in without}
    standings = tuple(
        _standing(store, ranked, of_experiment[ranked.name], results[ranked.name], bare.get(ranked.name, {}))
        for ranked in rank(together)
    )
    return Leaderboard(benchmark, experiment, standings, tuple(left_out), _guidelines(together, bare))


def _choose(store: "ScoresStore", benchmark: Benchmark) -> tuple[list[RunRecord], list[LeftOut]]:
    """Runs that belong to the version. Samples are ranked only where there is nothing else."""
    chosen, left_out = list[RunRecord](), list[LeftOut]()
    for run in store.runs():
        why = why_not_ranked(run, store.planned(run.id), benchmark)
        if why is None:
            chosen.append(run)
        elif not NOT_SCORES & set(run.labels):
            left_out.append(LeftOut(run, why))
    real = [run for run in chosen if not run.model.startswith(SAMPLE)]
    if real:
        left_out += [LeftOut(run, "a sample, not a model") for run in chosen if run not in real]
    return real or chosen, left_out


def _by_model(runs: Sequence[RunRecord], experiment: str) -> dict[str, list[RunRecord]]:
    found: dict[str, list[RunRecord]] = {}
    for run in runs:
        if run.experiment == experiment:
            found.setdefault(run.model, []).append(run)
    return found


def _standing(
    store: "ScoresStore",
    ranked: Ranked,
    runs: Sequence[RunRecord],
    results: Sequence[Tallies],
    bare: Tallies,
) -> RankedModel:
    generations = [record for run in runs for record in store.generations(run.id)]
    asked = [each.usage for each in generations if each.usage and not each.from_cache and each.reused_from is None]
    together = merged(results)
    total = Spending.of(generations).cost
    return RankedModel(
        ranked=ranked,
        categories=_categories(together),
        runs=tuple(run.id for run in runs),
        trials=sum(run.trials for run in runs),
        spread=spread(results),
        cost=Sum(total.total / sum(run.counts.total / run.evals for run in runs), total.known, total.unknown),
        first_token=_durations(asked, "first_token_ms"),
        generation=_durations(asked, "generation_ms"),
        last=max(run.finished_at or run.started_at for run in runs),
        guidelines=compare(bare, together) if bare else None,
    )


def _tallies(store: "ScoresStore", run: RunRecord) -> Tallies:
    return tallies(store.results(run.id), run.trials)


def _guidelines(together: Mapping[str, Tallies], bare: Mapping[str, Tallies]) -> Guidelines | None:
    """Trials of several models at one eval are as little independent as those of one, so evals are counted."""
    without, given = merged(list(bare.values())), merged([together[model] for model in bare])
    worth = compare(without, given)
    if worth is None:
        return None
    groups = {name: (group, _by_category(given).get(name, {})) for name, group in _by_category(without).items()}
    found = {name: compare(*pair) for name, pair in groups.items()}
    return Guidelines(tuple(bare), worth, {name: each for name, each in found.items() if each is not None})


def _categories(together: Tallies) -> dict[str, Score]:
    return {name: found for name, group in _by_category(together).items() if (found := score(group)) is not None}


def _by_category(together: Tallies) -> dict[str, Tallies]:
    names = sorted({name.partition("/")[0] for name in together})
    return {name: {key: each for key, each in together.items() if key.startswith(f"{name}/")} for name in names}


def _durations(usages: Sequence[Usage], figure: str) -> Durations | None:
    values = [getattr(usage, figure) for usage in usages]
    return durations([value for value in values if value is not None])
