import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from convex_evals.models.cache import CacheKey, CachingTransport, ResponseCache
from convex_evals.models.prompt import Prompt
from convex_evals.models.providers import AskSettings, Question, Reply
from convex_evals.models.registry import ModelEntry
from convex_evals.scores import Usage

ENTRY = ModelEntry("local/tiny", "Tiny", "local", "tiny", "openai-chat", base_url="http://127.0.0.1:8080/v1")
USAGE = Usage(input_tokens=10, output_tokens=5, finish_reason="stop", cost_usd=0.5, cost_source="provider")
QUESTION = Question(Prompt("Be brief.\n", "Say hello.\n"), AskSettings(output_tokens=100))
RESPONSE = "# Files\n\n## a.ts\n\n```ts\n// \ud800\n```\n"


@dataclass
class Wire:
    """Stands where the provider would; counts what reaches it."""

    reply: Reply = field(default_factory=lambda: Reply(RESPONSE, USAGE, ("a note",)))
    asked: int = 0

    async def ask(self, question: Question) -> Reply:
        self.asked += 1
        return self.reply


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def cache(tmp_path: Path, said: list[str]) -> ResponseCache:
    return ResponseCache(tmp_path / "responses", said.append)


async def test_the_same_question_is_asked_once(cache: ResponseCache, said: list[str]) -> None:
    wire = Wire()
    transport = CachingTransport(wire, cache, ENTRY)
    assert not transport.has(QUESTION)
    first, second = await transport.ask(QUESTION), await transport.ask(QUESTION)
    assert (wire.asked, first.from_cache, second.from_cache) == (1, False, True)
    assert (second.text, second.notes, second.finish_reason) == (RESPONSE, ("a note",), "stop")
    assert transport.has(QUESTION)
    assert said == []


async def test_what_comes_from_the_cache_used_nothing(cache: ResponseCache) -> None:
    transport = CachingTransport(Wire(), cache, ENTRY)
    await transport.ask(QUESTION)
    usage = (await transport.ask(QUESTION)).usage
    assert (usage.input_tokens, usage.output_tokens, usage.cost_usd, usage.cost_source) == (None, None, None, "unknown")


@pytest.mark.parametrize(
    ("question", "entry", "scope"),
    [
        (replace(QUESTION, trial=2), ENTRY, None),
        (replace(QUESTION, prompt=Prompt("Be brief.\n", "Say goodbye.\n")), ENTRY, None),
        (replace(QUESTION, prompt=Prompt("Be long.\n", "Say hello.\n")), ENTRY, None),
        (replace(QUESTION, settings=AskSettings(output_tokens=200)), ENTRY, None),
        (replace(QUESTION, settings=AskSettings(output_tokens=100, reasoning="high")), ENTRY, None),
        (replace(QUESTION, settings=AskSettings(output_tokens=100, web_search=True)), ENTRY, None),
        (QUESTION, replace(ENTRY, slug="local/other"), None),
        (QUESTION, replace(ENTRY, model="tiny-2"), None),
        (QUESTION, replace(ENTRY, base_url="http://127.0.0.1:8081/v1"), None),
        (QUESTION, ENTRY, "a-run-without-cache"),
    ],
)
async def test_a_different_question_is_not_answered_from_the_cache(
    cache: ResponseCache, question: Question, entry: ModelEntry, scope: str | None
) -> None:
    await CachingTransport(Wire(), cache, ENTRY).ask(QUESTION)
    wire = Wire()
    assert not (await CachingTransport(wire, cache, entry, scope).ask(question)).from_cache
    assert wire.asked == 1


@pytest.mark.parametrize(
    "reply",
    [
        Reply(RESPONSE, replace(USAGE, finish_reason="length")),
        Reply("# Files\n\n## a.ts\n\n```ts\nexport const", USAGE),
        Reply("<think>\nwhat if", USAGE),
    ],
    ids=["cut off by the provider", "an open fence", "reasoning without an end"],
)
async def test_a_reply_that_is_not_complete_is_not_kept(cache: ResponseCache, reply: Reply) -> None:
    wire = Wire(reply)
    transport = CachingTransport(wire, cache, ENTRY)
    await transport.ask(QUESTION)
    await transport.ask(QUESTION)
    assert wire.asked == 2
    assert cache.summaries() == ()


def emptied(path: Path) -> None:
    path.write_text("")


def cut(path: Path) -> None:
    path.write_text(path.read_text()[:100])


def altered(path: Path) -> None:
    path.write_text(path.read_text().replace("a.ts", "b.ts"))


def of_another_shape(path: Path) -> None:
    path.write_text(json.dumps(["a"]))


def not_text(path: Path) -> None:
    path.write_bytes(b"\xff\xfe")


@pytest.mark.parametrize("damage", [emptied, cut, altered, of_another_shape, not_text])
async def test_a_damaged_entry_is_mentioned_and_replaced(
    cache: ResponseCache, said: list[str], damage: Callable[[Path], None]
) -> None:
    wire = Wire()
    transport = CachingTransport(wire, cache, ENTRY)
    await transport.ask(QUESTION)
    [path] = cache.folder.rglob("*.json")
    damage(path)
    assert not (await transport.ask(QUESTION)).from_cache
    assert len(said) == 1 and said[0].startswith(f"The cached response {path} is damaged (")
    assert (await transport.ask(QUESTION)).from_cache
    assert wire.asked == 2


async def test_a_cache_that_cannot_be_written_is_mentioned_and_the_reply_arrives(
    cache: ResponseCache, said: list[str], tmp_path: Path
) -> None:
    (tmp_path / "responses").write_text("in the way")
    assert (await CachingTransport(Wire(), cache, ENTRY).ask(QUESTION)).text == RESPONSE
    assert any("cannot be cached" in sentence for sentence in said)


async def test_it_says_what_it_has_and_forgets_one_model_or_all(cache: ResponseCache) -> None:
    slugs = ("local/tiny", "openrouter/acme/m:free", "zeta/last")
    for slug in slugs:
        for trial in (1, 2):
            await CachingTransport(Wire(), cache, replace(ENTRY, slug=slug)).ask(replace(QUESTION, trial=trial))
    assert [(each.model, each.responses) for each in cache.summaries()] == [(slug, 2) for slug in slugs]
    assert all(each.size > len(RESPONSE) for each in cache.summaries())
    assert cache.clear("openrouter/acme/m:free") == 2
    assert [each.model for each in cache.summaries()] == ["local/tiny", "zeta/last"]
    assert (cache.clear(), cache.clear(), cache.summaries()) == (4, 0, ())


WRITER = """
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from convex_evals.models.cache import CachedResponse, CacheKey, ResponseCache
from convex_evals.scores import Usage

cache = ResponseCache(Path(sys.argv[1]), print)
print("begun", flush=True)
for trial in range(100_000):
    key = CacheKey("m", {}, "p", trial)
    cache.put(key, CachedResponse("x" * 20_000, Usage(), datetime.now(UTC)))
    print(trial, flush=True)
"""


def test_a_writer_that_is_killed_leaves_whole_responses_only(cache: ResponseCache, said: list[str]) -> None:
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, cache.folder], stdout=subprocess.PIPE, text=True, bufsize=1
    )
    assert writer.stdout is not None
    for line in writer.stdout:
        if line.strip() == "30":
            os.kill(writer.pid, signal.SIGKILL)
            break
    writer.wait()
    writer.stdout.close()
    found = [cache.get(CacheKey("m", {}, "p", trial)) for trial in range(31)]
    assert all(each is not None and len(each.response) == 20_000 for each in found)
    assert said == []
    [summary] = cache.summaries()
    assert summary.responses >= 31
