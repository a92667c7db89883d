"""Models that providers list and the registry does not know: found, shown as entries for models.toml, never added."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Final

from convex_evals.core.errors import InfrastructureError, UsageError
from convex_evals.core.settings import PROVIDER_VARIABLES, Secret, Settings, key_variables
from convex_evals.models.registry import ADDRESSES, ApiKind, Price, Provider, Registry

LISTING: Final[frozenset[ApiKind]] = frozenset({"openai-chat", "openai-responses", "openrouter"})
"""Providers of these kinds list their models as OpenAI does."""
SECONDS: Final = 30.0
PER_MILLION: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Discovered:
    """A model as its provider lists it."""

    provider: str
    model: str
    name: str | None = None
    created: date | None = None
    context_tokens: int | None = None
    price: Price | None = None

    @property
    def slug(self) -> str:
        return f"{self.provider}/{self.model}"


def listing_providers(registry: Registry, settings: Settings, names: Sequence[str] = ()) -> tuple[Provider, ...]:
    """Those that can be asked for a list: the named ones, or all with an address and a key. Raises UsageError."""
    able = {each.name: each for each in registry.providers.values() if _address(each) is not None}
    for name in names:
        if name not in able:
            raise UsageError(f"{name!r} has no list of models to ask for; those that have are {', '.join(able)}.")
        if _lacks_key(able[name], settings):
            variables = " or ".join(key_variables(name))
            raise UsageError(f"{name} needs a key: set {variables} in the environment or in .env.")
    chosen = [able[name] for name in names] or [each for each in able.values() if not _lacks_key(each, settings)]
    return tuple(chosen)


def discover(provider: Provider, registry: Registry, settings: Settings, since: date | None = None) -> list[Discovered]:
    """What the provider lists and the registry lacks, the newest first. Raises InfrastructureError."""
    known = {(each.provider, each.model) for each in registry.models.values()}
    listed = [_discovered(provider.name, each) for each in _listed(provider, settings.provider_key(provider.name))]
    new = [each for each in listed if (each.provider, each.model) not in known]
    recent = [each for each in new if since is None or (each.created is not None and each.created >= since)]
    return sorted(recent, key=lambda each: (-(each.created or date.min).toordinal(), each.model))


def as_toml(found: Discovered, today: date) -> str:
    """An entry for models.toml."""
    lines = ["[[model]]", f"slug = {json.dumps(found.slug)}"]
    if found.name is not None:
        lines.append(f"name = {json.dumps(found.name, ensure_ascii=False)}")
    if found.context_tokens is not None:
        lines.append(f"context_tokens = {found.context_tokens}")
    if found.price is not None:
        lines.append(f"price = {{ input = {found.price.input:g}, output = {found.price.output:g} }}")
    return "\n".join([*lines, f"first_seen = {today.isoformat()}"])


def _address(provider: Provider) -> str | None:
    """A server of one's own has no usual address."""
    usual = provider.api != "openai-chat" or provider.name == "openai"
    if provider.api not in LISTING or not (provider.base_url or usual):
        return None
    return provider.base_url or ADDRESSES[provider.api]


def _lacks_key(provider: Provider, settings: Settings) -> bool:
    """A provider that the user added may be open to everyone."""
    return provider.name in PROVIDER_VARIABLES and settings.provider_key(provider.name) is None


def _listed(provider: Provider, key: Secret | None) -> list[Mapping[str, Any]]:
    import httpx2

    address = f"{_address(provider)}/models"
    headers = {"Authorization": f"Bearer {key.reveal()}"} if key is not None else {}
    try:
        answer = httpx2.get(address, headers=headers, timeout=SECONDS)
    except httpx2.HTTPError as error:
        raise InfrastructureError(f"{provider.name} does not answer at {address}: {type(error).__name__}.") from error
    if answer.status_code != 200:
        raise InfrastructureError(f"{provider.name} refused to list its models (HTTP {answer.status_code}).")
    try:
        listed = answer.json()["data"]
        return [each for each in listed if isinstance(each["id"], str) and each["id"]]
    except (ValueError, KeyError, TypeError) as error:
        raise InfrastructureError(f"{provider.name} sent a list of models that cannot be read.") from error


def _discovered(provider: str, listed: Mapping[str, Any]) -> Discovered:
    name, created, context = listed.get("name"), listed.get("created"), listed.get("context_length")
    return Discovered(
        provider,
        listed["id"],
        name if isinstance(name, str) and name else None,
        datetime.fromtimestamp(created, UTC).date() if isinstance(created, int) and 0 < created < 1 << 33 else None,
        context if isinstance(context, int) and context > 0 else None,
        _price(listed.get("pricing")),
    )


def _price(pricing: object) -> Price | None:
    """OpenRouter says dollars per token, as text."""
    if not isinstance(pricing, dict):
        return None
    try:
        price = Price(float(pricing["prompt"]) * PER_MILLION, float(pricing["completion"]) * PER_MILLION)
    except (KeyError, TypeError, ValueError):
        return None
    return price if price.input >= 0 and price.output >= 0 else None
