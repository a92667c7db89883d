"""Artifacts: bytes by their SHA-256, kept once, compressed, and checked whenever they are read.

Uploads come from other machines, whole or in parts, in any order and any number of times.
"""

import hashlib
import json
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final

from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from convex_evals.core.errors import InfrastructureError, UsageError
from convex_evals.scores.database import Database, insert_if_new
from convex_evals.scores.rows import ArtifactChunkRow, ArtifactPartRow, ArtifactRow

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


PART: Final = CHUNK
MOST_BYTES: Final = 64 << 20
"""Of one artifact. Logs are cut long before; a model's answer is smaller still."""
_KEPT_PARTS: Final = timedelta(days=1)


class Uploads:
    def __init__(self, database: Database) -> None:
        self._database = database

    def missing(self, names: Sequence[str]) -> dict[str, int]:
        """Those that are not here, and how many bytes from the beginning of each are."""
        with self._database.reading() as session:
            here = kept(session, names)
            wanted = [name for name in dict.fromkeys(names) if name not in here]
            parts = _whole_parts(session, wanted)
            return {name: PART * parts[name] for name in wanted}

    def put(self, sha256: str, content: bytes, offset: int = 0, total: int | None = None) -> bool:
        """Takes in an artifact, or the part of it that begins at `offset`. Returns whether all of it is here now.

        Raises UsageError when it is too large, is not what its name says, or has no part there.
        """
        total = len(content) if total is None else total
        _check_part(offset, len(content), total)
        with self._database.writing() as session:
            if session.get(ArtifactRow, sha256) is not None:
                return True
            if total <= PART:
                if hashlib.sha256(content).hexdigest() != sha256:
                    raise _wrong_content(sha256)
                put(session, sha256, total, (content,) if content else ())
                return True
            _keep_part(session, sha256, offset // PART, content)
            if _whole_parts(session, [sha256])[sha256] * PART < total:
                return False
        return self._assemble(sha256)

    def forget_old_parts(self) -> None:
        """Of artifacts whose sender never came back."""
        old = ArtifactPartRow.received_at < datetime.now(UTC) - _KEPT_PARTS
        with self._database.writing() as session:
            session.execute(delete(ArtifactPartRow).where(old))

    def _assemble(self, sha256: str) -> bool:
        with self._database.writing() as session:
            # Whoever sent the same at the same time waits here, and then finds no parts but the artifact.
            rows = select(ArtifactPartRow.position).where(ArtifactPartRow.sha256 == sha256)
            positions = session.scalars(rows.order_by(ArtifactPartRow.position).with_for_update()).all()
            seen, size = hashlib.sha256(), 0
            for part in _parts(session, sha256, positions):
                seen.update(part)
                size += len(part)
            if seen.hexdigest() == sha256:
                put(session, sha256, size, _parts(session, sha256, positions))
            session.execute(delete(ArtifactPartRow).where(ArtifactPartRow.sha256 == sha256))
            if session.get(ArtifactRow, sha256) is not None:  # perhaps by someone who sent it at the same time
                return True
        raise _wrong_content(sha256)


def _check_part(offset: int, size: int, total: int) -> None:
    if total > MOST_BYTES:
        raise UsageError(f"An artifact has at most {MOST_BYTES >> 20} MiB, but this one has {total} bytes.")
    is_part = offset % PART == 0 and 0 <= offset < max(total, 1) and size == min(PART, total - offset)
    if not is_part:
        raise UsageError(f"An artifact comes in parts of {PART} bytes and a rest, but this is none: {size} bytes.")


def _wrong_content(sha256: str) -> UsageError:
    return UsageError(f"The content does not have the SHA-256 {sha256}; send it again.")


def _keep_part(session: Session, sha256: str, position: int, content: bytes) -> None:
    values = {"content": zlib.compress(content), "received_at": datetime.now(UTC)}
    insert_if_new(session, ArtifactPartRow, sha256=sha256, position=position, **values)


def _whole_parts(session: Session, names: Sequence[str]) -> dict[str, int]:
    """How many there are of each from the beginning on without a gap."""
    found = dict.fromkeys(names, 0)
    rows = select(ArtifactPartRow.sha256, ArtifactPartRow.position).where(ArtifactPartRow.sha256.in_(names))
    for name, position in session.execute(rows.order_by(ArtifactPartRow.sha256, ArtifactPartRow.position)):
        found[name] += found[name] == position
    return found


def _parts(session: Session, sha256: str, positions: Sequence[int]) -> Iterator[bytes]:
    """One after the other, so that they are never all in memory."""
    for position in positions:
        part = session.get_one(ArtifactPartRow, (sha256, position))
        yield zlib.decompress(part.content)
        session.expunge(part)
