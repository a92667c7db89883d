"""Text and vector indexes over the newest committed documents."""

from collections import deque
from collections.abc import Iterable

from convex_evals.backend.database.documents import Document
from convex_evals.backend.database.indexes import TableIndex
from convex_evals.backend.schema import IndexSpec, SearchIndexSpec, VectorIndexSpec
from convex_evals.backend.search import SearchDocument, TextIndex, VectorDocument, VectorIndex


class SearchIndexes:
    def __init__(self) -> None:
        self._text: dict[str, TextIndex] = {}
        self._vector: dict[str, VectorIndex] = {}
        self._dropped: deque[tuple[int, str]] = deque()

    def text(self, index: TableIndex) -> TextIndex:
        return self._text.setdefault(index.storage, TextIndex())

    def vector(self, index: TableIndex) -> VectorIndex:
        return self._vector.setdefault(index.storage, VectorIndex())

    def build(self, index: TableIndex, documents: Iterable[Document]) -> None:
        for document in documents:
            self.change(index, None, document)

    def change(self, index: TableIndex, old: Document | None, new: Document | None) -> None:
        match index.spec:
            case SearchIndexSpec() as spec:
                self._change_text(index, spec, old, new)
            case VectorIndexSpec() as spec:
                self._change_vector(index, spec, old, new)
            case IndexSpec():
                pass

    def drop(self, storage: str, ts: int) -> None:
        self._dropped.append((ts, storage))

    def collect(self, horizon: int) -> None:
        """A dropped index is kept as long as a snapshot from before can search it."""
        while self._dropped and self._dropped[0][0] <= horizon:
            _, storage = self._dropped.popleft()
            self._text.pop(storage, None)
            self._vector.pop(storage, None)

    def _change_text(
        self, index: TableIndex, spec: SearchIndexSpec, old: Document | None, new: Document | None
    ) -> None:
        text_index = self.text(index)
        if old is not None:
            text_index.remove(old.id)
        if new is not None:
            text_index.add(SearchDocument.of(spec, new.value))

    def _change_vector(
        self, index: TableIndex, spec: VectorIndexSpec, old: Document | None, new: Document | None
    ) -> None:
        vector_index = self.vector(index)
        if old is not None:
            vector_index.remove(old.id)
        document = VectorDocument.of(spec, new.value) if new is not None else None
        if document is not None:
            vector_index.add(document)
