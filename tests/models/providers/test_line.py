"""Real requests to a real server, which answers well or badly."""

import time
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
    assert reply.notes == ("The provider did not say how many tokens it took.",)


async def test_another_name_of_the_model_that_answered_is_noted(provider_server: Any, asker: Any) -> None:
    provider_server.script(provider_server.says("Hello.", extra={"model": "tiny-2026-11-01"}))
    assert (await asker.ask()).notes == ("Answered by tiny-2026-11-01.",)


NO_TOKENS = {"prompt_tokens": 11, "completion_tokens": 0, "total_tokens": 11}


@pytest.mark.parametrize(
    ("behaviour", "arguments", "error", "said"),
    [
        ("refuses", [401, "Incorrect key"], ModelUnusableError, "refuses the key in LOCAL_API_KEY (401); check it"),
        ("refuses", [403, "Not for you"], ModelUnusableError, "refuses the key in LOCAL_API_KEY (403)"),
        ("refuses", [402, "Pay first"], ModelUnusableError, "no credit or quota left for us (402): Pay first"),
        ("refuses", [429, "All gone", "insufficient_quota"], ModelUnusableError, "no credit or quota left"),
        ("refuses", [404, "No such model", "model_not_found"], ModelUnusableError, "has no model 'tiny' (404)"),
        ("refuses", [400, "Too\nlong."], RequestRefusedError, "refuses the request (400): Too long."),
        ("refuses", [422, "Odd"], RequestRefusedError, "refuses the request (422): Odd."),
        ("refuses", [429, "Slowly"], BusyError, "is overloaded or limits us (429): Slowly."),
        ("refuses", [503, "Loading model"], BusyError, "is overloaded or limits us (503): Loading model."),
        ("refuses", [500, "Oops"], OutageError, "failed (500): Oops."),
        ("refuses", [502, "Oops"], OutageError, "failed (502): Oops."),
        ("refuses", [408, "Slow"], OutageError, "failed (408): Slow."),
        ("cuts", [], OutageError, "cannot be reached, or was lost"),
        ("ends_early", [], ProviderError, "ended without a `finish_reason`"),
        ("says", ["   "], ProviderError, "the answer is empty (it ended with stop)"),
        ("says", ["Hello.", "stop", NO_TOKENS], ProviderError, "said to have 0 tokens"),
        ("sends", ["data: {not json\n\n"], ProviderError, "sent what is no answer"),
        ("sends", ['data: {"choices": 7}\n\n'], ProviderError, "sent what is no answer"),
        ("sends", ["<html>Sign in</html>", "text/html"], ProviderError, "sent what is no answer"),
        ("sends", ["", "application/json"], ProviderError, "sent what is no answer"),
    ],
)
async def test_what_is_no_answer_is_one_sentence_and_never_the_models_fault(
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


async def test_a_server_that_is_not_there_is_named(asker: Any) -> None:
    entry = asker.entry(base_url="http://127.0.0.1:9/v1")
    with pytest.raises(OutageError, match=r"http://127\.0\.0\.1:9/v1 cannot be reached"):
        await asker.ask(entry, tries=1)


@pytest.mark.parametrize(
    ("behaviour", "patience", "error", "said"),
    [
        ("hangs", {"first_token": 0.2}, ProviderError, "nothing came within 0.2 s"),
        ("stalls", {"stall": 0.2}, ProviderError, "stopped in the middle for 0.2 s"),
        ("stalls", {"deadline": 1}, DeadlineError, "not complete within 1 s"),
        ("hangs", {"deadline": 1}, DeadlineError, "not complete within 1 s"),
    ],
)
async def test_nobody_waits_for_ever(
    provider_server: Any, asker: Any, behaviour: str, patience: dict[str, float], error: type[ProviderError], said: str
) -> None:
    provider_server.script(getattr(provider_server, behaviour)())
    began = time.monotonic()
    with pytest.raises(ProviderError, match=said) as raised:
        await asker.ask(tries=1, **patience)
    assert type(raised.value) is error
    assert time.monotonic() - began < 60
    assert len(provider_server.requests) == 1


async def test_a_passing_trouble_is_waited_out_and_noted(provider_server: Any, asker: Any) -> None:
    script = (provider_server.refuses(500, "Oops"), provider_server.cuts(), provider_server.refuses(503, "Later"))
    provider_server.script(*script)
    reply = await asker.ask()
    assert reply.text == "Hello."
    assert [note.partition(": ")[0] for note in reply.notes] == ["Try 1 of 5", "Try 2 of 5", "Try 3 of 5"]
    assert len(provider_server.requests) == 4


async def test_the_provider_is_left_alone_for_as_long_as_it_asks(provider_server: Any, asker: Any) -> None:
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
