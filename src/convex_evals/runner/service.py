"""A scores service as runners see it: what they ask of it over HTTP, and why it says no."""

from collections.abc import Mapping
from typing import Final, Literal, TypeVar
from urllib.parse import urlsplit

import httpx2
import msgspec

from convex_evals.core.settings import Destination
from convex_evals.scores import (
    PART,
    Batch,
    Holder,
    LeaseRenewal,
    MissingArtifacts,
    Received,
    Wanted,
    encode,
)

T = TypeVar("T")
Answer = Literal["token", "conflict", "incomplete", "held", "outdated", "invalid", "unavailable"]
TIMEOUT: Final = httpx2.Timeout(30.0, connect=5.0)
RECORDS: Final = "/api/v1/records"
_LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")
_MEANINGS: Final[dict[str, Answer]] = {
    "Conflict": "conflict",
    "Incomplete": "incomplete",
    "Held": "held",
    "Outdated": "outdated",
    "InvalidRequest": "invalid",
    "TooLarge": "invalid",
}
LONGEST_REASON: Final = 300


class Refusal(Exception):
    """Why a request was not fulfilled, in one sentence. `wait` is what the service wants, in seconds."""

    def __init__(self, answer: Answer, reason: str, wait: float = 0.0) -> None:
        super().__init__(reason)
        self.answer, self.wait = answer, wait


class Service:
    """Safe to use again after a Refusal. One at a time."""

    def __init__(self, destination: Destination) -> None:
        token = destination.token
        headers = {"authorization": f"Bearer {token.reveal()}"} if token is not None else {}
        # A proxy of the environment is honoured, but not on the way to this machine itself.
        direct = urlsplit(destination.url).hostname in _LOOPBACK
        self._http = httpx2.Client(base_url=destination.url, headers=headers, timeout=TIMEOUT, trust_env=not direct)

    def close(self) -> None:
        self._http.close()

    def missing(self, artifacts: tuple[str, ...]) -> dict[str, int]:
        """Those that are not there, and how much of each is."""
        wanted = encode(Wanted(list(artifacts)))
        return self._ask("POST", "/artifacts/missing", wanted, MissingArtifacts).missing

    def put(self, sha256: str, content: bytes, start: int = 0) -> None:
        """From `start` on, which is where a part begins; the last part in any case: it completes the artifact."""
        path, total = f"/artifacts/{sha256}", len(content)
        if total <= PART:
            self._ask("PUT", path, content, Received)
            return
        last = (total - 1) // PART * PART
        for offset in range(min(start, last), total, PART):
            part = content[offset : offset + PART]
            place = {"content-range": f"bytes {offset}-{offset + len(part) - 1}/{total}"}
            self._ask("PUT", path, part, Received, place)

    def record(self, batch: Batch) -> None:
        self._ask("POST", "", encode(batch), Received)

    def renew(self, runs: list[str], holder: Holder) -> None:
        self._ask("POST", "/leases", encode(LeaseRenewal(runs, holder)), Received)

    def send(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> httpx2.Response:
        """One request; `path` is that below the recording routes."""
        return self._http.request(method, f"{RECORDS}{path}", content=body, headers=headers)

    def _ask(self, method: str, path: str, body: bytes, kind: type[T], headers: dict[str, str] | None = None) -> T:
        try:
            response = self.send(method, path, body, headers or {})
        except (httpx2.HTTPError, OSError) as error:
            raise Refusal("unavailable", f"it cannot be reached ({_reason(error)})") from error
        if response.status_code != httpx2.codes.OK:
            raise _refusal(response)
        try:
            return msgspec.json.decode(response.content, type=kind)
        except msgspec.DecodeError as error:
            raise Refusal("unavailable", "what answers there is no scores service") from error


def _refusal(response: httpx2.Response) -> Refusal:
    code, message = _problem(response)
    if response.status_code in (401, 403):
        return Refusal("token", message)
    if response.status_code in (409, 413, 422) and code in _MEANINGS:
        return Refusal(_MEANINGS[code], message)
    wait = response.headers.get("retry-after", "")
    return Refusal("unavailable", message, float(wait) if wait.isdecimal() else 0.0)


def _problem(response: httpx2.Response) -> tuple[str, str]:
    """The code and the sentence of an answer, whoever gave it."""
    try:
        problem = msgspec.json.decode(response.content)["error"]
        return str(problem["code"]), str(problem["message"])[:LONGEST_REASON].rstrip(".")
    except (msgspec.DecodeError, KeyError, TypeError):
        return "", f"it answered {response.status_code}"


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:LONGEST_REASON] or type(error).__name__
