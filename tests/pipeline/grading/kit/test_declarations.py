"""Validators, shown as they stand in TypeScript."""

import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import same_function_spec, same_schema
from convex_evals.pipeline.grading.kit.declarations import (
    FunctionSpec,
    Schema,
    fields_of,
    parse_functions,
    parse_schema,
    shown,
)
from convex_evals.pipeline.grading.kit.errors import EvalBroken

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

NUMBER = {"type": "number"}


@pytest.mark.parametrize(("validator", "text"), SHOWN)
def test_validators_are_shown(validator: object, text: str) -> None:
    assert shown(validator) == text


def test_only_objects_have_fields() -> None:
    with pytest.raises(AssertionError, match=r"the arguments must be one object type, not v.any\(\)"):
        fields_of({"type": "any"}, "the arguments")


def shape(**fields: object) -> dict[str, object]:
    return {
        "type": "object",
        "value": {name.rstrip("_"): {"fieldType": kind, "optional": name[-1] == "_"} for name, kind in fields.items()},
    }


def function(
    name: str, args: object = None, kind: str = "Query", visibility: str = "public", returns: object = None
) -> dict[str, object]:
    args = args or shape()
    visible = {"kind": visibility}
    return {"identifier": name, "functionType": kind, "visibility": visible, "args": args, "returns": returns}


def table(name: str, document: object, **indexes: list[str]) -> dict[str, object]:
    listed = [{"indexDescriptor": index, "fields": [*on, "_creationTime"]} for index, on in indexes.items()]
    return {"tableName": name, "documentType": document, "indexes": listed}


@dataclass
class Declared:
    """Stands in for a deployment, of which comparisons ask nothing but these two."""

    spec: list[dict[str, Any]] = field(default_factory=list)
    declared_tables: list[dict[str, Any]] = field(default_factory=list)

    def functions(self) -> dict[str, FunctionSpec]:
        return parse_functions(self.spec)

    def schema(self) -> Schema:
        return parse_schema(json.dumps({"tables": self.declared_tables, "schemaValidation": True}))


ANSWER = [function("a.js:get", shape(id=STRING)), function("a.js:helper", visibility="internal")]
SAME_FUNCTIONS = [
    [function("a.js:get", shape(id=STRING))],
    [function("a.js:get", shape(id=STRING), returns=STRING), function("a.js:more")],
]


@pytest.mark.parametrize("spec", SAME_FUNCTIONS)
def test_public_functions_must_be_there_and_others_may(spec: list[dict[str, Any]]) -> None:
    same_function_spec(Declared(spec), Declared(ANSWER))  # type: ignore[arg-type]


DIFFERENT_FUNCTIONS: list[tuple[list[dict[str, Any]], dict[str, Any], str]] = [
    ([], {}, "a:get: expected a public query, received nothing; there are: none"),
    ([function("a.js:gets", shape(id=STRING))], {}, "received nothing; did you mean a:gets?"),
    (
        [function("a.js:get", shape(id=STRING), kind="Mutation")],
        {},
        "expected: a public query\n  received: a public mutation",
    ),
    ([function("a.js:get", shape(id=STRING), visibility="internal")], {}, "received: an internal query"),
    (
        [function("a.js:get", shape(id_=STRING))],
        {},
        "a:get args\n  expected: v.object({id: v.string()})\n  received: v.object({id: v.optional(v.string())})",
    ),
    ([function("a.js:get", shape(id=STRING), returns=STRING)], {"returns": True}, "a:get returns\n  expected: none"),
    (
        [function("a.js:get", shape(id=STRING)), function("b.js:x")],
        {"exact": True},
        "b:x: expected nothing, received a public query",
    ),
    ([function("a.js:get", shape(id=STRING))], {"functions": ["a:helper"]}, "a:helper: expected an internal query"),
]


@pytest.mark.parametrize(("spec", "options", "told"), DIFFERENT_FUNCTIONS)
def test_differing_functions_are_reported(spec: list[dict[str, Any]], options: dict[str, Any], told: str) -> None:
    with pytest.raises(AssertionError) as caught:
        same_function_spec(Declared(spec), Declared(ANSWER), **options)  # type: ignore[arg-type]
    assert told in str(caught.value)


def test_a_function_that_the_answer_does_not_have_is_the_graders_mistake() -> None:
    with pytest.raises(EvalBroken, match=r"the reference answer has no a:gett; did you mean a:get?"):
        same_function_spec(Declared(ANSWER), Declared(ANSWER), ["a:gett"])  # type: ignore[arg-type]


def union(*kinds: object) -> dict[str, object]:
    return {"type": "union", "value": list(kinds)}


TABLES = [table("users", shape(name=STRING, age_=union(STRING, NUMBER)), by_name=["name"])]
SAME_TABLES: list[tuple[list[dict[str, Any]], dict[str, Any]]] = [
    ([table("users", shape(age_=union(NUMBER, union(STRING)), name=STRING), by_name=["name"])], {}),
    ([*TABLES, table("more", shape())], {}),
    ([table("users", TABLES[0]["documentType"], other=["name"])], {"index_names": False}),
    ([table("users", TABLES[0]["documentType"], by_name=["name"], by_age=["age"])], {}),
]


@pytest.mark.parametrize(("tables", "options"), SAME_TABLES)
def test_order_and_additions_do_not_matter(tables: list[dict[str, Any]], options: dict[str, Any]) -> None:
    same_schema(Declared([], tables), Declared([], TABLES), **options)  # type: ignore[arg-type]


DIFFERENT_TABLES: list[tuple[list[dict[str, Any]], dict[str, Any], str]] = [
    ([], {}, "users: expected a table, received nothing; there are: none"),
    ([table("users", shape(name=STRING), by_name=["name"])], {}, "received: v.object({name: v.string()})"),
    (
        [table("users", TABLES[0]["documentType"], other=["name"])],
        {},
        "users: expected index by_name on name, received nothing; there are: index other on name",
    ),
    ([*TABLES, table("more", shape())], {"exact": True}, "more: expected nothing, received a table"),
    (
        [table("users", TABLES[0]["documentType"], by_name=["name"], by_age=["age"])],
        {"exact": True},
        "users: expected nothing, received index by_age on age",
    ),
]


@pytest.mark.parametrize(("tables", "options", "told"), DIFFERENT_TABLES)
def test_differing_tables_are_reported(tables: list[dict[str, Any]], options: dict[str, Any], told: str) -> None:
    with pytest.raises(AssertionError) as caught:
        same_schema(Declared([], tables), Declared([], TABLES), **options)  # type: ignore[arg-type]
    assert told in str(caught.value)


def test_a_deployment_without_schema_has_no_tables() -> None:
    assert parse_schema(None) == Schema({}, is_enforced=False)
