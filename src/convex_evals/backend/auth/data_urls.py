"""Keys that are written into the auth config itself: `data:[<media type>][;base64],<data>`."""

import base64
import binascii
from typing import Final
from urllib.parse import unquote_to_bytes

SCHEME: Final = "data:"


def is_data_url(url: str) -> bool:
    return url[: len(SCHEME)].lower() == SCHEME


def data_of(url: str) -> bytes:
    """Raises ValueError."""
    description, comma, text = url[len(SCHEME) :].partition(",")
    if not comma:
        raise ValueError("a data URL has a comma before its data")
    data = unquote_to_bytes(text)
    if not description.lower().replace(" ", "").endswith(";base64"):
        return data
    try:
        return base64.b64decode(data + b"=" * (-len(data) % 4), validate=True)
    except binascii.Error as error:
        raise ValueError(f"the data is not base64: {error}") from error
