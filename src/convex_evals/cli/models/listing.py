"""Models with what this machine knows about them: is there a key, and how did they do?"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from convex_evals.cli.output import print_table, table
from convex_evals.cli.runs.as_json import score_json
from convex_evals.cli.runs.summaries import short_interval_text
from convex_evals.core.errors import UsageError
from convex_evals.core.ids import prefix
from convex_evals.core.settings import Settings, key_variables
from convex_evals.models import ModelEntry, Registry, has_key
from convex_evals.runner import NOT_SCORES, RunScore, scored_runs
from convex_evals.scores import RunRecord, ScoresStore, database_status
from convex_evals.statistics import Score
from convex_evals.suite import find_suite, load_suite


@dataclass(frozen=True, slots=True)
class LastRun:
    run: RunRecord
    score: Score


@dataclass(frozen=True, slots=True)
class ListedModel:
    """`variables` are those that may hold its key, if it needs one. `last` is its latest complete run of the suite."""

    entry: ModelEntry
    variables: tuple[str, ...]
    ready: bool
    last: LastRun | None

    @property
    def key(self) -> str:
        if not self.variables:
            return "not needed"
        return f"{self.variables[0]}{'' if self.ready else ' missing'}"


def list_models(
    registry: Registry, settings: Settings, scores: str | None, evals: Path | None = None
) -> tuple[ListedModel, ...]:
    """In the order of the registry, and then models that no file lists but that have runs."""
    last, seen = _last_runs(scores, evals)
    entries = [*registry.models.values(), *_unlisted(registry, seen)]
    return tuple(_listed(entry, settings, last.get(entry.slug)) for entry in entries)


def print_models(models: tuple[ListedModel, ...]) -> None:
    rows = table(["model", "name", "provider", "key", "last score", "run", "day (UTC)", "tags"])
    for each in models:
        entry, last = each.entry, each.last
        run = (score(last), prefix(last.run.id), f"{last.run.started_at:%Y-%m-%d}") if last else ("", "", "")
        style = "" if each.ready else "dim"
        rows.add_row(entry.slug, entry.name, entry.provider, each.key, *run, ", ".join(entry.tags), style=style)
    print_table(rows)


def listed_json(each: ListedModel) -> dict[str, Any]:
    entry, last = each.entry, each.last
    return {
        "slug": entry.slug,
        "name": entry.name,
        "provider": entry.provider,
        "model": entry.model,
        "api": entry.api,
        "baseUrl": entry.base_url,
        "listed": entry.listed,
        "needsKey": entry.needs_key,
        "keyPresent": each.ready if entry.needs_key else None,
        "keyVariables": list(each.variables),
        "contextTokens": entry.context_tokens,
        "outputTokens": entry.output_tokens,
        "reasoning": entry.reasoning,
        "tags": list(entry.tags),
        "firstSeen": entry.first_seen.isoformat() if entry.first_seen else None,
        "lastRun": _run_json(last) if last else None,
    }


def score(last: LastRun) -> str:
    """`71.2% (59% to 81%)`, the mean over evals."""
    where = "" if last.run.experiment == "default" else f" {last.run.experiment}"
    return f"{short_interval_text(last.score)}{where}"


def _run_json(last: LastRun) -> dict[str, Any]:
    run, counts = last.run, last.run.counts
    return {
        "id": run.id,
        "experiment": run.experiment,
        "startedAt": run.started_at.isoformat(),
        "passed": counts.passed,
        "failed": counts.failed,
        "total": counts.total,
        "passRate": last.score.value,
        "score": score_json(last.score),
    }


def _listed(entry: ModelEntry, settings: Settings, last: LastRun | None) -> ListedModel:
    if not entry.needs_key:
        return ListedModel(entry, (), True, last)
    present = next((key.variable for key in settings.provider_keys if key.provider == entry.provider), None)
    variables = (present,) if present else key_variables(entry.provider)
    return ListedModel(entry, variables, has_key(entry, settings), last)


def _last_runs(scores: str | None, evals: Path | None) -> tuple[dict[str, LastRun], list[str]]:
    """The newest complete run of the suite by model, and every model that has a run. Looking makes no file."""
    if database_status(scores).condition == "missing":
        return {}, []
    suite = load_suite(find_suite(evals))
    with ScoresStore.open(scores) as store:
        newest = {
            model: LastRun(run, found)
            for model, run in scored_runs(store, suite).items()
            if (found := RunScore.of(run, store.results(run.id)).score) is not None
        }
        return newest, list(dict.fromkeys(run.model for run in store.runs() if not NOT_SCORES & set(run.labels)))


def _unlisted(registry: Registry, seen: Sequence[str]) -> list[ModelEntry]:
    found = []
    for name in seen:
        try:
            entry = registry.find(name)
        except UsageError:  # a replay, or a model of a provider that is gone
            continue
        if not entry.listed:
            found.append(entry)
    return found
