"""Requests to auth providers, and their responses, used again while they are fresh."""

import asyncio
import logging
import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Final

from convex_evals.backend.runtime import Network, NetworkPolicy, is_loopback

if TYPE_CHECKING:
    import httpx2

LARGEST_BODY: Final = 1024 * 1024
TIMEOUT_SECONDS: Final = 10.0
MOST_URLS: Final = 64
MOST_RENEWALS: Final = 5
RENEWAL_SECONDS: Final = 60.0
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
    """`forbidden`: the request was not sent, because this deployment may not connect there."""

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


@dataclass(slots=True)
class _Slot:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    answer: Answer | None = None
    fresh_until: float = 0.0
    fetches: int = 0
    renewals: deque[float] = field(default_factory=lambda: deque(maxlen=MOST_RENEWALS))

    def take_renewal(self, now: float) -> bool:
        if len(self.renewals) == MOST_RENEWALS and now - self.renewals[0] < RENEWAL_SECONDS:
            return False
        self.renewals.append(now)
        return True

    def keep(self, answer: Answer, now: float) -> None:
        self.answer = answer
        self.fetches += 1
        self.fresh_until = now + answer.fresh_seconds if isinstance(answer, Answered) and answer.ok else 0.0


class Answers:
    """Concurrent requests for the same URL share one answer, even a missing one."""

    def __init__(self, fetch: Callable[[str], Awaitable[Answer]], now: Callable[[], float] = time.time) -> None:
        self._fetch = fetch
        self._now = now
        self._slots: OrderedDict[str, _Slot] = OrderedDict()

    async def get(self, url: str) -> Answer:
        slot = self._slot(url)
        if slot.answer is not None and self._now() < slot.fresh_until:
            return slot.answer
        fetches = slot.fetches
        async with slot.lock:
            if slot.fetches == fetches:
                slot.keep(await self._fetch(url), self._now())
            assert slot.answer is not None
            return slot.answer

    async def newer(self, url: str, than: Answered) -> Answered:
        """Fetches again before a cached answer expires, at most `MOST_RENEWALS` times in `RENEWAL_SECONDS`.

        A failed fetch leaves the cached answer: otherwise anyone who sends tokens could discard it."""
        if than.fresh_seconds == 0:
            return than
        slot = self._slot(url)
        async with slot.lock:
            if slot.answer is than and slot.take_renewal(self._now()):
                answer = await self._fetch(url)
                if isinstance(answer, Answered) and answer.ok:
                    slot.keep(answer, self._now())
            return slot.answer if isinstance(slot.answer, Answered) and slot.answer.ok else than

    def _slot(self, url: str) -> _Slot:
        slot = self._slots.setdefault(url, _Slot())
        self._slots.move_to_end(url)
        if len(self._slots) > MOST_URLS:
            self._slots.popitem(last=False)
        return slot
