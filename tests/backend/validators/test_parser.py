import pytest

from convex_evals.backend.errors import RequestError
from convex_evals.backend.validators import ANY, load_validator, parse_args_validator, parse_validator

Json = dict[str, object]

STRING: Json = {"type": "string"}


def record(keys: Json, values: Json, optional: bool = False) -> Json:
    return {"type": "record", "keys": keys, "values": {"fieldType": values, "optional": optional}}


SPELLINGS: list[tuple[Json, str]] = [
    ({"type": "null"}, "v.null()"),
    ({"type": "number"}, "v.float64()"),
    ({"type": "bigint"}, "v.int64()"),
    ({"type": "commitTs"}, "v.commitTs()"),
    ({"type": "boolean"}, "v.boolean()"),
    (STRING, "v.string()"),
    ({"type": "bytes"}, "v.bytes()"),
    ({"type": "any"}, "v.any()"),
    ({"type": "id", "tableName": "users"}, 'v.id("users")'),
    ({"type": "literal", "value": "a"}, 'v.literal("a")'),
    ({"type": "literal", "value": 1.0}, "v.literal(1.0)"),
    ({"type": "literal", "value": True}, "v.literal(true)"),
    ({"type": "literal", "value": {"$integer": "AQAAAAAAAAA="}}, "v.literal(<bigint>)"),
    ({"type": "array", "value": STRING}, "v.array(v.string())"),
    (record(STRING, {"type": "any"}), "v.record(v.string(), v.any())"),
    ({"type": "union", "value": [STRING, {"type": "null"}]}, "v.union(v.string(), v.null())"),
    (
        {
            "type": "object",
            "value": {
                "a": {"fieldType": STRING, "optional": False},
                "b": {"fieldType": {"type": "number"}, "optional": True},
            },
        },
        "v.object({a: v.string(), b: v.optional(v.float64())})",
    ),
]


@pytest.mark.parametrize(("json", "spelling"), SPELLINGS, ids=[spelling for _, spelling in SPELLINGS])
def test_a_validator_keeps_its_json_and_has_a_spelling(json: Json, spelling: str) -> None:
    validator = parse_validator(json)
    assert validator.to_json() == json
    assert str(validator) == spelling
    assert load_validator(validator.to_text()) == validator


def test_the_text_has_sorted_keys_and_floats_with_a_fraction() -> None:
    text = (
        '{"value":{"b":{"optional":false,"fieldType":{"type":"literal","value":1}},'
        '"a":{"fieldType":{"type":"set"},"optional":false}},"type":"object"}'
    )
    assert load_validator(text).to_text() == (
        '{"type":"object","value":{"a":{"fieldType":{"type":"any"},"optional":false},'
        '"b":{"fieldType":{"type":"literal","value":1.0},"optional":false}}}'
    )


def test_literals_of_different_types_are_different_validators() -> None:
    spellings: list[object] = [1, True, {"$integer": "AQAAAAAAAAA="}]
    literals = [parse_validator({"type": "literal", "value": value}) for value in spellings]
    assert all(a != b for a in literals for b in literals if a is not b)


def test_an_absent_returns_validator_accepts_anything() -> None:
    assert load_validator("null") == ANY


NOT_A_STRING_KEY = (
    "Records can only have string keys. Your validator contains a record with key typed as `{}`, "
    "which is not a subtype of `v.string()`"
)


@pytest.mark.parametrize(
    ("json", "code", "message"),
    [
        (record({"type": "number"}, STRING), "InvalidRecordType", NOT_A_STRING_KEY.format("v.float64()")),
        (record({"type": "any"}, STRING), "InvalidRecordType", NOT_A_STRING_KEY.format("v.any()")),
        (
            record({"type": "literal", "value": "a"}, STRING),
            "InvalidRecordType",
            "Records cannot have string literal keys",
        ),
        (
            record({"type": "union", "value": [STRING, {"type": "literal", "value": "a"}]}, STRING),
            "InvalidRecordType",
            "Records cannot have string literal keys",
        ),
        (record(STRING, STRING, optional=True), "InvalidRecordType", "Records cannot have optional values"),
        (
            {"type": "literal", "value": {"$float": "AAAAAAAA+H8="}},
            "UnsupportedFloatLiteral",
            "Infinite or NaN values are not supported in literal validators.",
        ),
        (
            {"type": "object", "value": {"a-b": {"fieldType": STRING, "optional": False}}},
            "InvalidIdentifier",
            "Identifier a-b has invalid character '-': "
            "Identifiers can only contain alphanumeric characters or underscores",
        ),
        (
            {"type": "object", "value": {"k": {"fieldType": record({"type": "null"}, STRING), "optional": False}}},
            "InvalidRecordType",
            "Invalid validator for key `k`: " + NOT_A_STRING_KEY.format("v.null()"),
        ),
        ({"type": "date"}, "InvalidSchema", 'Unrecognized validator: {"type":"date"}'),
    ],
)
def test_a_validator_that_makes_no_sense_is_refused(json: Json, code: str, message: str) -> None:
    with pytest.raises(RequestError) as refusal:
        parse_validator(json)
    assert (refusal.value.status, refusal.value.code, refusal.value.message) == (400, code, message)


@pytest.mark.parametrize("json", [None, 5, [], {}, {"type": "array"}, {"type": "union", "value": {}}, {"type": []}])
def test_json_that_is_not_a_validator_is_refused(json: object) -> None:
    with pytest.raises(RequestError):
        parse_validator(json)


def test_arguments_are_an_object_or_anything() -> None:
    assert str(parse_args_validator({"type": "object", "value": {}})) == "v.object({})"
    assert parse_args_validator({"type": "any"}) == ANY
    with pytest.raises(RequestError, match="Args validator must be an object or any"):
        parse_args_validator(STRING)
