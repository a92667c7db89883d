import orjson
import pytest

from convex_evals.backend.errors import RequestError
from convex_evals.backend.values import Format, Value, parse_format, render

CASES: list[tuple[Value, str, str, str]] = [
    (5, '{"$integer":"BQAAAAAAAAA="}', '"5"', "5"),
    (5.0, "5.0", "5.0", "5.0"),
    (0.0, "0.0", "0.0", "0.0"),
    (float("nan"), '{"$float":"AAAAAAAA+H8="}', '"NaN"', '{"$float":"AAAAAAAA+H8="}'),
    (float("inf"), '{"$float":"AAAAAAAA8H8="}', '"Infinity"', '{"$float":"AAAAAAAA8H8="}'),
    (float("-inf"), '{"$float":"AAAAAAAA8P8="}', '"-Infinity"', '{"$float":"AAAAAAAA8P8="}'),
    (-0.0, '{"$float":"AAAAAAAAAIA="}', "-0.0", "-0.0"),
    (b"\x01\x02", '{"$bytes":"AQI="}', '"AQI="', '{"$bytes":"AQI="}'),
    (True, "true", "true", "true"),
    (False, "false", "false", "false"),
    (None, "null", "null", "null"),
    ({"b": [1], "a": "x"}, '{"a":"x","b":[{"$integer":"AQAAAAAAAAA="}]}', '{"a":"x","b":["1"]}', '{"a":"x","b":[1]}'),
]


@pytest.mark.parametrize(("value", "encoded", "clean", "exported"), CASES, ids=[case[1] for case in CASES])
def test_a_value_in_each_format(value: Value, encoded: str, clean: str, exported: str) -> None:
    formats: dict[Format, str] = {"convex_encoded_json": encoded, "json": clean, "export_json": exported}
    for format, text in formats.items():
        assert orjson.dumps(render(value, format)).decode() == text


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("convex_encoded_json", "convex_encoded_json"),
        ("convex_json", "convex_encoded_json"),
        ("json", "json"),
        ("convex_clean_json", "json"),
        ("export_json", "export_json"),
    ],
)
def test_formats_have_aliases(name: str, format: Format) -> None:
    assert parse_format(name) == format


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(RequestError) as refusal:
        parse_format("xyz")
    assert (refusal.value.status, refusal.value.code) == (400, "BadFormat")
    assert refusal.value.message == "format param must be one of [`json`]. Got xyz"
