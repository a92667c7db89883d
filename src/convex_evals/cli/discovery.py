"""`models discover`: entries for models.toml, made of what providers list."""

from collections.abc import Sequence
from datetime import UTC, date, datetime

from convex_evals.cli.output import count, print_json, remark
from convex_evals.core.errors import InfrastructureError, UsageError
from convex_evals.core.settings import Settings
from convex_evals.models import Discovered, Registry, as_toml, discover, listing_providers


def discover_models(registry: Registry, settings: Settings, names: Sequence[str], since: str | None, json: bool) -> int:
    """The exit code."""
    day = _day(since)
    providers = listing_providers(registry, settings, names)
    if not providers:
        raise UsageError("There is no key of a provider that lists its models; set OPENROUTER_API_KEY, for example.")
    found, code = list[Discovered](), 0
    for provider in providers:
        try:
            new = discover(provider, registry, settings, day)
        except InfrastructureError as error:
            remark(str(error))
            code = error.exit_code
            continue
        remark(f"{provider.name}: {count(len(new), 'model')} that the registry does not know")
        found += new
    _show(found, json)
    return code


def _show(found: Sequence[Discovered], json: bool) -> None:
    if json:
        print_json({"models": [_as_json(each) for each in found]})
        return
    today = datetime.now(UTC).date()
    print("\n\n".join(as_toml(each, today) for each in found))


def _as_json(found: Discovered) -> dict[str, object]:
    return {
        "slug": found.slug,
        "provider": found.provider,
        "model": found.model,
        "name": found.name,
        "created": found.created.isoformat() if found.created else None,
        "contextTokens": found.context_tokens,
        "price": {"input": found.price.input, "output": found.price.output} if found.price else None,
    }


def _day(given: str | None) -> date | None:
    try:
        return None if given is None else date.fromisoformat(given)
    except ValueError as error:
        raise UsageError(f"--since must be a day like 2026-11-01, but it is {given!r}.") from error
