"""Scores at a service, read over HTTP: what `ScoresStore` answers from a database, asked of `convex-evals serve`."""

import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any, Final, NoReturn, TypeVar
from urllib.parse import quote, urlsplit

import httpx2
import msgspec

from convex_evals.core.errors import InfrastructureError, UsageError
from convex_evals.core.retry import READING
from convex_evals.core.settings import Secret, is_service_url
from convex_evals.scores.artifacts import bytes_files, bytes_text
from convex_evals.scores.history import History
from convex_evals.scores.labels import Labels
from convex_evals.scores.outbox import Outbox, Unsent
from convex_evals.scores.records import (
    EVERY_RUN,
    Answer,
    AttemptDetails,
    AttemptRecord,
    AttemptStatus,
    Benchmark,
    FailuresAlike,
    GenerationRecord,
    LabelRecord,
    PendingEval,
    PlannedEval,
    Result,
    RunExport,
    RunFilter,
    RunRecord,
)
from convex_evals.scores.store import ScoresStore

T = TypeVar("T")
PAGE: Final = 500
TIMEOUT: Final = httpx2.Timeout(60.0, connect=10.0)
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
        for tries in range(1, READING.tries):
            try:
                answer = self._client.get(path, params=parameters)
            except httpx2.TransportError:
                time.sleep(READING.pause(tries))
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


class ReadOnly:
    """Whatever needs the database itself, above all to record something, raises UsageError."""

    location: str

    def __getattr__(self, name: str) -> NoReturn:
        """For attributes that are not here, for example `_database`."""
        if name.startswith("__") or name == "location":
            raise AttributeError(name)
        raise UsageError(f"Scores at {self.location} can only be read; name a database with --scores for this.")


class RemoteScores(ReadOnly, ScoresStore):
    """Answers what a `ScoresStore` answers, as it was when it was asked for the first time. Takes labels, too."""

    def __init__(self, url: str, token: Secret | None = None) -> None:
        self.location, self.upgraded = checked_url(url), None
        self.reader = ServiceReader(self.location, token)
        self.labels = RemoteLabels(self.reader)
        self.history = RemoteHistory(self.reader)
        self.outbox = RemoteOutbox()

    def close(self) -> None:
        self.reader.close()

    def benchmarks(self) -> tuple[Benchmark, ...]:
        return self.reader.items(Benchmark, "/benchmarks")

    def find_run(self, reference: str) -> RunRecord:
        return self.reader.one(RunRecord, f"/runs/{_part(reference)}")

    def runs(self, chosen: RunFilter = EVERY_RUN) -> tuple[RunRecord, ...]:
        given = {
            "model": chosen.model,
            "provider": chosen.provider,
            "experiment": chosen.experiment,
            "status": chosen.status,
            "since": chosen.since.isoformat() if chosen.since else None,
            "hidden": "true" if chosen.hidden else None,
            "cursor": chosen.older_than.id if chosen.older_than else None,
        }
        parameters = {name: value for name, value in given.items() if value is not None}
        return self.reader.items(RunRecord, "/runs", parameters, chosen.limit)

    def is_run_held(self, run_id: str) -> bool:
        return self.reader.one(bool, f"/runs/{run_id}/held")

    def planned(self, run_id: str) -> tuple[PlannedEval, ...]:
        return self.reader.items(PlannedEval, f"/runs/{run_id}/planned")

    def pending(self, run_id: str) -> tuple[PendingEval, ...]:
        return self.reader.items(PendingEval, f"/runs/{run_id}/pending")

    def attempts(self, run_id: str, eval: str | None = None) -> tuple[AttemptRecord, ...]:
        return tuple(details.attempt for details in self.details(run_id, eval))

    def results(self, run_id: str) -> tuple[AttemptRecord, ...]:
        return self.reader.items(AttemptRecord, f"/runs/{run_id}/results")

    def details(
        self, run_id: str, eval: str | None = None, statuses: Sequence[AttemptStatus] | None = None
    ) -> tuple[AttemptDetails, ...]:
        found = self.reader.items(AttemptDetails, f"/runs/{run_id}/attempts", {"eval": eval} if eval else {})
        return tuple(each for each in found if statuses is None or each.attempt.status in statuses)

    def generations(self, run_id: str) -> tuple[GenerationRecord, ...]:
        return self.reader.items(GenerationRecord, f"/runs/{run_id}/generations")

    def find_attempt(self, attempt_id: str) -> AttemptDetails:
        return self.reader.one(RemoteResult, f"/results/{_part(attempt_id)}").details

    def failures_alike(self, attempt_id: str) -> FailuresAlike:
        return self.reader.one(FailuresAlike, f"/results/{attempt_id}/alike")

    def export_run(self, run_id: str) -> RunExport:
        return RunExport(self.find_run(run_id), self.planned(run_id), self.details(run_id))

    def read_bytes(self, artifact: str) -> bytes:
        content = self.reader.content(f"/artifacts/{artifact}")
        if sha256(content).hexdigest() != artifact:
            raise InfrastructureError(f"{self.location} sent another content for artifact {artifact[:12]}; try again.")
        return content

    def read_text(self, artifact: str) -> str:
        return bytes_text(self.read_bytes(artifact))

    def read_files(self, artifact: str) -> dict[str, str]:
        return bytes_files(self.read_bytes(artifact))

    def eval_folder(self, name: str) -> bytes | None:
        """A zip file of a suite with this eval alone, or None when the service does not have it."""
        category, _, rest = name.partition("/")
        try:
            return self.reader.content(f"/evals/{_part(category)}/{_part(rest)}/folder")
        except UsageError:
            return None


class RemoteResult(msgspec.Struct):
    """What is needed of the answer about one result."""

    details: AttemptDetails


class RemoteLabels(ReadOnly, Labels):
    def __init__(self, reader: ServiceReader) -> None:
        self.location, self._reader = reader.location, reader

    def of_run(self, run_id: str) -> tuple[LabelRecord, ...]:
        return self._reader.items(LabelRecord, "/labels", {"run": run_id})

    def of_every_run(self) -> tuple[LabelRecord, ...]:
        return self._reader.items(LabelRecord, "/labels")

    def of_model(self, model: str, provider: str) -> tuple[LabelRecord, ...]:
        return self._reader.items(LabelRecord, "/labels", {"model": model, "provider": provider})

    def add(self, *labels: LabelRecord) -> int:
        """The service says who made them and when: whoever the token belongs to, now."""
        for each in labels:
            named = {"run": each.run_id, "eval": each.eval, "trial": each.trial}
            self._reader.send("/labels", {**named, "failure_class": each.failure_class, "note": each.note})
        return len(labels)


class RemoteHistory(ReadOnly, History):
    def __init__(self, reader: ServiceReader) -> None:
        self.location, self._reader = reader.location, reader

    def results(self, ids: Sequence[str]) -> dict[str, tuple[Result, ...]]:
        return {run_id: self._results(run_id) for run_id in ids}

    def _results(self, run_id: str) -> tuple[Result, ...]:
        found = self._reader.items(AttemptRecord, f"/runs/{run_id}/results")
        return tuple(Result(each.eval, each.trial, each.status, each.failed_step) for each in found)

    def answers(self, ids: Sequence[str]) -> dict[str, tuple[Answer, ...]]:
        return {run_id: self._answers(run_id) for run_id in ids}

    def _answers(self, run_id: str) -> tuple[Answer, ...]:
        found = self._reader.items(dict[str, Any], f"/runs/{run_id}/answers")
        return tuple(_answer(each) for each in found)


def _answer(given: Mapping[str, Any]) -> Answer:
    """Services of other versions may say less, or more."""
    known = {name: value for name, value in given.items() if name in Answer._fields}
    recorded = known.get("recorded_at")
    return Answer(**{**known, "recorded_at": datetime.fromisoformat(recorded) if recorded else None})


class RemoteOutbox(Outbox):
    """Services send nothing on."""

    def __init__(self) -> None: ...

    def unsent(self, destination: str | None = None, runs: Sequence[str] = ()) -> tuple[Unsent, ...]:
        return ()


def is_service(where: object) -> bool:
    """Whether scores are at a service, by their address."""
    return isinstance(where, str) and where.lower().startswith(("http://", "https://"))


def checked_url(url: str) -> str:
    """Raises UsageError. A URL may hold a password, so it is not quoted."""
    if not is_service_url(url) or "?" in url or "#" in url:
        raise UsageError("The URL of a scores service is like https://scores.example.com, without a user or a query.")
    return url.rstrip("/")


def _part(text: str) -> str:
    return quote(text, safe="")
