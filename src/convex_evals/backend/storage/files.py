"""Stored files: their rows, their bytes, and what an upload brings along: a token, a digest, a content type."""

import asyncio
import base64
import binascii
import hashlib
import hmac
import re
import time
import uuid
from collections.abc import AsyncIterable, AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Final

import orjson

from convex_evals.backend.database import Commit, Database, Document, Transaction
from convex_evals.backend.deployed import ComponentInstance
from convex_evals.backend.environment import CanonicalUrls
from convex_evals.backend.errors import DeveloperError, RequestError, SystemFailure
from convex_evals.backend.ids import SYSTEM_TABLE_NUMBERS, DocumentId
from convex_evals.backend.runtime import StoredBlob
from convex_evals.backend.storage.blobs import Blob, BlobStore
from convex_evals.backend.values import Value

TABLE = "_file_storage"

_UUID = re.compile(r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}", re.IGNORECASE)

TOKEN_SECONDS: Final = 3600
_SIGNATURE_SIZE: Final = 32

DIGEST_SIZE = 32
_DIGEST_HEADER = re.compile(r"sha-256=(.+)", re.IGNORECASE)

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_VALUE = rf'(?:{_TOKEN}|"(?:[^"\\\x00-\x1f\x7f-\U0010ffff]|\\[\x20-\x7e])*")'
_PARAMETER = re.compile(rf"(\s*;\s*)({_TOKEN})=({_VALUE})")
_MEDIA_TYPE = re.compile(rf"({_TOKEN}/{_TOKEN})((?:\s*;\s*{_TOKEN}={_VALUE})*)\s*;?\s*")


class UploadTokens:
    """Tokens are signed with a key derived from the deployment's `secret`, and stored nowhere."""

    def __init__(self, secret: str, clock: Callable[[], float] = time.time) -> None:
        self._key = hmac.digest(secret.encode(), b"upload token", hashlib.sha256)
        self._clock = clock

    def issue(self, component_id: str) -> str:
        grant = orjson.dumps({"component": component_id, "expires": self._clock() + TOKEN_SECONDS})
        return base64.urlsafe_b64encode(self._sign(grant) + grant).decode().rstrip("=")

    def component_of(self, token: str) -> str:
        """The id of the component that files may be stored in. Raises RequestError."""
        grant = self._verified(token)
        if grant is None:
            raise RequestError(401, "StorageTokenInvalid", "Couldn't decode the StoreFileAuthorization token")
        fields = orjson.loads(grant)
        if fields["expires"] <= self._clock():
            raise RequestError(401, "StorageTokenExpired", "Store File Authorization expired")
        return str(fields["component"])

    def _verified(self, token: str) -> bytes | None:
        try:
            data = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        except ValueError:
            return None
        signature, grant = data[:_SIGNATURE_SIZE], data[_SIGNATURE_SIZE:]
        return grant if hmac.compare_digest(signature, self._sign(grant)) else None

    def _sign(self, grant: bytes) -> bytes:
        return hmac.digest(self._key, grant, hashlib.sha256)


class Sha256Mismatch(DeveloperError):
    def __init__(self, expected: bytes, actual: bytes) -> None:
        super().__init__(f"Sha256 mismatch. Expected: {to_base64(expected)} Actual: {to_base64(actual)}")


def to_base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def parse_base64_digest(text: str) -> bytes | None:
    """None unless the text is the base64 of a digest."""
    try:
        digest = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return digest if len(digest) == DIGEST_SIZE else None


def parse_digest_header(text: str) -> bytes | None:
    """`sha-256=<base64>`; None for anything else."""
    found = _DIGEST_HEADER.fullmatch(text.strip())
    return None if found is None else parse_base64_digest(found[1])


def normalize_media_type(text: str) -> str | None:
    """With its case-insensitive parts in lower case; None unless the text is a media type."""
    found = _MEDIA_TYPE.fullmatch(text.strip())
    if found is None:
        return None
    parameters = [_normalize_parameter(parameter) for parameter in _PARAMETER.finditer(found[2])]
    return found[1].lower() + "".join(parameters)


def _normalize_parameter(parameter: re.Match[str]) -> str:
    separator, name, value = parameter[1], parameter[2].lower(), parameter[3]
    return f"{separator}{name}={value.lower() if name == 'charset' else value}"


def parse_uuid(text: str) -> str | None:
    """In canonical form; None unless the text is a UUID."""
    return str(uuid.UUID(text)) if _UUID.fullmatch(text) else None


def find_file(transaction: Transaction, namespace: str, storage_id: str, method: str) -> Document | None:
    """The row of a file as this transaction sees it. Raises DeveloperError when `storage_id` cannot name one.

    `method` is what user code called.
    """
    known = parse_uuid(storage_id)
    if known is not None:
        return find_by_uuid(transaction, namespace, known)
    try:
        document_id = DocumentId.decode(storage_id)
    except DeveloperError as error:
        raise DeveloperError(
            f'Invalid argument `storageId` for `{method}`: Invalid storage ID: "{storage_id}". Storage ID should be an '
            "Id of '_storage' table, or a UUID string."
        ) from error
    if document_id.table_number != SYSTEM_TABLE_NUMBERS[TABLE]:
        raise DeveloperError("Invalid storage ID. Storage ID cannot be an ID on any table other than '_storage'.")
    return transaction.system.get(namespace, TABLE, storage_id)


def find_by_uuid(transaction: Transaction, namespace: str, uuid: str) -> Document | None:
    return transaction.system.first(namespace, TABLE, "by_storage_id", [uuid])


@dataclass(frozen=True, slots=True)
class FileRow:
    """A row of `_file_storage`."""

    id: str
    uuid: str
    size: int
    sha256: bytes
    content_type: str | None

    @classmethod
    def of(cls, document: Document) -> "FileRow":
        value = document.value
        uuid, size, sha256, content_type = (value[name] for name in ("storageId", "size", "sha256", "contentType"))
        assert isinstance(uuid, str) and isinstance(size, int) and isinstance(sha256, bytes)
        return cls(document.id, uuid, size, sha256, content_type if isinstance(content_type, str) else None)


@dataclass(frozen=True, slots=True)
class ServedFile:
    """A file opened for reading. The caller closes `content`."""

    row: FileRow
    content: BinaryIO


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file that a transaction has stored and that is recorded once it commits."""

    id: str
    namespace: str
    uuid: str


class Files:
    """The files of every component: rows in `database`, bytes in `blobs`."""

    def __init__(self, database: Database, blobs: BlobStore, tokens: UploadTokens, urls: CanonicalUrls) -> None:
        self._database = database
        self._blobs = blobs
        self._urls = urls
        self.tokens = tokens
        database.on_commit(self._forget)

    # ------------------------------------------------------------------ in transactions

    def get_url(self, transaction: Transaction, instance: ComponentInstance, storage_id: str) -> str | None:
        found = find_file(transaction, instance.id, storage_id, "storage.getUrl")
        if found is None:
            return None
        component = f"?component={instance.id}" if instance.id else ""
        return f"{self._urls.overridden(transaction).cloud}/api/storage/{FileRow.of(found).uuid}{component}"

    def get_metadata(
        self, transaction: Transaction, instance: ComponentInstance, storage_id: str
    ) -> dict[str, object] | None:
        found = find_file(transaction, instance.id, storage_id, "storage.getMetadata")
        if found is None:
            return None
        row = FileRow.of(found)
        return {
            "storageId": row.uuid,
            "sha256": row.sha256.hex(),
            "size": float(row.size),
            "contentType": row.content_type,
        }

    def delete(self, transaction: Transaction, instance: ComponentInstance, storage_id: str) -> None:
        """The bytes go when the transaction commits. Until then, and if it does not, the file is served."""
        found = find_file(transaction, instance.id, storage_id, "storage.delete")
        if found is None:
            raise DeveloperError(f"storage id {storage_id} not found")
        transaction.system.delete(instance.id, TABLE, found.id)

    def store_in(
        self,
        transaction: Transaction,
        instance: ComponentInstance,
        content: bytes,
        content_type: str | None,
        sha256: str | None,
    ) -> StoredFile:
        """The bytes are stored at once; `discard_unrecorded` removes them if the transaction does not commit."""
        expected = _expected_digest(sha256)
        try:
            blob = self._blobs.keep(content)
        except OSError as error:
            raise SystemFailure(f"cannot store a file: {error}") from error
        if expected is not None and expected != blob.sha256:
            self._blobs.remove(blob.uuid)
            raise Sha256Mismatch(expected, blob.sha256)
        known_type = normalize_media_type(content_type) if content_type else None
        return StoredFile(_insert(transaction, instance.id, blob, known_type), instance.id, blob.uuid)

    def load_in(self, transaction: Transaction, instance: ComponentInstance, storage_id: str) -> StoredBlob | None:
        """As the transaction sees it."""
        found = find_file(transaction, instance.id, storage_id, "storage.get")
        served = None if found is None else self._open(found)
        if served is None:
            return None
        with served.content as content:
            return StoredBlob(content.read(), served.row.content_type)

    def discard_unrecorded(self, stored: Sequence[StoredFile]) -> None:
        """Removes the bytes of those that no committed row knows."""
        for each in stored:
            if find_by_uuid(self._database.begin(), each.namespace, each.uuid) is None:
                self._blobs.remove(each.uuid)

    def upload_url(self, instance: ComponentInstance) -> str:
        origin = self._urls.overridden(self._database.begin()).cloud
        return f"{origin}/api/storage/upload?token={self.tokens.issue(instance.id)}"

    # ------------------------------------------------------------------ in actions

    async def store(
        self, instance: ComponentInstance, content: bytes, content_type: str | None, sha256: str | None
    ) -> str:
        """The id of a new file. `sha256` is in base64. Raises DeveloperError."""
        expected = _expected_digest(sha256)
        known_type = None if content_type is None else normalize_media_type(content_type)
        return await self.save(instance.id, _one(content), known_type, expected)

    async def load(self, instance: ComponentInstance, storage_id: str) -> StoredBlob | None:
        """The newest state of a file. Raises DeveloperError."""
        found = find_file(self._database.begin(), instance.id, storage_id, "storage.getMetadata")
        served = None if found is None else self._open(found)
        if served is None:
            return None
        with served.content as content:
            return StoredBlob(await asyncio.to_thread(content.read), served.row.content_type)

    # ------------------------------------------------------------------ over HTTP

    async def save(
        self, namespace: str, chunks: AsyncIterable[bytes], content_type: str | None, expected: bytes | None
    ) -> str:
        """The id of a new file: its bytes are on disk and its row is committed. With any error there is neither.

        Raises Sha256Mismatch unless `expected` is the digest, SystemFailure when the disk is full.
        """
        try:
            async with self._blobs.receive() as incoming:
                await incoming.write_all(chunks)
                blob = await incoming.finish()
                if expected is not None and expected != blob.sha256:
                    raise Sha256Mismatch(expected, blob.sha256)
                return self._record(namespace, blob, content_type)
        except OSError as error:
            raise SystemFailure(f"cannot store a file: {error}") from error

    def open(self, namespace: str, uuid: str) -> ServedFile | None:
        found = find_by_uuid(self._database.begin(), namespace, uuid)
        return None if found is None else self._open(found)

    # ------------------------------------------------------------------ private

    def _open(self, found: Document) -> ServedFile | None:
        row = FileRow.of(found)
        content = self._blobs.open(row.uuid)
        return None if content is None else ServedFile(row, content)

    def _record(self, namespace: str, blob: Blob, content_type: str | None) -> str:
        transaction = self._database.begin()
        row_id = _insert(transaction, namespace, blob, content_type)
        self._database.commit(transaction)
        return row_id

    def _forget(self, commit: Commit) -> None:
        """Only URLs and metadata are read at snapshots, and downloads under way keep their file open."""
        for write in commit.writes:
            if write.table.name == TABLE and write.new is None and write.old is not None:
                self._blobs.remove(FileRow.of(write.old).uuid)


def _insert(transaction: Transaction, namespace: str, blob: Blob, content_type: str | None) -> str:
    values: dict[str, Value] = {
        "storageId": blob.uuid,
        "size": blob.size,
        "sha256": blob.sha256,
        "contentType": content_type,
    }
    return transaction.system.insert(namespace, TABLE, values).id


def _expected_digest(sha256: str | None) -> bytes | None:
    """Raises DeveloperError unless it is in base64."""
    if sha256 is None:
        return None
    expected = parse_base64_digest(sha256)
    if expected is None:
        raise DeveloperError(
            f'Invalid argument `sha256` for `storage.store`: expected the base64 of a SHA-256 digest, got "{sha256}"'
        )
    return expected


async def _one(content: bytes) -> AsyncIterator[bytes]:
    yield content
