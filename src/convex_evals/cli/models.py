"""Carries out `models`: which there are, whether one can be asked, and which others providers list (`discover`)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from convex_evals.cli.output import count, print_json, print_table, remark, table, visible
from convex_evals.cli.runs.exports import cost_json, eval_json, usage_json
from convex_evals.cli.runs.lookup import last_address
from convex_evals.cli.runs.options import LOCAL, RunOptions
from convex_evals.cli.runs.session import Session, carry_out
from convex_evals.cli.runs.summaries import reason, short_interval_text
from convex_evals.core.errors import InfrastructureError, UsageError
from convex_evals.core.ids import prefix
from convex_evals.core.settings import Settings, key_variables
from convex_evals.models import (
    AskOptions,
    AskSettings,
    Discovered,
    ModelEntry,
    Prompt,
    ProviderError,
    Question,
    Registry,
    Reply,
    RequestPolicy,
    as_toml,
    discover,
    has_key,
    listing_providers,
    located,
    open_provider,
)
from convex_evals.runner import NOT_SCORES, RunScore, dollars, score_json, scored_runs
from convex_evals.scores import AttemptDetails, RunRecord, ScoresStore, Usage, database_status
from convex_evals.statistics import Score
from convex_evals.suite import find_suite, load_suite

GREETING = Prompt("You are a model that is being connected.\n", "Reply with the word OK.\n")
PATIENCE = RequestPolicy(deadline=180, first_token=120, stall=60, tries=2)
LONGEST_REPLY = 60


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
    headings = ["model", "name", "provider", "key", "variable", "last score", "run", "day (UTC)", "tags"]
    rows = table(headings, drop=("tags", "provider", "name", "day (UTC)", "run", "variable", "last score"))
    for each in models:
        entry, last = each.entry, each.last
        run = (score(last), prefix(last.run.id), f"{last.run.started_at:%Y-%m-%d}") if last else ("", "", "")
        style = "" if each.ready else "dim"
        key = ("set" if each.ready else "missing", each.variables[0]) if each.variables else ("not needed", "")
        rows.add_row(entry.slug, entry.name, entry.provider, *key, *run, ", ".join(entry.tags), style=style)
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


@dataclass(frozen=True, slots=True)
class Check:
    """What is to be checked, and with what."""

    entry: ModelEntry
    base_url: str | None
    eval: str
    evals: Path | None
    scores: str | None


def check_model(check: Check, settings: Settings) -> tuple[dict[str, Any], int]:
    """Says how it goes, and returns everything as JSON, with the exit code."""
    check = _with_address(check)
    options = _options(check)
    options.check()
    AskOptions(base_url=check.base_url)
    entry = located(check.entry, check.base_url)
    found: dict[str, Any] = {
        "model": entry.slug,
        "provider": entry.provider,
        "api": entry.api,
        "baseUrl": entry.base_url,
    }
    if entry.api not in ("built-in", "recorded"):
        try:
            reply = asyncio.run(_greet(entry, settings))
        except ProviderError as error:
            remark(f"request  {error}")
            return {**found, "request": {"ok": False, "error": str(error)}}, InfrastructureError.exit_code
        remark(f"request  {_reply_line(reply)}")
        found["request"] = {"ok": True, "text": reply.text, "usage": usage_json(reply.usage), **cost_json(reply.usage)}
    return _run_eval(options, found, settings)


def _with_address(check: Check) -> Check:
    """A local model is asked where one was last run, unless it is said where it is served."""
    if check.base_url is not None or check.entry.base_url is not None or not check.entry.slug.startswith(LOCAL):
        return check
    last = last_address(check.scores)
    if last is not None:
        remark(f"address  {last}, as in the last run; --base-url names another")
    return replace(check, base_url=last)


async def _greet(entry: ModelEntry, settings: Settings) -> Reply:
    transport = open_provider(entry, settings, policy=PATIENCE)
    return await transport.ask(Question(GREETING, AskSettings.of(entry)))


def _options(check: Check) -> RunOptions:
    return RunOptions(
        models=[check.entry.slug],
        names=[check.eval],
        base_url=check.base_url,
        no_cache=True,
        evals=check.evals,
        scores=check.scores,
        purpose="check",
    )


def _run_eval(asked: RunOptions, found: dict[str, Any], settings: Settings) -> tuple[dict[str, Any], int]:
    with ScoresStore.open(asked.scores) as store:
        session = carry_out(asked, settings, store)
        [details] = store.result_details(session.runs[0].id) or [None]
        if details is None:
            return found, InfrastructureError.exit_code
        _say_result(session, details)
        result = {**found, "run": session.runs[0].id, "eval": eval_json(store, details)}
    return result, 0 if details.attempt.status in ("passed", "failed") else InfrastructureError.exit_code


def _say_result(session: Session, details: AttemptDetails) -> None:
    attempt = details.attempt
    why = "" if attempt.status == "passed" else f" ({reason(details)})"
    remark(f"eval     {attempt.eval}: {attempt.status}{why}")
    if details.generation is not None and details.generation.usage is not None:
        remark(f"         {_usage_line(details.generation.usage)}")
    remark(f"`convex-evals show {prefix(session.runs[0].id)} {attempt.eval}` shows everything about it.")


def _reply_line(reply: Reply) -> str:
    text = " ".join(visible(reply.text).split())
    short = text if len(text) <= LONGEST_REPLY else f"{text[:LONGEST_REPLY]}…"
    return f"answered {short!r} · {_usage_line(reply.usage)}"


def _usage_line(usage: Usage) -> str:
    first = "" if usage.first_token_ms is None else f" (first token after {usage.first_token_ms / 1000:.2f} s)"
    took = "" if usage.generation_ms is None else f"{usage.generation_ms / 1000:.2f} s{first} · "
    known = ["unknown" if tokens is None else f"{tokens:,}" for tokens in (usage.input_tokens, usage.output_tokens)]
    cost = "unknown" if usage.cost_usd is None else f"{dollars(usage.cost_usd)} ({usage.cost_source})"
    return f"{took}{known[0]} tokens in, {known[1]} out · cost {cost}"


def discover_models(registry: Registry, settings: Settings, names: Sequence[str], since: str | None, json: bool) -> int:
    """The exit code."""
    day = _day(since)
    providers = listing_providers(registry, settings, names)
    if not providers:
        raise UsageError("There is no key of a provider that lists its models; set OPENROUTER_API_KEY, for example.")
    found, code = list[Discovered](), 0
    for provider in providers:
        try:
            new = discover(provider, registry, settings, day)
        except InfrastructureError as error:
            remark(str(error))
            code = error.exit_code
            continue
        remark(f"{provider.name}: {count(len(new), 'model')} not in the registry")
        found += new
    _show(found, json)
    return code


def _show(found: Sequence[Discovered], json: bool) -> None:
    if json:
        print_json({"models": [_as_json(each) for each in found]})
        return
    today = datetime.now(UTC).date()
    print("\n\n".join(as_toml(each, today) for each in found))


def _as_json(found: Discovered) -> dict[str, object]:
    return {
        "slug": found.slug,
        "provider": found.provider,
        "model": found.model,
        "name": found.name,
        "created": found.created.isoformat() if found.created else None,
        "contextTokens": found.context_tokens,
        "price": {"input": found.price.input, "output": found.price.output} if found.price else None,
    }


def _day(given: str | None) -> date | None:
    try:
        return None if given is None else date.fromisoformat(given)
    except ValueError as error:
        raise UsageError(f"--since must be a day like 2026-11-01, but it is {given!r}.") from error
