"""Models with what this machine knows about them: is there a key, and how did they do?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from convex_evals.cli.output import print_table, table
from convex_evals.core.errors import UsageError
from convex_evals.core.ids import prefix
from convex_evals.core.settings import Settings, key_variables
from convex_evals.models.providers import has_key
from convex_evals.models.registry import ModelEntry, Registry
from convex_evals.runner import ABLATION, CHECK
from convex_evals.scores import RunRecord, ScoresStore, database_status

NOT_SCORES = frozenset({ABLATION, CHECK})


@dataclass(frozen=True, slots=True)
class ListedModel:
    """`variables` are those that may hold its key, if it needs one. `last` is its latest run with a verdict."""

    entry: ModelEntry
    variables: tuple[str, ...]
    ready: bool
    last: RunRecord | None

    @property
    def key(self) -> str:
        if not self.variables:
            return "not needed"
        return f"{self.variables[0]}{'' if self.ready else ' missing'}"


def list_models(registry: Registry, settings: Settings, scores: str | None) -> tuple[ListedModel, ...]:
    """In the order of the registry, and then models that no file lists but that have runs."""
    last = _last_runs(scores)
    entries = [*registry.models.values(), *_unlisted(registry, last)]
    return tuple(_listed(entry, settings, last.get(entry.slug)) for entry in entries)


def print_models(models: tuple[ListedModel, ...]) -> None:
    rows = table(["model", "name", "provider", "key", "last score", "run", "day (UTC)", "tags"])
    for each in models:
        entry, last = each.entry, each.last
        run = (score(last), prefix(last.id), f"{last.started_at:%Y-%m-%d}") if last else ("", "", "")
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


def score(run: RunRecord) -> str:
    """Of what has a verdict."""
    judged = run.counts.passed + run.counts.failed
    where = "" if run.experiment == "default" else f" {run.experiment}"
    return f"{run.counts.passed / judged:.0%} of {judged}{where}"


def _run_json(run: RunRecord) -> dict[str, Any]:
    counts = run.counts
    judged = counts.passed + counts.failed
    return {
        "id": run.id,
        "experiment": run.experiment,
        "startedAt": run.started_at.isoformat(),
        "passed": counts.passed,
        "failed": counts.failed,
        "total": counts.total,
        "passRate": counts.passed / judged,
    }


def _listed(entry: ModelEntry, settings: Settings, last: RunRecord | None) -> ListedModel:
    if not entry.needs_key:
        return ListedModel(entry, (), True, last)
    present = next((key.variable for key in settings.provider_keys if key.provider == entry.provider), None)
    variables = (present,) if present else key_variables(entry.provider)
    return ListedModel(entry, variables, has_key(entry, settings), last)


def _last_runs(scores: str | None) -> dict[str, RunRecord]:
    """By model. Looking makes no file."""
    if database_status(scores).condition == "missing":
        return {}
    newest: dict[str, RunRecord] = {}
    with ScoresStore.open(scores) as store:
        for run in store.runs():
            if run.counts.passed + run.counts.failed and not NOT_SCORES.intersection(run.labels):
                newest.setdefault(run.model, run)
    return newest


def _unlisted(registry: Registry, last: Mapping[str, RunRecord]) -> list[ModelEntry]:
    found = []
    for name in last:
        try:
            entry = registry.find(name)
        except UsageError:  # a replay, or a model of a provider that is gone
            continue
        if not entry.listed:
            found.append(entry)
    return found
