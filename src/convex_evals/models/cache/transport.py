"""Looks into the cache before a question is carried to a model."""

import asyncio
import hashlib
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from convex_evals.models.cache.entry import CachedResponse, CacheKey
from convex_evals.models.cache.responses import ResponseCache
from convex_evals.models.parsing import parse_response
from convex_evals.models.providers import Question, Reply, Transport
from convex_evals.models.registry import ModelEntry
from convex_evals.scores import Usage


@dataclass(frozen=True, slots=True)
class CachingTransport:
    """A reply is in the cache before anybody else has it, so whoever is killed after that need not ask again."""

    inner: Transport
    cache: ResponseCache
    entry: ModelEntry
    scope: str | None = None

    async def ask(self, question: Question) -> Reply:
        key = self.key(question)
        cached = await asyncio.to_thread(self.cache.get, key)
        if cached is not None:
            return _reply(cached)
        reply = await self.inner.ask(question)
        if not parse_response(reply.text, reply.finish_reason).truncated:
            await asyncio.to_thread(self.cache.put, key, _cached(reply))
        return reply

    def has(self, question: Question) -> bool:
        """Whether the answer would come from the cache."""
        return self.cache.get(self.key(question)) is not None

    def key(self, question: Question) -> CacheKey:
        address = {"api": self.entry.api, "model": self.entry.model, "base_url": self.entry.base_url}
        return CacheKey(
            model=self.entry.slug,
            settings={**address, **asdict(question.settings)},
            prompt=hashlib.sha256(question.prompt.text.encode(errors="surrogatepass")).hexdigest(),
            trial=question.trial,
            scope=self.scope,
        )


def _cached(reply: Reply) -> CachedResponse:
    return CachedResponse(reply.text, reply.usage, datetime.now(UTC), reply.notes)


def _reply(cached: CachedResponse) -> Reply:
    """Nothing was used this time; only how the response ended is still true."""
    return Reply(cached.response, Usage(finish_reason=cached.usage.finish_reason), cached.notes, from_cache=True)
