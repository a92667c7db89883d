"""Where gradings write: each into folders of its own, and what can be made again into the cache."""

import hashlib
import json
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Workspace:
    """`root` belongs to one grading alone and is empty at first; whoever made it removes it.

    No program may reach `root` as a whole: each step hands its program the folders that it needs.
    """

    root: Path

    @property
    def project(self) -> Path:
        """What the model wrote, with `node_modules` and `convex/_generated` added."""
        return self.root / "project"

    @property
    def checked(self) -> Path:
        """A copy of the project with our tsconfigs, for the compiler and the linter."""
        return self.root / "checked"

    @property
    def configuration(self) -> Path:
        """What we tell the tools: they read it, and nobody else writes it."""
        return self.root / "configuration"

    @property
    def home(self) -> Path:
        """HOME of every program."""
        return self.root / "home"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    def prepare(self) -> None:
        for folder in (self.project, self.configuration, self.home, self.logs):
            folder.mkdir(parents=True, exist_ok=True)


def read_kept(path: Path) -> Any | None:
    """A result from the cache: a line with the SHA-256 of the rest, then JSON.

    Only our own process writes them, from trusted input. One that is damaged or was altered counts as missing.
    """
    try:
        digest, _, body = path.read_bytes().partition(b"\n")
        if digest.decode() != hashlib.sha256(body).hexdigest():
            return None
        return json.loads(body)
    except (OSError, ValueError):
        return None


def keep(path: Path, content: object) -> None:
    """Renamed into place: a file under its final name is complete, whoever else writes it."""
    body = json.dumps(content).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    incoming = path.with_name(f".{secrets.token_hex(8)}")
    incoming.write_bytes(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
    incoming.rename(path)
