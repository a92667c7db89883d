"""The registry: which models there are and how they are asked. Our list, and the user's ./models.toml."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Final, Literal, cast, get_args

from convex_evals.core.errors import UsageError
from convex_evals.core.settings import PROVIDER_VARIABLES
from convex_evals.core.toml_file import TomlTable, read_toml

ApiKind = Literal["openai-responses", "openai-chat", "anthropic", "google", "openrouter", "built-in", "recorded"]
ReasoningEffort = Literal["none", "minimal", "low", "medium", "high", "xhigh"]


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens. `cached` input costs as much as other input unless it is given."""

    input: float
    output: float
    cached: float | None = None


@dataclass(frozen=True, slots=True)
class ModelEntry:
    slug: str  # provider/model, as users and scores name it
    name: str  # as tables show it
    provider: str
    model: str  # as the provider names it
    api: ApiKind
    base_url: str | None = None  # None: the provider's usual one
    context_tokens: int | None = None
    output_tokens: int | None = None  # the most that is asked for, reasoning included
    reasoning: ReasoningEffort | None = None  # None: whatever the provider does by default
    price: Price | None = None  # overrides every other source
    tags: tuple[str, ...] = ()
    first_seen: date | None = None  # the day the registry first had it
    web_search: bool = False  # whether its provider can let it search
    experiment: str | None = None  # the one that recorded answers were made with
    listed: bool = True  # False: made up from a provider's defaults, because no file lists it

    @property
    def needs_key(self) -> bool:
        """Whether its provider refuses everyone without a key; a server of one's own may or may not."""
        return self.api not in ("built-in", "recorded") and self.provider in PROVIDER_VARIABLES


@dataclass(frozen=True, slots=True)
class Provider:
    """Who serves models, and what its models have in common."""

    name: str
    api: ApiKind
    base_url: str | None = None
    output_tokens: int | None = None
    web_search: bool = False
    open: bool = True  # whether it has models that no file lists


@dataclass(frozen=True, slots=True)
class Registry:
    providers: Mapping[str, Provider]
    models: Mapping[str, ModelEntry]  # by slug, in the order of the files

    def find(self, name: str) -> ModelEntry:
        """By slug, by the part after the provider if only one model has it, or any model of a known provider.

        Raises UsageError.
        """
        if name in self.models:
            return self.models[name]
        short = [entry for entry in self.models.values() if name and entry.slug.partition("/")[2] == name]
        if len(short) > 1:
            raise UsageError(f"{name!r} may be {' or '.join(entry.slug for entry in short)}; include the provider.")
        return short[0] if short else self._unlisted(name)

    def _unlisted(self, name: str) -> ModelEntry:
        provider_name, slash, model = name.partition("/")
        provider = self.providers.get(provider_name)
        if not slash or not model or provider is None or not provider.open:
            raise UsageError(self._unknown(name, provider))
        return ModelEntry(
            slug=name,
            name=model,
            provider=provider.name,
            model=model,
            api=provider.api,
            base_url=provider.base_url,
            output_tokens=provider.output_tokens,
            web_search=provider.web_search,
            listed=False,
        )

    def _unknown(self, name: str, provider: Provider | None) -> str:
        near = get_close_matches(name, [*self.models], n=1, cutoff=0.6)
        hint = f"did you mean {near[0]}?" if near else "`convex-evals models` lists them."
        if "/" in name and provider is None:
            known = ", ".join(each.name for each in self.providers.values() if each.open)
            return f"There is no model {name!r}: its provider must be one of {known}; {hint}"
        return f"There is no model {name!r}; {hint}"


ADDRESSES: Final[Mapping[ApiKind, str]] = {
    "openai-chat": "https://api.openai.com/v1",
    "openai-responses": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
    "google": "https://generativelanguage.googleapis.com",
    "openrouter": "https://openrouter.ai/api/v1",
}
"""Where a provider without a base_url is. Without these, the libraries would look for others in the environment."""
FILE: Final = "models.toml"
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]*")
_SLUG: Final = re.compile(r"[a-z0-9][a-z0-9_-]*(?:/[A-Za-z0-9][A-Za-z0-9._:@/-]*)?")
_APIS: Final = get_args(ApiKind)
_EFFORTS: Final = get_args(ReasoningEffort)
_CLOSED: Final = frozenset({"built-in", "recorded"})


def load_registry(folder: Path | None = None) -> Registry:
    """`folder`, the working folder unless given, is where the user's file is looked for. Raises UsageError."""
    source = files("convex_evals.models") / FILE
    registry = _extended(Registry({}, {}), read_toml(Path(FILE), source.read_text(encoding="utf-8")))
    path = (folder or Path.cwd()) / FILE
    return _extended(registry, read_toml(path)) if path.is_file() else registry


def _extended(registry: Registry, file: TomlTable) -> Registry:
    providers = {**registry.providers, **_providers(file.table("providers"))}
    models: dict[str, ModelEntry] = {}
    for table in file.list_of_tables("model"):
        entry = _entry(table, providers)
        if entry.slug in models:
            raise UsageError(f"{table.where} has the slug {entry.slug}, which another model has already.")
        models[entry.slug] = entry
    file.finish()
    return Registry(providers, {**registry.models, **models})


def _providers(table: TomlTable | None) -> dict[str, Provider]:
    return {name: _provider(name, each) for name, each in table.tables()} if table else {}


def _provider(name: str, table: TomlTable) -> Provider:
    if not _NAME.fullmatch(name):
        raise UsageError(f"{table.where} must have a name of lower-case letters, digits, _ and -.")
    api = _api(table)
    if api is None:
        raise UsageError(f"{table.where} needs 'api', one of {', '.join(_APIS)}.")
    provider = Provider(
        name=name,
        api=api,
        base_url=_url(table),
        output_tokens=table.whole_number("output_tokens"),
        web_search=table.flag("web_search") or False,
        open=api not in _CLOSED,
    )
    table.finish()
    return provider


def _entry(table: TomlTable, providers: Mapping[str, Provider]) -> ModelEntry:
    slug = table.required_text("slug")
    if not _SLUG.fullmatch(slug):
        raise UsageError(f"{table.where} has the slug {slug!r}, which must look like provider/model.")
    table = replace(table, place=f"[[model]] {slug}")
    provider = _provider_of(slug, table, providers)
    short = slug.partition("/")[2] or slug
    entry = ModelEntry(
        slug=slug,
        name=table.text("name") or short,
        provider=provider.name,
        model=table.text("model") or short,
        api=_api(table) or provider.api,
        base_url=_url(table) or provider.base_url,
        context_tokens=table.whole_number("context_tokens"),
        output_tokens=table.whole_number("output_tokens") or provider.output_tokens,
        reasoning=cast(ReasoningEffort | None, table.one_of("reasoning", _EFFORTS)),
        price=_price(table),
        tags=table.texts("tags"),
        first_seen=table.day("first_seen"),
        web_search=_either(table.flag("web_search"), provider.web_search),
        experiment=table.text("experiment"),
    )
    table.finish()
    return entry


def _provider_of(slug: str, table: TomlTable, providers: Mapping[str, Provider]) -> Provider:
    name = table.text("provider") or slug.partition("/")[0]
    if name not in providers:
        known = ", ".join(providers)
        raise UsageError(f"{table.where} has the provider {name!r}, not one of {known}; add [providers.{name}].")
    return providers[name]


def _price(table: TomlTable) -> Price | None:
    price = table.table("price")
    if price is None:
        return None
    asked, answered, cached = price.amount("input"), price.amount("output"), price.amount("cached")
    price.finish()
    if asked is None or answered is None:
        raise UsageError(f"{price.where} needs 'input' and 'output', in US dollars per million tokens.")
    return Price(asked, answered, cached)


def _api(table: TomlTable) -> ApiKind | None:
    return cast(ApiKind | None, table.one_of("api", _APIS))


def _url(table: TomlTable) -> str | None:
    url = table.text("base_url")
    if url is not None and not url.startswith(("http://", "https://")):
        raise UsageError(f"{table.where} has base_url = {url!r}, which must begin with http:// or https://.")
    return url


def _either(given: bool | None, default: bool) -> bool:
    return default if given is None else given
