import pytest

from convex_evals.backend.storage.media_types import normalize_media_type


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("image/png", "image/png"),
        ("Image/PNG", "image/png"),
        (" text/plain ", "text/plain"),
        ("Text/Plain; Charset=UTF-8", "text/plain; charset=utf-8"),
        ("text/plain;charset=utf-8", "text/plain;charset=utf-8"),
        ('multipart/form-data; Boundary="A b"', 'multipart/form-data; boundary="A b"'),
        ("image/svg+xml", "image/svg+xml"),
        ("text/plain;", "text/plain"),
        ("text", None),
        ("", None),
        ("text/", None),
        ("te xt/plain", None),
        ("text/plain; charset", None),
        ("text/plain\r\nx: y", None),
        ('text/plain; a="\x01"', None),
        ("text/pläin", None),
    ],
)
def test_media_types_are_normalized_and_others_are_none(text: str, expected: str | None) -> None:
    assert normalize_media_type(text) == expected
