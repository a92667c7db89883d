"""Who asks, and what they may do: tokens of programs, sessions of people, and how often either may be wrong."""

import hashlib
import math
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from typing import Annotated, Final
from urllib.parse import quote

from fastapi import Depends, Request
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from convex_evals.scores import Grant, Right
from convex_evals.web.errors import RequestRefused, wants_json
from convex_evals.web.site import Site, current_site
from convex_evals.web.turns import Turns

MOST_KEYS: Final = 10_000
SESSION: Final = "convex_evals_session"
LONGEST_TOKEN: Final = 500


@dataclass(frozen=True, slots=True)
class Rate:
    """`burst` at once, and `per_second` in the long run."""

    burst: float
    per_second: float


@dataclass(slots=True)
class Throttle:
    """Remembers the most recent keys; the bucket of one that was not seen for long is full anyway."""

    rate: Rate
    clock: Callable[[], float] = time.monotonic
    _levels: OrderedDict[Hashable, tuple[float, float]] = field(default_factory=OrderedDict)

    def wait(self, key: Hashable) -> int:
        """Whole seconds until it may be done again; 0: now."""
        missing = 1 - self._level(key)
        return math.ceil(missing / self.rate.per_second) if missing > 0 else 0

    def take(self, key: Hashable) -> None:
        self._levels[key] = (self._level(key) - 1, self.clock())
        self._levels.move_to_end(key)
        if len(self._levels) > MOST_KEYS:
            self._levels.popitem(last=False)

    def _level(self, key: Hashable) -> float:
        level, since = self._levels.get(key, (self.rate.burst, self.clock()))
        return min(self.rate.burst, level + (self.clock() - since) * self.rate.per_second)


GUESSES: Final = Rate(burst=10, per_second=1 / 6)  # of one address
ALL_GUESSES: Final = Rate(burst=200, per_second=5)
REQUESTS: Final = Rate(burst=5000, per_second=500)  # with one token
REMEMBERED: Final = 1000
CHALLENGE: Final = {"www-authenticate": "Bearer"}
PUBLIC: Final = ("/login", "/static/", "/health")
RULES_OF_THEIR_OWN: Final = ("/api/v1/records", "/api/query", "/api/mutation", "/api/action", "/api/function")
"""Routes that ask for a right themselves: who records need not be able to read."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """`grant` is that of the token or session that was sent."""

    site: Site
    grant: Grant | None = None

    @property
    def name(self) -> str:
        return self.grant.name if self.grant else self.site.name

    def may(self, right: Right) -> bool:
        if self.grant is not None and self.grant.may(right):
            return True
        return (right == "read" and self.site.read == "open") or (right in ("read", "label") and self.site.desk)

    def require(self, right: Right) -> None:
        if self.may(right):
            return
        if self.grant is None:
            raise RequestRefused(401, "TokenNeeded", f"This needs a token with the right to {right}.", CHALLENGE)
        raise RequestRefused(403, "RightMissing", f"The token {self.grant.name!r} does not have the right to {right}.")


class Authenticator:
    """Checks tokens and sessions. Wrong ones count against the rate limit of whoever sends them."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._guesses, self._all_guesses, self._requests = Throttle(GUESSES), Throttle(ALL_GUESSES), Throttle(REQUESTS)
        self._good: OrderedDict[bytes, None] = OrderedDict()

    def check_token(self, token: str, address: str) -> Grant:
        return self._check(token, address, self._site.store.tokens.verify)

    def check_session(self, secret: str, address: str) -> Grant:
        return self._check(secret, address, self._site.store.sessions.verify)

    def _check(self, secret: str, address: str, verify: Callable[[str], Grant | None]) -> Grant:
        """Raises RequestRefused. Those who were right lately are let in however many others guess."""
        known = hashlib.sha256(secret.encode(errors="replace")).digest()
        wait = max(self._guesses.wait(address), self._all_guesses.wait(None))
        if wait and known not in self._good:
            raise _too_many(wait, "wrong tokens")
        grant = verify(secret) if len(secret) <= LONGEST_TOKEN else None
        if grant is None:
            self._good.pop(known, None)
            self._guesses.take(address)
            self._all_guesses.take(None)
            raise RequestRefused(401, "WrongToken", "The token is unknown, expired or revoked.", CHALLENGE)
        self._remember(known)
        self._limit(grant)
        return grant

    def _remember(self, known: bytes) -> None:
        self._good[known] = None
        self._good.move_to_end(known)
        if len(self._good) > REMEMBERED:
            self._good.popitem(last=False)

    def _limit(self, grant: Grant) -> None:
        if grant.deployment != self._site.name:
            raise RequestRefused(
                403,
                "WrongDeployment",
                f"The token {grant.name!r} is for {grant.deployment}, but this server is {self._site.name}; "
                f"use a token of {self._site.name}.",
            )
        if wait := self._requests.wait(grant.name):
            raise _too_many(wait, "requests")
        self._requests.take(grant.name)


class Guard:
    """Finds out who asks, and lets readers in. Routes that need another right ask for it with `requires`."""

    def __init__(self, app: ASGIApp, site: Site, authenticator: Authenticator, turns: Turns) -> None:
        self._app, self._site, self._authenticator, self._turns = app, site, authenticator, turns

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        request = Request(scope)
        visitor = await self._visitor(request)
        scope.setdefault("state", {})["visitor"] = visitor
        if not visitor.may("read") and not scope["path"].startswith((*PUBLIC, *RULES_OF_THEIR_OWN)):
            if visitor.grant is None and not wants_json(request):
                return await RedirectResponse(login_address(request), 303)(scope, receive, send)
            visitor.require("read")
        return await self._app(scope, receive, send)

    async def _visitor(self, request: Request) -> Visitor:
        address = address_of(request)
        if (token := sent_token(request.headers)) is not None:
            return Visitor(self._site, await self._turns.check(self._authenticator.check_token, token, address))
        secret = request.cookies.get(SESSION)
        if not secret or request.url.path.startswith(PUBLIC):
            return Visitor(self._site)
        try:
            return Visitor(self._site, await self._turns.check(self._authenticator.check_session, secret, address))
        except RequestRefused as refused:
            if refused.code != "WrongToken":
                raise
            return Visitor(self._site)  # a session that is over is none


def sent_token(headers: Headers) -> str | None:
    """`Bearer TOKEN`, or `Convex TOKEN` as the convex CLI sends it."""
    given = headers.get("authorization")
    if given is None:
        return None
    scheme, _, token = given.strip().partition(" ")
    if scheme.lower() not in ("bearer", "convex") or not token.strip():
        raise RequestRefused(401, "WrongToken", "Expected the header Authorization: Bearer TOKEN.", CHALLENGE)
    return token.strip()


def address_of(connection: HTTPConnection) -> str:
    return connection.client.host if connection.client else ""


def login_address(request: Request) -> str:
    query = f"?{request.url.query}" if request.url.query else ""
    return f"/login?next={quote(request.url.path + query, safe='/')}"


def visitor_of(request: Request) -> Visitor:
    found = getattr(request.state, "visitor", None)
    return found if isinstance(found, Visitor) else Visitor(current_site(request))


def requires(right: Right) -> Callable[[Request], Awaitable[Visitor]]:
    """Use as a dependency: `visitor: Annotated[Visitor, Depends(requires("label"))]`."""

    async def check(request: Request) -> Visitor:
        visitor = visitor_of(request)
        visitor.require(right)
        return visitor

    return check


Labeller = Annotated[Visitor, Depends(requires("label"))]
Recorder = Annotated[Visitor, Depends(requires("record"))]


def _too_many(wait: int, what: str) -> RequestRefused:
    return RequestRefused(429, "TooMany", f"Too many {what}; try again in {wait} s.", {"retry-after": str(wait)})
