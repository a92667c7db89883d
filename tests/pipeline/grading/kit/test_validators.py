"""Validators, shown as they stand in TypeScript."""

import pytest

from convex_evals.pipeline.grading.kit.validators import fields_of, shown

STRING = {"type": "string"}
SHOWN: list[tuple[object, str]] = [
    (None, "none"),
    ({"type": "any"}, "v.any()"),
    ({"type": "bigint"}, "v.int64()"),
    ({"type": "id", "tableName": "users"}, 'v.id("users")'),
    ({"type": "literal", "value": "a"}, 'v.literal("a")'),
    ({"type": "literal", "value": 1.0}, "v.literal(1)"),
    ({"type": "literal", "value": True}, "v.literal(true)"),
    ({"type": "array", "value": STRING}, "v.array(v.string())"),
    (
        {"type": "record", "keys": STRING, "values": {"fieldType": {"type": "number"}, "optional": False}},
        "v.record(v.string(), v.number())",
    ),
    (
        {"type": "union", "value": [STRING, {"type": "union", "value": [{"type": "null"}, STRING]}]},
        "v.union(v.null(), v.string())",
    ),
    (
        {
            "type": "object",
            "value": {
                "b": {"fieldType": STRING, "optional": True},
                "a": {"fieldType": {"type": "boolean"}, "optional": False},
            },
        },
        "v.object({a: v.boolean(), b: v.optional(v.string())})",
    ),
]


@pytest.mark.parametrize(("validator", "text"), SHOWN)
def test_validators_are_shown(validator: object, text: str) -> None:
    assert shown(validator) == text


def test_only_objects_have_fields() -> None:
    with pytest.raises(AssertionError, match=r"the arguments must be one object type, not v.any\(\)"):
        fields_of({"type": "any"}, "the arguments")
