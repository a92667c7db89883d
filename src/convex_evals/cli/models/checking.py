"""`models check`: one tiny request, and one eval from beginning to end."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from convex_evals.cli.output import remark, visible
from convex_evals.cli.runs.as_json import cost_json, eval_json, usage_json
from convex_evals.cli.runs.lookup import result_details
from convex_evals.cli.runs.options import RunOptions
from convex_evals.cli.runs.session import Session, carry_out
from convex_evals.cli.runs.summaries import reason
from convex_evals.core.errors import InfrastructureError
from convex_evals.core.ids import prefix
from convex_evals.core.settings import Settings
from convex_evals.models import (
    AskSettings,
    ModelEntry,
    Prompt,
    ProviderError,
    Question,
    Reply,
    RequestPolicy,
    located,
    open_provider,
    takes_base_url,
)
from convex_evals.runner import dollars
from convex_evals.scores import AttemptDetails, ScoresStore, Usage

GREETING = Prompt("You are a model that is being connected.\n", "Reply with the word OK.\n")
PATIENCE = RequestPolicy(deadline=180, first_token=120, stall=60, tries=2)
LONGEST_REPLY = 60


@dataclass(frozen=True, slots=True)
class Check:
    """What is to be checked, and with what."""

    entry: ModelEntry
    base_url: str | None
    eval: str
    evals: Path | None
    scores: str | None


def perform(check: Check, settings: Settings) -> tuple[dict[str, Any], int]:
    """Says how it goes, and returns everything as JSON, with the exit code."""
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
    return _run_eval(check, found, settings)


async def _greet(entry: ModelEntry, settings: Settings) -> Reply:
    transport = open_provider(entry, settings, policy=PATIENCE)
    return await transport.ask(Question(GREETING, AskSettings.of(entry)))


def _run_eval(check: Check, found: dict[str, Any], settings: Settings) -> tuple[dict[str, Any], int]:
    asked = RunOptions(
        models=[check.entry.slug],
        names=[check.eval],
        base_url=check.base_url if takes_base_url(check.entry) else None,
        no_cache=True,
        evals=check.evals,
        scores=check.scores,
        purpose="check",
    )
    asked.check()
    with ScoresStore.open(check.scores) as store:
        session = carry_out(asked, settings, store)
        [details] = result_details(store, session.runs[0].id) or [None]
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
