"""Full text search: what an index keeps of a document, one search with its filters, the index in memory, the words of a
text and how relevant they are."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import log
from struct import Struct
from typing import Any, Final

from sortedcontainers import SortedDict

from convex_evals.backend import limits
from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.ids import DocumentId
from convex_evals.backend.schema import SearchIndexSpec
from convex_evals.backend.values import Value, decode_field, field_at, sort_key, split_path

PREFIX_BOOST: Final = 0.5

Postings = Mapping[str, int]  # document id -> occurrences


@dataclass(frozen=True, slots=True)
class SearchDocument:
    id: str
    internal_id: bytes
    creation_time: float
    terms: Mapping[str, int]  # how often each one occurs
    length: int  # in tokens
    filters: Mapping[str, bytes]  # sort key of each filter field, undefined included

    @classmethod
    def of(cls, spec: SearchIndexSpec, document: dict[str, Value]) -> "SearchDocument":
        """From a complete document, system fields included."""
        document_id, creation_time = document["_id"], document["_creationTime"]
        assert isinstance(document_id, str)
        assert isinstance(creation_time, float)
        text = field_at(document, split_path(spec.search_field))
        tokens = tokenize(text) if isinstance(text, str) else []
        return cls(
            id=document_id,
            internal_id=DocumentId.decode(document_id).internal,
            creation_time=creation_time,
            terms=Counter(tokens),
            length=len(tokens),
            filters=filter_keys(spec.filter_fields, document),
        )


def filter_keys(fields: tuple[str, ...], document: dict[str, Value]) -> dict[str, bytes]:
    return {field: sort_key(field_at(document, split_path(field))) for field in fields}


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """Equal searches compare equal. The last token also stands for every word that begins with it."""

    tokens: tuple[str, ...]
    filters: tuple[tuple[str, bytes], ...] = ()  # field, sort key of the value

    @classmethod
    def compile(cls, index: str, spec: SearchIndexSpec, filters: Sequence[dict[str, Any]]) -> "SearchQuery":
        """From the `filters` of a query's JSON; `index` is the full name `table.index`. Raises DeveloperError."""
        text: str | None = None
        equalities: list[tuple[str, bytes]] = []
        for item in filters:
            field = str(item["fieldPath"])
            if item["type"] == "Search":
                _check_search(index, spec, field, is_first=text is None)
                text = str(item["value"])
            else:
                _check_equality(index, spec, field)
                equalities.append((field, sort_key(decode_field(item["value"]))))
        if len(equalities) > limits.MAX_SEARCH_FILTERS:
            raise limits.too_many_search_filters(index, len(equalities))
        return cls(tuple(tokenize(text or "")[: limits.MAX_QUERY_TOKENS]), tuple(equalities))

    def accepts(self, document: SearchDocument) -> bool:
        """Whether a document passes the filters. A filter given twice accepts nothing."""
        filters = document.filters
        if any(filters.get(field) != key for field, key in self.filters):
            return False
        return len(set(self.filters)) == len(self.filters)

    def matches(self, document: SearchDocument) -> bool:
        """Whether a document belongs to the results, whatever its rank."""
        return self._has_term(document) and self.accepts(document)

    def _has_term(self, document: SearchDocument) -> bool:
        if any(token in document.terms for token in self.tokens):
            return True
        return bool(self.tokens) and any(term.startswith(self.tokens[-1]) for term in document.terms)


def search_text(index: str, filters: Sequence[dict[str, Any]]) -> str:
    """The text to search for. Empty text finds nothing, before anything else about the query is looked at."""
    for item in filters:
        if item["type"] == "Search":
            return str(item["value"])
    raise DeveloperError(
        f"Search query against {index} does not contain any search filters. "
        'You must include a search filter like `q.search("field", searchText)`.'
    )


def _check_search(index: str, spec: SearchIndexSpec, field: str, *, is_first: bool) -> None:
    if field != spec.search_field:
        raise DeveloperError(
            f'Search query against {index} contains a search filter against "{field}", '
            f'which doesn\'t match the indexed `searchField` "{spec.search_field}".'
        )
    if not is_first:
        raise DeveloperError(
            f'Search query against {index} contains multiple search filters against "{field}". Only one is allowed.'
        )


def _check_equality(index: str, spec: SearchIndexSpec, field: str) -> None:
    if field not in spec.filter_fields:
        raise DeveloperError(
            f'Search query against {index} contains an equality filter on "{field}" '
            "but that field isn't indexed for filtering in `filterFields`."
        )


@dataclass(frozen=True, slots=True)
class Overlay:
    """Differences between the index and what a query should see: new versions, and ids whose old version is gone."""

    added: tuple[SearchDocument, ...] = ()
    removed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Hit:
    id: str
    score: float
    creation_time: float
    internal_id: bytes = field(repr=False)

    @property
    def rank(self) -> tuple[float, float, bytes]:
        """Larger is better: the score, then the newer document, then the larger internal id."""
        return self.score, self.creation_time, self.internal_id


class TextIndex:
    """Holds every document of the table, also those without a text: they count in the statistics."""

    def __init__(self) -> None:
        self.documents: dict[str, SearchDocument] = {}
        self.postings: SortedDict = SortedDict()  # term -> dict of document id -> occurrences
        self.tokens = 0

    def add(self, document: SearchDocument) -> None:
        """An earlier version must have been removed."""
        self.documents[document.id] = document
        self.tokens += document.length
        for term, occurrences in document.terms.items():
            self.postings.setdefault(term, {})[document.id] = occurrences

    def remove(self, document_id: str) -> None:
        document = self.documents.pop(document_id)
        self.tokens -= document.length
        for term in document.terms:
            postings = self.postings[term]
            del postings[document_id]
            if not postings:
                del self.postings[term]

    def search(self, query: SearchQuery, overlay: Overlay | None = None) -> list[Hit]:
        """At most `MAX_CANDIDATES`, the best first."""
        return _View(self, overlay or Overlay()).search(query)


class _View:
    """The index as one query sees it."""

    def __init__(self, index: TextIndex, overlay: Overlay) -> None:
        self._index = index
        self._added = {document.id: document for document in overlay.added}
        self._removed = {document_id for document_id in overlay.removed if document_id in index.documents}
        gone = sum(index.documents[document_id].length for document_id in self._removed)
        self._tokens = index.tokens - gone + sum(document.length for document in overlay.added)
        self._count = len(index.documents) - len(self._removed) + len(self._added)

    def search(self, query: SearchQuery) -> list[Hit]:
        if not query.tokens or not self._tokens:
            return []
        hits = [self._hit(document_id, score) for document_id, score in self._scores(query).items()]
        return sorted(hits, key=lambda hit: hit.rank, reverse=True)[: limits.MAX_CANDIDATES]

    def _scores(self, query: SearchQuery) -> dict[str, float]:
        frequency_part = FrequencyPart(self._tokens, self._count)
        scores: dict[str, float] = {}
        refused: set[str] = set()
        for boost, postings in islice(self._matching_terms(query), limits.MAX_TERMS):
            weight = float32(term_weight(self._count, len(postings)) * boost)
            for document_id, occurrences in postings.items():
                if document_id in refused:
                    continue
                document = self._document(document_id)
                if document_id not in scores and not query.accepts(document):
                    refused.add(document_id)
                    continue
                part = float32(weight * frequency_part(occurrences, document.length))
                scores[document_id] = float32(scores.get(document_id, 0.0) + part)
        return scores

    def _matching_terms(self, query: SearchQuery) -> Iterator[tuple[float, Postings]]:
        """Each term once: words of the query first, then words that only begin like its last one."""
        tokens = dict.fromkeys(query.tokens)
        for token in tokens:
            if postings := self._postings(token):
                yield 1.0, postings
        for term in self._terms_with_prefix(query.tokens[-1]):
            if term not in tokens and (postings := self._postings(term)):
                yield PREFIX_BOOST, postings

    def _postings(self, term: str) -> Postings:
        committed: Postings = self._index.postings.get(term, {})
        if not self._added and not self._removed:
            return committed
        kept = {document_id: count for document_id, count in committed.items() if document_id not in self._removed}
        return kept | {document.id: document.terms[term] for document in self._added.values() if term in document.terms}

    def _terms_with_prefix(self, prefix: str) -> Iterator[str]:
        pending = {term for document in self._added.values() for term in document.terms if term.startswith(prefix)}
        if pending:
            yield from sorted(pending.union(self._committed_terms_with_prefix(prefix)))
        else:
            yield from self._committed_terms_with_prefix(prefix)

    def _committed_terms_with_prefix(self, prefix: str) -> Iterator[str]:
        for term in self._index.postings.irange(minimum=prefix):
            if not term.startswith(prefix):
                return
            yield term

    def _document(self, document_id: str) -> SearchDocument:
        return self._added.get(document_id) or self._index.documents[document_id]

    def _hit(self, document_id: str, score: float) -> Hit:
        document = self._document(document_id)
        return Hit(document_id, score, document.creation_time, document.internal_id)


# ------------------------------------------------------------------ relevance
# BM25 in 32-bit floats, with document lengths that fit into one byte.

_FLOAT32 = Struct("f")


def float32(value: float) -> float:
    """Compute in 64 bits, round after every step."""
    rounded: float = _FLOAT32.unpack(_FLOAT32.pack(value))[0]
    return rounded


K1: Final = float32(1.2)
B: Final = float32(0.75)


def _length_of_code(code: int) -> int:
    """Exact for small codes; from there on the step doubles every eight codes."""
    if code < 24:
        return code
    rest = code - 24
    return 24 + (rest if rest < 8 else ((rest & 7) | 8) << ((rest >> 3) - 1))


_LENGTHS: Final = [_length_of_code(code) for code in range(256)]


def quantized(length: int) -> int:
    """The largest representable length that is not above `length`."""
    return _LENGTHS[bisect_right(_LENGTHS, length) - 1]


def term_weight(documents: int, containing: int) -> float:
    """The rarer a term, the more it weighs."""
    ratio = float32(float32(documents - containing + 0.5) / float32(containing + 0.5))
    idf = float32(log(float32(1 + ratio)))
    return float32(idf * float32(1 + K1))


class FrequencyPart:
    """How much the number of occurrences counts, given the lengths of this document and of the average one."""

    def __init__(self, tokens: int, documents: int) -> None:
        self._average = float32(tokens / documents)
        self._known: dict[tuple[int, int], float] = {}

    def __call__(self, frequency: int, length: int) -> float:
        key = (frequency, length)
        part = self._known.get(key)
        if part is None:
            part = self._known[key] = float32(frequency / float32(frequency + self._norm(quantized(length))))
        return part

    def _norm(self, length: int) -> float:
        relative = float32(float32(B * length) / self._average)
        return float32(K1 * float32(float32(1 - B) + relative))


# ------------------------------------------------------------------ words

MAX_TOKEN_BYTES: Final = 31

# The property Other_Alphabetic of Unicode 14 (vowel signs, other marks, circled letters), as inclusive ranges of
# hexadecimal code points. `str.isalnum` does not know them, and most Indic words would fall into pieces without.
_RANGES = """
    345 363-36f 5b0-5bd 5bf 5c1-5c2 5c4-5c5 5c7 610-61a 64b-657 659-65f 670 6d6-6dc 6e1-6e4 6e7-6e8 6ed 711 730-73f
    7a6-7b0 816-817 81b-823 825-827 829-82c 8d4-8df 8e3-8e9 8f0-903 93a-93b 93e-94c 94e-94f 955-957 962-963 981-983
    9be-9c4 9c7-9c8 9cb-9cc 9d7 9e2-9e3 a01-a03 a3e-a42 a47-a48 a4b-a4c a51 a70-a71 a75 a81-a83 abe-ac5 ac7-ac9
    acb-acc ae2-ae3 afa-afc b01-b03 b3e-b44 b47-b48 b4b-b4c b56-b57 b62-b63 b82 bbe-bc2 bc6-bc8 bca-bcc bd7 c00-c04
    c3e-c44 c46-c48 c4a-c4c c55-c56 c62-c63 c81-c83 cbe-cc4 cc6-cc8 cca-ccc cd5-cd6 ce2-ce3 d00-d03 d3e-d44 d46-d48
    d4a-d4c d57 d62-d63 d81-d83 dcf-dd4 dd6 dd8-ddf df2-df3 e31 e34-e3a e4d eb1 eb4-eb9 ebb-ebc ecd f71-f83 f8d-f97
    f99-fbc 102b-1036 1038 103b-103e 1056-1059 105e-1060 1062-1064 1067-106d 1071-1074 1082-108d 108f 109a-109d
    1712-1713 1732-1733 1752-1753 1772-1773 17b6-17c8 1885-1886 18a9 1920-192b 1930-1938 1a17-1a1b 1a55-1a5e 1a61-1a74
    1abf-1ac0 1acc-1ace 1b00-1b04 1b35-1b43 1b80-1b82 1ba1-1ba9 1bac-1bad 1be7-1bf1 1c24-1c36 1dd3-1df4 24b6-24e9
    2de0-2dff a674-a67b a69e-a69f a802 a80b a823-a827 a880-a881 a8b4-a8c3 a8c5 a8ff a926-a92a a947-a952 a980-a983
    a9b4-a9bf a9e5 aa29-aa36 aa43 aa4c-aa4d aa7b-aa7d aab0 aab2-aab4 aab7-aab8 aabe aaeb-aaef aaf5 abe3-abea fb1e
    10376-1037a 10a01-10a03 10a05-10a06 10a0c-10a0f 10d24-10d27 10eab-10eac 11000-11002 11038-11045 11073-11074
    11080-11082 110b0-110b8 110c2 11100-11102 11127-11132 11145-11146 11180-11182 111b3-111bf 111ce-111cf 1122c-11234
    11237 1123e 112df-112e8 11300-11303 1133e-11344 11347-11348 1134b-1134c 11357 11362-11363 11435-11441 11443-11445
    114b0-114c1 115af-115b5 115b8-115be 115dc-115dd 11630-1163e 11640 116ab-116b5 1171d-1172a 1182c-11838 11930-11935
    11937-11938 1193b-1193c 11940 11942 119d1-119d7 119da-119df 119e4 11a01-11a0a 11a35-11a39 11a3b-11a3e 11a51-11a5b
    11a8a-11a97 11c2f-11c36 11c38-11c3e 11c92-11ca7 11ca9-11cb6 11d31-11d36 11d3a 11d3c-11d3d 11d3f-11d41 11d43 11d47
    11d8a-11d8e 11d90-11d91 11d93-11d96 11ef3-11ef6 16f4f 16f51-16f87 16f8f-16f92 16ff0-16ff1 1bc9e 1e000-1e006
    1e008-1e018 1e01b-1e021 1e023-1e024 1e026-1e02a 1e947 1f130-1f149 1f150-1f169 1f170-1f189
"""


def _character(code_point: str) -> str:
    return f"\\U{int(code_point, 16):08x}"


_OTHER_ALPHABETIC = "".join("-".join(map(_character, span.split("-"))) for span in _RANGES.split())
_ASCII_WORD = re.compile(r"[A-Za-z0-9]+")
_WORD = re.compile(rf"(?:[^\W_]|[{_OTHER_ALPHABETIC}])+")


def tokenize(text: str) -> list[str]:
    """Lower-cased words in order. Words of 32 bytes or more are not searchable."""
    if text.isascii():
        return [word.lower() for word in _ASCII_WORD.findall(text) if len(word) <= MAX_TOKEN_BYTES]
    return [_lower(word) for word in _WORD.findall(text) if len(word.encode()) <= MAX_TOKEN_BYTES]


def _lower(word: str) -> str:
    # Character by character: `str.lower` alone would write a sigma differently at the end of a word.
    return word.replace("Σ", "σ").lower()
