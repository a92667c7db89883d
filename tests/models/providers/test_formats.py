"""What each kind of API is sent and how its replies are read: the libraries' own clients against recorded bodies."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from convex_evals.models.providers import (
    AskSettings,
    BusyError,
    ModelUnusableError,
    OutageError,
    ProviderError,
    RequestRefusedError,
)
from convex_evals.models.registry import ApiKind, Price

Recorded = Callable[[str], bytes]
THINKING = AskSettings(output_tokens=8000, reasoning="low")


async def test_openai_responses(provider_server: Any, asker: Any, key: str) -> None:
    provider_server.script(provider_server.says("Hello from GPT."))
    reply = await asker.ask(asker.entry("openai", "openai-responses", model="gpt-5.2"), THINKING)
    (asked,) = provider_server.requests
    assert (asked.path, asked.headers["authorization"]) == ("/v1/responses", f"Bearer {key}")
    assert (asked.body["model"], asked.body["stream"], asked.body["max_output_tokens"]) == ("gpt-5.2", True, 8000)
    assert asked.body["reasoning"]["effort"] == "low"
    assert asked.prompt == "Say hello."
    assert "You write Convex." in json.dumps([asked.body.get("instructions"), asked.body["input"]])
    assert (reply.text, reply.truncated) == ("Hello from GPT.", False)
    usage = reply.usage
    assert (usage.input_tokens, usage.cached_tokens, usage.output_tokens, usage.reasoning_tokens) == (11, 4, 7, 2)
    assert usage.cost_source == "estimated" and usage.cost_usd is not None and usage.cost_usd > 0


async def test_openai_responses_that_were_cut_off(provider_server: Any, asker: Any) -> None:
    provider_server.script(provider_server.says("Half an ans", "max_output_tokens"))
    reply = await asker.ask(asker.entry("openai", "openai-responses"))
    assert (reply.finish_reason, reply.truncated) == ("max_output_tokens", True)


@pytest.mark.parametrize("behaviour", ["cuts", "ends_early"])
async def test_openai_responses_without_an_end_are_no_answers(provider_server: Any, asker: Any, behaviour: str) -> None:
    provider_server.script(getattr(provider_server, behaviour)())
    with pytest.raises(ProviderError):
        await asker.ask(asker.entry("openai", "openai-responses"), tries=1)


async def test_openai_chat_of_openai_itself_uses_the_newer_name_of_the_limit(provider_server: Any, asker: Any) -> None:
    await asker.ask(asker.entry("openai", "openai-chat"))
    assert provider_server.requests[0].body["max_completion_tokens"] == 500


async def test_anthropic(provider_server: Any, asker: Any, key: str, recorded: Recorded) -> None:
    provider_server.script(provider_server.sends(recorded("anthropic.sse")))
    entry = asker.entry("anthropic", "anthropic", model="claude-opus-4-6", price=Price(3.0, 15.0, 0.3))
    reply = await asker.ask(entry, THINKING)
    (asked,) = provider_server.requests
    assert (asked.path, asked.headers["authorization"]) == ("/v1/messages", f"Bearer {key}")
    assert "anthropic-version" in asked.headers
    assert (asked.body["model"], asked.body["stream"], asked.body["max_tokens"]) == ("claude-opus-4-6", True, 8000)
    assert "You write Convex." in json.dumps(asked.body["system"])
    assert asked.prompt == "Say hello."
    assert reply.text == "Hello from Claude."
    assert (reply.finish_reason, reply.truncated) == ("end_turn", False)
    assert reply.notes == ("Answered by claude-tiny-20261101.",)
    usage = reply.usage
    assert (usage.input_tokens, usage.cached_tokens, usage.output_tokens) == (125, 100, 15)
    assert usage.cost_source == "estimated"
    assert usage.cost_usd == pytest.approx((25 * 3 + 100 * 0.3 + 15 * 15) / 1e6)


async def test_google(provider_server: Any, asker: Any, key: str, recorded: Recorded) -> None:
    provider_server.script(provider_server.sends(recorded("google.sse")))
    reply = await asker.ask(asker.entry("google", "google", model="gemini-2.5-pro"), AskSettings(output_tokens=8000))
    (asked,) = provider_server.requests
    assert asked.path.endswith("/models/gemini-2.5-pro:streamGenerateContent")
    assert asked.headers["x-goog-api-key"] == key
    assert asked.body["generationConfig"]["maxOutputTokens"] == 8000
    assert "You write Convex." in json.dumps(asked.body["systemInstruction"])
    assert asked.prompt == "Say hello."
    assert (reply.text, reply.finish_reason, reply.truncated) == ("Hello from Gemini.", "STOP", False)
    usage = reply.usage
    assert (usage.input_tokens, usage.cached_tokens, usage.reasoning_tokens) == (30, 10, 5)
    assert usage.output_tokens == 8 + 5
    assert usage.cost_source == "estimated"


async def test_openrouter_says_what_it_cost_and_who_answered(
    provider_server: Any, asker: Any, key: str, recorded: Recorded
) -> None:
    provider_server.script(provider_server.sends(recorded("openrouter.sse")))
    entry = asker.entry("openrouter", "openrouter", model="acme/tiny", price=Price(1.0, 1.0))
    reply = await asker.ask(entry)
    (asked,) = provider_server.requests
    assert (asked.path, asked.headers["authorization"]) == ("/v1/chat/completions", f"Bearer {key}")
    assert (asked.body["model"], asked.body["max_tokens"]) == ("acme/tiny", 500)
    assert asked.body["usage"] == {"include": True}
    assert (reply.text, reply.finish_reason) == ("Hello from afar.", "stop")
    usage = reply.usage
    assert (usage.cost_usd, usage.cost_source, usage.upstream) == (0.00123, "provider", "Fireworks")
    assert (usage.input_tokens, usage.cached_tokens, usage.output_tokens, usage.reasoning_tokens) == (40, 16, 9, 3)


@pytest.mark.parametrize(
    ("name", "provider", "api", "finish"),
    [
        ("anthropic-max-tokens.sse", "anthropic", "anthropic", "max_tokens"),
        ("google-max-tokens.sse", "google", "google", "MAX_TOKENS"),
    ],
)
async def test_answers_that_were_cut_off_say_so(
    provider_server: Any, asker: Any, recorded: Recorded, name: str, provider: str, api: ApiKind, finish: str
) -> None:
    provider_server.script(provider_server.sends(recorded(name)))
    reply = await asker.ask(asker.entry(provider, api))
    assert (reply.finish_reason, reply.truncated) == (finish, True)


@pytest.mark.parametrize(
    ("name", "provider", "api", "error"),
    [
        ("anthropic-overloaded.sse", "anthropic", "anthropic", BusyError),
        ("openrouter-error.sse", "openrouter", "openrouter", OutageError),
    ],
)
async def test_troubles_in_the_middle_of_an_answer_are_known(
    provider_server: Any,
    asker: Any,
    recorded: Recorded,
    name: str,
    provider: str,
    api: ApiKind,
    error: type[ProviderError],
) -> None:
    provider_server.script(provider_server.sends(recorded(name)))
    with pytest.raises(ProviderError) as raised:
        await asker.ask(asker.entry(provider, api, model="acme/tiny"), tries=1)
    assert type(raised.value) is error, str(raised.value)


ANTHROPIC = {"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}}
CREDIT = {"type": "error", "error": {"type": "billing_error", "message": "Your credit balance is too low."}}
LONG = {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long"}}
GOOGLE_KEY = {
    "error": {
        "code": 400,
        "message": "API key not valid. Please pass a valid API key.",
        "status": "INVALID_ARGUMENT",
        "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}],
    }
}
GOOGLE_BUSY = {"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}
GOOGLE_UNKNOWN = {"error": {"code": 404, "message": "models/tiny is not found", "status": "NOT_FOUND"}}


@pytest.mark.parametrize(
    ("provider", "status", "body", "error"),
    [
        ("anthropic", 401, ANTHROPIC, ModelUnusableError),
        ("anthropic", 400, CREDIT, ModelUnusableError),
        ("anthropic", 400, LONG, RequestRefusedError),
        (
            "anthropic",
            529,
            {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
            BusyError,
        ),
        ("google", 400, GOOGLE_KEY, ModelUnusableError),
        ("google", 503, GOOGLE_BUSY, BusyError),
        ("google", 404, GOOGLE_UNKNOWN, ModelUnusableError),
    ],
)
async def test_errors_of_each_provider_are_understood(
    provider_server: Any, asker: Any, provider: Any, status: int, body: Any, error: type[ProviderError]
) -> None:
    provider_server.script(provider_server.sends(json.dumps(body), "application/json", status))
    with pytest.raises(ProviderError) as raised:
        await asker.ask(asker.entry(provider, provider), tries=1)
    assert type(raised.value) is error, str(raised.value)


@pytest.mark.parametrize(
    ("provider", "api", "model", "tool"),
    [
        ("openai", "openai-responses", "gpt-5.2", "web_search"),
        ("anthropic", "anthropic", "claude-opus-4-6", "web_search"),
        ("google", "google", "gemini-2.5-pro", "googleSearch"),
        ("openrouter", "openrouter", "acme/tiny", "web"),
    ],
)
async def test_searching_the_web_is_offered_to_the_model(
    provider_server: Any, asker: Any, recorded: Recorded, provider: str, api: ApiKind, model: str, tool: str
) -> None:
    if provider != "openai":
        provider_server.script(provider_server.sends(recorded(f"{provider}.sse")))
    await asker.ask(asker.entry(provider, api, model=model), AskSettings(output_tokens=500, web_search=True))
    assert tool in json.dumps(provider_server.requests[0].body.get("tools"))
