"""What runners record: artifacts by hash, then the records that name them. All may be sent any number of times."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Final

import msgspec
from fastapi import APIRouter, Depends, Header, Path, Request
from starlette.responses import Response

from convex_evals.core.errors import ConflictError, IncompleteError, LeaseError, OutdatedError, UsageError
from convex_evals.scores import Batch, LeaseRenewal, MissingArtifacts, Received, Wanted, decode_batch
from convex_evals.web.api.answers import BODY_REFUSALS, REFUSALS, answer
from convex_evals.web.errors import ErrorBody, RequestRefused
from convex_evals.web.identity import Recorder
from convex_evals.web.turns import InTurn

_CODES: Final[tuple[tuple[type[UsageError], int, str], ...]] = (
    (ConflictError, 409, "Conflict"),
    (IncompleteError, 409, "Incomplete"),
    (LeaseError, 409, "Held"),
    (OutdatedError, 409, "Outdated"),
    (UsageError, 422, "InvalidRequest"),
)
_RANGE: Final = re.compile(r"bytes ([0-9]{1,12})-[0-9]{1,12}/([0-9]{1,12})")
_REFUSALS: Final[dict[int | str, dict[str, Any]]] = {
    **{status: meaning for status, meaning in REFUSALS.items() if status != 404},
    409: {
        "model": ErrorBody,
        "description": "Nothing was recorded; the code says why",
    },
    **BODY_REFUSALS,
}

records = APIRouter(prefix="/records", tags=["recording"], responses=_REFUSALS)


async def raw_body(request: Request) -> bytes:
    return await request.body()


Body = Annotated[bytes, Depends(raw_body)]
Sha256 = Annotated[str, Path(pattern="^[0-9a-f]{64}$")]
ContentRange = Annotated[
    str | None, Header(max_length=60, description="Of a part: bytes 0-1048575/2000000", alias="content-range")
]


def _takes(kind: type, media_type: str = "application/json") -> dict[str, Any]:
    binary = {"type": "string", "format": "binary"}
    schema: dict[str, Any] = msgspec.json.schema(kind) if media_type == "application/json" else binary
    whole = _without_references(schema, schema.get("$defs", {}))
    return {"requestBody": {"required": True, "content": {media_type: {"schema": whole}}}}


def _without_references(schema: Any, known: dict[str, Any]) -> Any:
    """Where OpenAPI would look for them, there are none."""
    if isinstance(schema, list):
        return [_without_references(each, known) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _without_references(known[schema["$ref"].rpartition("/")[2]], known)
    return {name: _without_references(each, known) for name, each in schema.items() if name != "$defs"}


@records.post("", response_model=Received, summary="Record", openapi_extra=_takes(Batch))
async def record(visitor: Recorder, body: Body, turns: InTurn) -> Response:
    """Records of one run: all of them are recorded, or none."""

    def take_in() -> int:
        batch = decode_batch(body)
        return visitor.site.store.intake.take_in(batch.run_id, batch.records, batch.holder)

    with _refusals():
        return answer(Received(await turns.record(take_in)))


@records.post(
    "/artifacts/missing",
    response_model=MissingArtifacts,
    summary="Ask which artifacts are not here",
    openapi_extra=_takes(Wanted),
)
async def ask_for_missing(visitor: Recorder, body: Body, turns: InTurn) -> Response:
    """With each, how many bytes of it are here already."""
    with _refusals():
        wanted = msgspec.json.decode(body, type=Wanted)
        return answer(MissingArtifacts(await turns.record(visitor.site.store.uploads.missing, wanted.artifacts)))


@records.put(
    "/artifacts/{sha256}",
    response_model=Received,
    summary="Send an artifact, or a part of one",
    openapi_extra=_takes(bytes, "application/octet-stream"),
)
async def send_artifact(
    visitor: Recorder, sha256: Sha256, body: Body, turns: InTurn, content_range: ContentRange = None
) -> Response:
    """One of more than a mebibyte is sent in parts of that size, each with its Content-Range."""
    with _refusals():
        offset, total = _range(content_range)
        complete = await turns.record(visitor.site.store.uploads.put, sha256, body, offset, total)
    return answer(Received(int(complete)))


@records.post(
    "/leases", response_model=Received, summary="Say that a runner is at work", openapi_extra=_takes(LeaseRenewal)
)
async def renew_leases(visitor: Recorder, body: Body, turns: InTurn) -> Response:
    """Runs of a runner that says nothing for a while are marked as stopped."""
    with _refusals():
        renewal = msgspec.json.decode(body, type=LeaseRenewal)
        await turns.record(visitor.site.store.leases.renew, renewal.runs, renewal.holder)
    return answer(Received(len(renewal.runs)))


def _range(given: str | None) -> tuple[int, int | None]:
    if given is None:
        return 0, None
    found = _RANGE.fullmatch(given)
    if found is None:
        raise UsageError("Expected a Content-Range such as bytes 0-1048575/2000000.")
    return int(found[1]), int(found[2])


@contextmanager
def _refusals() -> Iterator[None]:
    """Runners go by the code: they try again, send what is missing, or leave the run alone."""
    try:
        yield
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RequestRefused(422, "InvalidRequest", f"The body is not what was expected: {error}.") from error
    except UsageError as error:
        status, code = next((status, code) for kind, status, code in _CODES if isinstance(error, kind))
        raise RequestRefused(status, code, str(error)) from error
