import pytest

from convex_evals.backend.ids import DocumentId
from convex_evals.backend.validators import (
    ANY,
    BIGINT,
    BOOLEAN,
    COMMIT_TIMESTAMP,
    NULL,
    NUMBER,
    STRING,
    ArrayValidator,
    Field,
    IdValidator,
    LiteralValidator,
    ObjectValidator,
    RecordValidator,
    UnionValidator,
    Validator,
    check,
    is_subset,
    parse_validator,
)
from convex_evals.backend.values import COMMIT_TS, Value

TABLES = {10001: "users", 10002: "posts"}
USER = str(DocumentId(10001, bytes(16)))
POST = str(DocumentId(10002, bytes(16)))
FILE = str(DocumentId(540, bytes(16)))
JOB = str(DocumentId(539, bytes(16)))
STRANGER = str(DocumentId(10003, bytes(16)))

Json = dict[str, object]

STRING_JSON: Json = {"type": "string"}
NUMBER_JSON: Json = {"type": "number"}
NULL_JSON: Json = {"type": "null"}

USERS, POSTS = IdValidator("users"), IdValidator("posts")
A, B = LiteralValidator("a"), LiteralValidator("b")
REQUIRED = ObjectValidator({"a": Field(STRING)})
OPTIONAL = ObjectValidator({"a": Field(STRING, optional=True)})
NARROW = ObjectValidator({"a": Field(A)})
MORE = ObjectValidator({"a": Field(STRING), "b": Field(NULL, optional=True)})
EMPTY = ObjectValidator({})

SUBSETS: list[tuple[Validator, Validator]] = [
    (STRING, STRING),
    (STRING, ANY),
    (A, STRING),
    (USERS, STRING),
    (LiteralValidator(1.0), NUMBER),
    (LiteralValidator(True), BOOLEAN),
    (BIGINT, COMMIT_TIMESTAMP),
    (A, UnionValidator((A, B))),
    (UnionValidator((A, B)), STRING),
    (UnionValidator((A, B)), UnionValidator((NULL, STRING))),
    (UnionValidator(()), STRING),
    (ArrayValidator(A), ArrayValidator(STRING)),
    (RecordValidator(USERS, A), RecordValidator(STRING, STRING)),
    (NARROW, REQUIRED),
    (REQUIRED, OPTIONAL),
    (REQUIRED, MORE),
    (EMPTY, OPTIONAL),
    (MORE, RecordValidator(STRING, UnionValidator((STRING, NULL)))),
]

OTHERS: list[tuple[Validator, Validator]] = [
    (ANY, STRING),
    (STRING, A),
    (STRING, USERS),
    (USERS, POSTS),
    (NUMBER, BIGINT),
    (LiteralValidator(1), NUMBER),
    (LiteralValidator(True), BIGINT),
    (A, UnionValidator(())),
    (UnionValidator((STRING, NULL)), STRING),
    (ArrayValidator(STRING), ArrayValidator(A)),
    (OPTIONAL, REQUIRED),
    (MORE, REQUIRED),
    (EMPTY, REQUIRED),
    (REQUIRED, NARROW),
    (REQUIRED, RecordValidator(USERS, STRING)),
    (RecordValidator(STRING, STRING), OPTIONAL),
]


def obj(optional: tuple[str, ...] = (), /, **fields: Json) -> Json:
    return {
        "type": "object",
        "value": {name: {"fieldType": field, "optional": name in optional} for name, field in fields.items()},
    }


def array(element: Json) -> Json:
    return {"type": "array", "value": element}


def union(*members: Json) -> Json:
    return {"type": "union", "value": list(members)}


def literal(value: object) -> Json:
    return {"type": "literal", "value": value}


def id_of(table: str) -> Json:
    return {"type": "id", "tableName": table}


def record(keys: Json, values: Json) -> Json:
    return {"type": "record", "keys": keys, "values": {"fieldType": values, "optional": False}}


ACCEPTED: list[tuple[Json, Value]] = [
    ({"type": "any"}, {"x": [1]}),
    ({"type": "map"}, "whatever"),
    (NULL_JSON, None),
    (NUMBER_JSON, 1.5),
    ({"type": "bigint"}, 1),
    ({"type": "bigint"}, COMMIT_TS),
    ({"type": "commitTs"}, 1),
    ({"type": "commitTs"}, COMMIT_TS),
    ({"type": "boolean"}, True),
    (STRING_JSON, ""),
    ({"type": "bytes"}, b""),
    (literal(1), 1.0),
    (literal({"$integer": "AQAAAAAAAAA="}), 1),
    (literal(True), True),
    (id_of("users"), USER),
    (id_of("_storage"), FILE),
    (id_of("_scheduled_functions"), JOB),
    (array(NUMBER_JSON), []),
    (array(union(NUMBER_JSON, NULL_JSON)), [1.0, None]),
    (obj(("b",), a=STRING_JSON, b=STRING_JSON), {"a": "x"}),
    (record(STRING_JSON, NUMBER_JSON), {"any key": 1.0}),
    (record(id_of("users"), NUMBER_JSON), {USER: 1.0}),
]


@pytest.mark.parametrize(("validator", "value"), ACCEPTED)
def test_matching_values_have_no_error(validator: Json, value: Value) -> None:
    assert check(parse_validator(validator), value, TABLES) is None


def mismatch(value: str, validator: str, path: str = "") -> str:
    return f"Value does not match validator.\n{path}\nValue: {value}\nValidator: {validator}"


REFUSED: list[tuple[Json, Value, str]] = [
    (STRING_JSON, 5.0, mismatch("5.0", "v.string()")),
    (NUMBER_JSON, 5, mismatch("5", "v.float64()")),
    ({"type": "bigint"}, 5.0, mismatch("5.0", "v.int64()")),
    ({"type": "bigint"}, True, mismatch("true", "v.int64()")),
    ({"type": "commitTs"}, 5.0, mismatch("5.0", "v.commitTs()")),
    ({"type": "boolean"}, 1, mismatch("1", "v.boolean()")),
    (NULL_JSON, False, mismatch("false", "v.null()")),
    ({"type": "bytes"}, "x", mismatch('"x"', "v.bytes()")),
    (array(STRING_JSON), "x", mismatch('"x"', "v.array(v.string())")),
    (record(STRING_JSON, STRING_JSON), [], mismatch("[]", "v.record(v.string(), v.string())")),
    (obj(a=STRING_JSON), None, mismatch("null", "v.object({a: v.string()})")),
    (obj(("a",), a=STRING_JSON), {"a": None}, mismatch("null", "v.string()", "Path: .a")),
    (
        obj(author=obj(tags=array(STRING_JSON))),
        {"author": {"tags": ["a", "b", 1.0]}},
        mismatch("1.0", "v.string()", "Path: .author.tags[2]"),
    ),
    (record(STRING_JSON, NUMBER_JSON), {"k": "x"}, mismatch('"x"', "v.float64()", "Path: .values()")),
    (record(id_of("users"), NUMBER_JSON), {"k": 1.0}, mismatch('"k"', 'v.id("users")', "Path: .keys()")),
    (union(STRING_JSON, NULL_JSON), 1.0, mismatch("1.0", "v.union(v.string(), v.null())")),
    (union(STRING_JSON), 1.0, mismatch("1.0", "v.string()")),
    (union(), 1.0, mismatch("1.0", "v.union()")),
    (
        obj(x=union(literal("a"), literal("b"))),
        {"x": "c"},
        mismatch('"c"', 'v.union(v.literal("a"), v.literal("b"))', "Path: .x"),
    ),
    (literal("y"), "x", '`"x"` does not match literal validator `v.literal("y")`.'),
    (literal(1), 1, "`1` does not match literal validator `v.literal(1.0)`."),
    (
        obj(n=literal({"$integer": "AQAAAAAAAAA="})),
        {"n": 2},
        "`2` does not match literal validator `v.literal(<bigint>)`.Path: .n",
    ),
    (id_of("users"), "nonsense", mismatch('"nonsense"', 'v.id("users")')),
    (id_of("users"), 1.0, mismatch("1.0", 'v.id("users")')),
    (id_of("users"), STRANGER, mismatch(f'"{STRANGER}"', 'v.id("users")')),
    (
        id_of("users"),
        POST,
        f'Found ID "{POST}" from table `posts`, which does not match the table name in validator `v.id("users")`.',
    ),
    (
        array(id_of("users")),
        [USER, FILE],
        f'Found ID "{FILE}" from a system table, which does not match the table name in validator `v.id("users")`.'
        "Path: [1]",
    ),
    (
        id_of("_storage"),
        JOB,
        f'Found ID "{JOB}" from a system table, which does not match the table name in validator `v.id("_storage")`.',
    ),
    (
        obj(author=STRING_JSON, body=STRING_JSON),
        {"body": "hi"},
        "Object is missing the required field `author`. "
        "Consider wrapping the field validator in `v.optional(...)` if this is expected.\n\n"
        'Object: {body: "hi"}\nValidator: v.object({author: v.string(), body: v.string()})',
    ),
    (
        obj(body=STRING_JSON),
        {"body": "hi", "foo": 1.0, "bar": 2.0},
        "Object contains extra field `bar` that is not in the validator.\n\n"
        'Object: {bar: 2.0, body: "hi", foo: 1.0}\nValidator: v.object({body: v.string()})',
    ),
    (
        obj(m=obj(("b",), a=STRING_JSON, b=NUMBER_JSON)),
        {"m": {}},
        "Object is missing the required field `a`. "
        "Consider wrapping the field validator in `v.optional(...)` if this is expected.\nPath: .m\n"
        "Object: {}\nValidator: v.object({a: v.string(), b: v.optional(v.float64())})",
    ),
]


@pytest.mark.parametrize(("validator", "value", "text"), REFUSED)
def test_the_first_problem_is_reported_with_its_place(validator: Json, value: Value, text: str) -> None:
    assert check(parse_validator(validator), value, TABLES) == text


def test_declared_fields_are_checked_by_name_before_extra_fields() -> None:
    validator = parse_validator(obj(b=STRING_JSON, c=STRING_JSON, a=STRING_JSON))
    problems = [
        check(validator, {"a": 1.0, "b": 1.0, "extra": 1.0}, TABLES),
        check(validator, {"a": "", "extra": 1.0}, TABLES),
        check(validator, {"a": "", "b": "", "c": "", "extra": 1.0}, TABLES),
    ]
    assert [str(problem).partition("\n")[0].partition(".")[0] for problem in problems] == [
        "Value does not match validator",
        "Object is missing the required field `b`",
        "Object contains extra field `extra` that is not in the validator",
    ]


@pytest.mark.parametrize(("a", "b"), SUBSETS, ids=str)
def test_the_first_accepts_nothing_the_second_refuses(a: Validator, b: Validator) -> None:
    assert is_subset(a, b)


@pytest.mark.parametrize(("a", "b"), OTHERS, ids=str)
def test_the_first_may_accept_what_the_second_refuses(a: Validator, b: Validator) -> None:
    assert not is_subset(a, b)
