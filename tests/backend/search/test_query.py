from collections.abc import Callable
from typing import Any

import pytest

from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.schema import SearchIndexSpec
from convex_evals.backend.search import SearchDocument, SearchQuery, search_text
from convex_evals.backend.values import sort_key


def find(text: str, field: str = "body") -> dict[str, Any]:
    return {"type": "Search", "fieldPath": field, "value": text}


def eq(field: str, value: object) -> dict[str, Any]:
    return {"type": "Eq", "fieldPath": field, "value": value}


def test_a_query_is_compiled_from_its_json(spec: SearchIndexSpec) -> None:
    query = SearchQuery.compile("t.find", spec, [eq("channel", 1), find("Hello WORLD")])
    assert query == SearchQuery(("hello", "world"), (("channel", sort_key(1.0)),))


def test_only_the_first_16_words_count(spec: SearchIndexSpec) -> None:
    query = SearchQuery.compile("t.find", spec, [find(" ".join(f"w{n}" for n in range(20)))])
    assert query.tokens == tuple(f"w{n}" for n in range(16))


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        (
            [find("x", "title")],
            'Search query against t.find contains a search filter against "title", '
            'which doesn\'t match the indexed `searchField` "body".',
        ),
        (
            [find("x"), find("y")],
            'Search query against t.find contains multiple search filters against "body". Only one is allowed.',
        ),
        (
            [find("x"), eq("author", "a")],
            'Search query against t.find contains an equality filter on "author" '
            "but that field isn't indexed for filtering in `filterFields`.",
        ),
        (
            [find("x")] + [eq("channel", n) for n in range(9)],
            "Search query against t.find has too many filter conditions. Max: 8 Actual: 9",
        ),
    ],
)
def test_a_query_the_index_cannot_answer_is_refused(
    spec: SearchIndexSpec, filters: list[dict[str, Any]], message: str
) -> None:
    with pytest.raises(DeveloperError) as refusal:
        SearchQuery.compile("t.find", spec, filters)
    assert refusal.value.message == message


def test_a_query_needs_a_text() -> None:
    assert search_text("t.find", [eq("channel", 1), find("hello")]) == "hello"
    with pytest.raises(DeveloperError) as refusal:
        search_text("t.find", [eq("channel", 1)])
    assert refusal.value.message == (
        "Search query against t.find does not contain any search filters. "
        'You must include a search filter like `q.search("field", searchText)`.'
    )


@pytest.mark.parametrize(
    ("filters", "matches"),
    [
        ([find("hello")], True),
        ([find("hel")], True),
        ([find("hel world")], True),
        ([find("hel moon")], False),
        ([find("")], False),
        ([find("world"), eq("channel", "general")], True),
        ([find("world"), eq("channel", "random")], False),
        ([find("world"), eq("meta.lang", "en"), eq("channel", "general")], True),
        ([find("world"), eq("channel", "general"), eq("channel", "general")], False),
    ],
)
def test_a_document_matches_by_one_word_and_every_filter(
    spec: SearchIndexSpec, make: Callable[..., SearchDocument], filters: list[dict[str, Any]], matches: bool
) -> None:
    document = make(1, "Hello world", channel="general", meta={"lang": "en"})
    assert SearchQuery.compile("t.find", spec, filters).matches(document) is matches


def test_equality_is_by_type_and_undefined_means_absent(
    spec: SearchIndexSpec, make: Callable[..., SearchDocument]
) -> None:
    with_float, without = make(1, "x", channel=1.0), make(2, "x")
    undefined = SearchQuery.compile("t.find", spec, [find("x"), eq("channel", {"$undefined": None})])
    integer = SearchQuery.compile("t.find", spec, [find("x"), eq("channel", {"$integer": "AQAAAAAAAAA="})])
    assert [undefined.matches(with_float), undefined.matches(without)] == [False, True]
    assert [integer.matches(with_float), integer.matches(without)] == [False, False]
