"""One eval as a zip file, for machines that do not have it: its folder, and what it shares with its suite."""

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

from convex_evals.core.errors import SuiteError
from convex_evals.suite.eval import Eval
from convex_evals.suite.files import files_below
from convex_evals.suite.parcel import root_of
from convex_evals.suite.suite import SETTINGS_FILE, SHARED_GRADER

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
