from typing import Any

import pytest

from convex_evals.backend.errors import RequestError
from convex_evals.backend.schema import IndexSpec, Schema, SearchIndexSpec, VectorIndexSpec

STRING = {"type": "string"}
VECTOR = {"type": "array", "value": {"type": "number"}}


def fields(**types: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "value": {name: {"fieldType": field, "optional": False} for name, field in types.items()},
    }


DOCUMENT = fields(
    a=STRING,
    b=STRING,
    nested=fields(c=STRING),
    emb=VECTOR,
    map={"type": "record", "keys": STRING, "values": {"fieldType": STRING, "optional": False}},
)


def table(name: str = "t", document: Any = DOCUMENT, **lists: Any) -> dict[str, Any]:
    return {"tableName": name, "documentType": document, **lists}


def schema(*tables: dict[str, Any], validate: bool = True) -> dict[str, Any]:
    return {"tables": list(tables), "schemaValidation": validate}


def db(name: str, *paths: str) -> dict[str, Any]:
    return {"indexDescriptor": name, "fields": list(paths)}


def search(name: str, field: str, *filters: str) -> dict[str, Any]:
    return {"indexDescriptor": name, "searchField": field, "filterFields": list(filters)}


def vector(name: str, field: str, dimensions: float, *filters: str) -> dict[str, Any]:
    return {"indexDescriptor": name, "vectorField": field, "dimensions": dimensions, "filterFields": list(filters)}


def test_a_schema_is_normalized() -> None:
    parsed = Schema.parse(
        schema(
            table("z", None),
            table(
                "messages",
                fields(_id=STRING, _creationTime={"type": "number"}, body=STRING, author=STRING, emb=VECTOR),
                indexes=[db("by_body", "body"), db("by_author", "author", "body")],
                stagedDbIndexes=[db("later", "emb")],
                searchIndexes=[search("find", "body", "body", "author", "author")],
                vectorIndexes=[vector("near", "emb", 4, "z", "a")],
            ),
        )
    )
    assert parsed.to_json() == {
        "schemaValidation": True,
        "tables": [
            {
                "tableName": "messages",
                "indexes": [
                    {"indexDescriptor": "by_author", "fields": ["author", "body", "_creationTime"]},
                    {"indexDescriptor": "by_body", "fields": ["body", "_creationTime"]},
                ],
                "stagedDbIndexes": [{"indexDescriptor": "later", "fields": ["emb", "_creationTime"]}],
                "searchIndexes": [
                    {"indexDescriptor": "find", "searchField": "body", "filterFields": ["author", "body"]}
                ],
                "stagedSearchIndexes": [],
                "vectorIndexes": [
                    {
                        "indexDescriptor": "near",
                        "vectorField": "emb",
                        "dimensions": 4,
                        "dimension": None,
                        "filterFields": ["a", "z"],
                    }
                ],
                "stagedVectorIndexes": [],
                "documentType": fields(author=STRING, body=STRING, emb=VECTOR),
            },
            {
                "tableName": "z",
                "indexes": [],
                "stagedDbIndexes": [],
                "searchIndexes": [],
                "stagedSearchIndexes": [],
                "vectorIndexes": [],
                "stagedVectorIndexes": [],
                "documentType": {"type": "any"},
            },
        ],
    }
    messages = parsed.tables["messages"]
    assert messages.indexes["later"] == IndexSpec("later", ("emb", "_creationTime"), staged=True)
    assert messages.search_indexes["find"] == SearchIndexSpec("find", "body", ("author", "body"))
    assert messages.vector_indexes["near"] == VectorIndexSpec("near", "emb", 4, ("a", "z"))
    assert [index.full_name for index in parsed.indexes] == [
        "messages.by_author",
        "messages.by_body",
        "messages.later",
        "messages.find",
        "messages.near",
    ]
    assert Schema.loads(parsed.dumps()) == parsed


def test_a_union_of_one_object_is_the_object() -> None:
    parsed = Schema.parse(schema(table("t", {"type": "union", "value": [fields(a=STRING, _id=STRING)]})))
    assert str(parsed.tables["t"].validator) == "v.object({a: v.string()})"


def test_system_fields_leave_every_member_of_a_union() -> None:
    parsed = Schema.parse(schema(table("t", {"type": "union", "value": [fields(_id=STRING), fields(b=STRING)]})))
    assert str(parsed.tables["t"].validator) == "v.union(v.object({}), v.object({b: v.string()}))"


def test_a_schema_without_the_flag_is_not_enforced() -> None:
    assert not Schema.parse({"tables": []}).schema_validation


ACCEPTED: list[dict[str, Any]] = [
    table(indexes=[db("i", "nested.c"), db("j", "map.anything")]),
    table(document={"type": "any"}, indexes=[db("i", "x.y.z")], vectorIndexes=[vector("v", "x", 2)]),
    table(document={"type": "union", "value": [fields(a=STRING), fields(b=STRING)]}, indexes=[db("i", "a", "b")]),
    table(searchIndexes=[search("s", "a", "_creationTime")]),
    table(searchIndexes=[search("s", "a"), search("s2", "a", "b")]),
    table(vectorIndexes=[vector("v", "emb", 2, "unchecked"), vector("v2", "emb", 4096.0)]),
    table(indexes=[db(f"i{n}", "a", *(["b"] * (n % 2)), f"map.f{n}") for n in range(64)]),
    table(indexes=[db("i", *(f"map.f{n}" for n in range(15)))]),
    table(indexes=[db("i", "a", "b"), db("j", "b", "a")]),
]


@pytest.mark.parametrize("definition", ACCEPTED)
def test_tables_that_are_fine(definition: dict[str, Any]) -> None:
    Schema.parse(schema(definition))


DOCS = "To learn more, see the schema documentation at https://docs.convex.dev/database/schemas."
RESERVED = (
    'In table "t" cannot name an index "{}" because the name is reserved. '
    'Indexes may not start with an underscore or be named "by_id" or "by_creation_time".'
)

REFUSED: list[tuple[dict[str, Any], str, str]] = [
    (
        table("1x"),
        "InvalidTableName",
        'Invalid table name: "1x". '
        "Identifiers must start with a letter and can only contain letters, digits, and underscores.",
    ),
    (table("_x"), "TableNameReserved", "_x is a reserved table name."),
    (
        table(document=STRING),
        "InvalidTopLevelTypeInSchemaError",
        "The document validator in a schema must be an object, a union of objects, or `v.any()`. "
        f"Found v.string(). {DOCS}",
    ),
    (
        table(document={"type": "union", "value": [fields(), STRING]}),
        "InvalidTopLevelTypeInSchemaError",
        "The document validator in a schema must be an object, a union of objects, or `v.any()`. "
        f"Found v.union(v.object({{}}), v.string()). {DOCS}",
    ),
    (
        table(indexes=[db(f"i{n}", f"map.f{n}") for n in range(64)], stagedSearchIndexes=[search("s", "a")]),
        "TooManyIndexes",
        'Table "t" cannot have more than 64 indexes.',
    ),
    (
        table(indexes=[db("a-b", "a")]),
        "InvalidIndexName",
        'In table "t": Invalid index name: "a-b". Identifiers must be 64 characters or less, '
        "start with a letter, and only contain letters, digits, underscores.",
    ),
    (table(indexes=[db("by_id", "a")]), "IndexNameReserved", RESERVED.format("by_id")),
    (table(searchIndexes=[search("_s", "a")]), "IndexNameReserved", RESERVED.format("_s")),
    (
        table(vectorIndexes=[vector("by_creation_time", "emb", 2)]),
        "IndexNameReserved",
        RESERVED.format("by_creation_time"),
    ),
    (
        table(indexes=[db("i", "a"), db("i", "b")]),
        "IndexNamesNotUnique",
        'Table "t" has two or more definitions of index "i".',
    ),
    (
        table(indexes=[db("i", "a")], searchIndexes=[search("i", "a")]),
        "IndexNamesNotUnique",
        'Table "t" has two or more definitions of index "i".',
    ),
    (table(indexes=[db("i")]), "EmptyIndex", 'In table "t" index "i" must have at least one field.'),
    (table(stagedDbIndexes=[db("i")]), "EmptyIndex", 'In table "t" staged index "i" must have at least one field.'),
    (
        table(indexes=[db("i", "a..b")]),
        "InvalidIndexField",
        'In table "t": In index "i": Invalid index field: "a..b"',
    ),
    (
        table(indexes=[db("i", "a", "b", "a")]),
        "FieldsNotUniqueWithinIndex",
        'In table "t": In index "i": Duplicate field "a". Index fields must be unique within an index.',
    ),
    (
        table(indexes=[db("i", *(f"map.f{n}" for n in range(16)))]),
        "IndexTooManyFields",
        "Indexes may have up to 16 fields.",
    ),
    (
        table(indexes=[db("i", *(f"map.f{n}" for n in range(17)))]),
        "IndexTooManyFields",
        'In table "t": In index "i": Indexes may have up to 16 fields.',
    ),
    (
        table(searchIndexes=[search("s", "a", *(f"map.f{n}" for n in range(17)))]),
        "IndexTooManyFilterFields",
        'In table "t": In index "s": Search indexes may have up to 16 filter fields.',
    ),
    (
        table(indexes=[db("i", "_id")]),
        "IndexFieldsContainId",
        'In table "t": In index "i": `_id` is not a valid index field. To load documents by ID, use `db.get(id)`.',
    ),
    (
        table(indexes=[db("i", "a", "_creationTime")]),
        "IndexFieldsContainCreationTime",
        "`_creationTime` is automatically added to the end of each index. It should not be added explicitly "
        "in the index definition. See https://docs.convex.dev/using/indexes for more details.",
    ),
    (
        table(indexes=[db("i", "_private")]),
        "IndexFieldNameReserved",
        "Reserved fields (starting with `_`) are not allowed in indexes.",
    ),
    (
        table(indexes=[db("b", "a")], stagedDbIndexes=[db("a", "a")]),
        "IndexNotUnique",
        'In table "t" index "a" and index "b" have the same fields. Indexes must be unique within a table.',
    ),
    (
        table(searchIndexes=[search("i", "a", "b"), search("j", "a", "b", "b")]),
        "SearchIndexFieldNotUnique",
        'In table "t" search index "i" and search index "j" have the same `searchField`. '
        "Search index fields must be unique within a table.",
    ),
    (
        table(vectorIndexes=[vector("i", "emb", 3), vector("j", "emb", 3, "a")]),
        "VectorIndexFieldNotUnique",
        'In table "t" vector index "i" and vector index "j" have the same `vectorField`. '
        "Vector index fields must be unique within a table.",
    ),
    (
        table(vectorIndexes=[vector("v", "emb", 1)]),
        "InvalidVectorDimensionError",
        'In table "t": In index "v": Dimensions 1 must be between 2 and 4096.',
    ),
    (
        table(indexes=[db("i", "a", "x")]),
        "SchemaDefinitionError",
        'In table "t" the index "i" is invalid because it references the field "x" that does not exist.',
    ),
    (
        table(indexes=[db("i", "a.b")]),
        "SchemaDefinitionError",
        'In table "t" the index "i" is invalid because it references the field "a.b" that does not exist.',
    ),
    (
        table(searchIndexes=[search("s", "a", "nested.x")]),
        "SchemaDefinitionError",
        'In table "t" the index "s" is invalid because it references the field "nested.x" that does not exist.',
    ),
    (
        table(vectorIndexes=[vector("v", "x", 2)]),
        "SchemaDefinitionError",
        'In table "t" the index "v" is invalid because it references the field "x" that does not exist.',
    ),
    (
        table(vectorIndexes=[vector("v", "a", 2)]),
        "SchemaDefinitionError",
        'In table "t" the vector index "v" is invalid because it references the field "a" '
        "that is neither an array of float64 or optional array of float64.",
    ),
]


@pytest.mark.parametrize(("definition", "code", "message"), REFUSED, ids=[case[1] for case in REFUSED])
def test_what_is_wrong_with_a_table_is_reported(definition: dict[str, Any], code: str, message: str) -> None:
    with pytest.raises(RequestError) as refusal:
        Schema.parse(schema(definition))
    assert (refusal.value.status, refusal.value.code, refusal.value.message) == (400, code, message)


def test_unknown_fields_do_not_matter_without_validation() -> None:
    Schema.parse(schema(table(indexes=[db("i", "x")]), validate=False))


CHECK_ORDER: list[tuple[dict[str, Any], str]] = [
    (table("1x", STRING), "InvalidTopLevelTypeInSchemaError"),
    (table("1x", indexes=[db("i")] * 65), "InvalidTableName"),
    (table(indexes=[db("i")] * 65), "TooManyIndexes"),
    (table(indexes=[db("i")], stagedDbIndexes=[db("j", "_id")]), "EmptyIndex"),
    (table(stagedDbIndexes=[db("j", "_id")], searchIndexes=[search("s", "..")]), "IndexFieldsContainId"),
    (table(indexes=[db("i", "a"), db("j", "a")], searchIndexes=[search("s", "..")]), "IndexNotUnique"),
    (table(searchIndexes=[search("s", "..")], vectorIndexes=[vector("v", "emb", 1)]), "InvalidIndexField"),
    (table(indexes=[db("by_id", "a")], vectorIndexes=[vector("v", "emb", 1)]), "InvalidVectorDimensionError"),
    (table(indexes=[db("by_id", "x")]), "IndexNameReserved"),
]


@pytest.mark.parametrize(("definition", "code"), CHECK_ORDER, ids=[code for _, code in CHECK_ORDER])
def test_the_first_of_several_problems_is_reported(definition: dict[str, Any], code: str) -> None:
    with pytest.raises(RequestError) as refusal:
        Schema.parse(schema(definition))
    assert refusal.value.code == code


@pytest.mark.parametrize(
    "json",
    [
        None,
        {},
        {"tables": {}},
        {"tables": [5]},
        {"tables": [{}]},
        schema(table(indexes=5)),
        schema(table(indexes=[5])),
        schema(table(indexes=[{"indexDescriptor": "i"}])),
        schema(table(searchIndexes=[{"indexDescriptor": "i"}])),
        schema(table(vectorIndexes=[vector("v", "emb", 2.5)])),
    ],
)
def test_json_that_is_not_a_schema_is_refused(json: Any) -> None:
    with pytest.raises(RequestError) as refusal:
        Schema.parse(json)
    assert refusal.value.code == "InvalidSchema"
