"""Notes of authors: what is stored, what comes back and in which order, what is refused, and what is read for it."""

from convex_evals.pipeline.grading.kit import Deployment, assert_same


def add_all(project: Deployment, *texts: str, author: str = "ada") -> None:
    for text in texts:
        project.mutation("index:add", author=author, text=text)


def test_the_fields_are_those_of_the_task(project: Deployment, answer: Deployment) -> None:
    assert_same(project.schema().table("notes").fields, answer.schema().table("notes").fields)


def test_adding_stores_the_note_and_returns_its_id(project: Deployment) -> None:
    note = project.mutation("index:add", author="ada", text="first")
    assert_same(project.get(note), {"author": "ada", "text": "first"})


def test_an_empty_text_is_an_error_and_stores_nothing(project: Deployment) -> None:
    with project.fails():
        project.mutation("index:add", author="ada", text="")
    assert project.documents("notes") == []


def test_returns_the_newest_notes_of_the_author_first(project: Deployment) -> None:
    add_all(project, "a", "b", "c", "d")
    add_all(project, "x", "y", author="grace")
    found = project.query("index:latest", author="ada", count=3)
    assert_same(found, project.documents("notes")[3:0:-1], ignore=())
    assert_same(project.query("index:latest", author="nobody", count=3), [])


def test_reads_only_what_it_returns(project: Deployment) -> None:
    project.insert_many("notes", [{"author": f"author {n % 10}", "text": str(n)} for n in range(500)])
    with project.trace() as work:
        found = project.query("index:latest", author="author 3", count=5)
    assert len(found) == 5
    assert work.documents_read <= 5, f"of 500 notes it returned 5, and read {work.documents_read}"


def test_other_arguments_are_rejected(project: Deployment) -> None:
    for arguments in ({}, {"author": "ada"}, {"text": "a"}, {"author": 1, "text": "a"}, {"author": "ada", "text": 1}):
        with project.fails("ArgumentValidationError"):
            project.mutation("index:add", arguments)
    for wanted in ({}, {"author": "ada"}, {"count": 1}, {"author": 1, "count": 1}, {"author": "ada", "count": "1"}):
        with project.fails("ArgumentValidationError"):
            project.query("index:latest", wanted)
