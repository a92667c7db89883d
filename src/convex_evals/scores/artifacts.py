"""Artifacts: bytes by their SHA-256, kept once, compressed, and checked whenever they are read."""

import hashlib
import json
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from convex_evals.core.errors import InfrastructureError, UsageError
from convex_evals.scores.database import insert_if_new
from convex_evals.scores.rows import ArtifactChunkRow, ArtifactRow

CHUNK: Final = 1 << 20


def put_all(session: Session, *contents: bytes) -> tuple[str, ...]:
    """Keeps what is not kept already. Returns the SHA-256 of each."""
    names = tuple(hashlib.sha256(content).hexdigest() for content in contents)
    # Always in the same order, because two transactions that wait for each other's artifacts would never end.
    for name, content in sorted(zip(names, contents, strict=True)):
        put(session, name, len(content), _chunks(BytesIO(content)))
    return names


def put_file(session: Session, path: Path) -> str:
    """The same for one file of any size."""
    with path.open("rb") as stream:
        sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
        size = stream.tell()
        stream.seek(0)
        return put(session, sha256, size, _chunks(stream))


def kept(session: Session, names: Collection[str], *, locked: bool = False) -> set[str]:
    """Those of them that are here. `locked`: against pruning until what refers to them is recorded."""
    query = select(ArtifactRow.sha256).where(ArtifactRow.sha256.in_(names)).order_by(ArtifactRow.sha256)
    return set(session.scalars(query.with_for_update(read=True, key_share=True) if locked else query))


def read_bytes(session: Session, sha256: str) -> bytes:
    """Raises UsageError when there is no such artifact, InfrastructureError when it is damaged."""
    row = session.get(ArtifactRow, sha256)
    if row is None:
        raise UsageError(f"There is no artifact '{sha256}' in these scores; take it from a step or a generation.")
    chunks = select(ArtifactChunkRow.content).where(ArtifactChunkRow.sha256 == sha256)
    stored = session.scalars(chunks.order_by(ArtifactChunkRow.position))
    try:
        content = b"".join(zlib.decompress(chunk) for chunk in stored)
    except zlib.error as error:
        raise _damaged(sha256) from error
    if len(content) != row.size or hashlib.sha256(content).hexdigest() != sha256:
        raise _damaged(sha256)
    return content


def text_bytes(text: str) -> bytes:
    """A model may write half of a surrogate pair; it comes back as it was."""
    return text.encode(errors="surrogatepass")


def bytes_text(content: bytes) -> str:
    """The text of `text_bytes`, or the readable part of whatever a tool printed."""
    try:
        return content.decode(errors="surrogatepass")
    except UnicodeDecodeError:
        return content.decode(errors="replace")


def files_bytes(files: Mapping[str, str]) -> bytes:
    return json.dumps(dict(files), sort_keys=True).encode()


def bytes_files(content: bytes) -> dict[str, str]:
    files: dict[str, str] = json.loads(content)
    return files


def put(session: Session, sha256: str, size: int, chunks: Iterable[bytes]) -> str:
    """Keeps it unless it is kept already. Each chunk but the last has CHUNK bytes."""
    # Locked against pruning until what refers to it is recorded.
    if session.get(ArtifactRow, sha256, with_for_update={"read": True, "key_share": True}) is not None:
        return sha256
    if not insert_if_new(session, ArtifactRow, sha256=sha256, size=size, created_at=datetime.now(UTC)):
        return sha256
    seen = hashlib.sha256()
    for position, chunk in enumerate(chunks):
        seen.update(chunk)
        row = {"sha256": sha256, "position": position, "content": zlib.compress(chunk)}
        session.execute(insert(ArtifactChunkRow), row)
    if seen.hexdigest() != sha256:
        raise InfrastructureError("A log changed while it was recorded; stop whatever still writes to it.")
    return sha256


def _chunks(stream: BinaryIO) -> Iterator[bytes]:
    return iter(lambda: stream.read(CHUNK), b"")


def _damaged(sha256: str) -> InfrastructureError:
    return InfrastructureError(f"Artifact {sha256[:12]} is damaged; restore these scores from a backup.")
