"""The same pages as plain files: relative links, CSV and JSON beside them, and only what changed is written."""

import hashlib
import posixpath
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

import httpx2

from convex_evals.core.errors import InfrastructureError
from convex_evals.core.files import write_file
from convex_evals.runner import RunFigures
from convex_evals.web.app import create_app
from convex_evals.web.manifest import (
    EVERYTHING,
    MANIFEST,
    NOTHING,
    PublishedFile,
    Sources,
    manifest_bytes,
    read_manifest,
)
from convex_evals.web.pages.errors import NOT_PUBLISHED
from convex_evals.web.results import Results
from convex_evals.web.site import Site

FIRST: Final = "/leaderboard"
"""What a publication begins with: the home page of a server is about now."""
NEED_A_SERVER: Final = ("/search", "/schedule", "/login", "/logout")
KEPT: Final = frozenset({"benchmark", "experiment", "order", "page", "trial", "runs"})
"""What of a query makes another page. The rest (sorting, filters, tabs) only needs the page that is there."""
AS_THEY_ARE: Final = (".csv", ".json", ".css", ".js", ".svg")
DOWNLOADS: Final = "artifact/"
"""What models wrote: published only as files that no browser shows as a page."""
_RUN: Final = re.compile(r"/experiment/[^/]+/run/([^/.]+)")
_RESULT: Final = re.compile(r"/experiment/[^/]+/run/[^/]+/([^/]+/[^/]+)")
_UNSAFE: Final = re.compile(r"[^\w./@=,+~-]+", re.ASCII)
_PLAIN: Final = {"accept-encoding": "identity"}
Progress = Callable[[int, int], None]
"""Takes how many files are done, and how many are known of so far."""


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
    links: dict[str, None] = field(default_factory=dict)
    """Where the page that is being made leads to."""
    mentioned: set[str] = field(default_factory=set)
    """Runs that it has links to, published or not."""

    def link(self, page: str, address: str) -> str:
        parts = urlsplit(address)
        if parts.scheme or not parts.path:
            return address
        if run := _RUN.match(parts.path):
            self.mentioned.add(run[1])
        target = self.target(address)
        self.links[target] = None
        self.want(target)
        here = posixpath.dirname(file_name(page))
        name = posixpath.relpath(file_name(target), here or ".")
        return quote(name, safe="/@=,+~") + (f"#{parts.fragment}" if parts.fragment else "")

    def want(self, target: str) -> None:
        if target not in self.known:
            self.known.add(target)
            self.waiting.append(target)

    def begin_page(self) -> None:
        self.links, self.mentioned = {}, set()

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


async def publish(
    site: Site, folder: Path, newest: int = 0, progress: Progress = lambda done, known: None
) -> Published:
    """Writes every page that can be reached. Of runs, the newest of each model and experiment and `newest` more."""
    earlier = read_manifest(folder)
    app = create_app(site)
    runs = Results(app.state.results).by_id()
    book = LinkBook(frozenset(_chosen(runs.values(), newest)))
    app.state.links, app.state.twins = book.link, {}
    transport = httpx2.ASGITransport(app=app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost", headers=_PLAIN) as client:
        press = _PageWriter(folder, earlier, runs, book, Sources(site, runs, book.runs), client, app.state.twins)
        press.begin()
        book.want(FIRST)
        try:
            while book.waiting:
                await press.publish(book.waiting.pop())
                progress(len(press.files), len(book.known))
        except BaseException:
            press.leave()
            raise
    removed = _remove(folder, earlier.keys() - press.files.keys())
    written = press.written + _write(folder / MANIFEST, manifest_bytes(press.files))
    return Published(written, len(press.files) + 1 - written, removed)


@dataclass
class _PageWriter:
    """Makes one file after the other, and skips those that the last publication made of the same."""

    folder: Path
    earlier: dict[str, PublishedFile | None]
    runs: dict[str, RunFigures]
    book: LinkBook
    sources: Sources
    client: httpx2.AsyncClient
    twins: dict[str, bytes]  # of pages that were made, by address
    files: dict[str, PublishedFile] = field(default_factory=dict)
    written: int = 0

    def begin(self) -> None:
        """From here on the folder is known as a publication, even if this process is killed."""
        if not self.earlier:
            _write(self.folder / MANIFEST, manifest_bytes({}))

    def leave(self) -> None:
        """Notes what is made already, so that the next time goes on from here."""
        earlier = {name: each for name, each in self.earlier.items() if each is not None}
        _write(self.folder / MANIFEST, manifest_bytes({**earlier, **self.files}))

    async def publish(self, address: str) -> None:
        name = file_name(address)
        known = self.earlier.get(name)
        if known is not None and self._is_current(known, address):
            self.files[name] = known
            for each in known.links:
                self.book.want(each)
        else:
            self.files[name] = await self._make(address, self.folder / name)

    def _is_current(self, known: PublishedFile, address: str) -> bool:
        path = self.folder / file_name(address)
        same = known.address == address and known.key == self.sources.key(known.shows)
        return same and path.is_file() and _hash(path.read_bytes()) == known.sha256

    async def _make(self, address: str, path: Path) -> PublishedFile:
        self.book.begin_page()
        content = self.twins.pop(address, None)
        if content is None:
            content = await _read(self.client, address)
            if path.suffix != ".html":  # what was computed for it beside has links, the file has none
                self.book.begin_page()
        self.written += _write(path, content)
        shows = self._shows(address)
        return PublishedFile(address, _hash(content), shows, self.sources.key(shows) or "", tuple(self.book.links))

    def _shows(self, address: str) -> str:
        """A failure says how many others fail alike, so it is about more than its run."""
        path = urlsplit(address).path
        if path.startswith((f"/{DOWNLOADS}", "/static/")):
            return NOTHING
        run = _RUN.match(path)
        if run is None or self.book.mentioned - {run[1]}:
            return EVERYTHING
        result = None if path.endswith(AS_THEY_ARE) else _RESULT.fullmatch(path)
        return run[1] if result is None or self._passed(run[1], unquote(result[1])) else EVERYTHING

    def _passed(self, run_id: str, eval: str) -> bool:
        found = [each.status for each in self.runs[run_id].results if each.eval == eval]
        return bool(found) and set(found) == {"passed"}


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


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


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
