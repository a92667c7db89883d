"""How long an answer may be used again, by its own cache headers (RFC 9111)."""

from collections.abc import Mapping
from email.utils import parsedate_to_datetime


def fresh_seconds(headers: Mapping[str, str], now: float) -> float:
    """0 for an answer that must not be kept, or does not say for how long. `headers` has lower-case names."""
    directives = _directives(headers.get("cache-control", ""))
    if "no-store" in directives or "no-cache" in directives:
        return 0.0
    lifetime = _whole_number(directives.get("max-age"))
    if lifetime is None:
        lifetime = _until_expiry(headers, now)
    return max(0.0, lifetime - (_whole_number(headers.get("age")) or 0.0))


def _directives(text: str) -> dict[str, str]:
    pairs = (directive.strip().partition("=") for directive in text.split(","))
    return {name.strip().lower(): value.strip().strip('"') for name, _, value in pairs}


def _whole_number(text: str | None) -> float | None:
    return float(text) if text is not None and text.isascii() and text.isdigit() else None


def _until_expiry(headers: Mapping[str, str], now: float) -> float:
    expires = _moment(headers.get("expires"))
    if expires is None:
        return 0.0
    sent = _moment(headers.get("date"))
    return expires - (now if sent is None else sent)


def _moment(text: str | None) -> float | None:
    try:
        return None if text is None else parsedate_to_datetime(text).timestamp()
    except ValueError:
        return None
