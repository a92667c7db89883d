"""The secret of a deployment that people come back to: kept beside its database, for nobody but its user."""

import os
import re
import secrets
import stat
from pathlib import Path
from typing import Final

from convex_evals.core.errors import UsageError

_SECRET: Final = re.compile(r"[0-9a-f]{64}")
_LONGEST: Final = 1000
_FOR_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def draw_secret() -> str:
    return secrets.token_hex(32)


def secret_beside(database: Path) -> str:
    """The secret in `<database>.secret`, which is drawn when the file does not exist. Raises UsageError."""
    path = database.with_name(f"{database.name}.secret")
    try:
        return _read(path)
    except FileNotFoundError:
        _create(path, draw_secret())
        return _read(path)  # somebody else's, if that was there first


def _read(path: Path) -> str:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UsageError(f"{path} must be a file that its user can read, but: {error.strerror}; remove it.") from error
    try:
        _check_rights(path, os.fstat(descriptor))
        text = os.read(descriptor, _LONGEST).decode(errors="replace").strip()
    finally:
        os.close(descriptor)
    if _SECRET.fullmatch(text) is None:
        raise UsageError(f"{path} must hold 64 hexadecimal digits, but holds something else; remove it for a new key.")
    return text


def _check_rights(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise UsageError(f"{path} must be a plain file, but is none; remove it for a new key.")
    if found.st_uid != os.geteuid():
        raise UsageError(f"{path} must belong to you, but belongs to user {found.st_uid}; remove it for a new key.")
    if found.st_mode & _FOR_OTHERS:
        mode = stat.S_IMODE(found.st_mode)
        raise UsageError(
            f"{path} must be readable by you alone (mode 600), but has mode {mode:o}; remove it for a new key, or run "
            f"`chmod 600` if nobody has read it."
        )


def _create(path: Path, secret: str) -> None:
    """Complete under its name or not at all; a file that is already there stays."""
    incoming = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        descriptor = os.open(incoming, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise UsageError(
            f"The folder of {path} must be writable for the deployment's secret, but: {error.strerror}; choose another "
            "place for the database."
        ) from error
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(secret + "\n")
            file.flush()
            os.fsync(descriptor)
        os.link(incoming, path)
    except FileExistsError:
        pass
    finally:
        incoming.unlink()
