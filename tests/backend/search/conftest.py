from collections.abc import Callable, Iterable

import pytest

from convex_evals.backend.ids import DocumentId
from convex_evals.backend.schema import SearchIndexSpec
from convex_evals.backend.search import SearchDocument, TextIndex
from convex_evals.backend.values import Value

SPEC = SearchIndexSpec("find", "body", ("channel", "meta.lang"))


def document_id(number: int) -> str:
    return str(DocumentId(10001, number.to_bytes(16, "big")))


@pytest.fixture
def make() -> Callable[..., SearchDocument]:
    """Document `number`, created later than those with smaller numbers."""

    def document(number: int, body: Value, **fields: Value) -> SearchDocument:
        value: dict[str, Value] = {"_id": document_id(number), "_creationTime": float(number), "body": body, **fields}
        return SearchDocument.of(SPEC, value)

    return document


@pytest.fixture
def index(make: Callable[..., SearchDocument]) -> Callable[[Iterable[Value]], TextIndex]:
    """Documents numbered from 1."""

    def build(bodies: Iterable[Value]) -> TextIndex:
        built = TextIndex()
        for number, body in enumerate(bodies, 1):
            built.add(make(number, body))
        return built

    return build


@pytest.fixture
def numbers() -> Callable[[Iterable[object]], list[int]]:
    """The numbers of documents, from hits."""
    return lambda hits: [int.from_bytes(DocumentId.decode(hit.id).internal, "big") for hit in hits]  # type: ignore[attr-defined]


@pytest.fixture
def spec() -> SearchIndexSpec:
    return SPEC
