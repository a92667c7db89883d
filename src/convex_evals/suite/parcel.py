"""A suite as one value, or one eval as a zip file, for machines that do not share its file system."""

import hashlib
import io
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Final, Self

from convex_evals.core.errors import SuiteError
from convex_evals.core.files import remove_folder
from convex_evals.suite.eval import Eval
from convex_evals.suite.files import files_below
from convex_evals.suite.suite import SETTINGS_FILE, SHARED_GRADER

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
        """Unpacks it below `folder`, once for all callers; returns the folder of categories."""
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
        if not place.is_dir():  # otherwise another process was faster
            raise


EVALS: Final = "evals"
MOST_BYTES: Final = 50_000_000
_LONG_AGO: Final = (1980, 1, 1, 0, 0, 0)


def pack_eval(asked: Eval) -> bytes:
    """A folder with `evals/` in it. Always the same bytes for the same files."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in sorted(_files(asked)):
            archive.writestr(zipfile.ZipInfo(name, _LONG_AGO), path.read_bytes(), zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _files(asked: Eval) -> Iterator[tuple[str, Path]]:
    root = root_of(asked)
    settings = root / SETTINGS_FILE
    for path in [*files_below(asked.path), *([settings] if settings.is_file() else [])]:
        yield f"{EVALS}/{path.relative_to(root).as_posix()}", path
    for base, prefix in ((root, f"{EVALS}/"), (root.parent, "")):
        if (base / SHARED_GRADER).is_dir():
            for path in files_below(base / SHARED_GRADER):
                yield f"{prefix}{path.relative_to(base).as_posix()}", path


def unpack_eval(packed: bytes, folder: Path) -> None:
    """Adds it to the suite in `folder`. Whoever packed it is not trusted with other folders, nor with all of the disk.

    Raises SuiteError.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            entries = archive.infolist()
            if sum(each.file_size for each in entries) > MOST_BYTES:
                raise SuiteError(f"An eval has at most {MOST_BYTES:,} bytes, but one that was sent has more.")
            for each in entries:
                _write(folder / _checked(each), archive.read(each))
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise SuiteError(f"An eval is sent as a zip file, but this one cannot be unpacked: {error}.") from error


def _checked(entry: zipfile.ZipInfo) -> PurePosixPath:
    path = PurePosixPath(entry.filename)
    if entry.is_dir() or path.is_absolute() or not path.parts or ".." in path.parts or "\\" in entry.filename:
        raise SuiteError(f"An eval has files below its own folder only, but one that was sent has {entry.filename!r}.")
    return path


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
