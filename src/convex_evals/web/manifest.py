"""What a publication was made of, kept beside it, so that publishing again skips what cannot have changed."""

import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, Final

from convex_evals.analysis.report import report_folder
from convex_evals.controls import controls_folder
from convex_evals.core.errors import UsageError
from convex_evals.runner import RunFigures
from convex_evals.scores import RunKey
from convex_evals.web.site import Site

MANIFEST: Final = "publication.json"
PACKAGE: Final = Path(__file__).parent.parent
EVERYTHING: Final = "everything"
NOTHING: Final = "nothing"
"""What a page shows: these, or the id of the only run that it is about."""
_LEFT_OUT: Final = frozenset({"__pycache__", "node_modules"})


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """`key` is the fingerprint of what it was made of, `links` are the pages that it leads to."""

    address: str
    sha256: str
    shows: str
    key: str
    links: tuple[str, ...] = ()


class Sources:
    """Fingerprints of what pages are made of: the program, the suite, reports and runs, as they are now."""

    def __init__(self, site: Site, runs: Mapping[str, RunFigures], published: Iterable[str]) -> None:
        self._reports, self._runs = site.reports, runs
        self._keys = {each.id: each for each in site.store.history.index()}
        self._program = digest(_program(), site.name, *_suite(site))
        minted = sorted(each.name for each in site.store.benchmarks())
        history = [_written(each) for each in self._keys.values()]
        everything = digest(self._program, folder_digest(site.reports), *minted, *history, *sorted(published))
        self._known: dict[str, str | None] = {NOTHING: self._program, EVERYTHING: everything}

    def key(self, shows: str) -> str | None:
        """None: that changes as time passes, or is gone."""
        if shows not in self._known:
            self._known[shows] = self._of_run(shows)
        return self._known[shows]

    def _of_run(self, run_id: str) -> str | None:
        key, figures = self._keys.get(run_id), self._runs.get(run_id)
        if key is None or figures is None or key.status == "running":
            return None
        reports = report_folder(self._reports, figures.run.provider, figures.run.model)
        return digest(self._program, _written(key), folder_digest(reports))


def read_manifest(folder: Path) -> dict[str, PublishedFile | None]:
    """The files of the last publication; None: it is not known what one was made of.

    Raises UsageError for a folder that has something else in it.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is not a folder; name one that is empty, or a new one.")
    if not folder.is_dir() or not any(folder.iterdir()):
        return {}
    try:
        return _decoded(json.loads((folder / MANIFEST).read_bytes()))
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        raise UsageError(f"{folder} has files that are no publication; name a folder that is empty.") from error


def manifest_bytes(files: Mapping[str, PublishedFile]) -> bytes:
    """A line for each file. Addresses are written once, and named by their number."""
    addresses = sorted({address for each in files.values() for address in (each.address, *each.links)})
    number = {address: place for place, address in enumerate(addresses)}
    entries = ",\n".join(f"{_compact(name)}:{_compact(_encoded(files[name], number))}" for name in sorted(files))
    return f'{{"addresses":{_compact(addresses)},\n"files":{{\n{entries}\n}}}}\n'.encode()


def digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode(errors="surrogatepass")).hexdigest()[:32]


def folder_digest(folder: Path) -> str:
    """Of the names and contents of all files in it."""
    return digest(*(part for path in _files(folder) for part in (str(path.relative_to(folder)), _content(path))))


def _files(folder: Path) -> Iterator[Path]:
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return (path for path in found if not _LEFT_OUT & set(path.relative_to(folder).parts))


def _content(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _program() -> str:
    """Ours and all packages that it may draw pages with."""
    packages = sorted({f"{each.name} {each.version}" for each in distributions()})
    return digest(sys.version, *packages, folder_digest(PACKAGE))


def _suite(site: Site) -> tuple[str, ...]:
    if site.suite is None:
        return ()
    return folder_digest(site.suite.root), folder_digest(controls_folder(site.suite.root))


def _written(key: RunKey) -> str:
    return f"{key.id} {key.status} {key.changes}"


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _encoded(file: PublishedFile, number: Mapping[str, int]) -> list[Any]:
    links = [number[each] for each in file.links]
    return [number[file.address], file.sha256, file.shows, file.key, links]


def _decoded(manifest: dict[str, Any]) -> dict[str, PublishedFile | None]:
    if isinstance(manifest["files"], list):  # as earlier versions wrote it
        return dict.fromkeys(manifest["files"])
    addresses = manifest["addresses"]
    return {
        name: PublishedFile(addresses[place], sha256, shows, key, tuple(addresses[each] for each in links))
        for name, (place, sha256, shows, key, links) in manifest["files"].items()
    }
