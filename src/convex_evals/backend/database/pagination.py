"""`paginate`: one page of a query, and the cursors between pages."""

import hashlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from convex_evals.backend.database.core import TransactionCore
from convex_evals.backend.database.documents import Document
from convex_evals.backend.database.queries import CompiledQuery, compile_query
from convex_evals.backend.database.store import Row
from convex_evals.backend.database.text_search import TextSearch
from convex_evals.backend.errors import ConvexError, DeveloperError
from convex_evals.backend.limits import MAX_CANDIDATES, MAX_PAGE_SIZE, page_too_large
from convex_evals.backend.values import dumps

_FINGERPRINT_SIZE = 8
_SEAL_SIZE = 8
_AFTER = b"a"
_END = b"e"

MAX_ROWS: Final = 32_000
MAX_BYTES: Final = 16 * 2**20
MANY_RESULTS: Final = 6144
SPLIT_SHARE: Final = 0.75

PageStatus = Literal["SplitRecommended", "SplitRequired"]


class Cursor(NamedTuple):
    """`key` None is the end of the results."""

    key: bytes | None


class CursorFormat:
    """Writes and reads the cursors of one query. Equal positions give equal texts."""

    def __init__(self, secret: bytes, fingerprint: bytes) -> None:
        self._secret = secret
        self._fingerprint = fingerprint

    def write(self, cursor: Cursor) -> str:
        body = self._fingerprint + (_END if cursor.key is None else _AFTER + cursor.key)
        return urlsafe_b64encode(self._seal(body) + body).decode().rstrip("=")

    def read(self, text: str) -> Cursor:
        body = self._open(text)
        if body[:_FINGERPRINT_SIZE] != self._fingerprint:
            raise ConvexError(
                "InvalidCursor: Tried to run a query starting from a cursor, "
                "but it looks like this cursor is from a different query.",
                dumps({"isConvexSystemError": True, "paginationError": "InvalidCursor"}),
            )
        position = body[_FINGERPRINT_SIZE:]
        return Cursor(None if position == _END else position[1:])

    def _open(self, text: str) -> bytes:
        try:
            data = urlsafe_b64decode(text + "=" * (-len(text) % 4))
        except (Base64Error, ValueError):
            raise _unreadable() from None
        seal, body = data[:_SEAL_SIZE], data[_SEAL_SIZE:]
        if len(body) <= _FINGERPRINT_SIZE or seal != self._seal(body):
            raise _unreadable()
        return body

    def _seal(self, body: bytes) -> bytes:
        return hashlib.blake2b(body, key=self._secret, digest_size=_SEAL_SIZE).digest()


def _unreadable() -> DeveloperError:
    return DeveloperError("Failed to parse cursor")


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Arguments of `1.0/queryPage`. `journal` is the end cursor of an earlier run, used when there is no other."""

    query: object
    cursor: str | None
    page_size: float
    end_cursor: str | None = None
    maximum_rows_read: float | None = None
    maximum_bytes_read: float | None = None
    journal: str | None = None
    in_component: bool = False  # system functions may paginate inside components

    def check(self) -> None:
        if self.page_size <= 0:
            raise DeveloperError("Must request at least 1 document while paginating")
        if self.page_size > MAX_PAGE_SIZE:
            raise page_too_large(int(self.page_size))
        if 0 in (self.maximum_rows_read, self.maximum_bytes_read):
            raise DeveloperError("maximumRowsRead and maximumBytesRead must be greater than 0")


@dataclass(frozen=True, slots=True)
class Page:
    """`journal` is what a re-run of the same execution must be given, so that the page keeps its extent."""

    documents: list[Document]
    is_done: bool
    continue_cursor: str
    split_cursor: str | None
    status: PageStatus | None
    journal: str


@dataclass(slots=True)
class _Scan:
    documents: list[Document] = field(default_factory=list)
    keys: list[bytes] = field(default_factory=list)
    size: int = 0
    exhausted: bool = False
    cut_short: bool = False

    def add(self, row: Row, accepted: bool) -> None:
        self.keys.append(row.key)
        self.size += row.document.size
        if accepted:
            self.documents.append(row.document)


def paginate(core: TransactionCore, namespace: str, request: PageRequest) -> Page:
    request.check()
    query = compile_query(core, namespace, request.query)
    cursors = CursorFormat(core.snapshot.cursor_key, query.fingerprint)
    start = cursors.read(request.cursor) if request.cursor is not None else None
    end_text = request.end_cursor if request.end_cursor is not None else request.journal
    end = cursors.read(end_text) if end_text is not None else None
    if namespace and not request.in_component:
        raise DeveloperError(
            "paginate() is only supported in the app. "
            "Learn more at https://docs.convex.dev/components/authoring#pagination"
        )
    if start is not None and start.key is None:
        return _empty_page(cursors)
    query.source.restrict(start.key if start else None, end.key if end else None)
    scan = _scan(core, query, request, bounded=end is not None)
    reached = end or Cursor(None if scan.exhausted else scan.keys[-1])
    continue_cursor = cursors.write(reached)
    return Page(
        scan.documents,
        is_done=reached.key is None,
        continue_cursor=continue_cursor,
        split_cursor=_split_cursor(query, cursors, scan),
        status=_status(query, request, scan, bounded=end is not None),
        journal=continue_cursor,
    )


def _empty_page(cursors: CursorFormat) -> Page:
    end = cursors.write(Cursor(None))
    return Page([], is_done=True, continue_cursor=end, split_cursor=None, status=None, journal=end)


def _scan(core: TransactionCore, query: CompiledQuery, request: PageRequest, *, bounded: bool) -> _Scan:
    """Reads the page, accounting for every row."""
    scan = _Scan()
    rows = query.source.rows()
    while bounded or len(scan.documents) < request.page_size:
        row = None if query.operators.limit_reached else next(rows, None)
        if row is None:
            scan.exhausted = True
            break
        if _must_stop(core, query, request, scan, row, bounded=bounded):
            scan.cut_short = True
            break
        scan.add(row, _examine(core, query, row))
    query.source.record(None if scan.exhausted or not scan.keys else scan.keys[-1])
    core.check_reads()
    return scan


def _examine(core: TransactionCore, query: CompiledQuery, row: Row) -> bool:
    """Counts the row, and tells whether it belongs to the page. When it causes an error it has been read, too."""
    try:
        if query.source.counts_documents:
            core.usage.documents_read += 1
            core.usage.bytes_read += row.document.size
            core.check_reads()
        return query.operators.accept(row.document)
    except DeveloperError:
        query.source.record(row.key)
        raise


def _must_stop(
    core: TransactionCore, query: CompiledQuery, request: PageRequest, scan: _Scan, row: Row, *, bounded: bool
) -> bool:
    if not scan.keys:
        return False
    if query.source.counts_documents:
        usage, limits = core.usage, core.limits
        if usage.documents_read >= limits.documents_read or usage.bytes_read + row.document.size > limits.bytes_read:
            return True
    if bounded or isinstance(query.source, TextSearch):
        return False
    return _exceeds(len(scan.keys), request.maximum_rows_read) or _exceeds(scan.size, request.maximum_bytes_read)


def _exceeds(used: int, maximum: float | None) -> bool:
    return maximum is not None and used >= maximum


def _split_cursor(query: CompiledQuery, cursors: CursorFormat, scan: _Scan) -> str | None:
    if len(scan.keys) <= 2 or isinstance(query.source, TextSearch):
        return None
    return cursors.write(Cursor(scan.keys[len(scan.keys) // 2]))


def _status(query: CompiledQuery, request: PageRequest, scan: _Scan, *, bounded: bool) -> PageStatus | None:
    if scan.cut_short:
        return "SplitRequired"
    if isinstance(query.source, TextSearch):
        return "SplitRecommended" if len(scan.keys) > SPLIT_SHARE * MAX_CANDIDATES else None
    max_rows = MAX_ROWS if bounded else min(request.maximum_rows_read or MAX_ROWS, MAX_ROWS)
    max_bytes = MAX_BYTES if bounded else min(request.maximum_bytes_read or MAX_BYTES, MAX_BYTES)
    is_large = (
        len(scan.keys) > SPLIT_SHARE * max_rows
        or scan.size > SPLIT_SHARE * max_bytes
        or len(scan.documents) > MANY_RESULTS
    )
    return "SplitRecommended" if is_large else None
