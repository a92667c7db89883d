"""References between documents: typed, followed, checked, and looked up backwards."""

from convex_evals.pipeline.grading.kit import Deployment, assert_same, same_function_spec


def add_author(project: Deployment, name: str = "Ursula") -> str:
    return project.insert("authors", name=name)


def test_references_are_declared_with_the_table_they_lead_to(project: Deployment, answer: Deployment) -> None:
    for table in ("authors", "books"):
        assert project.schema().table(table).fields == answer.schema().table(table).fields
    same_function_spec(project, answer)


def test_a_book_is_stored_with_its_references(project: Deployment) -> None:
    author = add_author(project)
    first = project.mutation("index:addBook", title="Earthsea", authorId=author)
    second = project.mutation("index:addBook", title="Atuan", authorId=author, sequelTo=first)
    assert_same(project.get(first), {"title": "Earthsea", "authorId": author}, what="the first book")
    assert_same(project.get(second), {"title": "Atuan", "authorId": author, "sequelTo": first}, what="the second book")


def test_a_book_is_returned_with_what_its_references_lead_to(project: Deployment) -> None:
    author = add_author(project)
    first = project.insert("books", title="Earthsea", authorId=author)
    second = project.insert("books", title="Atuan", authorId=author, sequelTo=first)
    document = project.get(author)
    assert project.query("index:getBook", bookId=first) == {"title": "Earthsea", "author": document, "continues": None}
    assert project.query("index:getBook", bookId=second) == {
        "title": "Atuan",
        "author": document,
        "continues": "Earthsea",
    }


def test_references_that_lead_nowhere_are_null(project: Deployment) -> None:
    author = add_author(project)
    first = project.insert("books", title="Earthsea", authorId=author)
    second = project.insert("books", title="Atuan", authorId=author, sequelTo=first)
    project.delete("authors", author)
    project.delete("books", first)
    assert project.query("index:getBook", bookId=second) == {"title": "Atuan", "author": None, "continues": None}
    assert project.query("index:getBook", bookId=first) is None


def test_a_book_that_refers_to_nothing_is_not_added(project: Deployment) -> None:
    author, gone = add_author(project), add_author(project)
    lost = project.insert("books", title="Lost", authorId=author)
    project.delete("authors", gone)
    project.delete("books", lost)
    with project.fails():
        project.mutation("index:addBook", title="Atuan", authorId=gone)
    with project.fails():
        project.mutation("index:addBook", title="Atuan", authorId=author, sequelTo=lost)
    assert project.documents("books") == []


def test_ids_of_other_tables_and_other_texts_are_rejected(project: Deployment) -> None:
    author = add_author(project)
    book = project.insert("books", title="Earthsea", authorId=author)
    for wrong in (book, "Ursula"):
        with project.fails():
            project.mutation("index:addBook", title="Atuan", authorId=wrong)
        with project.fails():
            project.query("index:booksOf", authorId=wrong)
    with project.fails():
        project.mutation("index:addBook", title="Atuan", authorId=author, sequelTo=author)
    with project.fails():
        project.mutation("index:addBook", title="Atuan", authorId=author, sequelTo=None)
    with project.fails():
        project.query("index:getBook", bookId=author)
    assert len(project.documents("books")) == 1


def test_the_books_of_an_author_are_listed_without_reading_others(project: Deployment) -> None:
    ursula, octavia, new = (add_author(project, name) for name in ("Ursula", "Octavia", "New"))
    books = [{"title": f"{n}", "authorId": octavia if n % 10 == 3 else ursula} for n in range(40, 0, -1)]
    project.insert_many("books", books)
    with project.trace() as work:
        received = project.query("index:booksOf", authorId=octavia)
    assert [book["title"] for book in received] == ["33", "23", "13", "3"]
    assert received == [book for book in project.documents("books") if book["authorId"] == octavia]
    assert work.documents_read <= 5, f"{work.documents_read} documents were read for 4 books"
    assert project.query("index:booksOf", authorId=new) == []
