from typing import Any

import pytest

from convex_evals.backend import limits
from convex_evals.backend.errors import DeveloperError


@pytest.fixture
def library(bench: Any) -> Any:
    words = {"words": {"searchField": "body", "filterFields": ["author"]}}
    bench.push(bench.table("t", None, {"by_author": ["author"]}, search=words))
    bench.insert("t", {"body": "red fish", "author": "a"}, {"body": "blue fish", "author": "b"}, {"body": 5})
    return bench


def bodies(bench: Any, transaction: Any, text: str, **equal: Any) -> list[Any]:
    found = bench.pull_all(transaction, bench.search("t.words", "body", text, **equal))
    return [document.value["body"] for document in found]


def test_committed_documents_are_found_best_first(library: Any) -> None:
    transaction = library.begin()
    assert bodies(library, transaction, "red fish") == ["red fish", "blue fish"]
    assert bodies(library, transaction, "fi") == ["blue fish", "red fish"]
    assert bodies(library, transaction, "fish", author="b") == ["blue fish"]
    assert bodies(library, transaction, "whale") == []


def test_own_writes_are_found_and_own_deletions_are_not(library: Any) -> None:
    transaction = library.begin()
    found = library.pull_all(transaction, library.search("t.words", "body", "red"))
    transaction.insert("", "t", {"body": "green fish"})
    transaction.patch("", found[0].id, {"body": "red bird"})
    assert sorted(bodies(library, transaction, "fish")) == ["blue fish", "green fish"]
    assert bodies(library, transaction, "bird") == ["red bird"]
    transaction.delete("", found[0].id)
    assert bodies(library, transaction, "bird") == []


def test_an_old_snapshot_searches_what_was_there_then(library: Any) -> None:
    reader = library.begin()
    writer = library.begin()
    found = library.pull_all(writer, library.search("t.words", "body", "red"))
    writer.delete("", found[0].id)
    writer.insert("", "t", {"body": "new fish"})
    library.database.commit(writer)
    assert sorted(bodies(library, reader, "fish")) == ["blue fish", "red fish"]
    assert sorted(bodies(library, library.begin(), "fish")) == ["blue fish", "new fish"]


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"body": "another fish", "author": "a"}, True),
        ({"body": "fishing", "author": "a"}, True),
        ({"body": "another fish", "author": "b"}, False),
        ({"body": "a bird", "author": "a"}, False),
        ({"body": 7, "author": "a"}, False),
    ],
)
def test_a_search_depends_on_its_terms_and_filters(library: Any, document: Any, expected: bool) -> None:
    reader = library.begin()
    bodies(library, reader, "fish", author="a")
    ts = library.database.latest
    library.insert("t", document)
    assert library.database.changed_since(reader.read_set, ts) is expected


def test_candidates_count_as_documents_and_as_reads(library: Any) -> None:
    transaction = library.begin()
    bodies(library, transaction, "fish")
    assert (transaction.usage.documents_read, transaction.usage.database_queries) == (2, 2)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        (("nothing.words", "body", "x"), "Index nothing.words not found."),
        (("t.missing", "body", "x"), "Index t.missing not found."),
        (("t.by_author", "body", "x"), "Index t.by_author is not a search index"),
        (
            ("t.words", "title", "x"),
            'Search query against t.words contains a search filter against "title", '
            'which doesn\'t match the indexed `searchField` "body".',
        ),
    ],
)
def test_errors_appear_with_the_first_row(library: Any, query: Any, text: str) -> None:
    stream = library.begin().open_query("", library.search(*query))
    with pytest.raises(DeveloperError) as caught:
        stream.fetch(1)
    assert caught.value.message == text


def test_empty_text_finds_nothing_whatever_else_is_wrong(library: Any) -> None:
    assert library.pull_all(library.begin(), library.search("t.missing", "title", "")) == []


def test_a_query_without_search_filter_is_refused(library: Any) -> None:
    query = library.search("t.words", "body", "x")
    query["source"]["filters"] = []
    with pytest.raises(DeveloperError, match=r"^Search query against t\.words does not contain any search filters\."):
        library.begin().open_query("", query).fetch(1)


def test_pulling_past_the_candidates_is_an_error(library: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_CANDIDATES", 2)
    transaction = library.begin()
    query = library.search("t.words", "body", "fish")
    assert len(library.take(transaction, query, 2)) == 2
    with pytest.raises(DeveloperError, match=r"^Search query scanned too many documents \(fetched 2\)\. Consider"):
        library.pull_all(transaction, query)


def test_a_search_index_added_later_covers_old_documents(bench: Any) -> None:
    bench.insert("t", {"body": "old fish"})
    bench.push(bench.table("t", None, search={"words": {"searchField": "body", "filterFields": []}}))
    assert bodies(bench, bench.begin(), "fish") == ["old fish"]
