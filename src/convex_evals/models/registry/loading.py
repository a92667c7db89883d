"""Reads the registry: our list, and the user's ./models.toml, whose entries are added or replace ours."""

import re
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Final, cast, get_args

from convex_evals.core.errors import UsageError
from convex_evals.models.registry.entry import ApiKind, ModelEntry, Price, ReasoningEffort
from convex_evals.models.registry.registry import Provider, Registry
from convex_evals.models.toml_file import TomlTable, read_toml

FILE: Final = "models.toml"
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]*")
_SLUG: Final = re.compile(r"[a-z0-9][a-z0-9_-]*(?:/[A-Za-z0-9][A-Za-z0-9._:@/-]*)?")
_APIS: Final = get_args(ApiKind)
_EFFORTS: Final = get_args(ReasoningEffort)
_CLOSED: Final = frozenset({"built-in", "recorded"})


def load_registry(folder: Path | None = None) -> Registry:
    """`folder`, the working folder unless given, is where the user's file is looked for. Raises UsageError."""
    source = files("convex_evals.models.registry") / FILE
    registry = _extended(Registry({}, {}), read_toml(Path(FILE), source.read_text(encoding="utf-8")))
    path = (folder or Path.cwd()) / FILE
    return _extended(registry, read_toml(path)) if path.is_file() else registry


def _extended(registry: Registry, file: TomlTable) -> Registry:
    providers = {**registry.providers, **_providers(file.table("providers"))}
    models: dict[str, ModelEntry] = {}
    for table in file.list_of_tables("model"):
        entry = _entry(table, providers)
        if entry.slug in models:
            raise UsageError(f"{table.where} has the slug {entry.slug}, which is there twice.")
        models[entry.slug] = entry
    file.finish()
    return Registry(providers, {**registry.models, **models})


def _providers(table: TomlTable | None) -> dict[str, Provider]:
    return {name: _provider(name, each) for name, each in table.tables()} if table else {}


def _provider(name: str, table: TomlTable) -> Provider:
    if not _NAME.fullmatch(name):
        raise UsageError(f"{table.where} must have a name of small letters, digits, _ and -.")
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
    )
    table.finish()
    return entry


def _provider_of(slug: str, table: TomlTable, providers: Mapping[str, Provider]) -> Provider:
    name = table.text("provider") or slug.partition("/")[0]
    if name not in providers:
        known = ", ".join(providers)
        raise UsageError(f"{table.where} has the provider {name!r}, which is none of {known}; add [providers.{name}].")
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
