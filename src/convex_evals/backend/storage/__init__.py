"""File storage: bytes in a folder, one row of `_file_storage` per file in the namespace of its component."""

from convex_evals.backend.storage.blobs import BlobStore
from convex_evals.backend.storage.files import (
    FileRow,
    Files,
    ServedFile,
    Sha256Mismatch,
    StoredFile,
    UploadTokens,
    normalize_media_type,
    parse_digest_header,
    parse_uuid,
    to_base64,
)

__all__ = [
    "BlobStore",
    "FileRow",
    "Files",
    "ServedFile",
    "Sha256Mismatch",
    "StoredFile",
    "UploadTokens",
    "normalize_media_type",
    "parse_digest_header",
    "parse_uuid",
    "to_base64",
]
