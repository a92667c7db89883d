"""The two ways to name a file: the id of its row, and the UUID in its URL."""

import re
import uuid

from convex_evals.backend.database import Document, Transaction
from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.ids import SYSTEM_TABLE_NUMBERS, DocumentId

TABLE = "_file_storage"

_UUID = re.compile(r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}", re.IGNORECASE)


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
