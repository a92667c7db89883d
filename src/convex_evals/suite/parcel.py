"""A suite as one value, for machines that do not share a file system: everything that grading an eval may read."""

import hashlib
import io
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Self

from convex_evals.core.files import remove_folder
from convex_evals.suite.eval import Eval

BESIDE: Final = (
    "grader",
    "node_modules",
    "package.json",
    "tsconfig.json",
    "eslint.config.mjs",
    "src.eslint.config.mjs",
)
"""What graders and configurations of a suite may use beside the folder of its categories."""
SUITE: Final = "suite"


@dataclass(frozen=True, slots=True)
class SuiteParcel:
    """The folder of categories is `suite/evals` in it, whatever its name was."""

    content: bytes
    sha256: str

    @classmethod
    def of(cls, root: Path) -> Self:
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            archive.add(root, "evals", filter=_plain)
            for path in _beside(root):
                archive.add(path, path.name, filter=_plain)
        content = buffer.getvalue()
        return cls(content, hashlib.sha256(content).hexdigest())

    def unpack(self, folder: Path) -> Path:
        """Below `folder`, once for all who ask; returns the folder of categories."""
        place = folder / self.sha256
        if not place.is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            unfinished = Path(tempfile.mkdtemp(prefix="unpacking-", dir=folder))
            with tarfile.open(fileobj=io.BytesIO(self.content)) as archive:
                archive.extractall(unfinished / SUITE, filter="tar")
            _rename(unfinished / SUITE, place)
            remove_folder(unfinished)
        return place / "evals"


def root_of(each: Eval) -> Path:
    return each.path.parents[1]


def moved(each: Eval, root: Path) -> Eval:
    """The same eval in another copy of its suite."""
    path = root / each.category / each.name
    grader = each.grader and replace(each.grader, path=path / each.grader.path.name)
    return replace(each, path=path, grader=grader)


def _beside(root: Path) -> Iterator[Path]:
    """A folder that has neither graders nor packages has nothing to do with the suite."""
    found = [root.parent / name for name in BESIDE if (root.parent / name).exists()]
    yield from found if any(path.name in ("grader", "node_modules") for path in found) else ()


def _plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """The same bytes from every machine and user."""
    entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = 0, 0, 0, "", ""
    return entry


def _rename(source: Path, place: Path) -> None:
    try:
        source.rename(place)
    except OSError:
        if not place.is_dir():  # otherwise somebody else was faster
            raise
