"""Books are inserted with what was given and what is always so; one, one with its document, or all of several."""

from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, assert_same, same_function_spec, same_schema

Book = dict[str, Any]
EMMA: Book = {"title": "Emma", "pages": 474, "isbn": "978-0141439587"}
PLAIN: Book = {"title": "", "pages": 1}
NEW: Book = {"tags": [], "isLent": False}


def test_the_schema_and_the_functions_are_those_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)
    same_function_spec(project, answer)


@pytest.mark.parametrize("book", [EMMA, PLAIN], ids=["all fields", "without isbn"])
def test_adding_a_book_returns_the_id_of_its_document(project: Deployment, book: Book) -> None:
    received = project.mutation("index:addBook", book)
    [stored] = project.documents("books")
    assert received == stored["_id"]
    assert_same(stored, {**book, **NEW}, what="the stored book")


@pytest.mark.parametrize("book", [EMMA, PLAIN], ids=["all fields", "without isbn"])
def test_a_book_can_be_returned_as_it_is_stored(project: Deployment, book: Book) -> None:
    received = project.mutation("index:addAndGetBook", book)
    [stored] = project.documents("books")
    assert_same(stored, {**book, **NEW}, what="the stored book")
    assert received == stored


def test_several_books_are_added_in_their_order(project: Deployment) -> None:
    books = [{**EMMA, "title": f"book {title}", "pages": pages} for pages, title in enumerate("dacbe", start=1)]
    del books[2]["isbn"]
    ids = project.mutation("index:addBooks", books=books)
    stored = project.documents("books")
    assert_same(stored, [{**book, **NEW} for book in books], what="the stored books")
    assert_same(ids, [book["_id"] for book in stored])


def test_no_books_are_no_ids(project: Deployment) -> None:
    assert project.mutation("index:addBooks", books=[]) == []
    assert project.documents("books") == []


def test_the_same_book_can_be_added_again(project: Deployment) -> None:
    first, second = project.mutation("index:addBooks", books=[EMMA, EMMA])
    third = project.mutation("index:addBook", EMMA)
    assert [book["_id"] for book in project.documents("books")] == [first, second, third]


@pytest.mark.parametrize("function", ["addBook", "addAndGetBook"])
def test_a_book_must_have_a_whole_number_of_pages(project: Deployment, function: str) -> None:
    for pages in (0, -3, 0.5, 12.5, float("nan"), float("inf")):
        with project.fails():
            project.mutation(f"index:{function}", {**EMMA, "pages": pages})
    assert project.documents("books") == []
    project.mutation(f"index:{function}", {**EMMA, "pages": 1})
    assert len(project.documents("books")) == 1


@pytest.mark.parametrize("place", [0, 1, 2], ids=["first", "in the middle", "last"])
def test_if_one_book_is_wrong_none_is_added(project: Deployment, place: int) -> None:
    right = [EMMA, PLAIN]
    for pages in (0, 1.5):
        with project.fails():
            project.mutation("index:addBooks", books=[*right[:place], {**EMMA, "pages": pages}, *right[place:]])
        assert project.documents("books") == []
    assert len(project.mutation("index:addBooks", books=right)) == 2


def test_other_arguments_are_rejected(project: Deployment) -> None:
    wrong_books: list[Book] = [
        {"title": "Emma"},
        {"pages": 474},
        {**EMMA, "title": 5},
        {**EMMA, "pages": "474"},
        {**EMMA, "isbn": None},
        {**EMMA, "isbn": 978},
        {**EMMA, "tags": ["novel"]},
        {**EMMA, "isLent": True},
    ]
    for book in wrong_books:
        for function, arguments in (("addBook", book), ("addAndGetBook", book), ("addBooks", {"books": [EMMA, book]})):
            with project.fails("ArgumentValidationError"):
                project.mutation(f"index:{function}", arguments)
    for arguments in ({}, {"books": EMMA}, {"books": [EMMA], "isLent": True}):
        with project.fails("ArgumentValidationError"):
            project.mutation("index:addBooks", arguments)
    assert project.documents("books") == []
