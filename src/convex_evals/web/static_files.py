"""Scripts, styles and pictures, under addresses that hold a hash of their content and so may be kept forever."""

import hashlib
import mimetypes
from functools import lru_cache
from pathlib import Path
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from convex_evals.web.errors import NotFound
from convex_evals.web.headers import FOREVER

FOLDER: Final = Path(__file__).parent / "static"
HASH_LENGTH: Final = 12

static_files = APIRouter(include_in_schema=False)


def static_address(name: str) -> str:
    """`/static/3f2a…/page.css`, for templates."""
    return f"/static/{_content(name)[1]}/{name}"


@static_files.get("/static/{tag}/{name:path}")
def send_file(tag: str, name: str) -> Response:
    try:
        content, current = _content(name)
    except FileNotFoundError as error:
        raise NotFound(f"There is no file {name!r}.") from error
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return Response(content, headers={"cache-control": FOREVER} if tag == current else {}, media_type=kind)


@lru_cache(maxsize=256)
def _read(name: str, changed: int) -> tuple[bytes, str]:
    content = (FOLDER / name).read_bytes()
    return content, hashlib.sha256(content).hexdigest()[:HASH_LENGTH]


def _content(name: str) -> tuple[bytes, str]:
    """With its hash, read again when the file has changed."""
    return _read(name, _path(name).stat().st_mtime_ns)


@lru_cache(maxsize=256)
def _path(name: str) -> Path:
    path = FOLDER / name
    if not path.resolve().is_relative_to(FOLDER) or not path.is_file():
        raise FileNotFoundError(name)
    return path
