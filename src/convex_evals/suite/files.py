"""What authors wrote: regular files below the suite's folder, what is wrong with them, and their fingerprints.

Fingerprints say whether two results answer the same question and were graded the same way.
"""

import hashlib
import json
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from convex_evals.core.errors import SuiteError


@dataclass(frozen=True)
class Problem:
    path: Path
    found: str
    fix: str

    def __str__(self) -> str:
        return f"{printable(str(self.path))}: {self.found}; {self.fix}."


def printable(text: str) -> str:
    """The text with control characters shown, not obeyed: file names come from strangers."""
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)


class BrokenError(SuiteError):
    """Stops the loading of one eval, never of the others."""

    def __init__(self, path: Path, found: str, fix: str) -> None:
        self.problem = Problem(path, found, fix)
        super().__init__(str(self.problem))


GENERATED_FOLDERS = frozenset(
    {
        "node_modules",
        "_generated",
        "__pycache__",
        ".cache",
        ".convex",
        ".git",
        ".hypothesis",
        ".mypy_cache",
        ".next",
        ".pytest_cache",
        ".ruff_cache",
        ".turbo",
        ".vite",
    }
)
GENERATED_FILES = frozenset({".DS_Store", ".env.local", ".eslintcache", "Thumbs.db"})
GENERATED_SUFFIXES = frozenset({".pyc", ".swp", ".tsbuildinfo"})
TEXT_SUFFIXES = frozenset(
    {".cjs", ".css", ".cts", ".html", ".js", ".json", ".jsx", ".md", ".mjs", ".mts", ".py", ".ts", ".tsx", ".txt"}
)


def is_generated(name: str) -> bool:
    """Whether tools leave this behind, so that it is not part of what the author wrote."""
    return (
        name in GENERATED_FOLDERS
        or name in GENERATED_FILES
        or name.endswith("~")
        or Path(name).suffix in GENERATED_SUFFIXES
    )


def children(folder: Path) -> list[Path]:
    """The entries of a folder in stable order, without what tools leave behind."""
    try:
        return sorted(path for path in folder.iterdir() if not is_generated(path.name))
    except OSError as error:
        raise BrokenError(folder, f"cannot be listed ({error.strerror})", "make it a readable folder") from error


def files_below(folder: Path) -> Iterator[Path]:
    """Every file the author wrote below a folder, depth first in stable order."""
    for path in children(folder):
        if not path.name.isprintable():
            raise BrokenError(folder, f"holds the unprintable name {path.name!r}", "rename that file")
        refuse_link(path)
        if path.is_dir():
            yield from files_below(path)
        else:
            yield path


def refuse_link(path: Path) -> None:
    if path.is_symlink():
        raise BrokenError(path, "is a symbolic link", "put the file itself there, because links can leave the suite")


def read_bytes(path: Path) -> bytes:
    try:
        # Asked first, because opening a named pipe would wait for a writer.
        mode = path.lstat().st_mode
        if stat.S_ISREG(mode):
            return path.read_bytes()
    except OSError as error:
        raise BrokenError(path, f"cannot be read ({error.strerror})", "make it readable") from error
    refuse_link(path)
    raise BrokenError(path, "is not a regular file", "put a regular file there")


def read_text(path: Path) -> str:
    return decode(path, read_bytes(path))


def decode(path: Path, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BrokenError(path, f"is not UTF-8 (byte {error.start})", "save it as UTF-8") from error


def check_text(path: Path, content: bytes) -> None:
    """Source files must be UTF-8; pictures and the like may be anything."""
    if path.suffix.lower() in TEXT_SUFFIXES:
        decode(path, content)


def read_object(path: Path, example: str) -> dict[str, object]:
    text = read_text(path)
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        found = f"is not valid JSON (line {error.lineno}, column {error.colno}: {error.msg})"
        raise BrokenError(path, found, f"write it like {example}") from error
    except RecursionError as error:
        raise BrokenError(path, "is nested too deeply", f"write it like {example}") from error
    if not isinstance(value, dict):
        raise BrokenError(path, f"must hold a JSON object, not {describe(value)}", f"write it like {example}")
    return value


def unknown_keys(path: Path, value: dict[str, object], known: frozenset[str]) -> list[Problem]:
    return [
        Problem(path, f"has the unknown key {key!r}", f"remove it or use one of {', '.join(sorted(known))}")
        for key in sorted(value.keys() - known)
    ]


def describe(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:60]}…"


@dataclass(frozen=True)
class Entry:
    sha256: str
    name: str


def fingerprint_entry(name: str, content: bytes) -> Entry:
    return Entry(hashlib.sha256(content).hexdigest(), name)


def fingerprint(entries: Iterable[Entry]) -> str:
    """The SHA-256 of the listing that `sha256sum` prints: one line `<sha256>  <name>` per entry, sorted by the bytes of
    the name, every line ended by a newline."""
    ordered = sorted(entries, key=lambda each: each.name.encode())
    listing = "".join(f"{each.sha256}  {each.name}\n" for each in ordered)
    return hashlib.sha256(listing.encode()).hexdigest()
