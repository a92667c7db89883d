"""Scores, comparisons and leaderboards as JSON, for the terminal and for pages.

The shapes are promised: fields are added and never renamed.
"""

from typing import Any

from convex_evals.core.text import points
from convex_evals.runner.leaderboard import Guidelines, Leaderboard, RankedModel
from convex_evals.runner.results import UNMINTED
from convex_evals.statistics import Comparison, Durations, Score


def leaderboard_json(found: Leaderboard) -> dict[str, Any]:
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


def score_json(found: Score) -> dict[str, Any]:
    return {
        "value": found.value,
        "interval": [found.interval.low, found.interval.high],
        "method": found.method,
        "evals": found.evals,
        "trials": found.trials,
    }


def comparison_json(found: Comparison) -> dict[str, Any]:
    needed = found.needed
    return {
        "evals": found.evals,
        "trials": list(found.trials),
        "difference": found.difference,
        "interval": [found.interval.low, found.interval.high],
        "p": found.p,
        "test": found.test,
        "verdict": found.verdict,
        "gained": list(found.gained),
        "lost": list(found.lost),
        "needed": {"trials": needed.trials, "evals": needed.evals} if needed else None,
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
