from typing import Any

import pytest

from convex_evals.backend.database import Document
from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.ids import DocumentId
from convex_evals.backend.limits import Limits

STRING = {"fieldType": {"type": "string"}, "optional": False}
NUMBER = {"fieldType": {"type": "number"}, "optional": True}


def nested(depth: int) -> Any:
    return 1.0 if depth == 0 else {"x": nested(depth - 1)}


class TestInsert:
    def test_gives_an_id_of_the_table_and_a_creation_time(self, bench: Any) -> None:
        transaction = bench.begin()
        document = transaction.insert("", "messages", {"body": "hi", "n": 1})
        assert document.id.startswith("j57")
        assert document.creation_time == transaction.started_ms
        assert document.fields == {"body": "hi", "n": 1.0}
        assert document.size == 2 + 38 + 23 + (4 + 1 + 4) + (1 + 1 + 9)
        assert transaction.get("", document.id) is document

    def test_creation_times_of_one_transaction_are_distinct_and_grow(self, bench: Any) -> None:
        transaction = bench.begin()
        times = [transaction.insert("", "t", {}).creation_time for _ in range(100)]
        assert times == sorted(set(times))
        assert times[-1] - times[0] < 1

    def test_creates_tables_with_the_lowest_free_number(self, bench: Any) -> None:
        first, second = bench.insert("a", {})[0], bench.insert("b", {})[0]
        assert [DocumentId.decode(document.id).table_number for document in (first, second)] == [10001, 10002]
        assert dict(bench.begin().catalog("").table_names) == {10001: "a", 10002: "b"}

    def test_namespaces_have_tables_and_numbers_of_their_own(self, bench: Any) -> None:
        inside = bench.insert("t", {"where": "component"}, namespace="c")[0]
        bench.insert("t", {"where": "app"})
        assert DocumentId.decode(inside.id).table_number == 10001
        transaction = bench.begin()
        assert [d.value["where"] for d in bench.pull_all(transaction, bench.scan("t"), namespace="c")] == ["component"]
        assert transaction.get("", inside.id) is None

    @pytest.mark.parametrize(
        ("table", "value", "text"),
        [
            (
                "1abc",
                {},
                "Invalid argument `table` for `db.insert`: Invalid first character '1' in 1abc: "
                "Identifiers must start with an alphabetic character or underscore",
            ),
            ("", {}, "Invalid argument `table` for `db.insert`: Identifier cannot be empty"),
            ("t" * 65, {}, "Invalid argument `table` for `db.insert`: Identifier is too long (65 > maximum 64)"),
            ("t", 5, "Invalid argument `value` for `db.insert`: Value must be an Object"),
            (
                "t",
                {"$x": 1, "y": 2},
                "Invalid argument `value` for `db.insert`: Field name $x starts with '$', which is reserved.",
            ),
            (
                "t",
                {"a": [0] * 8193},
                "Invalid argument `value` for `db.insert`: Array length is too long (8193 > maximum length 8192)",
            ),
            ("_storage", {}, "_storage is a read-only table"),
            ("_scheduled_functions", {}, "_scheduled_functions is a read-only table"),
            ("_modules", {}, "System tables can only be accessed with db.system."),
            ("t", {"a": "x" * 1_258_200}, "Value is too large (1.20 MiB > maximum size 1 MiB)"),
        ],
    )
    def test_refuses(self, bench: Any, table: str, value: Any, text: str) -> None:
        transaction = bench.begin()
        with pytest.raises(DeveloperError) as caught:
            transaction.insert("", table, value)
        assert caught.value.message == text
        assert transaction.pending.is_empty

    def test_refuses_a_chosen_id_and_creation_time(self, bench: Any) -> None:
        transaction = bench.begin()
        with pytest.raises(
            DeveloperError, match=r'^Provided document ID "j57\w+" doesn\'t match \'_id\' field "mine"$'
        ):
            transaction.insert("", "t", {"_id": "mine"})
        with pytest.raises(
            DeveloperError,
            match=r"^Provided creation time \d+\.\d+ doesn't match '_creationTime' field in \{_creationTime: 5\.0\}$",
        ):
            transaction.insert("", "t", {"_creationTime": 5})

    def test_reports_all_reserved_fields_and_too_much_nesting_together(self, bench: Any) -> None:
        reserved = "starts with an underscore, which is only allowed for system fields like '_id'"
        with pytest.raises(DeveloperError) as caught:
            bench.begin().insert("", "t", {"_b": 1, "_a": nested(16)})
        head, _, violations = caught.value.message.partition(" isn't a valid document: ")
        assert head.startswith("Document(value: {")
        assert violations == (
            f"Field '_a' {reserved}\n Field '_b' {reserved}\n "
            "Document is too nested (nested 17 levels deep > maximum nesting 16)"
        )

    def test_accepts_reserved_names_below_the_top_and_sixteen_levels(self, bench: Any) -> None:
        assert bench.begin().insert("", "t", {"a": {"_x": 1}, "b": nested(15)})

    def test_refuses_the_table_that_is_one_too_many(self, bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("convex_evals.backend.limits.MAX_TABLES", 2)
        bench.insert("a", {})
        bench.insert("b", {})
        with pytest.raises(DeveloperError, match=r"^Number of tables cannot exceed 2\.$"):
            bench.begin().insert("", "c", {})


class TestGet:
    def test_reads_what_was_committed_and_nothing_else(self, bench: Any) -> None:
        old = bench.begin()
        document = bench.insert("t", {"a": 1})[0]
        assert old.get("", document.id) is None
        assert bench.begin().get("", document.id) == document
        assert bench.begin().get("", document.id, "t") == document

    def test_an_id_of_an_unknown_table_finds_nothing(self, bench: Any) -> None:
        assert bench.begin().get("", str(DocumentId.new(12345))) is None

    def test_texts(self, bench: Any) -> None:
        post = bench.insert("posts", {})[0].id
        bench.insert("users", {})
        job = str(DocumentId.new(539))
        transaction = bench.begin()
        for arguments, is_system, text in [
            (("abc",), False, "Invalid argument `id` for `db.get`: Unable to decode ID: Invalid ID length 3"),
            (("abc",), True, "Invalid argument `id` for `db.system.get`: Unable to decode ID: Invalid ID length 3"),
            (
                (post, "users"),
                False,
                'Invalid argument `id` for `db.get`: expected to be an Id<"users">, got Id<"posts"> instead.',
            ),
            (
                (job, "_storage"),
                True,
                'Invalid argument `id` for `db.system.get`: expected to be an Id<"_storage">, '
                'got Id<"_scheduled_functions"> instead.',
            ),
            ((job,), False, "System tables can only be accessed with db.system."),
            ((post,), True, "User tables cannot be accessed with db.system."),
        ]:
            with pytest.raises(DeveloperError) as caught:
                transaction.get("", *arguments, is_system=is_system)
            assert caught.value.message == text

    def test_private_tables_do_not_exist_for_user_code(self, bench: Any) -> None:
        transaction = bench.begin()
        row = transaction.system.insert("", "_environment_variables", {"name": "A", "value": "secret"})
        assert transaction.get("", row.id, is_system=True) is None


class TestPatch:
    def test_merges_top_level_fields_and_removes_undefined_ones(self, bench: Any) -> None:
        old = bench.insert("t", {"a": 1, "b": {"x": 1, "y": 2}, "c": "gone"})[0]
        transaction = bench.begin()
        new = transaction.patch(
            "", old.id, {"b": {"x": 5}, "c": {"$undefined": None}, "d": {"$undefined": None}, "e": None}
        )
        assert new.fields == {"a": 1.0, "b": {"x": 5.0}, "e": None}
        assert (new.id, new.creation_time) == (old.id, old.creation_time)
        assert transaction.get("", old.id) is new

    def test_system_fields_may_be_repeated_or_undefined_but_not_changed(self, bench: Any) -> None:
        old = bench.insert("t", {"a": 1})[0]
        transaction = bench.begin()
        undefined = {"$undefined": None}
        assert transaction.patch("", old.id, {"_id": old.id, "_creationTime": old.creation_time}) is old
        assert transaction.patch("", old.id, {"_id": undefined, "_creationTime": undefined}).text == old.text
        with pytest.raises(DeveloperError, match=r"^Provided document ID"):
            transaction.patch("", old.id, {"_id": "x"})

    def test_a_patch_that_changes_nothing_is_not_a_write_but_a_read(self, bench: Any) -> None:
        old = bench.insert("t", {"a": 1, "b": {"$float": "AAAAAAAAAIA="}})[0]
        transaction = bench.begin()
        assert transaction.patch("", old.id, {"a": 1}) is old
        assert transaction.pending.is_empty
        assert (transaction.usage.documents_read, transaction.usage.documents_written) == (1, 0)
        assert transaction.patch("", old.id, {"b": 0}) is not old  # -0 is another value than 0

    def test_undefined_is_refused_below_the_top(self, bench: Any) -> None:
        old = bench.insert("t", {})[0]
        with pytest.raises(DeveloperError, match=r"^Invalid argument `value` for `db.patch`: Field name \$undefined"):
            bench.begin().patch("", old.id, {"a": {"b": {"$undefined": None}}})


@pytest.mark.parametrize(
    ("method", "arguments", "word"),
    [("patch", ({},), "Update"), ("replace", ({},), "Replace"), ("delete", (), "Delete")],
)
class TestWritesById:
    def test_missing_documents(self, bench: Any, method: str, arguments: tuple[Any, ...], word: str) -> None:
        document = bench.insert("t", {})[0]
        transaction = bench.begin()
        transaction.delete("", document.id)
        with pytest.raises(DeveloperError) as caught:
            getattr(transaction, method)("", document.id, *arguments)
        assert caught.value.message == f"{word} on nonexistent document ID {document.id}"

    def test_wrong_ids(self, bench: Any, method: str, arguments: tuple[Any, ...], word: str) -> None:
        document = bench.insert("t", {})[0].id
        unknown = str(DocumentId.new(12345))
        transaction = bench.begin()
        for id, table, text in [
            ("abc", None, f"Invalid argument `id` for `db.{method}`: Unable to decode ID: Invalid ID length 3"),
            (unknown, None, f'Invalid argument `id` for `db.{method}`: Table for ID "{unknown}" not found'),
            (
                document,
                "users",
                f'Invalid argument `id` for `db.{method}`: expected to be an Id<"users">, got Id<"t"> instead.',
            ),
            (str(DocumentId.new(539)), None, "System tables can only be accessed with db.system."),
        ]:
            with pytest.raises(DeveloperError) as caught:
                getattr(transaction, method)("", id, *arguments, table=table)
            assert caught.value.message == text


def test_replace_keeps_the_system_fields_only(bench: Any) -> None:
    old = bench.insert("t", {"a": 1, "b": 2})[0]
    transaction = bench.begin()
    new = transaction.replace("", old.id, {"c": 3, "_id": old.id})
    assert new.value == {"_id": old.id, "_creationTime": old.creation_time, "c": 3.0}
    assert transaction.replace("", old.id, {"c": 3}) is new
    assert transaction.usage.documents_written == 1


def test_delete_returns_the_document_and_hides_it(bench: Any) -> None:
    old = bench.insert("t", {"a": 1})[0]
    transaction = bench.begin()
    assert transaction.delete("", old.id) == old
    assert transaction.get("", old.id) is None
    bench.database.commit(transaction)
    assert bench.begin().get("", old.id) is None


class TestNormalizeId:
    def test_accepts_ids_of_the_table_whether_or_not_the_document_exists(self, bench: Any) -> None:
        document = bench.insert("t", {})[0].id
        bench.insert("other", {})
        transaction = bench.begin()
        file = str(DocumentId.new(540))
        assert transaction.normalize_id("", "t", document) == document
        assert transaction.normalize_id("", "other", document) is None
        assert transaction.normalize_id("", "unknown", document) is None
        assert transaction.normalize_id("", "t", "garbage") is None
        assert transaction.normalize_id("", "_storage", file) == file
        assert transaction.normalize_id("", "_file_storage", file) is None

    def test_refuses_bad_table_names(self, bench: Any) -> None:
        with pytest.raises(DeveloperError, match=r"^Invalid argument `table` for `db.normalizeId`: Identifier a-b has"):
            bench.begin().normalize_id("", "a-b", "x")


def test_count_includes_own_writes_and_missing_tables_are_empty(bench: Any) -> None:
    documents = bench.insert("t", {}, {}, {})
    transaction = bench.begin()
    transaction.insert("", "t", {})
    transaction.delete("", documents[0].id)
    transaction.delete("", documents[1].id)
    assert transaction.count("", "t") == 2
    assert transaction.count("", "nothing") == 0
    bench.insert("t", {}, {})
    assert transaction.count("", "t") == 2


class TestSchema:
    def test_writes_must_match_the_active_schema(self, bench: Any) -> None:
        bench.push(bench.table("t", {"name": STRING, "n": NUMBER}))
        transaction = bench.begin()
        document = transaction.insert("", "t", {"name": "x"})
        prefix = 'Failed to insert or update a document in table "t" because it does not match the schema: '
        for write in (
            lambda: transaction.insert("", "t", {"name": 5}),
            lambda: transaction.patch("", document.id, {"name": 5}),
            lambda: transaction.replace("", document.id, {"name": 5}),
        ):
            with pytest.raises(DeveloperError) as caught:
                write()
            assert caught.value.message == (
                f"{prefix}Value does not match validator.\nPath: .name\nValue: 5.0\nValidator: v.string()"
            )
        assert transaction.get("", document.id) is document

    def test_tables_outside_the_schema_are_unchecked(self, bench: Any) -> None:
        bench.push(bench.table("t", {"name": STRING}))
        assert bench.insert("free", {"name": 5})

    def test_without_schema_validation_nothing_is_checked(self, bench: Any) -> None:
        bench.push(bench.table("t", {"name": STRING}, {"by_name": ["name"]}), validation=False)
        assert bench.insert("t", {"name": 5})
        found = bench.pull_all(bench.begin(), bench.range("t.by_name", ("Eq", "name", 5)))
        assert len(found) == 1


class TestUsage:
    def test_reads_and_writes_are_counted(self, bench: Any) -> None:
        documents = bench.insert("t", {"a": 1}, {"a": 2})
        transaction = bench.begin()
        transaction.get("", documents[0].id)
        transaction.get("", str(DocumentId.new(10001)))
        transaction.patch("", documents[1].id, {"a": 5})
        transaction.delete("", documents[1].id)
        transaction.insert("", "t", {})
        metrics = transaction.metrics()
        size = documents[0].size
        assert {name: metric["used"] for name, metric in metrics.items()} == {
            "bytesRead": 3 * size,
            "bytesWritten": size + 63,
            "databaseQueries": 3,
            "documentsRead": 3,
            "documentsWritten": 3,
            "functionsScheduled": 0,
            "scheduledFunctionArgsBytes": 0,
        }
        assert metrics["documentsRead"]["remaining"] == 32_000 - 3

    @pytest.mark.parametrize(
        ("limits", "text"),
        [
            (Limits(documents_read=1), "Too many documents read in a single function execution (limit: 1). Consider"),
            (Limits(bytes_read=100), "Too many bytes read in a single function execution (limit: 100 bytes). Consider"),
            (Limits(database_queries=1), "Too many reads in a single function execution (limit: 1). Consider"),
        ],
    )
    def test_read_limits(self, bench: Any, limits: Limits, text: str) -> None:
        first, second = bench.insert("t", {"a": 1}, {"a": 2})
        transaction = bench.begin()
        transaction.limits = limits
        transaction.get("", first.id)
        for _ in range(2):
            with pytest.raises(DeveloperError) as caught:
                transaction.get("", second.id)
            assert caught.value.message.startswith(text)
            assert caught.value.message.endswith("using indexed queries with a selective index range expressions.")

    @pytest.mark.parametrize(
        ("limits", "text"),
        [
            (Limits(documents_written=1), "Too many writes in a single function execution (limit: 1)"),
            (Limits(bytes_written=100), "Too many bytes written in a single function execution (limit: 100 B)"),
        ],
    )
    def test_write_limits_leave_the_document_unwritten(self, bench: Any, limits: Limits, text: str) -> None:
        transaction = bench.begin()
        transaction.limits = limits
        transaction.insert("", "t", {})
        with pytest.raises(DeveloperError) as caught:
            transaction.insert("", "t", {})
        assert caught.value.message == text
        assert transaction.count("", "t") == 1

    def test_scheduling_limits(self, bench: Any) -> None:
        transaction = bench.begin()
        transaction.limits = Limits(functions_scheduled=1, scheduled_function_args_bytes=50)
        transaction.count_scheduled(10)
        with pytest.raises(DeveloperError, match=r"^Too many functions scheduled by this mutation \(limit: 1\)$"):
            transaction.count_scheduled(10)
        transaction.limits = Limits(scheduled_function_args_bytes=50)
        with pytest.raises(DeveloperError, match=r"^Too large total size of the arguments .* \(limit: 50 bytes\)$"):
            transaction.count_scheduled(50)

    def test_nested_budgets_come_on_top_of_what_is_used_and_never_widen(self, bench: Any) -> None:
        document = bench.insert("t", {})[0]
        transaction = bench.begin()
        transaction.get("", document.id)
        tight = transaction.limits.tightened(transaction.usage, {"documentsRead": 1, "bytesRead": 10**9})
        assert (tight.documents_read, tight.bytes_read, tight.database_queries) == (2, 16 * 2**20, 4096)


class TestSavepoints:
    def test_rollback_takes_back_documents_tables_and_system_rows_but_no_reads(self, bench: Any) -> None:
        old = bench.insert("t", {"a": 1})[0]
        transaction = bench.begin()
        kept = transaction.insert("", "t", {"kept": True})
        savepoint = transaction.savepoint()
        written = transaction.usage.documents_written
        transaction.patch("", old.id, {"a": 2})
        transaction.patch("", kept.id, {"kept": False})
        transaction.insert("", "fresh", {})
        transaction.system.insert("", "_scheduled_jobs", {})
        transaction.count_scheduled(5)
        transaction.rollback(savepoint)
        assert transaction.get("", old.id) == old
        assert transaction.get("", kept.id) == kept
        assert "fresh" not in transaction.catalog("").tables
        assert transaction.system.scan("", "_scheduled_jobs") == []
        assert transaction.usage.documents_written == written
        assert transaction.usage.functions_scheduled == 1
        assert transaction.usage.documents_read == 4

    def test_nested_savepoints_roll_back_alone(self, bench: Any) -> None:
        transaction = bench.begin()
        outer = transaction.savepoint()
        transaction.insert("", "t", {"n": 1})
        inner = transaction.savepoint()
        transaction.insert("", "t", {"n": 2})
        transaction.rollback(inner)
        transaction.insert("", "t", {"n": 3})
        transaction.release(outer)
        found = bench.pull_all(transaction, bench.scan("t"))
        assert [document.value["n"] for document in found] == [1.0, 3.0]

    def test_index_orders_follow_a_rollback(self, bench: Any) -> None:
        bench.push(bench.table("t", None, {"by_n": ["n"]}))
        old = bench.insert("t", {"n": 5})[0]
        transaction = bench.begin()
        transaction.insert("", "t", {"n": 3})
        assert numbers(bench, transaction) == [3.0, 5.0]
        savepoint = transaction.savepoint()
        transaction.patch("", old.id, {"n": 1})
        transaction.insert("", "t", {"n": 2})
        assert numbers(bench, transaction) == [1.0, 2.0, 3.0]
        transaction.rollback(savepoint)
        assert numbers(bench, transaction) == [3.0, 5.0]


def numbers(bench: Any, transaction: Any) -> list[Any]:
    return [document.value["n"] for document in bench.pull_all(transaction, bench.range("t.by_n"))]


def test_the_snapshot_view_sees_the_start_and_records_nothing(bench: Any) -> None:
    old = bench.insert("t", {"a": 1})[0]
    transaction = bench.begin()
    transaction.insert("", "t", {"a": 2})
    bench.insert("t", {"a": 3})
    view = transaction.snapshot_view()
    reads = transaction.usage.documents_read
    assert [document.id for document in bench.pull_all(view, bench.scan("t"))] == [old.id]
    assert transaction.usage.documents_read == reads
    bench.database.commit(transaction)


def test_unmounted_components_are_read_only(bench: Any) -> None:
    transaction = bench.begin()
    component = transaction.system.insert("", "_components", {"state": "active"}).id
    bench.database.commit(transaction)
    document = bench.insert("t", {}, namespace=component)[0]
    transaction = bench.begin()
    transaction.system.patch("", "_components", component, {"state": "unmounted"})
    bench.database.commit(transaction)
    transaction = bench.begin()
    assert transaction.get(component, document.id) == document
    for write in (
        lambda: transaction.insert(component, "t", {}),
        lambda: transaction.patch(component, document.id, {}),
        lambda: transaction.delete(component, document.id),
    ):
        with pytest.raises(DeveloperError) as caught:
            write()
        assert caught.value.message == (
            "Cannot perform write operations in an unmounted component. "
            "Make sure your component is installed in your `convex.config.ts` file."
        )


def test_the_commit_timestamp_is_filled_in_by_the_commit(bench: Any) -> None:
    bench.push(bench.table("t", None, {"by_ts": ["ts"]}))
    pending = {"$commitTs": None}
    earlier = bench.insert("t", {"ts": {"$integer": "AQAAAAAAAAA="}})[0]
    transaction = bench.begin()
    first = transaction.insert("", "t", {"ts": pending, "deep": {"list": [pending]}})
    second = transaction.insert("", "t", {"ts": pending})
    assert first.text.count('{"$commitTs":null}') == 2
    own = bench.range("t.by_ts", ("Eq", "ts", pending))
    assert [document.id for document in bench.pull_all(transaction, own)] == [first.id, second.id]
    commit = bench.database.commit(transaction)
    transaction = bench.begin()
    stored = [transaction.get("", document.id) for document in (first, second)]
    assert [document.value["ts"] for document in stored] == [commit.ts, commit.ts]
    assert stored[0].value["deep"] == {"list": [commit.ts]}
    order = [document.id for document in bench.pull_all(transaction, bench.range("t.by_ts"))]
    assert order == [earlier.id, first.id, second.id]


def test_documents_show_their_canonical_text() -> None:
    document = Document.assemble("x", 1.5, {"b": 1.0, "B": b"\x01\x02", "a": 5})
    assert document.text == (
        '{"B":{"$bytes":"AQI="},"_creationTime":1.5,"_id":"x","a":{"$integer":"BQAAAAAAAAA="},"b":1.0}'
    )
