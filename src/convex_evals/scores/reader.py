"""How a scores service is asked over HTTP: page by page, and again when it is busy."""

import time
from collections.abc import Iterator
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

import httpx2
import msgspec

from convex_evals.core.errors import InfrastructureError, UsageError
from convex_evals.core.settings import Secret

T = TypeVar("T")
PAGE: Final = 500
TIMEOUT: Final = httpx2.Timeout(60.0, connect=10.0)
TRIES: Final = 4
_PAUSE_SECONDS: Final = 0.2
_LONGEST_WAIT_SECONDS: Final = 30.0
_BUSY: Final = (429, 502, 503, 504)
_REFUSED: Final = (401, 403)
_LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")


class ServiceReader:
    """Safe to use from several threads. One question is asked once: the answers are those of the first time.

    Redirections are not followed, so that a token never gets to another host.
    """

    def __init__(self, url: str, token: Secret | None) -> None:
        self.location = url
        headers = {"authorization": f"Bearer {token.reveal()}"} if token else {}
        # A proxy of the environment is honoured, but not on the way to this machine itself.
        direct = urlsplit(url).hostname in _LOOPBACK
        self._client = httpx2.Client(base_url=f"{url}/api/v1", headers=headers, timeout=TIMEOUT, trust_env=not direct)
        self._known: dict[tuple[str, ...], bytes] = {}

    def close(self) -> None:
        self._client.close()

    def one(self, kind: type[T], path: str, parameters: dict[str, str] | None = None) -> T:
        return _decoded(self.content(path, parameters), kind, self.location)

    def items(
        self, kind: type[T], path: str, parameters: dict[str, str] | None = None, limit: int | None = None
    ) -> tuple[T, ...]:
        """Page by page, until there are `limit` or no more."""
        pages = self._pages(kind, path, dict(parameters or {}), limit)
        found = tuple(each for page in pages for each in page)
        return found if limit is None else found[:limit]

    def _pages(self, kind: type[T], path: str, parameters: dict[str, str], limit: int | None) -> Iterator[list[T]]:
        left = limit
        while left is None or left > 0:
            size = PAGE if left is None else min(PAGE, left)
            body = self.content(path, {**parameters, "limit": str(size)})
            page = _decoded(body, _page_of(kind), self.location)
            yield page.items
            if page.next is None:
                return
            parameters["cursor"] = page.next
            left = None if left is None else left - len(page.items)

    def content(self, path: str, parameters: dict[str, str] | None = None) -> bytes:
        """Raises UsageError when it says no, and InfrastructureError when it cannot answer."""
        given = parameters or {}
        key = (path, *sorted(f"{name}={value}" for name, value in given.items()))
        if key not in self._known:
            self._known[key] = self._checked(self._answer(path, given))
        return self._known[key]

    def send(self, path: str, body: object) -> None:
        """Once: what may have arrived is not sent again."""
        try:
            answer = self._client.post(path, json=body)
        except httpx2.TransportError as error:
            raise self._unreachable(error) from error
        self._checked(answer)

    def _answer(self, path: str, parameters: dict[str, str]) -> httpx2.Response:
        """The last one, if it was asked several times."""
        for tries in range(1, TRIES):
            try:
                answer = self._client.get(path, params=parameters)
            except httpx2.TransportError:
                time.sleep(_PAUSE_SECONDS * tries)
                continue
            if answer.status_code not in _BUSY:
                return answer
            time.sleep(_wanted_wait(answer))
        try:
            return self._client.get(path, params=parameters)
        except httpx2.TransportError as error:
            raise self._unreachable(error) from error

    def _unreachable(self, error: httpx2.TransportError) -> InfrastructureError:
        why = type(error).__name__
        return InfrastructureError(f"{self.location} cannot be reached ({why}); check the address, or try again later.")

    def _checked(self, answer: httpx2.Response) -> bytes:
        if answer.is_success:
            return answer.content
        said = _message(answer)
        if answer.status_code in _REFUSED:
            raise UsageError(f"{self.location} refuses: {said} {_TOKEN_ADVICE}")
        if answer.status_code < 500 and answer.status_code != 429:
            raise UsageError(f"{self.location} says: {said}")
        raise InfrastructureError(f"{self.location} cannot answer now: {said}")


_TOKEN_ADVICE: Final = "Set CONVEX_EVAL_URL to its address and CONVEX_AUTH_TOKEN to a token with this right."


def _wanted_wait(answer: httpx2.Response) -> float:
    wanted = answer.headers.get("retry-after", "")
    return min(float(wanted), _LONGEST_WAIT_SECONDS) if wanted.isdecimal() else 1.0


def _page_of(kind: type[T]) -> Any:
    return msgspec.defstruct("Page", [("items", list[kind]), ("next", str | None, None)])  # type: ignore[valid-type]


def _decoded(body: bytes, kind: type[T], where: str) -> T:
    try:
        return msgspec.json.decode(body, type=kind, dec_hook=_made)
    except msgspec.DecodeError as error:
        raise InfrastructureError(
            f"{where} sent what this version cannot read ({error}); is it a convex-evals service, and as new as this?"
        ) from error


def _made(kind: type[Any], value: Any) -> Any:
    """Of types that JSON does not know, such as paths."""
    return kind(value)


def _message(answer: httpx2.Response) -> str:
    try:
        said = str(answer.json()["error"]["message"])
    except (ValueError, KeyError, TypeError):
        said = f"status {answer.status_code}."
    return said if said.endswith(".") else f"{said}."
