"""Which model is better: complete runs of one benchmark version, ranked with ties."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from convex_evals.core.text import points
from convex_evals.runner.benchmarks import why_not_ranked
from convex_evals.runner.budget import Sum
from convex_evals.runner.comparison import comparison_json
from convex_evals.runner.results import (
    LEVELS,
    NO_TAGS,
    NOT_SCORES,
    UNMINTED,
    RunFigures,
    TagsOfEvals,
    by_category,
    by_difficulty,
    by_tag,
    category_scores,
    group_scores,
    is_sample,
    read_figures,
    score_json,
    unminted_benchmark,
)
from convex_evals.scores import Answer, Benchmark, RunRecord
from convex_evals.statistics import (
    Comparison,
    Durations,
    Interval,
    Ranked,
    Score,
    Tallies,
    Tally,
    compare,
    durations,
    merged,
    rank,
    score,
    spread,
    total_interval,
)

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore

WITH_GUIDELINES: Final = "default"
WITHOUT_GUIDELINES: Final = "no_guidelines"
WhyNot = Callable[[RunFigures, Benchmark], str | None]


@dataclass(frozen=True, slots=True)
class LeftOut:
    run: RunRecord
    why: str


@dataclass(frozen=True, slots=True)
class Choice:
    """Runs that belong to a benchmark version, and why the others do not."""

    runs: tuple[RunFigures, ...]
    left_out: tuple[LeftOut, ...]


@dataclass(frozen=True, slots=True)
class RankedModel:
    """One model. `cost` is per run of the suite; `guidelines` is what they are worth: this experiment less none.

    `cost_interval` is None if a cost is unknown; `without` is the score of the experiment without guidelines.
    """

    ranked: Ranked
    provider: str
    categories: Mapping[str, Score]
    runs: tuple[str, ...]
    trials: int
    spread: float | None
    cost: Sum
    cost_interval: Interval | None
    first_token: Durations | None
    generation: Durations | None
    last: datetime
    without: Score | None
    guidelines: Comparison | None
    tags: Mapping[str, Score] = field(default_factory=dict)
    difficulties: Mapping[str, Score] = field(default_factory=dict)

    @property
    def is_sample(self) -> bool:
        return is_sample(self.ranked.name)


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


def current_benchmark(store: "ScoresStore") -> Benchmark | None:
    """What stands in for a version as long as none is minted: see `unminted_benchmark`."""
    over = [key.id for key in store.history.index() if key.status != "running"]
    return unminted_benchmark(tuple(read_figures(store, over)))


def read_leaderboard(
    store: "ScoresStore", benchmark: Benchmark, experiment: str, tags: TagsOfEvals = NO_TAGS
) -> Leaderboard:
    figures = tuple(read_figures(store, [key.id for key in store.history.index()]))
    return rank_models(choose_runs(figures, benchmark), benchmark, experiment, tags)


def why_left_out(figures: RunFigures, benchmark: Benchmark) -> str | None:
    return why_not_ranked(figures.run, figures.planned, benchmark, figures.toolchain)


def choose_runs(figures: Sequence[RunFigures], benchmark: Benchmark, why_not: WhyNot = why_left_out) -> Choice:
    """Runs that belong to the version. Samples are ranked only where there is nothing else."""
    chosen, left_out = list[RunFigures](), list[LeftOut]()
    for each in figures:
        why = why_not(each, benchmark)
        if why is None:
            chosen.append(each)
        elif not NOT_SCORES & set(each.run.labels):
            left_out.append(LeftOut(each.run, why))
    real = [each for each in chosen if not is_sample(each.run.model)]
    if real:
        samples = (each.run for each in chosen if is_sample(each.run.model))
        left_out += [LeftOut(run, "a sample, not a model") for run in samples]
    return Choice(tuple(real or chosen), tuple(left_out))


def rank_models(choice: Choice, benchmark: Benchmark, experiment: str, tags: TagsOfEvals = NO_TAGS) -> Leaderboard:
    """`tags` are those of the suite at hand, by eval; models are scored by them too."""
    of_experiment = _by_model(choice.runs, experiment)
    without = _by_model(choice.runs, WITHOUT_GUIDELINES) if experiment != WITHOUT_GUIDELINES else {}
    together = {model: _together(runs) for model, runs in of_experiment.items()}
    bare = {model: _together(without[model]) for model in together if model in without}
    standings = tuple(
        _standing(ranked, of_experiment[ranked.name], bare.get(ranked.name, {}), tags) for ranked in rank(together)
    )
    return Leaderboard(benchmark, experiment, standings, choice.left_out, _guidelines(together, bare))


def tag_names(standings: Sequence[RankedModel]) -> tuple[str, ...]:
    """All of them, difficulties first."""
    names = {name for each in standings for name in each.tags}
    return (*(each for each in LEVELS if each in names), *sorted(names.difference(LEVELS)))


def _by_model(runs: Sequence[RunFigures], experiment: str) -> dict[str, list[RunFigures]]:
    found: dict[str, list[RunFigures]] = {}
    for each in runs:
        if each.run.experiment == experiment:
            found.setdefault(each.run.model, []).append(each)
    return found


def _together(runs: Sequence[RunFigures]) -> dict[str, Tally]:
    return merged([each.tallies for each in runs])


def _standing(ranked: Ranked, runs: Sequence[RunFigures], bare: Tallies, tags: TagsOfEvals) -> RankedModel:
    answers = [answer for each in runs for answer in each.answers]
    together = _together(runs)
    costs = _mean_costs(answers)
    cost = _cost(costs, answers, runs[0].run.evals)
    return RankedModel(
        ranked=ranked,
        provider=runs[0].run.provider,
        categories=category_scores(together),
        runs=tuple(each.run.id for each in runs),
        trials=sum(each.run.trials for each in runs),
        spread=spread([each.tallies for each in runs]),
        cost=cost,
        cost_interval=total_interval(costs) if not cost.unknown else None,
        first_token=_durations(answer.first_token_ms for answer in answers),
        generation=_durations(answer.generation_ms for answer in answers),
        last=max(each.run.finished_at or each.run.started_at for each in runs),
        without=score(bare),
        guidelines=compare(bare, together) if bare else None,
        tags=group_scores(by_tag(together, tags)),
        difficulties=group_scores(by_difficulty(together, tags)),
    )


def _mean_costs(answers: Sequence[Answer]) -> list[float]:
    """One of each eval that somebody was asked about; what is not known counts as nothing."""
    by_eval: dict[str, list[Answer]] = {}
    for answer in answers:
        by_eval.setdefault(answer.eval, []).append(answer)
    return [_mean_cost(each) for each in by_eval.values()]


def _mean_cost(answers: Sequence[Answer]) -> float:
    """What answers of no use took counts for those that came in the end."""
    usable = sum(answer.usable for answer in answers)
    return sum(answer.cost_usd or 0.0 for answer in answers) / max(usable, 1)


def _cost(costs: Sequence[float], answers: Sequence[Answer], evals: int) -> Sum:
    """Of one run of the suite. Where some evals were asked about, the cost of the others is unknown, not nothing."""
    found = Sum.of(answer.cost_usd for answer in answers)
    return Sum(sum(costs), found.known, found.unknown + (evals - len(costs) if answers else 0))


def _guidelines(together: Mapping[str, Tallies], bare: Mapping[str, Tallies]) -> Guidelines | None:
    """Trials of several models at one eval are as little independent as those of one, so evals are counted."""
    without, given = merged(list(bare.values())), merged([together[model] for model in bare])
    worth = compare(without, given)
    if worth is None:
        return None
    groups = {name: (group, by_category(given).get(name, {})) for name, group in by_category(without).items()}
    found = {name: compare(*pair) for name, pair in groups.items()}
    return Guidelines(tuple(bare), worth, {name: each for name, each in found.items() if each is not None})


def _durations(values: Iterable[float | None]) -> Durations | None:
    return durations([value for value in values if value is not None])


def leaderboard_json(found: Leaderboard) -> dict[str, Any]:
    """For the terminal and for pages. The shape is promised: fields are added and never renamed."""
    version = found.benchmark
    return {
        "benchmark": {
            "name": version.name,
            "evals": len(version.evals),
            "mintedAt": version.minted_at.isoformat(),
            "minted": version.name != UNMINTED,
        },
        "experiment": found.experiment,
        "models": [_model_json(each) for each in found.standings],
        "guidelines": _guidelines_json(found.guidelines) if found.guidelines else None,
        "notRanked": [
            {"run": each.run.id, "model": each.run.model, "experiment": each.run.experiment, "why": each.why}
            for each in found.left_out
        ],
    }


def _model_json(each: RankedModel) -> dict[str, Any]:
    worth, cost = each.guidelines, each.cost_interval
    return {
        "model": each.ranked.name,
        "provider": each.provider,
        "sample": each.is_sample,
        "rank": [each.ranked.best, each.ranked.worst],
        "score": score_json(each.ranked.score),
        "categories": {name: score_json(found) for name, found in each.categories.items()},
        "tags": {name: score_json(found) for name, found in each.tags.items()},
        "difficulties": {name: score_json(found) for name, found in each.difficulties.items()},
        "runs": list(each.runs),
        "trials": each.trials,
        "spread": each.spread,
        "costPerSuite": each.cost.value,
        "costInterval": [cost.low, cost.high] if cost else None,
        "costUnknown": each.cost.unknown,
        "firstTokenMs": _durations_json(each.first_token),
        "generationMs": _durations_json(each.generation),
        "last": each.last.isoformat(),
        "withoutGuidelines": score_json(each.without) if each.without else None,
        "guidelines": {**comparison_json(worth), "points": points(worth.difference)} if worth else None,
    }


def _guidelines_json(found: Guidelines) -> dict[str, Any]:
    return {
        "models": list(found.models),
        **comparison_json(found.worth),
        "categories": {name: comparison_json(each) for name, each in found.categories.items()},
    }


def _durations_json(found: Durations | None) -> dict[str, Any] | None:
    return {"median": found.median, "p90": found.p90, "count": found.count} if found else None
