"""Real requests to a real server, which answers well or badly."""

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from convex_evals.models.providers import (
    AskSettings,
    BusyError,
    DeadlineError,
    ModelUnusableError,
    OutageError,
    ProviderError,
    RequestRefusedError,
)
from convex_evals.models.registry import ApiKind, Price

LONG = "export const list = query({});\n" * 20_000


async def test_a_reply_is_complete_and_says_what_it_took(provider_server: Any, asker: Any) -> None:
    provider_server.script(provider_server.says("Hello there, how are you?"))
    reply = await asker.ask()
    assert reply.text == "Hello there, how are you?"
    assert (reply.finish_reason, reply.truncated, reply.from_cache, reply.notes) == ("stop", False, False, ())
    usage = reply.usage
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (11, 7, None)
    assert (usage.cost_usd, usage.cost_source, usage.upstream) == (None, "unknown", None)
    assert usage.first_token_ms is not None and usage.generation_ms is not None
    assert 0 < usage.first_token_ms <= usage.generation_ms


async def test_what_is_sent_is_the_prompt_and_the_settings(provider_server: Any, asker: Any, key: str) -> None:
    await asker.ask(settings=AskSettings(output_tokens=500))
    (asked,) = provider_server.requests
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == f"Bearer {key}"
    assert [(each["role"], each["content"]) for each in asked.body["messages"]] == [
        ("system", "You write Convex."),
        ("user", "Say hello."),
    ]
    assert (asked.body["model"], asked.body["stream"], asked.body["max_tokens"]) == ("tiny", True, 500)
    assert asked.body["stream_options"] == {"include_usage": True}
    assert "max_completion_tokens" not in asked.body


@pytest.mark.parametrize("finish", ["length", "content_filter"])
async def test_a_model_that_was_stopped_says_so(provider_server: Any, asker: Any, finish: str) -> None:
    provider_server.script(provider_server.says("Half an ans", finish))
    reply = await asker.ask()
    assert (reply.finish_reason, reply.truncated) == (finish, True)


async def test_a_very_long_answer_arrives_whole(provider_server: Any, asker: Any) -> None:
    provider_server.script(provider_server.says(LONG))
    assert (await asker.ask()).text == LONG


async def test_a_server_that_does_not_count_tokens_is_not_said_to_have_counted_none(
    provider_server: Any, asker: Any
) -> None:
    provider_server.script(provider_server.says("Hello.", usage=None))
    reply = await asker.ask()
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.cost_usd) == (None, None, None)
    assert reply.notes == ("The provider did not report token usage.",)


async def test_another_name_of_the_model_that_answered_is_noted(provider_server: Any, asker: Any) -> None:
    provider_server.script(provider_server.says("Hello.", extra={"model": "tiny-2026-11-01"}))
    assert (await asker.ask()).notes == ("Answered by tiny-2026-11-01.",)


NO_TOKENS = {"prompt_tokens": 11, "completion_tokens": 0, "total_tokens": 11}


@pytest.mark.parametrize(
    ("behaviour", "arguments", "error", "said"),
    [
        ("refuses", [401, "Incorrect key"], ModelUnusableError, "refuses the key in LOCAL_API_KEY (401); check it"),
        ("refuses", [403, "Not for you"], ModelUnusableError, "refuses the key in LOCAL_API_KEY (403)"),
        ("refuses", [402, "Pay first"], ModelUnusableError, "no credit or quota left for this key (402): Pay first"),
        ("refuses", [429, "All gone", "insufficient_quota"], ModelUnusableError, "no credit or quota left"),
        ("refuses", [404, "No such model", "model_not_found"], ModelUnusableError, "has no model 'tiny' (404)"),
        ("refuses", [404, "tiny is gone"], ModelUnusableError, "has no model 'tiny' (404): tiny is gone."),
        (
            "sends",
            ['{"detail": "Not Found"}', "application/json", 404],
            ModelUnusableError,
            "has nothing there (404): Not Found; the address (--base-url, or base_url in models.toml) may be wrong.",
        ),
        ("sends", ['{"odd": [1]}', "application/json", 400], RequestRefusedError, 'request (400): {"odd": [1]}.'),
        ("refuses", [400, "Too\nlong."], RequestRefusedError, "refuses the request (400): Too long."),
        ("refuses", [422, "Odd"], RequestRefusedError, "refuses the request (422): Odd."),
        ("refuses", [429, "Slowly"], BusyError, "is overloaded or limits our rate (429): Slowly."),
        ("refuses", [503, "Loading model"], BusyError, "is overloaded or limits our rate (503): Loading model."),
        ("refuses", [500, "Oops"], OutageError, "failed (500): Oops."),
        ("refuses", [502, "Oops"], OutageError, "failed (502): Oops."),
        ("refuses", [408, "Slow"], OutageError, "failed (408): Slow."),
        ("cuts", [], OutageError, "cannot be reached, or the connection was lost"),
        ("ends_early", [], ProviderError, "ended without a `finish_reason`"),
        ("says", ["   "], ProviderError, "the answer is empty (it ended with stop)"),
        ("says", ["Hello.", "stop", NO_TOKENS], ProviderError, "reports 0 output tokens"),
        ("sends", ["data: {not json\n\n"], ProviderError, "sent an unreadable response"),
        ("sends", ['data: {"choices": 7}\n\n'], ProviderError, "sent an unreadable response"),
        ("sends", ["<html>Sign in</html>", "text/html"], ProviderError, "sent an unreadable response"),
        ("sends", ["", "application/json"], ProviderError, "sent an unreadable response"),
    ],
)
async def test_an_unreadable_response_is_one_sentence_and_never_the_models_fault(
    provider_server: Any, asker: Any, behaviour: str, arguments: list[Any], error: type[ProviderError], said: str
) -> None:
    if behaviour == "says" and len(arguments) == 3:
        misbehaving = provider_server.says(*arguments[:2], usage=arguments[2])
    else:
        misbehaving = getattr(provider_server, behaviour)(*arguments)
    provider_server.script(misbehaving)
    with pytest.raises(ProviderError) as raised:
        await asker.ask(tries=1)
    assert type(raised.value) is error, str(raised.value)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)
    assert str(raised.value).startswith("local/tiny: ")
    assert raised.value.__cause__ is None and raised.value.__context__ is None


async def test_an_address_without_its_version_gets_advice(provider_server: Any, asker: Any) -> None:
    entry = asker.entry(base_url=provider_server.url.removesuffix("/v1"))
    provider_server.script(provider_server.sends('{"detail": "Not Found"}', "application/json", 404))
    with pytest.raises(ModelUnusableError) as raised:
        await asker.ask(entry, tries=1)
    assert str(raised.value).endswith(
        " (404): Not Found; the address (--base-url, or base_url in models.toml) may be wrong: it usually ends in /v1."
    ), str(raised.value)


async def test_a_server_that_is_not_there_is_named(asker: Any) -> None:
    entry = asker.entry(base_url="http://127.0.0.1:9/v1")
    with pytest.raises(OutageError, match=r"http://127\.0\.0\.1:9/v1 cannot be reached"):
        await asker.ask(entry, tries=1)


@pytest.mark.parametrize(
    ("behaviour", "policy", "error", "said"),
    [
        ("hangs", {"first_token": 0.2}, ProviderError, "nothing came within 0.2 s"),
        ("stalls", {"stall": 0.2}, ProviderError, "stopped in the middle for 0.2 s"),
        ("stalls", {"deadline": 1}, DeadlineError, "not complete within 1 s"),
        ("hangs", {"deadline": 1}, DeadlineError, "not complete within 1 s"),
    ],
)
async def test_nobody_waits_forever(
    provider_server: Any, asker: Any, behaviour: str, policy: dict[str, float], error: type[ProviderError], said: str
) -> None:
    provider_server.script(getattr(provider_server, behaviour)())
    began = time.monotonic()
    with pytest.raises(ProviderError, match=said) as raised:
        await asker.ask(tries=1, **policy)
    assert type(raised.value) is error
    assert time.monotonic() - began < 60
    assert len(provider_server.requests) == 1


async def test_a_temporary_problem_is_waited_out_and_noted(provider_server: Any, asker: Any) -> None:
    script = (provider_server.refuses(500, "Oops"), provider_server.cuts(), provider_server.refuses(503, "Later"))
    provider_server.script(*script)
    reply = await asker.ask()
    assert reply.text == "Hello."
    assert [note.partition(": ")[0] for note in reply.notes] == ["Try 1 of 5", "Try 2 of 5", "Try 3 of 5"]
    assert len(provider_server.requests) == 4


async def test_a_pause_is_as_long_as_the_provider_asks_for(provider_server: Any, asker: Any) -> None:
    provider_server.script(provider_server.refuses(429, "Slowly", Retry_After="1"))
    await asker.ask()
    first, second = provider_server.requests
    assert 1 <= second.began - first.began < 30


async def test_a_provider_that_wants_more_time_than_there_is_gets_no_second_try(
    provider_server: Any, asker: Any
) -> None:
    provider_server.script(provider_server.refuses(429, "Slowly", Retry_After="3600"))
    with pytest.raises(BusyError):
        await asker.ask()
    assert len(provider_server.requests) == 1


async def test_tries_have_an_end(provider_server: Any, asker: Any) -> None:
    provider_server.script(*[provider_server.refuses(500, "Oops")] * 9)
    with pytest.raises(OutageError, match=r"failed \(500\): Oops\. It was asked 3 times\."):
        await asker.ask(tries=3)
    assert len(provider_server.requests) == 3


async def test_what_cannot_get_better_is_not_tried_again(provider_server: Any, asker: Any) -> None:
    provider_server.script(provider_server.refuses(401), provider_server.refuses(400))
    for _ in range(2):
        with pytest.raises(ProviderError):
            await asker.ask()
    assert len(provider_server.requests) == 2


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
async def test_openai_responses_without_an_end_are_not_answers(
    provider_server: Any, asker: Any, behaviour: str
) -> None:
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
async def test_problems_in_the_middle_of_an_answer_are_recognised(
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
TOO_LONG = {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long"}}
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
        ("anthropic", 400, TOO_LONG, RequestRefusedError),
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
