"""One full text search: its words and its filters."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.schema import SearchIndexSpec
from convex_evals.backend.search.documents import SearchDocument
from convex_evals.backend.search.tokens import tokenize
from convex_evals.backend.values import decode_field, sort_key

MAX_QUERY_TOKENS: Final = 16
MAX_FILTERS: Final = 8


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
        if len(equalities) > MAX_FILTERS:
            raise DeveloperError(
                f"Search query against {index} has too many filter conditions. "
                f"Max: {MAX_FILTERS} Actual: {len(equalities)}"
            )
        return cls(tuple(tokenize(text or "")[:MAX_QUERY_TOKENS]), tuple(equalities))

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
