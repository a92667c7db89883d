"""Reading what authors wrote: regular files below the suite's folder, and nothing that only looks like one."""

import stat
from collections.abc import Iterator
from pathlib import Path

from convex_evals.suite.problems import BrokenError

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
    """Whether tools leave this behind, so that it is no part of what the author wrote."""
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
