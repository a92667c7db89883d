from typing import Any

import pytest

from convex_evals.backend.database import (
    activate_schema,
    delete_tables,
    find_violation,
    index_diff,
    prepare_schema,
    validate_schema,
)
from convex_evals.backend.errors import Conflict, DeveloperError, RequestError
from convex_evals.backend.schema import Schema

STRING = {"fieldType": {"type": "string"}, "optional": False}
OPTIONAL_STRING = {"fieldType": {"type": "string"}, "optional": True}


def schema(*tables: dict[str, Any], validation: bool = True) -> Schema:
    return Schema.parse({"tables": list(tables), "schemaValidation": validation})


def prepare(bench: Any, wanted: Schema) -> str:
    transaction = bench.begin()
    schema_id = prepare_schema(transaction, "", wanted)
    bench.database.commit(transaction)
    assert schema_id is not None
    return schema_id


def validate(bench: Any, schema_id: str) -> Any:
    transaction = bench.begin()
    stored = validate_schema(transaction, "", schema_id)
    bench.database.commit(transaction)
    return stored


def activate(bench: Any, schema_id: str | None) -> Any:
    transaction = bench.begin()
    diff = activate_schema(transaction, "", schema_id)
    bench.database.commit(transaction)
    return diff


def names(indexes: Any) -> list[str]:
    return [index.full_name for index in indexes]


def found(bench: Any, index: str) -> list[Any]:
    return [document.value["n"] for document in bench.pull_all(bench.begin(), bench.range(index))]


class TestIndexes:
    def test_a_new_index_is_built_from_the_documents_there_are_and_kept_up_to_date(self, bench: Any) -> None:
        bench.insert("t", {"n": 2}, {"n": 1})
        wanted = schema(bench.table("t", None, {"by_n": ["n"]}))
        schema_id = prepare(bench, wanted)
        with pytest.raises(DeveloperError) as caught:
            bench.begin().open_query("", bench.range("t.by_n"))
        assert caught.value.message == "Index t.by_n is currently backfilling and not available to query yet."
        bench.insert("t", {"n": 1.5})
        validate(bench, schema_id)
        diff = activate(bench, schema_id)
        assert (names(diff.added), names(diff.removed)) == (["t.by_n"], [])
        assert found(bench, "t.by_n") == [1.0, 1.5, 2.0]
        bench.insert("t", {"n": 0})
        assert found(bench, "t.by_n") == [0.0, 1.0, 1.5, 2.0]

    def test_an_index_whose_fields_change_is_replaced_at_activation(self, bench: Any) -> None:
        bench.push(bench.table("t", None, {"by_x": ["n"]}))
        bench.insert("t", {"n": 1, "m": 2}, {"n": 2, "m": 1})
        schema_id = prepare(bench, schema(bench.table("t", None, {"by_x": ["m"]})))
        assert found(bench, "t.by_x") == [1.0, 2.0]
        diff = activate(bench, schema_id)
        assert (names(diff.added), names(diff.removed)) == (["t.by_x"], ["t.by_x"])
        assert found(bench, "t.by_x") == [2.0, 1.0]

    def test_removed_indexes_are_gone_but_old_transactions_still_read_them(self, bench: Any) -> None:
        bench.push(bench.table("t", None, {"by_n": ["n"]}))
        bench.insert("t", {"n": 2}, {"n": 1})
        old = bench.begin()
        diff = activate(bench, prepare(bench, schema(bench.table("t"))))
        assert names(diff.removed) == ["t.by_n"]
        bench.insert("t", {"n": 0})
        assert [d.value["n"] for d in bench.pull_all(old, bench.range("t.by_n"))] == [1.0, 2.0]
        with pytest.raises(DeveloperError, match=r"^Index t\.by_n not found\.$"):
            bench.begin().open_query("", bench.range("t.by_n"))

    def test_staged_indexes_are_enabled_and_disabled_without_being_rebuilt(self, bench: Any) -> None:
        bench.insert("t", {"n": 2}, {"n": 1})
        activate(bench, prepare(bench, schema(bench.table("t", None, staged={"by_n": ["n"]}))))
        diff = activate(bench, prepare(bench, schema(bench.table("t", None, {"by_n": ["n"]}))))
        assert (names(diff.enabled), diff.added) == (["t.by_n"], [])
        assert found(bench, "t.by_n") == [1.0, 2.0]
        diff = activate(bench, prepare(bench, schema(bench.table("t", None, staged={"by_n": ["n"]}))))
        assert names(diff.disabled) == ["t.by_n"]

    def test_the_same_schema_again_changes_nothing(self, bench: Any) -> None:
        wanted = schema(bench.table("t", None, {"by_n": ["n"]}))
        first = prepare(bench, wanted)
        activate(bench, first)
        assert prepare(bench, wanted) == first
        assert not activate(bench, first)
        assert not index_diff(bench.begin(), "", wanted)

    def test_without_a_schema_all_indexes_and_checks_are_dropped_and_data_stays(self, bench: Any) -> None:
        bench.push(bench.table("t", {"n": STRING}, {"by_n": ["n"]}))
        bench.insert("t", {"n": "x"})
        transaction = bench.begin()
        assert prepare_schema(transaction, "", None) is None
        diff = activate_schema(transaction, "", None)
        bench.database.commit(transaction)
        assert names(diff.removed) == ["t.by_n"]
        bench.insert("t", {"n": 5})
        assert bench.begin().count("", "t") == 2
        assert bench.begin().catalog("").active_schema is None

    def test_everything_can_happen_in_one_transaction(self, bench: Any) -> None:
        bench.insert("t", {"n": 2}, {"n": 1})
        transaction = bench.begin()
        schema_id = prepare_schema(transaction, "", schema(bench.table("t", None, {"by_n": ["n"]})))
        activate_schema(transaction, "", schema_id)
        transaction.system.insert("", "_udf_config", {"version": 1})
        bench.database.commit(transaction)
        assert found(bench, "t.by_n") == [1.0, 2.0]

    def test_two_pushes_at_once_conflict(self, bench: Any) -> None:
        one, other = bench.begin(), bench.begin()
        for transaction, field in ((one, "a"), (other, "b")):
            prepared = prepare_schema(transaction, "", schema(bench.table("t", None, {"by_x": [field]})))
            activate_schema(transaction, "", prepared)
        bench.database.commit(one)
        with pytest.raises(Conflict):
            bench.database.commit(other)

    def test_an_unfinished_push_is_replaced_by_the_next_one(self, bench: Any) -> None:
        first = prepare(bench, schema(bench.table("t", None, {"by_a": ["a"]})))
        second = prepare(bench, schema(bench.table("t", None, {"by_b": ["b"]})))
        with pytest.raises(RequestError) as caught:
            activate(bench, first)
        assert caught.value.code == "SchemaAlreadyOverwritten"
        activate(bench, second)
        assert [index.name for index in bench.begin().catalog("").tables["t"].user_indexes] == ["by_b"]


class TestTables:
    def test_tables_named_in_a_schema_are_created_empty(self, bench: Any) -> None:
        prepare(bench, schema(bench.table("b"), bench.table("a")))
        assert dict(bench.begin().catalog("").table_names) == {10001: "a", 10002: "b"}

    def test_tables_are_deleted_with_their_documents_and_their_number_is_free_again(self, bench: Any) -> None:
        bench.push(bench.table("t", None, {"by_n": ["n"]}))
        documents = bench.insert("t", {"n": 1}, {"n": 2})
        activate(bench, None)
        reader = bench.begin()
        bench.pull_all(reader, bench.scan("t"))
        transaction = bench.begin()
        assert delete_tables(transaction, "", ["t", "nothing"]) == 2
        commit = bench.database.commit(transaction)
        assert commit.touches(reader.read_set)
        assert bench.begin().get("", documents[0].id) is None
        assert bench.begin().catalog("").tables == {}
        bench.insert("other", {})
        assert bench.pull_all(bench.begin(), bench.scan("other"))[0].id.startswith("j57")

    def test_a_table_and_its_successor_of_the_same_number_can_share_a_transaction(self, bench: Any) -> None:
        bench.push(bench.table("old", None, {"by_n": ["n"]}))
        bench.insert("old", {"n": 1})
        activate(bench, None)
        transaction = bench.begin()
        delete_tables(transaction, "", ["old"])
        activate_schema(
            transaction, "", prepare_schema(transaction, "", schema(bench.table("t", None, {"by_n": ["n"]})))
        )
        for n in (3, 2):
            transaction.insert("", "t", {"n": n})
        bench.database.commit(transaction)
        assert dict(bench.begin().catalog("").table_names) == {10001: "t"}
        assert found(bench, "t.by_n") == [2.0, 3.0]

    def test_tables_that_the_schema_mentions_are_not_deleted(self, bench: Any) -> None:
        reference = {"fieldType": {"type": "array", "value": {"type": "id", "tableName": "u"}}, "optional": False}
        bench.push(bench.table("t", {"users": reference}))
        bench.insert("u", {})
        for name, text in [
            ("t", 'Failed to delete table "t" because it appears in the schema'),
            ("u", 'Failed to delete table "u" because `v.id("u")` appears in the schema of table "t"'),
        ]:
            with pytest.raises(DeveloperError) as caught:
                delete_tables(bench.begin(), "", [name])
            assert caught.value.message == text


class TestValidation:
    def test_the_first_document_that_does_not_match_fails_the_schema(self, bench: Any) -> None:
        bench.insert("t", {"n": "fine"})
        bad = bench.insert("t", {"n": 5})[0]
        schema_id = prepare(bench, schema(bench.table("t", {"n": STRING})))
        stored = validate(bench, schema_id)
        assert (stored.state, stored.table) == ("failed", "t")
        assert stored.error == (
            f'Document with ID "{bad.id}" in table "t" does not match the schema: '
            "Value does not match validator.\nPath: .n\nValue: 5.0\nValidator: v.string()"
        )
        with pytest.raises(RequestError) as caught:
            activate(bench, schema_id)
        assert caught.value.code == "SchemaAlreadyFailed"
        assert bench.insert("t", {"n": 6})

    def test_other_tables_and_switched_off_validation_are_not_checked(self, bench: Any) -> None:
        bench.insert("free", {"n": 5})
        assert find_violation(bench.begin(), "", schema(bench.table("t", {"n": STRING}))) is None
        assert find_violation(bench.begin(), "", schema(bench.table("free", {"n": STRING}), validation=False)) is None

    def test_documents_are_not_read_when_the_old_schema_was_at_least_as_strict(self, bench: Any) -> None:
        bench.push(bench.table("t", {"n": STRING}))
        bench.insert("t", {"n": "x"})
        transaction = bench.begin()
        assert find_violation(transaction, "", schema(bench.table("t", {"n": OPTIONAL_STRING}))) is None
        ts = bench.database.latest
        bench.insert("t", {"n": "y"})
        assert not bench.database.changed_since(transaction.read_set, ts)

    def test_a_write_that_only_the_pending_schema_forbids_succeeds_and_fails_the_push(self, bench: Any) -> None:
        schema_id = prepare(bench, schema(bench.table("t", {"n": STRING})))
        assert validate(bench, schema_id).state == "validated"
        bench.insert("t", {"n": 5})
        stored = bench.begin().catalog("").schemas[schema_id]
        assert (stored.state, stored.table) == ("failed", "t")
        assert stored.error.startswith('New document in table "t" does not match the schema: Value does not match')

    def test_a_document_written_while_validation_runs_is_a_conflict(self, bench: Any) -> None:
        bench.insert("t", {"n": "x"})
        schema_id = prepare(bench, schema(bench.table("t", {"n": STRING})))
        transaction = bench.begin()
        validate_schema(transaction, "", schema_id)
        bench.insert("t", {"n": "y"})
        with pytest.raises(Conflict):
            bench.database.commit(transaction)
