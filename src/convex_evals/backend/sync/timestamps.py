"""Timestamps as the protocol writes them: base64 of eight little-endian bytes."""

import base64
import binascii

LATEST_POSSIBLE = 2**63 - 1
BYTES = 8


def encode_ts(ts: int) -> str:
    return base64.b64encode(ts.to_bytes(BYTES, "little")).decode()


def decode_ts(text: str) -> int:
    """Raises ValueError when `text` is not a timestamp."""
    try:
        raw = base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(f"a timestamp is base64, not {text!r}") from error
    if len(raw) != BYTES:
        raise ValueError(f"a timestamp has {BYTES} bytes, not {len(raw)}")
    ts = int.from_bytes(raw, "little")
    if ts > LATEST_POSSIBLE:
        raise ValueError(f"a timestamp is at most {LATEST_POSSIBLE}, not {ts}")
    return ts
