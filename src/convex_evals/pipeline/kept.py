"""Results that are kept in the cache: a line with the SHA-256 of the rest, then JSON.

Only our own process writes them, from trusted input. One that is damaged or was altered counts as missing.
"""

import hashlib
import json
import secrets
from pathlib import Path
from typing import Any


def read_kept(path: Path) -> Any | None:
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
