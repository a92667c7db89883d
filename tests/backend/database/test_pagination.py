from typing import Any

import pytest

from convex_evals.backend.database import Page, PageRequest, Transaction
from convex_evals.backend.errors import ConvexError, DeveloperError
from convex_evals.backend.limits import Limits

EVEN = {"filter": {"$eq": [{"$field": "parity"}, {"$literal": 0}]}}
NEVER = {"filter": {"$literal": False}}


@pytest.fixture
def numbered(bench: Any) -> Any:
    """Ten documents in `t`, indexed by `n`: 0 to 9."""
    bench.push(bench.table("t", None, {"by_n": ["n"]}, search={"words": {"searchField": "body", "filterFields": []}}))
    bench.insert("t", *({"n": n, "parity": n % 2, "body": f"word{n} common"} for n in range(10)))
    return bench


def paginate(transaction: Transaction, query: Any, cursor: str | None = None, size: float = 3, **more: Any) -> Page:
    return transaction.paginate("", PageRequest(query, cursor, size, **more))


def values(page: Page) -> list[int]:
    return [int(document.value["n"]) for document in page.documents]  # type: ignore[arg-type]


@pytest.mark.parametrize("order", ["asc", "desc"])
def test_pages_follow_each_other_until_the_end(numbered: Any, order: str) -> None:
    query = numbered.range("t.by_n", order=order)
    seen: list[list[int]] = []
    cursor, done = None, False
    while not done:
        page = paginate(numbered.begin(), query, cursor, 4)
        cursor, done = page.continue_cursor, page.is_done
        seen.append(values(page))
    expected = list(range(10)) if order == "asc" else list(range(9, -1, -1))
    assert seen == [expected[:4], expected[4:8], expected[8:]]


def test_a_page_that_is_exactly_full_is_not_the_last(numbered: Any) -> None:
    page = paginate(numbered.begin(), numbered.range("t.by_n"), None, 10)
    assert (len(page.documents), page.is_done) == (10, False)
    rest = paginate(numbered.begin(), numbered.range("t.by_n"), page.continue_cursor, 10)
    assert (rest.documents, rest.is_done) == ([], True)
    again = paginate(numbered.begin(), numbered.range("t.by_n"), rest.continue_cursor, 10)
    assert (again.documents, again.is_done, again.continue_cursor) == ([], True, rest.continue_cursor)
    numbered.insert("t", {"n": 100})
    assert paginate(numbered.begin(), numbered.range("t.by_n"), rest.continue_cursor).documents == []


def test_filters_fill_pages_with_matching_documents(numbered: Any) -> None:
    query = numbered.range("t.by_n", operators=[EVEN])
    first = paginate(numbered.begin(), query)
    assert values(first) == [0, 2, 4]
    assert values(paginate(numbered.begin(), query, first.continue_cursor)) == [6, 8]


def test_a_cursor_survives_the_deletion_of_its_document(numbered: Any) -> None:
    query = numbered.range("t.by_n")
    page = paginate(numbered.begin(), query)
    transaction = numbered.begin()
    transaction.delete("", page.documents[-1].id)
    numbered.database.commit(transaction)
    assert values(paginate(numbered.begin(), query, page.continue_cursor)) == [3, 4, 5]


def test_equal_inputs_give_equal_cursors(numbered: Any) -> None:
    query = numbered.range("t.by_n")
    pages = [paginate(numbered.begin(), query) for _ in range(2)]
    assert pages[0].continue_cursor == pages[1].continue_cursor
    assert pages[0].journal == pages[0].continue_cursor


class TestEnd:
    def test_an_end_cursor_wins_over_the_page_size(self, numbered: Any) -> None:
        query = numbered.range("t.by_n")
        first = paginate(numbered.begin(), query, None, 2)
        second = paginate(numbered.begin(), query, first.continue_cursor, 4)
        between = paginate(
            numbered.begin(), query, first.continue_cursor, 1, end_cursor=second.continue_cursor, maximum_rows_read=1
        )
        assert values(between) == [2, 3, 4, 5]
        assert (between.continue_cursor, between.is_done) == (second.continue_cursor, False)
        assert between.status is None

    @pytest.mark.parametrize("order", ["asc", "desc"])
    def test_the_journal_keeps_the_extent_of_a_page(self, numbered: Any, order: str) -> None:
        query = numbered.range("t.by_n", order=order)
        page = paginate(numbered.begin(), query)
        numbered.insert("t", {"n": 1.5 if order == "asc" else 7.5})
        again = paginate(numbered.begin(), query, journal=page.journal)
        assert len(again.documents) == 4
        assert again.journal == page.journal
        transaction = numbered.begin()
        transaction.delete("", page.documents[0].id)
        transaction.delete("", page.documents[2].id)
        numbered.database.commit(transaction)
        shrunk = paginate(numbered.begin(), query, journal=page.journal)
        assert len(shrunk.documents) == 2

    def test_an_explicit_end_cursor_wins_over_the_journal(self, numbered: Any) -> None:
        query = numbered.range("t.by_n")
        short, long = (paginate(numbered.begin(), query, None, size) for size in (2, 5))
        page = paginate(numbered.begin(), query, end_cursor=long.continue_cursor, journal=short.journal)
        assert len(page.documents) == 5

    def test_a_page_up_to_the_end_includes_what_is_added_later(self, numbered: Any) -> None:
        query = numbered.range("t.by_n")
        page = paginate(numbered.begin(), query, None, 20)
        numbered.insert("t", {"n": 100})
        again = paginate(numbered.begin(), query, None, 20, journal=page.journal)
        assert (len(again.documents), again.is_done) == (11, True)


class TestReadSet:
    def test_a_page_reads_up_to_its_last_row(self, numbered: Any) -> None:
        transaction = numbered.begin()
        paginate(transaction, numbered.range("t.by_n"))
        for n, expected in [(-1, True), (1.5, True), (2.5, False), (50, False)]:
            ts = numbered.database.latest
            numbered.insert("t", {"n": n})
            assert numbered.database.changed_since(transaction.read_set, ts) is expected

    def test_a_later_page_does_not_read_the_earlier_ones(self, numbered: Any) -> None:
        query = numbered.range("t.by_n")
        cursor = paginate(numbered.begin(), query).continue_cursor
        transaction = numbered.begin()
        paginate(transaction, query, cursor, 20)
        for n, expected in [(1.5, False), (2.5, True), (50, True)]:
            ts = numbered.database.latest
            numbered.insert("t", {"n": n})
            assert numbered.database.changed_since(transaction.read_set, ts) is expected

    def test_a_page_that_fails_has_read_up_to_the_row_that_made_it_fail(self, numbered: Any) -> None:
        fails_at_two = {"filter": {"$or": [{"$neq": [{"$field": "n"}, {"$literal": 2}]}, {"$field": "body"}]}}
        transaction = numbered.begin()
        with pytest.raises(DeveloperError, match="as a Boolean"):
            paginate(transaction, numbered.range("t.by_n", operators=[fails_at_two]), None, 20)
        assert transaction.usage.documents_read == 3
        for n, expected in [(1.5, True), (2.5, False)]:
            ts = numbered.database.latest
            numbered.insert("t", {"n": n})
            assert numbered.database.changed_since(transaction.read_set, ts) is expected


class TestSplitting:
    @pytest.mark.parametrize(
        ("more", "rows", "status"),
        [
            ({"maximum_rows_read": 2}, 2, "SplitRequired"),
            ({"maximum_bytes_read": 150}, 2, "SplitRequired"),
            ({"maximum_bytes_read": 1}, 1, "SplitRequired"),
            ({"maximum_rows_read": 13}, 10, "SplitRecommended"),
            ({"maximum_rows_read": 14}, 10, None),
            ({}, 10, None),
        ],
    )
    def test_too_much_work_for_one_page(self, numbered: Any, more: Any, rows: int, status: str | None) -> None:
        transaction = numbered.begin()
        page = paginate(transaction, numbered.range("t.by_n", operators=[NEVER]), None, 20, **more)
        assert (page.documents, page.status) == ([], status)
        assert page.is_done == (rows == 10)
        assert transaction.usage.documents_read == rows

    def test_a_read_limit_cuts_the_page_short(self, numbered: Any) -> None:
        transaction = numbered.begin()
        transaction.limits = Limits(documents_read=4)
        page = paginate(transaction, numbered.range("t.by_n"), None, 20)
        assert (values(page), page.is_done, page.status) == ([0, 1, 2, 3], False, "SplitRequired")

    def test_the_split_cursor_stands_in_the_middle_of_the_rows(self, numbered: Any) -> None:
        query = numbered.range("t.by_n")
        assert paginate(numbered.begin(), query, None, 2).split_cursor is None
        page = paginate(numbered.begin(), query, None, 20)
        first = paginate(numbered.begin(), query, end_cursor=page.split_cursor)
        second = paginate(numbered.begin(), query, page.split_cursor, 20)
        assert (values(first), values(second)) == ([0, 1, 2, 3, 4, 5], [6, 7, 8, 9])


class TestErrors:
    @pytest.mark.parametrize(
        ("request_", "text"),
        [
            ({"size": 0}, "Must request at least 1 document while paginating"),
            ({"size": 32_001}, "Requested too many items: 32001"),
            ({"maximum_rows_read": 0}, "maximumRowsRead and maximumBytesRead must be greater than 0"),
            ({"maximum_bytes_read": 0}, "maximumRowsRead and maximumBytesRead must be greater than 0"),
            ({"cursor": "garbage"}, "Failed to parse cursor"),
            ({"cursor": ""}, "Failed to parse cursor"),
            ({"cursor": "ü"}, "Failed to parse cursor"),
            ({"journal": "garbage"}, "Failed to parse cursor"),
        ],
    )
    def test_texts(self, numbered: Any, request_: Any, text: str) -> None:
        with pytest.raises(DeveloperError) as caught:
            paginate(numbered.begin(), numbered.range("t.by_n"), **request_)
        assert caught.value.message == text

    def test_a_cursor_of_another_query(self, numbered: Any) -> None:
        cursor = paginate(numbered.begin(), numbered.range("t.by_n")).continue_cursor
        for query in (
            numbered.scan("t"),
            numbered.range("t.by_n", order="desc"),
            numbered.range("t.by_n", ("Gt", "n", 1)),
            numbered.range("t.by_n", operators=[EVEN]),
        ):
            with pytest.raises(ConvexError) as caught:
                paginate(numbered.begin(), query, cursor)
            assert caught.value.message == (
                "InvalidCursor: Tried to run a query starting from a cursor, "
                "but it looks like this cursor is from a different query."
            )
            assert caught.value.data == '{"isConvexSystemError":true,"paginationError":"InvalidCursor"}'

    def test_a_cursor_is_not_valid_after_the_index_changed(self, numbered: Any) -> None:
        cursor = paginate(numbered.begin(), numbered.range("t.by_n")).continue_cursor
        numbered.push(numbered.table("t", None, {"by_n": ["n", "parity"]}))
        with pytest.raises(ConvexError):
            paginate(numbered.begin(), numbered.range("t.by_n"), cursor)

    def test_components_cannot_paginate_unless_they_are_allowed_to(self, bench: Any) -> None:
        bench.insert("t", {}, namespace="c")
        request = PageRequest(bench.scan("t"), None, 5)
        with pytest.raises(DeveloperError) as caught:
            bench.begin().paginate("c", request)
        assert caught.value.message == (
            "paginate() is only supported in the app. "
            "Learn more at https://docs.convex.dev/components/authoring#pagination"
        )
        allowed = PageRequest(bench.scan("t"), None, 5, in_component=True)
        assert len(bench.begin().paginate("c", allowed).documents) == 1


def test_a_missing_table_has_one_empty_page(bench: Any) -> None:
    page = paginate(bench.begin(), bench.scan("nothing"))
    assert (page.documents, page.is_done) == ([], True)


def test_searches_paginate_in_order_of_relevance(numbered: Any) -> None:
    query = numbered.search("t.words", "body", "common")
    first = paginate(numbered.begin(), query, None, 6)
    second = paginate(numbered.begin(), query, first.continue_cursor, 6)
    assert values(first) + values(second) == list(range(9, -1, -1))
    assert (first.split_cursor, second.is_done) == (None, True)
