"""File storage: bytes in a folder, one row of `_file_storage` per file in the namespace of its component."""

from convex_evals.backend.storage.blobs import BlobStore
from convex_evals.backend.storage.digests import Sha256Mismatch
from convex_evals.backend.storage.files import FileRow, Files, ServedFile, StoredFile
from convex_evals.backend.storage.upload_tokens import UploadTokens

__all__ = ["BlobStore", "FileRow", "Files", "ServedFile", "Sha256Mismatch", "StoredFile", "UploadTokens"]
