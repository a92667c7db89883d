from collections.abc import Callable, Iterable
from math import log
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.limits import MAX_CANDIDATES
from convex_evals.backend.schema import SearchIndexSpec
from convex_evals.backend.search import (
    Overlay,
    SearchDocument,
    SearchQuery,
    TextIndex,
    search_text,
)
from convex_evals.backend.search.text import FrequencyPart, float32, quantized, term_weight, tokenize
from convex_evals.backend.values import Value, sort_key

Make = Callable[..., SearchDocument]
Build = Callable[[Iterable[Value]], TextIndex]
Numbers = Callable[[Iterable[object]], list[int]]

WORDS = st.lists(st.sampled_from(["a", "ab", "abc", "b", "bc", "c"]), max_size=6).map(" ".join)


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


def query(text: str) -> SearchQuery:
    return SearchQuery(tuple(tokenize(text)))


@pytest.mark.parametrize(
    ("bodies", "text", "ranked"),
    [
        (["red apple", "green apple", "pear"], "apple", [2, 1]),
        (["red apple", "green apple", "pear"], "red apple", [1, 2]),
        (["common rare", "common", "common word"], "common rare", [1, 2, 3]),
        (["cat", "cat and a lot of other words"], "cat", [1, 2]),
        (["cat cat dog", "cat dog bird"], "cat", [1, 2]),
        (["applesauce", "apple"], "apple", [2, 1]),
        (["applesauce", "apple"], "appl", [2, 1]),
        (["applesauce", "pear"], "apple pear", [2]),
        (["x", "x", "x"], "x", [3, 2, 1]),
        (["x", 5.0, None, "y"], "x y", [4, 1]),
        (["x"], "!!!", []),
        ([5.0], "x", []),
        ([], "x", []),
    ],
)
def test_the_best_match_comes_first(
    index: Build, numbers: Numbers, bodies: list[Value], text: str, ranked: list[int]
) -> None:
    assert numbers(index(bodies).search(query(text))) == ranked


def test_scores_are_32_bit_bm25(index: Build) -> None:
    hits = index(["red apple", "green apple", "pear pie"]).search(query("red apple"))
    rare, common = log(1 + 2.5 / 1.5), log(1 + 1.5 / 2.5)  # every document has the average length
    assert [hit.score for hit in hits] == pytest.approx([rare + common, common], rel=1e-6)
    assert all(hit.score == float32(hit.score) for hit in hits)


def test_a_prefix_match_counts_half(index: Build) -> None:
    exact = index(["apple", "pear"]).search(query("apple"))
    prefix = index(["apple", "pear"]).search(query("appl"))
    assert prefix[0].score == pytest.approx(exact[0].score / 2)


def test_repeating_a_word_in_the_query_changes_nothing(index: Build) -> None:
    built = index(["red apple", "green apple"])
    assert built.search(query("red red apple")) == built.search(query("red apple"))


def test_at_most_1024_candidates_are_ranked(index: Build, numbers: Numbers) -> None:
    hits = index(["x"] * (MAX_CANDIDATES + 76)).search(query("x"))
    assert numbers(hits) == list(range(MAX_CANDIDATES + 76, 76, -1))


def test_at_most_64_terms_take_part_and_exact_ones_first(index: Build, numbers: Numbers) -> None:
    built = index([f"p{n:03}" for n in range(100)] + ["other"])
    assert sorted(numbers(built.search(query("other p")))) == [*range(1, 64), 101]


def test_filters_restrict_results_but_not_statistics(make: Make) -> None:
    built = TextIndex()
    for number in range(1, 6):
        built.add(make(number, "x", channel=float(number % 2)))
    everything = built.search(query("x"))
    odd = built.search(SearchQuery(("x",), (("channel", make(1, "x", channel=1.0).filters["channel"]),)))
    assert [hit for hit in everything if hit.creation_time % 2] == odd


def test_removed_documents_are_gone(index: Build, make: Make, numbers: Numbers) -> None:
    built = index(["apple", "apple pie"])
    built.remove(make(1, None).id)
    assert numbers(built.search(query("app"))) == [2]
    built.remove(make(2, None).id)
    assert built.search(query("app")) == []
    assert len(built.postings) == built.tokens == 0


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    committed=st.lists(WORDS, max_size=6),
    pending=st.dictionaries(st.integers(1, 9), st.none() | WORDS, max_size=5),
    text=WORDS,
)
def test_a_query_through_an_overlay_finds_what_it_would_find_after_the_commit(
    index: Build, make: Make, committed: list[str], pending: dict[int, str | None], text: str
) -> None:
    built, expected = index(committed), TextIndex()
    after = {number: make(number, body) for number, body in enumerate(committed, 1) if number not in pending}
    added = {number: make(number, body) for number, body in pending.items() if body is not None}
    for document in (after | added).values():
        expected.add(document)
    overlay = Overlay(tuple(added.values()), frozenset(make(number, None).id for number in pending))
    assert built.search(query(text), overlay) == expected.search(query(text))


def test_lengths_are_exact_up_to_40_and_then_rounded_down() -> None:
    assert [quantized(length) for length in range(41)] == list(range(41))
    representable = sorted({quantized(length) for length in range(41, 121)} - {40})
    assert representable == [42, 44, 46, 48, 50, 52, 54, 56, 60, 64, 68, 72, 76, 80, 84, 88, 96, 104, 112, 120]


@pytest.mark.parametrize(("length", "code"), [(41, 40), (43, 42), (59, 56), (95, 88), (100_000, 98_328)])
def test_lengths_between_two_codes_take_the_smaller(length: int, code: int) -> None:
    assert quantized(length) == code


def test_rare_terms_weigh_more() -> None:
    assert term_weight(10, 1) == pytest.approx(log(1 + 9.5 / 1.5) * 2.2, rel=1e-6)
    assert term_weight(10, 1) > term_weight(10, 5) > term_weight(10, 10) > 0


def test_frequency_saturates_and_long_documents_count_less() -> None:
    part = FrequencyPart(tokens=40, documents=10)
    assert part(1, 4) == pytest.approx(1 / 2.2, rel=1e-6)
    assert 1 > part(10, 4) > part(2, 4) > part(1, 4) > part(1, 8)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        ("!!! ... 😀", []),
        ("Hello, World", ["hello", "world"]),
        ("snake_case kebab-case it's 3.14", ["snake", "case", "kebab", "case", "it", "s", "3", "14"]),
        ("Ünïcode ÀÉ", ["ünïcode", "àé"]),
        ("ΣΑΣ", ["σασ"]),
        ("今日は", ["今日は"]),
        ("का①½", ["का①½"]),
        ("हिन्दी", ["हिन", "दी"]),
        ("e\u0301", ["e"]),
        ("❤️x", ["x"]),
        ("x" * 31 + " " + "y" * 32, ["x" * 31]),
        ("é" * 15 + " " + "é" * 16, ["é" * 15]),
        ("a b a", ["a", "b", "a"]),
    ],
)
def test_words_of_a_text(text: str, tokens: list[str]) -> None:
    assert tokenize(text) == tokens
