"""Answers of the API: the records of the scores as JSON, in pages where there may be many."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Annotated, Any, Final, Generic, TypeVar

import msgspec
from fastapi import Depends, Path, Query
from starlette.responses import Response

from convex_evals.web.errors import ErrorBody
from convex_evals.web.site import Site, site_of

T = TypeVar("T")
MOST_ITEMS: Final = 500

Limit = Annotated[int, Query(ge=1, le=MOST_ITEMS, description="How many items a page has at most.")]
Cursor = Annotated[str | None, Query(max_length=200, description="`next` of the page before.")]

Position = Annotated[int, Query(ge=0, le=10**9, description="`next` of the page before.")]
Name = Annotated[str | None, Query(max_length=200)]
RunName = Annotated[str, Path(max_length=64, description="The id of a run, or its first characters.")]
Served = Annotated[Site, Depends(site_of)]

_ERROR: Final = {"application/json": {"schema": {"$ref": f"#/components/schemas/{ErrorBody.__name__}"}}}
"""FastAPI examines a model once for every route and status that names it, so only one of them does."""
REFUSALS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"model": ErrorBody, "description": meaning}
    if status == 400
    else {"content": _ERROR, "description": meaning}
    for status, meaning in (
        (400, "A token is in the address"),
        (401, "A token is needed, or the one that was sent is not valid"),
        (403, "The token does not have this right, or the request comes from elsewhere"),
        (404, "There is no such thing in these scores"),
        (422, "A parameter has a value that it cannot have"),
        (429, "Too many requests, or too many wrong tokens; the header Retry-After says when to try again"),
        (503, "The scores cannot be read now"),
    )
}
BODY_REFUSALS: Final[dict[int | str, dict[str, Any]]] = {
    400: {
        "model": ErrorBody,
        "description": "The body is not encoded as it says, or a token is in the address",
    },
    413: {"model": ErrorBody, "description": "The body is too large"},
    415: {"model": ErrorBody, "description": "The body is in an unknown encoding"},
}


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Part of a list. With `next` there is more: send it as `cursor`."""

    items: Sequence[T]
    next: str | None = None


def answer(value: object, status: int = 200) -> Response:
    """Routes name the type of `value` in their `response_model`, which documents it; it is not checked again."""
    return Response(msgspec.json.encode(value, enc_hook=_plain), status, media_type="application/json")


def page_of(items: Sequence[T], limit: int, start: int) -> Page[T]:
    """Of a list that is read whole and no longer changes: a cursor is a position in it."""
    more = start + limit < len(items)
    return Page(items[start : start + limit], str(start + limit) if more else None)


def _plain(value: object) -> object:
    if isinstance(value, FilePath):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")
