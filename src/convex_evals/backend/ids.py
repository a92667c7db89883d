"""Document ids: a table number, 16 bytes of identity and a checksum, written in base 32."""

import os
import re
import time
from base64 import urlsafe_b64decode
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Final

from convex_evals.backend.errors import DeveloperError

FIRST_USER_TABLE_NUMBER: Final = 10001

SYSTEM_TABLE_NUMBERS: Final[dict[str, int]] = {
    "_tables": 513,
    "_index": 514,
    "_exports": 516,
    "_backend_info": 517,
    "_udf_config": 518,
    "_auth": 519,
    "_db": 520,
    "_modules": 521,
    "_source_packages": 524,
    "_environment_variables": 525,
    "_deployment_audit_log": 527,
    "_session_requests": 529,
    "_cron_jobs": 531,
    "_schemas": 532,
    "_cron_job_logs": 533,
    "_log_sinks": 535,
    "_backend_state": 536,
    "_external_deps_packages": 537,
    "_scheduled_jobs": 539,
    "_file_storage": 540,
    "_snapshot_imports": 541,
    "_component_definitions": 543,
    "_components": 544,
    "_function_handles": 545,
    "_canonical_urls": 546,
    "_cron_next_run": 547,
    "_index_backfills": 548,
    "_schema_validation_progress": 549,
    "_scheduled_job_args": 550,
}

# What app code sees: views with the rows, ids and numbers of a private table.
PUBLIC_SYSTEM_TABLES: Final[dict[str, str]] = {"_scheduled_functions": "_scheduled_jobs", "_storage": "_file_storage"}
SYSTEM_TABLE_NAMES: Final = {number: name for name, number in SYSTEM_TABLE_NUMBERS.items()}
PUBLIC_SYSTEM_TABLE_NUMBERS: Final[dict[str, int]] = {
    public: SYSTEM_TABLE_NUMBERS[private] for public, private in PUBLIC_SYSTEM_TABLES.items()
}

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_PYTHON_DIGITS = str.maketrans(_ALPHABET, "0123456789abcdefghijklmnopqrstuv")
_BASE32 = re.compile(f"[{_ALPHABET}]+")
_PAIRS = [first + second for first in _ALPHABET for second in _ALPHABET]
_LENGTHS = range(31, 38)
_INTERNAL_SIZE = 16
_FOOTER_SIZE = 2
_MAX_TABLE_NUMBER = 2**32 - 1
_SECONDS_PER_DAY = 86400
_REMEMBERED = 4096  # the same few ids come again and again


def is_system_table_number(number: int) -> bool:
    return number < FIRST_USER_TABLE_NUMBER


def public_name(table: str) -> str:
    """The name of a system table in validators and texts: `_storage` for `_file_storage`."""
    return next((public for public, private in PUBLIC_SYSTEM_TABLES.items() if private == table), table)


@dataclass(frozen=True, slots=True)
class DocumentId:
    table_number: int
    internal: bytes

    @classmethod
    def new(cls, table_number: int) -> "DocumentId":
        today = int(time.time()) // _SECONDS_PER_DAY
        return cls(table_number, os.urandom(14) + today.to_bytes(2, "big"))

    @staticmethod
    @lru_cache(maxsize=_REMEMBERED)
    def decode(text: str) -> "DocumentId":
        """Raises DeveloperError("Unable to decode ID: …") for anything but the canonical spelling of an id."""
        data = _decode_base32(text)
        number, number_size = _decode_varint(data)
        if len(data) != number_size + _INTERNAL_SIZE + _FOOTER_SIZE:
            raise _undecodable(f"Invalid ID length {len(text)}")
        body, footer = data[:-_FOOTER_SIZE], int.from_bytes(data[-_FOOTER_SIZE:], "little")
        if footer != (expected := _fletcher16(body)):
            raise _undecodable(f"Invalid ID version {footer} (expected {expected})")
        return DocumentId(number, body[number_size:])

    @classmethod
    def decode_legacy(cls, table_number: int, text: str) -> "DocumentId | None":
        """Ids were once written without their table: the internal id in URL-safe base 64, 22 characters."""
        if not re.fullmatch(r"[A-Za-z0-9_-]{22}", text):
            return None
        return cls(table_number, urlsafe_b64decode(text + "=="))

    def __str__(self) -> str:
        body = _encode_varint(self.table_number) + self.internal
        return _encode_base32(body + _fletcher16(body).to_bytes(_FOOTER_SIZE, "little"))


def _undecodable(reason: str) -> DeveloperError:
    return DeveloperError(f"Unable to decode ID: {reason}")


def _encode_base32(data: bytes) -> str:
    characters = (len(data) * 8 + 4) // 5
    pairs = (characters + 1) // 2
    number = int.from_bytes(data, "big") << (pairs * 10 - len(data) * 8)
    return "".join([_PAIRS[number >> shift & 1023] for shift in range(pairs * 10 - 10, -10, -10)])[:characters]


def _decode_base32(text: str) -> bytes:
    if len(text) not in _LENGTHS:
        raise _undecodable(f"Invalid ID length {len(text.encode(errors='surrogatepass'))}")
    if not _BASE32.fullmatch(text):
        raise _undecodable("ID wasn't valid base32")
    size, padding = divmod(len(text) * 5, 8)
    number = int(text.translate(_PYTHON_DIGITS), 32)
    if padding >= 5 or number & ((1 << padding) - 1):
        raise _undecodable("ID wasn't valid base32")
    return (number >> padding).to_bytes(size, "big")


def _encode_varint(number: int) -> bytes:
    groups = bytearray()
    while number > 127:
        groups.append(number & 127 | 128)
        number >>= 7
    groups.append(number)
    return bytes(groups)


def _decode_varint(data: bytes) -> tuple[int, int]:
    """The number and how many bytes it took."""
    number = 0
    for position, byte in enumerate(data[:5]):
        number |= (byte & 127) << (7 * position)
        if byte < 128:
            break
    else:
        raise _undecodable("Invalid table number")
    overlong = position > 0 and byte == 0
    if overlong or not 1 <= number <= _MAX_TABLE_NUMBER:
        raise _undecodable("Invalid table number")
    return number, position + 1


def _fletcher16(data: bytes) -> int:
    """Modulo 256, both sums."""
    return (sum(accumulate(data)) & 255) << 8 | (sum(data) & 255)
