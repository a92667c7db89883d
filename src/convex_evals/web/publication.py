"""The same pages as plain files: relative links, CSV and JSON beside them, and only what changed is written."""

import hashlib
import json
import posixpath
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

import httpx2

from convex_evals.core.errors import InfrastructureError, UsageError
from convex_evals.core.files import write_file
from convex_evals.runner import RunFigures
from convex_evals.web.app import create_app
from convex_evals.web.pages.errors import NOT_PUBLISHED
from convex_evals.web.results import Results
from convex_evals.web.site import Site

FIRST: Final = "/leaderboard"
"""What a publication begins with: the home page of a server is about now."""
MANIFEST: Final = "publication.json"
NEED_A_SERVER: Final = ("/search", "/schedule", "/login", "/logout")
KEPT: Final = frozenset({"benchmark", "experiment", "order", "page", "trial", "runs"})
"""What of a query makes another page. The rest (sorting, filters, tabs) only needs the page that is there."""
AS_THEY_ARE: Final = (".csv", ".json", ".css", ".js", ".svg")
DOWNLOADS: Final = "artifact/"
"""Text of models: a file that a browser would show as a page must not come of it."""
_RUN: Final = re.compile(r"/experiment/[^/]+/run/([^/.]+)")
_UNSAFE: Final = re.compile(r"[^\w./@=,+~-]+", re.ASCII)
Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Published:
    """Files of the publication, by what was done to them."""

    written: int
    unchanged: int
    removed: int

    @property
    def total(self) -> int:
        return self.written + self.unchanged


@dataclass
class LinkBook:
    """Turns addresses into names of files, and remembers which pages are still to be made."""

    runs: frozenset[str]
    waiting: list[str] = field(default_factory=list)
    known: set[str] = field(default_factory=set)

    def link(self, page: str, address: str) -> str:
        parts = urlsplit(address)
        if parts.scheme or not parts.path:
            return address
        target = self.target(address)
        if target not in self.known:
            self.known.add(target)
            self.waiting.append(target)
        here = posixpath.dirname(file_name(page))
        name = posixpath.relpath(file_name(target), here or ".")
        return quote(name, safe="/@=,+~") + (f"#{parts.fragment}" if parts.fragment else "")

    def target(self, address: str) -> str:
        """The address of the page that shows it in the publication."""
        parts = urlsplit(address)
        if parts.path in ("/", *NEED_A_SERVER) or (parts.path == "/compare" and "runs=" not in parts.query):
            return FIRST
        run = _RUN.match(parts.path)
        if run is not None and run[1] not in self.runs:
            return NOT_PUBLISHED
        query = sorted((key, value) for key, value in parse_qsl(parts.query) if key in KEPT)
        return f"{parts.path}?{urlencode(query)}" if query else parts.path


def file_name(address: str) -> str:
    """`/leaderboard?benchmark=v1` is `leaderboard@benchmark=v1.html`; names that no file can have get a hash."""
    if address == FIRST:
        return "index.html"
    parts = urlsplit(address)
    path = unquote(parts.path).strip("/")
    stem, suffix = posixpath.splitext(path)
    if path.startswith(DOWNLOADS):
        stem, suffix = path.removesuffix(".txt"), ".txt"
    elif suffix not in AS_THEY_ARE:
        stem, suffix = path, ".html"
    if parts.query:
        stem += "@" + ",".join(f"{key}={value}" for key, value in sorted(parse_qsl(parts.query)))
    safe = "/".join(part.strip(".") or "_" for part in _UNSAFE.sub("_", stem).split("/"))
    return (safe if safe == stem else f"{safe}-{hashlib.sha256(stem.encode()).hexdigest()[:8]}") + suffix


async def publish(site: Site, folder: Path, newest: int = 0, progress: Progress = lambda pages: None) -> Published:
    """Writes every page that can be reached. Of runs, the newest of each model and experiment and `newest` more."""
    earlier = _earlier(folder)
    app = create_app(site)
    book = LinkBook(frozenset(_chosen(Results(app.state.results).runs(), newest)))
    app.state.links = book.link
    files: set[str] = set()
    written = 0
    book.link(FIRST, FIRST)
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://localhost") as client:
        while book.waiting:
            address = book.waiting.pop()
            name = file_name(address)
            written += _write(folder / name, await _read(client, address))
            files.add(name)
            progress(len(files))
    removed = _remove(folder, earlier - files)
    written += _write(folder / MANIFEST, json.dumps({"files": sorted(files)}, indent=0).encode())
    return Published(written, len(files) + 1 - written, removed)


def _chosen(runs: Iterable[RunFigures], newest: int) -> Iterable[str]:
    seen: set[tuple[str, str, str]] = set()
    for place, each in enumerate(runs):
        key = (each.run.provider, each.run.model, each.run.experiment)
        if place < newest or (each.run.is_complete and key not in seen):
            yield each.run.id
        if each.run.is_complete:
            seen.add(key)


async def _read(client: httpx2.AsyncClient, address: str) -> bytes:
    answer = await client.get(address)
    if answer.status_code != 200:
        raise InfrastructureError(f"The page {address} cannot be published: it answers {answer.status_code}.")
    return answer.content


def _earlier(folder: Path) -> set[str]:
    """What the last publication wrote. Raises UsageError for a folder that has something else in it."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is not a folder; name one that is empty, or a new one.")
    if not folder.is_dir() or not any(folder.iterdir()):
        return set()
    try:
        return set(json.loads((folder / MANIFEST).read_bytes())["files"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{folder} has files that are no publication; name a folder that is empty.") from error


def _write(path: Path, content: bytes) -> bool:
    """Whether it was needed."""
    if path.is_file() and path.read_bytes() == content:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, content)
    return True


def _remove(folder: Path, names: set[str]) -> int:
    gone = [folder / name for name in sorted(names) if (folder / name).resolve().is_relative_to(folder.resolve())]
    for path in gone:
        path.unlink(missing_ok=True)
    return len(gone)
