from typing import Any

import pytest

from convex_evals.backend.database import Transaction
from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.limits import Limits
from convex_evals.backend.values import encode

LESS_THAN_3 = {"filter": {"$lt": [{"$field": "n"}, {"$literal": 3}]}}
NEVER = {"filter": {"$literal": False}}


@pytest.fixture
def numbered(bench: Any) -> Any:
    """Ten documents in `t`, indexed by `n`: 0 to 9, inserted in the order 9 to 0."""
    bench.push(bench.table("t", None, {"by_n": ["n"], "by_parity": ["parity", "n"]}))
    bench.insert("t", *({"n": n, "parity": n % 2} for n in range(9, -1, -1)))
    return bench


def values(documents: Any) -> list[int]:
    return [int(document.value["n"]) for document in documents]


def intervals(transaction: Transaction) -> int:
    return transaction.read_set.user_intervals


@pytest.mark.parametrize("batch", [1, 3, 100])
def test_queries_and_what_they_return(numbered: Any, batch: int) -> None:
    bench = numbered
    for query, expected in [
        (bench.scan("t"), list(range(9, -1, -1))),
        (bench.scan("t", order="desc"), list(range(10))),
        (bench.scan("t", {"limit": 3}), [9, 8, 7]),
        (bench.scan("t", {"limit": 0}), []),
        (bench.scan("t", LESS_THAN_3), [2, 1, 0]),
        (bench.scan("t", LESS_THAN_3, {"limit": 2}), [2, 1]),
        (bench.scan("t", {"limit": 8}, LESS_THAN_3), [2]),
        (bench.range("t.by_n"), list(range(10))),
        (bench.range("t.by_n", order="desc"), list(range(9, -1, -1))),
        (bench.range("t.by_n", ("Gte", "n", 3), ("Lt", "n", 6)), [3, 4, 5]),
        (bench.range("t.by_n", ("Gt", "n", 3), ("Lte", "n", 6), order="desc"), [6, 5, 4]),
        (bench.range("t.by_n", ("Gt", "n", 6), ("Lt", "n", 3)), []),
        (bench.range("t.by_n", ("Eq", "n", {"$undefined": None})), []),
        (bench.range("t.by_parity", ("Eq", "parity", 1), ("Gt", "n", 4)), [5, 7, 9]),
        (bench.range("t.by_parity", ("Eq", "n", 4), ("Eq", "parity", 0)), [4]),
        (bench.range("t.by_creation_time", order="desc"), list(range(10))),
        (bench.scan("nothing"), []),
        (bench.scan("_modules"), []),
    ]:
        assert values(bench.pull_all(bench.begin(), query, batch)) == expected, query


def test_index_order_is_the_order_of_values_and_missing_fields_come_first(bench: Any) -> None:
    bench.push(bench.table("t", None, {"by_v": ["a.v"]}))
    ordered = [
        {"$undefined": None}, None, {"$integer": "AQAAAAAAAAA="}, -1, {"$float": "AAAAAAAAAIA="}, 0, 1,
        {"$float": "AAAAAAAA+H8="}, False, True, "", "a", "\ufffd", "\U0001f600", {"$bytes": "AA=="},
        [], [1], {}, {"a": 1},
    ]  # fmt: skip
    shuffled = ordered[::2] + ordered[1::2]
    bench.insert("t", *({"a": {"v": value} if value != {"$undefined": None} else 5} for value in shuffled))
    found = bench.pull_all(bench.begin(), bench.range("t.by_v"))
    assert [
        encode(d.value["a"]["v"]) if isinstance(d.value["a"], dict) else {"$undefined": None} for d in found
    ] == ordered
    after_null = bench.pull_all(bench.begin(), bench.range("t.by_v", ("Gt", "a.v", None)))
    assert len(after_null) == len(ordered) - 2
    below_five = bench.pull_all(bench.begin(), bench.range("t.by_v", ("Lt", "a.v", 5)))
    assert len(below_five) == 7


def test_looking_ahead_accounts_for_nothing_and_pulling_for_exactly_what_was_pulled(numbered: Any) -> None:
    bench, transaction = numbered, numbered.begin()
    stream = transaction.open_query("", bench.range("t.by_n"))
    assert values(stream.fetch(5).documents) == [0, 1, 2, 3, 4]
    assert (transaction.usage.documents_read, intervals(transaction)) == (0, 0)
    stream.pull(2)
    assert (transaction.usage.documents_read, intervals(transaction)) == (2, 1)


def test_rows_dropped_by_a_filter_count_when_they_are_passed_over(numbered: Any) -> None:
    bench, transaction = numbered, numbered.begin()
    stream = transaction.open_query("", bench.scan("t", LESS_THAN_3))
    stream.fetch(100)
    stream.pull(1)
    assert transaction.usage.documents_read == 8
    stream.pull(3)
    assert transaction.usage.documents_read == 10


@pytest.mark.parametrize(
    ("order", "operators", "pulls", "affecting", "other"),
    [
        (None, [], 1, [-1, -0.5], [0.5, 100]),
        ("desc", [], 1, [9, 100], [8.5, -1]),
        (None, [], 11, [-1, 5, 100], []),
        (None, [{"limit": 3}], 4, [-1, 1.5], [2.5, 100]),
        (None, [LESS_THAN_3, {"limit": 3}], 4, [-1, 1.5], [2.5, 100]),
        (None, [LESS_THAN_3], 4, [-1, 3, 100], []),
        (None, [NEVER], 1, [-1, 3, 100], []),
        (None, [{"limit": 0}], 1, [], [-1, 3, 100]),
    ],
)
def test_the_read_interval_ends_at_the_last_row_pulled(
    numbered: Any, order: str | None, operators: Any, pulls: int, affecting: list[float], other: list[float]
) -> None:
    bench, transaction = numbered, numbered.begin()
    stream = transaction.open_query("", bench.range("t.by_n", order=order, operators=operators))
    stream.fetch(100)
    stream.pull(pulls)
    for n in [*affecting, *other]:
        ts = bench.database.latest
        bench.insert("t", {"n": n})
        assert bench.database.changed_since(transaction.read_set, ts) == (n in affecting), n


def test_an_empty_range_is_read_to_its_ends(numbered: Any) -> None:
    bench, transaction = numbered, numbered.begin()
    bench.pull_all(transaction, bench.range("t.by_n", ("Gt", "n", 20), ("Lt", "n", 30)))
    assert (transaction.usage.documents_read, transaction.usage.database_queries) == (0, 1)
    for n, expected in [(25, True), (20, False), (30, False), (19, False)]:
        ts = bench.database.latest
        bench.insert("t", {"n": n})
        assert bench.database.changed_since(transaction.read_set, ts) is expected


def test_a_scan_of_a_missing_table_depends_on_the_table_being_created(bench: Any) -> None:
    transaction = bench.begin()
    assert bench.pull_all(transaction, bench.scan("t")) == []
    ts = bench.database.latest
    bench.insert("other", {})
    assert not bench.database.changed_since(transaction.read_set, ts)
    bench.insert("t", {})
    assert bench.database.changed_since(transaction.read_set, ts)


def test_writes_are_seen_by_the_next_fetch_but_fetched_rows_are_not_read_again(numbered: Any) -> None:
    bench, transaction = numbered, numbered.begin()
    stream = transaction.open_query("", bench.range("t.by_n"))
    first = stream.fetch(3).documents
    transaction.patch("", first[0].id, {"n": 4.5})
    transaction.insert("", "t", {"n": 1.5})
    transaction.insert("", "t", {"n": 3.5})
    rest = [document.value["n"] for document in stream.fetch(100).documents]
    assert rest == [3, 3.5, 4, 4.5, 5, 6, 7, 8, 9]


def test_own_writes_are_merged_into_every_index_in_order(numbered: Any) -> None:
    bench, transaction = numbered, numbered.begin()
    documents = bench.pull_all(transaction, bench.range("t.by_n"))
    transaction.delete("", documents[4].id)
    transaction.patch("", documents[0].id, {"n": 20})
    transaction.insert("", "t", {"n": 4.5, "parity": 0})
    for order in ("asc", "desc"):
        found = [document.value["n"] for document in bench.pull_all(transaction, bench.range("t.by_n", order=order))]
        assert found == sorted([1, 2, 3, 4.5, 5, 6, 7, 8, 9, 20], reverse=order == "desc")


class TestErrors:
    @pytest.mark.parametrize(
        ("query", "text"),
        [
            (("t.missing",), "Index t.missing not found."),
            (("nothing.by_id",), "Index nothing.by_id not found."),
            (("_storage.by_storage_id",), "Index _storage.by_storage_id not found."),
            (("t.search",), "Index t.search is not a database index"),
            (
                ("t.staged",),
                "Index t.staged is currently staged and not available to query until it is enabled.",
            ),
        ],
    )
    def test_indexes_that_cannot_be_used(self, bench: Any, query: Any, text: str) -> None:
        search = {"search": {"searchField": "body", "filterFields": []}}
        bench.push(bench.table("t", None, search=search, staged={"staged": ["a"]}))
        with pytest.raises(DeveloperError) as caught:
            bench.begin().open_query("", bench.range(*query))
        assert caught.value.message == text

    def test_an_error_in_a_filter_is_raised_when_its_row_is_reached(self, numbered: Any) -> None:
        bench, transaction = numbered, numbered.begin()
        transaction.insert("", "t", {"n": 4.5, "bad": "x"})
        bad = {"filter": {"$or": [{"$eq": [{"$field": "bad"}, {"$literal": {"$undefined": None}}]}, {"$field": "bad"}]}}
        stream = transaction.open_query("", bench.range("t.by_n", operators=[bad, {"limit": 8}]))
        batch = stream.fetch(100)
        assert (values(batch.documents), batch.done) == ([0, 1, 2, 3, 4], False)
        stream.pull(5)
        for _ in range(2):
            with pytest.raises(DeveloperError, match=r'^Cannot use value "x" \(type String\) as a Boolean$'):
                stream.fetch(100)
            assert transaction.usage.documents_read == 6

    def test_too_many_operators(self, bench: Any) -> None:
        with pytest.raises(DeveloperError, match=r"^Can't construct query with more than 256 operators$"):
            bench.begin().open_query("", bench.scan("t", *[{"limit": 1}] * 257))

    @pytest.mark.parametrize("query", [None, {}, {"source": {}}, {"source": {"type": "Magic"}, "operators": []}])
    def test_malformed_queries(self, bench: Any, query: Any) -> None:
        with pytest.raises(DeveloperError, match=r"^Invalid query"):
            bench.begin().open_query("", query)


class TestLimits:
    def test_looking_ahead_stops_before_the_row_that_is_too_many(self, numbered: Any) -> None:
        bench, transaction = numbered, numbered.begin()
        transaction.limits = Limits(documents_read=4)
        stream = transaction.open_query("", bench.range("t.by_n"))
        batch = stream.fetch(100)
        assert (values(batch.documents), batch.done) == ([0, 1, 2, 3], False)
        stream.pull(4)
        with pytest.raises(DeveloperError, match=r"^Too many documents read .* \(limit: 4\)"):
            stream.fetch(100)
        assert transaction.usage.documents_read == 5

    def test_dropped_rows_reach_the_limit_too(self, numbered: Any) -> None:
        bench, transaction = numbered, numbered.begin()
        transaction.limits = Limits(bytes_read=300)
        with pytest.raises(DeveloperError, match=r"^Too many bytes read .* \(limit: 300 bytes\)"):
            bench.pull_all(transaction, bench.scan("t", NEVER))
        assert transaction.usage.bytes_read > 300

    def test_the_interval_that_is_too_many_fails_at_its_first_pull(self, numbered: Any) -> None:
        bench, transaction = numbered, numbered.begin()
        transaction.limits = Limits(database_queries=2)
        for n in (1, 3):
            bench.pull_all(transaction, bench.range("t.by_n", ("Eq", "n", n)))
        bench.pull_all(transaction, bench.range("t.by_n", ("Eq", "n", 3)))
        with pytest.raises(DeveloperError, match=r"^Too many reads in a single function execution \(limit: 2\)"):
            bench.pull_all(transaction, bench.range("t.by_n", ("Eq", "n", 5)))

    def test_neighbouring_ranges_count_as_one(self, numbered: Any) -> None:
        bench, transaction = numbered, numbered.begin()
        bench.pull_all(transaction, bench.range("t.by_n", ("Lt", "n", 4)))
        bench.pull_all(transaction, bench.range("t.by_n", ("Gte", "n", 6)))
        assert transaction.usage.database_queries == 2
        bench.pull_all(transaction, bench.range("t.by_n", ("Gte", "n", 4), ("Lt", "n", 6)))
        assert transaction.usage.database_queries == 1

    def test_streams_that_look_ahead_together_are_stopped_when_they_account(self, numbered: Any) -> None:
        bench, transaction = numbered, numbered.begin()
        transaction.limits = Limits(documents_read=15)
        streams = [transaction.open_query("", bench.range("t.by_n")) for _ in range(2)]
        for stream in streams:
            assert len(stream.fetch(100).documents) == 10
        streams[0].pull(10)
        with pytest.raises(DeveloperError, match=r"^Too many documents read"):
            streams[1].pull(10)
