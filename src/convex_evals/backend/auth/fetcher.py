"""Requests to auth providers, and for how long their answers stay fresh."""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Final

from convex_evals.backend.runtime import Network, NetworkPolicy, is_loopback

if TYPE_CHECKING:
    import httpx2

LARGEST_BODY: Final = 1024 * 1024
TIMEOUT_SECONDS: Final = 10.0
SCHEMES: Final = ("http", "https")
# Uncompressed, so that a small answer cannot unpack into a large one.
HEADERS: Final = {"accept": "application/json", "accept-encoding": "identity"}

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class Answered:
    status: int
    content_type: str
    body: bytes
    fresh_seconds: float = 0.0

    @property
    def ok(self) -> bool:
        return self.status == 200

    @property
    def asks_to_retry(self) -> bool:
        """The provider has trouble of its own, which says nothing about the token."""
        return self.status == 429 or self.status >= 500

    @property
    def text(self) -> str:
        return self.body.decode(errors="replace")


@dataclass(frozen=True, slots=True, eq=False)
class Unanswered:
    """`forbidden` when this deployment did not even ask."""

    reason: str
    forbidden: bool = False


Answer = Answered | Unanswered


class Fetcher:
    def __init__(
        self,
        network: NetworkPolicy = Network.LOOPBACK,
        timeout: float = TIMEOUT_SECONDS,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._network = network
        self._timeout = timeout
        self._now = now

    async def fetch(self, url: str) -> Answer:
        """One GET. Redirects are answers like any other, for they could lead where this deployment may not go."""
        import httpx2

        try:
            parsed = httpx2.URL(url)
            refusal = self._refusal(parsed)
            if refusal is not None:
                return refusal
            async with asyncio.timeout(self._timeout):
                return await self._get(parsed)
        except TimeoutError:
            reason = f"no answer within {self._timeout:g} seconds"
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            reason = str(error) or type(error).__name__
        logger.warning("no answer from %s: %s", url, reason)
        return Unanswered(reason)

    def _refusal(self, url: "httpx2.URL") -> Unanswered | None:
        if url.scheme not in SCHEMES:
            return Unanswered(f"the scheme must be http or https, not '{url.scheme}'", forbidden=True)
        if self._network is Network.INTERNET:
            return None
        if url.host == "localhost" or is_loopback(url.host):
            return None
        return Unanswered(
            f"this deployment may only connect to localhost and 127.0.0.1, not to {url.host}", forbidden=True
        )

    async def _get(self, url: "httpx2.URL") -> Answer:
        import httpx2

        from convex_evals.backend.auth.transport import policy_transport

        # Certificates take long to load, and plain HTTP has none to check.
        verify = url.scheme == "https"
        transport = None if self._network is Network.INTERNET else policy_transport(self._network, verify=verify)
        client = httpx2.AsyncClient(verify=verify, trust_env=False, timeout=None, transport=transport)
        async with client, client.stream("GET", url, headers=HEADERS) as response:
            if response.headers.get("content-encoding", "identity") != "identity":
                return Unanswered("the answer is compressed, which was not asked for")
            body = bytearray()
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > LARGEST_BODY:
                    return Unanswered(f"the answer is larger than {LARGEST_BODY} bytes")
            content_type = response.headers.get("content-type", "")
            return Answered(
                response.status_code, content_type, bytes(body), fresh_seconds(response.headers, self._now())
            )


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
