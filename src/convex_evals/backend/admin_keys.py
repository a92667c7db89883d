"""Keys that make a caller an administrator of one deployment, and the file that keeps the secret they are made from."""

import hashlib
import hmac
import os
import re
import secrets
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from convex_evals.core.errors import UsageError

LOCAL_ADMIN_KEY = (
    "0135d8598650f8f5cb0f30c34ec2e2bb62793bc28717c8eb6fb577996d50be5f"
    "4281b59181095065c5d0f86a2c31ddbe9b597ec62b47ded69782cd"
)

# The name and secret that the key above was made from; foreign suites and their graders know all three.
LOCAL_NAME = "carnitas"
LOCAL_SECRET = "4361726e697461732c206c69746572616c6c79206d65616e696e6720226c6974"

NAMELESS_KINDS = frozenset({"preview", "project"})

_SECRET: Final = re.compile(r"[0-9a-f]{64}")
_LONGEST: Final = 1000
_FOR_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True, slots=True)
class AdminCredential:
    """`[kind:]name|secret[:payload]`, or a bare `secret[:payload]`, taken apart."""

    name: str | None  # None when the key is not bound to a deployment's name
    secret: str = field(repr=False)
    payload: str | None  # base64 JSON of the identity to act as

    @classmethod
    def parse(cls, text: str) -> "AdminCredential":
        before, bar, after = text.partition("|")
        secret, colon, payload = (after if bar else text).partition(":")
        return cls(_name_of(before) if bar else None, secret, payload if colon else None)


def _name_of(text: str) -> str | None:
    kind, colon, name = text.partition(":")
    if not colon:
        return text
    return None if kind in NAMELESS_KINDS else name


class AdminKeys:
    """Issues and checks the keys of the deployment called `instance_name`.

    `accept_local_key`: the well-known key is accepted, too. That key is public, so this is only for deployments that
    live as long as a grader that cannot be given another key. A deployment with the name and the secret that the key
    was made from accepts it anyway.
    """

    def __init__(self, instance_name: str, instance_secret: str, *, accept_local_key: bool = False) -> None:
        self._name = instance_name
        own = hmac.new(instance_secret.encode(), instance_name.encode(), hashlib.sha256).hexdigest()
        self._is_local = (instance_name, instance_secret) == (LOCAL_NAME, LOCAL_SECRET)
        self._known = (own, LOCAL_ADMIN_KEY) if accept_local_key or self._is_local else (own,)

    def issue(self) -> str:
        return LOCAL_ADMIN_KEY if self._is_local else f"{self._name}|{self._known[0]}"

    def accept(self, credential: AdminCredential) -> bool:
        if credential.name not in (None, self._name):
            return False
        given = credential.secret.encode()
        matches = [hmac.compare_digest(given, known.encode()) for known in self._known]
        return any(matches)


def new_secret() -> str:
    return secrets.token_hex(32)


def secret_for(database: Path) -> str:
    """The secret in `<database>.secret`, which is created when the file does not exist. Raises UsageError."""
    path = database.with_name(f"{database.name}.secret")
    try:
        return _read(path)
    except FileNotFoundError:
        _create(path, new_secret())
        return _read(path)  # ours, or one that another process created first


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
    """Atomic: the file appears complete or not at all, and an existing one is kept."""
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
