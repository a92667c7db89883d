"""Three tables: right documents are stored as they are, all others are refused by the database."""

from dataclasses import dataclass
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import CallFailed, Deployment, Int64, assert_same, same_schema

Document = dict[str, Any]


@dataclass(frozen=True)
class Library:
    """One right document for each table; books and loans refer to documents that exist."""

    project: Deployment
    author: str
    book: str

    @property
    def documents(self) -> dict[str, Document]:
        return {
            "authors": {"name": "Tove", "born": 1914},
            "books": {"title": "Moon", "authorId": self.author, "pages": 180, "tags": ["sea"], "isAvailable": True},
            "loans": {"bookId": self.book, "borrower": "Ada", "dueAt": 1.5e12, "returnedAt": 1.4e12},
        }

    def accepts(self, table: str, document: Document) -> bool:
        try:
            self.project.insert(table, document)
        except CallFailed:
            return False
        return True

    def accepted(self, table: str, field: str, values: list[Any]) -> list[Any]:
        """Those of the values that the table takes for this field."""
        return [value for value in values if self.accepts(table, {**self.documents[table], field: value})]


@pytest.fixture
def library(project: Deployment) -> Library:
    author = project.insert("authors", name="Tove")
    book = project.insert("books", title="Moon", authorId=author, pages=1, tags=[], isAvailable=False)
    return Library(project, author, book)


TABLES = ("authors", "books", "loans")
OPTIONAL = {"born", "returnedAt"}


def test_the_tables_and_fields_are_those_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)


@pytest.mark.parametrize("table", TABLES)
def test_right_documents_are_stored_as_they_are(library: Library, table: str) -> None:
    document = library.documents[table]
    required = {name: value for name, value in document.items() if name not in OPTIONAL}
    for each in (document, required):
        stored = library.project.get(library.project.insert(table, each))
        assert_same(stored, each, what=f"the document in {table}")


@pytest.mark.parametrize("table", TABLES)
def test_documents_without_a_required_field_are_refused(library: Library, table: str) -> None:
    document = library.documents[table]
    required = [name for name in document if name not in OPTIONAL]
    lacking = {name: {key: value for key, value in document.items() if key != name} for name in required}
    assert [name for name in required if library.accepts(table, lacking[name])] == []


@pytest.mark.parametrize("table", TABLES)
def test_documents_with_an_unknown_field_are_refused(library: Library, table: str) -> None:
    assert library.accepted(table, "color", ["red", None]) == []


def test_values_of_another_type_are_refused(library: Library) -> None:
    others: dict[str, dict[str, list[Any]]] = {
        "authors": {"name": [1, None], "born": ["1914", None, Int64(1914)]},
        "books": {
            "title": [1, None],
            "pages": ["180", Int64(180)],
            "tags": ["sea", [1], [None], None],
            "isAvailable": [1, "true", None],
        },
        "loans": {"borrower": [1, None], "dueAt": ["2026-01-01", Int64(1)], "returnedAt": [None, "2026-01-01"]},
    }
    for table, fields in others.items():
        for field, values in fields.items():
            assert library.accepted(table, field, values) == [], f"{table}.{field} accepts values of another type"


def test_ids_of_other_tables_are_refused(library: Library) -> None:
    assert library.accepted("books", "authorId", [library.book, "Tove", None]) == []
    assert library.accepted("loans", "bookId", [library.author, "Moon", None]) == []
