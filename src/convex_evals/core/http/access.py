"""Which hosts and origins a server answers: its own, and this machine's.

Every page in a person's browser can reach a server on that person's machine, under any name that a foreign DNS server
gives it. So requests must name a host that is meant.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

# Names that always mean this machine, so that no foreign DNS server can claim them. Foreign suites call 0.0.0.0.
# The port does not matter: through a tunnel it is another one.
_THIS_MACHINE: Final = r"(?:127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[::1\]|(?:[a-z0-9-]+\.)*localhost)"
_LOCAL_HOST: Final = re.compile(rf"{_THIS_MACHINE}(?::\d{{1,5}})?", re.IGNORECASE)
_LOCAL_ORIGIN: Final = re.compile(rf"https?://{_THIS_MACHINE}(?::\d{{1,5}})?", re.IGNORECASE)
_HOST: Final = re.compile(r"(\[[0-9a-f:.]+\]|[^\[\]:/@?#\s]+)(?::\d{1,5})?", re.IGNORECASE)


class InvalidAddress(ValueError):
    """Not a host name, or not an origin; the message says which, with an example."""


@dataclass(frozen=True, slots=True)
class Access:
    """Allowed hosts (without port) and origins, in lower case. Those of this machine always have access."""

    hosts: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()

    @classmethod
    def of(cls, addresses: Iterable[str], hosts: Iterable[str] = (), origins: Iterable[str] = ()) -> "Access":
        """For a deployment with these addresses (empty ones are ignored). Raises InvalidAddress."""
        own = [parse_origin(address) for address in addresses if address]
        named = {parse_host(urlsplit(origin).netloc) for origin in own} | {parse_host(host) for host in hosts}
        return cls(frozenset(named), frozenset({*own, *(parse_origin(origin) for origin in origins)}))

    def has_host(self, header: str) -> bool:
        if _LOCAL_HOST.fullmatch(header):
            return True
        found = _HOST.fullmatch(header)
        return found is not None and found[1].lower() in self.hosts

    def has_origin(self, header: str) -> bool:
        return _LOCAL_ORIGIN.fullmatch(header) is not None or header.lower() in self.origins


THIS_MACHINE: Final = Access()


def parse_host(text: str) -> str:
    """The name without a port."""
    found = _HOST.fullmatch(text)
    if found is None:
        raise InvalidAddress(f"Expected the name of a host such as convex.example, but got {text!r}.")
    return found[1].lower()


def parse_origin(text: str) -> str:
    """`scheme://host[:port]`, as browsers send it; a trailing slash is dropped."""
    parts = urlsplit(text)
    rest = (parts.path.rstrip("/"), parts.query, parts.fragment)
    if not parts.scheme or any(rest) or _HOST.fullmatch(parts.netloc) is None:
        raise InvalidAddress(f"Expected an origin such as https://app.example:8443, but got {text!r}.")
    return f"{parts.scheme}://{parts.netloc}".lower()
