import struct

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convex_evals.backend.errors import DeveloperError, RequestError
from convex_evals.backend.values import (
    COMMIT_TS,
    UNDEFINED,
    Format,
    Value,
    decode,
    decode_field,
    decode_pending,
    dumps,
    encode,
    equal,
    loads,
    parse_format,
    render,
)

VECTORS: list[tuple[Value, str]] = [
    (None, "null"),
    (True, "true"),
    ("hé", '"hé"'),
    (1.0, "1.0"),
    (0.0, "0.0"),
    (0.1, "0.1"),
    (42, '{"$integer":"KgAAAAAAAAA="}'),
    (-1, '{"$integer":"//////////8="}'),
    (float("nan"), '{"$float":"AAAAAAAA+H8="}'),
    (float("inf"), '{"$float":"AAAAAAAA8H8="}'),
    (float("-inf"), '{"$float":"AAAAAAAA8P8="}'),
    (-0.0, '{"$float":"AAAAAAAAAIA="}'),
    (b"\x01\x02", '{"$bytes":"AQI="}'),
    ([1.0, None], "[1.0,null]"),
    ({"b": 1.0, "a": {"d": 2, "c": []}}, '{"a":{"c":[],"d":{"$integer":"AgAAAAAAAAA="}},"b":1.0}'),
]


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


@pytest.mark.parametrize(("value", "text"), VECTORS, ids=[text for _, text in VECTORS])
def test_a_value_is_written_in_its_canonical_form_and_read_back(value: Value, text: str) -> None:
    assert dumps(value) == text
    assert equal(loads(text), value)


@given(data=st.data())
def test_every_value_survives_the_round_trip(values: st.SearchStrategy[Value], data: st.DataObject) -> None:
    value = data.draw(values)
    text = dumps(value)
    assert equal(loads(text), value)
    assert dumps(loads(text)) == text


def test_every_json_number_is_a_float() -> None:
    assert [type(item) for item in orjson.loads(dumps(loads("[1, 1.0, -5, 12345678901234567890]")))] == [float] * 4


def test_decoded_objects_are_sorted_by_field_name() -> None:
    decoded = decode({"b": 1, "_id": 2, "A": 3})
    assert isinstance(decoded, dict)
    assert list(decoded) == ["A", "_id", "b"]


def test_encoded_objects_are_sorted_by_field_name() -> None:
    encoded = encode({"b": None, "a": None})
    assert isinstance(encoded, dict)
    assert list(encoded) == ["a", "b"]


def test_a_positive_zero_may_be_spelled_as_special_float() -> None:
    assert equal(loads('{"$float":"AAAAAAAAAAA="}'), 0.0)


def test_a_nan_keeps_its_bits() -> None:
    negative_nan = loads('{"$float":"AAAAAAAA+P8="}')
    assert struct.pack("<d", negative_nan) == bytes.fromhex("000000000000f8ff")
    assert dumps(negative_nan) == '{"$float":"AAAAAAAA+P8="}'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"$float":"AAAAAAAA8D8="}', "Float64 1 should be encoded as a number"),
        ('{"$float":"AAAAAAAA+D8="}', "Float64 1.5 should be encoded as a number"),
        ('{"$integer":"AQ=="}', "$integer must be exactly eight bytes, received 1"),
        ('{"$integer":5}', "$integer must have a string value"),
        ('{"$bytes":"AQI"}', "$bytes must be valid base64: AQI"),
        ('{"$bytes":"A_I="}', "$bytes must be valid base64: A_I="),
        ('{"$set":[]}', "Field name $set starts with '$', which is reserved."),
        ('{"$bytes":"AQI=","x":1}', "Field name $bytes starts with '$', which is reserved."),
        ('{"$undefined":null}', "Field name $undefined starts with '$', which is reserved."),
        ('{"$commitTs":null}', "Field name $commitTs starts with '$', which is reserved."),
        (
            '{"é":1}',
            "Field name é has invalid character 'é': Field names can only contain non-control ASCII characters",
        ),
    ],
)
def test_json_that_is_not_a_value_is_refused(text: str, message: str) -> None:
    with pytest.raises(DeveloperError) as refusal:
        loads(text)
    assert refusal.value.message == message


@pytest.mark.parametrize(
    ("json", "message"),
    [
        ([None] * 8193, "Array length is too long (8193 > maximum length 8192)"),
        ({str(n): None for n in range(1025)}, "Object has too many fields (1025 > maximum number 1024)"),
        ({"x" * 2000: None}, "Field name is too long (2000 > maximum 1024)"),
    ],
    ids=["array", "object", "name"],
)
def test_decoding_checks_the_limits_of_containers(json: object, message: str) -> None:
    with pytest.raises(DeveloperError) as refusal:
        decode({"a": [json]})
    assert refusal.value.message == message


def test_64_levels_decode_and_65_do_not() -> None:
    json: object = 1.0
    for _ in range(64):
        json = [json]
    decode(json)
    for deep in ([json], _nested(900)):
        with pytest.raises(DeveloperError, match="nested 65 levels deep > maximum nesting 64"):
            decode(deep)


def _nested(levels: int) -> object:
    json: object = None
    for _ in range(levels):
        json = {"a": json}
    return json


def test_a_pending_commit_timestamp_is_accepted_only_where_asked_for() -> None:
    value = decode_pending({"ts": {"$commitTs": None}})
    assert value == {"ts": COMMIT_TS}
    assert dumps(value) == '{"ts":{"$commitTs":null}}'


def test_a_field_may_be_undefined_but_nothing_inside_it() -> None:
    assert decode_field({"$undefined": None}) is UNDEFINED
    assert decode_field(None) is None
    with pytest.raises(DeveloperError):
        decode_field([{"$undefined": None}])


def test_an_integer_that_needs_more_than_64_bits_is_refused() -> None:
    with pytest.raises(DeveloperError, match=r"BigInt 9223372036854775808 does not fit into a 64-bit signed integer\."):
        encode(2**63)


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
