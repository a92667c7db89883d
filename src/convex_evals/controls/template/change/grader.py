"""Notes that can be pinned: the new functions, the old ones, and notes that were there before."""

from convex_evals.pipeline.grading.kit import Deployment, GivenDeployment, assert_same


def add(deployment: Deployment, text: str, author: str = "ada") -> str:
    return str(deployment.mutation("index:add", author=author, text=text))


def texts(deployment: Deployment, author: str = "ada") -> list[str]:
    return [note["text"] for note in deployment.query("index:pinned", author=author)]


def test_notes_from_before_can_be_pinned(given: GivenDeployment) -> None:
    old = add(given, "old")
    project = given.upgrade()
    add(project, "new")
    assert texts(project) == []
    assert project.mutation("index:setPinned", noteId=old, isPinned=True) is None
    assert texts(project) == ["old"]
    assert_same(project.get(old), {"author": "ada", "text": "old", "isPinned": True})


def test_pinned_notes_of_the_author_come_newest_first(project: Deployment) -> None:
    notes = {text: add(project, text) for text in ("a", "b", "c")}
    other = add(project, "x", author="grace")
    for note in (notes["c"], notes["a"], other):
        project.mutation("index:setPinned", noteId=note, isPinned=True)
    assert texts(project) == ["c", "a"]
    assert project.query("index:pinned", author="ada")[0] == project.get(notes["c"])
    project.mutation("index:setPinned", noteId=notes["c"], isPinned=False)
    assert texts(project) == ["a"]


def test_a_note_that_no_longer_exists_is_an_error(project: Deployment) -> None:
    note = add(project, "a")
    project.delete("notes", note)
    with project.fails():
        project.mutation("index:setPinned", noteId=note, isPinned=True)


def test_reads_only_pinned_notes(project: Deployment) -> None:
    note = add(project, "pinned")
    project.insert_many("notes", [{"author": "ada", "text": str(number)} for number in range(200)])
    project.mutation("index:setPinned", noteId=note, isPinned=True)
    with project.trace() as work:
        assert texts(project) == ["pinned"]
    assert work.documents_read <= 1, f"of 201 notes one is pinned, and {work.documents_read} were read"


def test_the_old_functions_do_what_they_did(project: Deployment) -> None:
    for text in ("a", "b", "c"):
        add(project, text)
        add(project, text, author="grace")
    with project.trace() as work:
        latest = project.query("index:latest", author="ada", count=2)
    assert [(note["author"], note["text"]) for note in latest] == [("ada", "c"), ("ada", "b")]
    assert work.documents_read <= 2, f"it returned 2 notes, and read {work.documents_read}"
    with project.fails():
        add(project, "")


def test_the_fields_are_those_of_the_task(project: Deployment, answer: Deployment) -> None:
    assert_same(project.schema().table("notes").fields, answer.schema().table("notes").fields)


def test_other_arguments_are_rejected(project: Deployment) -> None:
    note = add(project, "a")
    for arguments in ({}, {"noteId": note}, {"noteId": note, "isPinned": "yes"}, {"noteId": "a", "isPinned": True}):
        with project.fails("ArgumentValidationError"):
            project.mutation("index:setPinned", arguments)
    for wanted in ({}, {"author": 1}, {"author": "ada", "count": 1}):
        with project.fails("ArgumentValidationError"):
            project.query("index:pinned", wanted)
