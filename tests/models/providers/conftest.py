"""Models that are asked over HTTP, of a server on this machine."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from convex_evals.core.settings import Settings, read_settings
from convex_evals.models.prompt import Prompt
from convex_evals.models.providers import AskSettings, Question, Reply, RequestPolicy, Transport, open_provider
from convex_evals.models.registry import ApiKind, ModelEntry

KEY = "sk-test-0123456789abcdef"
QUICK = RequestPolicy(deadline=60, first_token=30, stall=30, first_pause=0.01, longest_pause=0.02)


@dataclass
class Asker:
    """Asks the server as if it were this or that provider."""

    server: Any
    settings: Settings

    def entry(self, provider: str = "local", api: ApiKind = "openai-chat", **changes: Any) -> ModelEntry:
        # Anthropic and Google put the version into the path themselves.
        root = self.server.url if api.startswith("open") else self.server.url.removesuffix("/v1")
        given = {"model": "tiny", "base_url": root, **changes}
        return ModelEntry(f"{provider}/tiny", "Tiny", provider, api=api, **given)

    def transport(self, entry: ModelEntry | None = None, **policy: Any) -> Transport:
        return open_provider(entry or self.entry(), self.settings, policy=replace(QUICK, **policy))

    async def ask(self, entry: ModelEntry | None = None, settings: AskSettings | None = None, **policy: Any) -> Reply:
        question = Question(Prompt("You write Convex.", "Say hello."), settings or AskSettings(output_tokens=500))
        return await self.transport(entry, **policy).ask(question)


@pytest.fixture
def asker(provider_server: Any, tmp_path: Path) -> Asker:
    names = ("OPENAI", "ANTHROPIC", "GOOGLE", "OPENROUTER", "LOCAL")
    environment = {f"{name}_API_KEY": KEY for name in names}
    return Asker(provider_server, read_settings(environment=environment, cwd=tmp_path))


@pytest.fixture
def key() -> str:
    return KEY


@pytest.fixture
def recorded() -> Callable[[str], bytes]:
    """A body as a provider sends it, written from its public documentation."""
    return lambda name: (Path(__file__).parent / "recorded" / name).read_bytes()
