import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.ids import (
    PUBLIC_SYSTEM_TABLE_NUMBERS,
    SYSTEM_TABLE_NUMBERS,
    DocumentId,
    is_system_table_number,
    public_name,
)

COUNTING = "000102030405060708090a0b0c0d0e0f"
VECTORS = [
    (1, COUNTING, "040020g30g2gc1r81450p30d1r7qke8"),
    (127, COUNTING, "fw0020g30g2gc1r81450p30d1r7ze5r"),
    (539, COUNTING, "kc2000820c20a1g7104gm2rc1m70y5yj"),
    (540, COUNTING, "kg2000820c20a1g7104gm2rc1m70y674"),
    (10001, COUNTING, "j57000820c20a1g7104gm2rc1m70ynr8"),
    (16384, COUNTING, "g2002001081g81860w40j2gb1g6gw3vs74"),
    (4294967295, COUNTING, "zzzzzzrf000g40r40m30e209185gr38e1y1nj"),
    (540, "7c75fb4a61fb003ca5a2086f49134d1a", "kg27rxfv99gzp01wmph0gvt92d6hnvy6"),
]


@pytest.mark.parametrize(("table", "internal", "text"), VECTORS)
def test_ids_are_written_like_the_real_ones(table: int, internal: str, text: str) -> None:
    document_id = DocumentId(table, bytes.fromhex(internal))
    assert str(document_id) == text
    assert DocumentId.decode(text) == document_id


@given(table=st.integers(1, 2**32 - 1), internal=st.binary(min_size=16, max_size=16))
def test_every_id_survives_the_round_trip(table: int, internal: bytes) -> None:
    document_id = DocumentId(table, internal)
    text = str(document_id)
    assert 31 <= len(text) <= 37
    assert DocumentId.decode(text) == document_id


@given(position=st.integers(0, 31), character=st.sampled_from("0123456789abcdefghjkmnpqrstvwxyz"))
def test_changing_any_character_makes_an_id_invalid(position: int, character: str) -> None:
    text = "j57000820c20a1g7104gm2rc1m70ynr8"
    changed = text[:position] + character + text[position + 1 :]
    if changed != text:
        with pytest.raises(DeveloperError, match="Unable to decode ID"):
            DocumentId.decode(changed)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("abc", "Invalid ID length 3"),
        ("", "Invalid ID length 0"),
        ("x" * 38, "Invalid ID length 38"),
        ("J57000820C20A1G7104GM2RC1M70YNR8", "ID wasn't valid base32"),
        ("j57000820c20a1g7104gm2rc1m70ynri", "ID wasn't valid base32"),
        ("j57_00820c20a1g7104gm2rc1m70ynr8", "ID wasn't valid base32"),
        ("0" * 32, "Invalid table number"),
        ("z" * 36 + "y", "Invalid table number"),
        ("j57000820c20a1g7104gm2rc1m70ynr9", "Invalid ID version 2391 (expected 2135)"),
        ("040020g30g2gc1r81450p30d1r7qke9", "ID wasn't valid base32"),
        ("j57000820c20a1g7104gm2rc1m70ynr80", "ID wasn't valid base32"),
    ],
)
def test_invalid_ids_are_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(DeveloperError) as refusal:
        DocumentId.decode(text)
    assert refusal.value.message == f"Unable to decode ID: {reason}"


def test_new_ids_are_random_and_end_with_the_day() -> None:
    first, second = DocumentId.new(10001), DocumentId.new(10001)
    assert first.internal[:14] != second.internal[:14]
    assert int.from_bytes(first.internal[14:], "big") in range(20000, int(time.time()) // 86400 + 1)
    assert str(first).startswith("j57")
    assert len(str(first)) == 32


def test_legacy_ids_are_the_internal_id_in_url_safe_base64() -> None:
    assert DocumentId.decode_legacy(10001, "AAECAwQFBgcICQoLDA0ODw") == DocumentId(10001, bytes.fromhex(COUNTING))
    for text in ("", "AAECAwQFBgcICQoLDA0OD", "AAECAwQFBgcICQoLDA0OD+", "j57000820c20a1g7104gm2rc1m70ynr8"):
        assert DocumentId.decode_legacy(10001, text) is None


def test_public_system_tables_share_the_numbers_of_the_private_ones() -> None:
    assert PUBLIC_SYSTEM_TABLE_NUMBERS == {"_scheduled_functions": 539, "_storage": 540}
    assert public_name("_file_storage") == "_storage"
    assert public_name("_modules") == "_modules"
    assert all(map(is_system_table_number, SYSTEM_TABLE_NUMBERS.values()))
    assert not is_system_table_number(10001)
