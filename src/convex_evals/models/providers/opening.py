"""From an entry of the registry to what carries questions to that model."""

import asyncio
from dataclasses import dataclass, field, replace

from convex_evals.core.errors import UsageError
from convex_evals.core.settings import Secret, Settings
from convex_evals.models.providers.asking import Question, Reply, Transport
from convex_evals.models.providers.keys import require_key
from convex_evals.models.providers.limit import Limits
from convex_evals.models.providers.patience import Patience
from convex_evals.models.providers.patient import PatientTransport
from convex_evals.models.providers.redaction import Redaction
from convex_evals.models.registry import ModelEntry


def open_provider(
    entry: ModelEntry,
    settings: Settings,
    *,
    base_url: str | None = None,
    limits: Limits | None = None,
    patience: Patience | None = None,
) -> Transport:
    """Raises UsageError, in one sentence, when the model cannot be asked: no key, no address.

    Models that are asked by the same command share `limits`. Nothing is loaded before the first question.
    """
    entry = replace(entry, base_url=base_url or entry.base_url)
    if entry.api in ("built-in", "recorded"):
        raise UsageError(f"{entry.slug} has no provider that could be asked.")
    if entry.api == "openai-chat" and entry.base_url is None and entry.provider != "openai":
        raise UsageError(
            f"{entry.slug} needs the address of its server: give it with --base-url, as in http://127.0.0.1:8080/v1, "
            f"or in ./models.toml."
        )
    key = require_key(entry, settings)
    return _LazyTransport(entry, key, limits or Limits(), patience or Patience())


@dataclass(slots=True)
class _LazyTransport:
    """Loads the libraries when the first question is asked, in a thread, because that takes seconds."""

    entry: ModelEntry
    key: Secret | None
    limits: Limits
    patience: Patience
    _opened: PatientTransport | None = field(default=None, init=False)
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock, init=False, repr=False)

    async def ask(self, question: Question) -> Reply:
        async with self._opening:
            if self._opened is None:
                self._opened = await asyncio.to_thread(self._open)
        return await self._opened.ask(question)

    def _open(self) -> PatientTransport:
        from convex_evals.models.providers.clients import Access
        from convex_evals.models.providers.faults import Faults
        from convex_evals.models.providers.line import StreamingLine

        line = StreamingLine(Access.to(self.entry, self.key), Faults(self.entry, Redaction(self.key)), self.patience)
        return PatientTransport(line, self.limits.of(self.entry.provider, self.key), self.patience)
