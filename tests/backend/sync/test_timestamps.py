import pytest

from convex_evals.backend.sync.timestamps import decode_ts, encode_ts

VECTORS = [(0, "AAAAAAAAAAA="), (1000, "6AMAAAAAAAA="), (2000, "0AcAAAAAAAA="), (2**63 - 1, "/////////38=")]


@pytest.mark.parametrize(("ts", "encoded"), VECTORS)
def test_a_timestamp_is_eight_little_endian_bytes_in_base64(ts: int, encoded: str) -> None:
    assert encode_ts(ts) == encoded
    assert decode_ts(encoded) == ts


@pytest.mark.parametrize("text", ["", "AAAA", "not base64!", "AAAAAAAAAAAA", "//////////8="])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="a timestamp"):
        decode_ts(text)
