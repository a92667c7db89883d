"""A whole table, page by page."""

from typing import Any

from convex_evals.pipeline.grading.kit import Deployment, assert_same, same_schema


def insert_notes(project: Deployment, count: int) -> list[str]:
    # Titles are not in the order of creation.
    return project.insert_many("notes", [{"title": f"{i * 7 % 10}", "body": f"note {i}"} for i in range(count)])


def ask(project: Deployment, num_items: int, cursor: str | None, **others: object) -> Any:
    options = {"numItems": num_items, "cursor": cursor, **others}
    return project.query("index:listNotes", paginationOpts=options)


def bodies(page: list[Any]) -> list[str]:
    return [note["body"] for note in page]


def test_the_schema_is_the_one_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)


def test_the_pages_together_are_the_whole_table_oldest_first(project: Deployment) -> None:
    insert_notes(project, 11)
    pages = project.pages("index:listNotes", num_items=4)
    assert [len(page.items) for page in pages] == [4, 4, 3]
    assert_same([note for page in pages for note in page.items], project.documents("notes"), ignore=())


def test_a_page_has_as_many_notes_as_are_asked_for(project: Deployment) -> None:
    insert_notes(project, 5)
    one, all_of_them = ask(project, 1, None), ask(project, 100, None)
    assert (bodies(one["page"]), one["isDone"]) == (["note 0"], False)
    assert (bodies(all_of_them["page"]), all_of_them["isDone"]) == ([f"note {i}" for i in range(5)], True)


def test_an_empty_table_is_one_empty_page(project: Deployment) -> None:
    pages = project.pages("index:listNotes", num_items=10)
    assert [(page.items, page.is_done) for page in pages] == [([], True)]


def test_the_next_page_goes_on_where_the_last_one_ended(project: Deployment) -> None:
    ids = insert_notes(project, 6)
    first = ask(project, 3, None)
    project.delete("notes", ids[0], ids[2], ids[4])
    project.insert("notes", title="0", body="new")
    second = ask(project, 10, first["continueCursor"])
    assert (bodies(second["page"]), second["isDone"]) == (["note 3", "note 5", "new"], True)


def test_the_options_of_reactive_clients_are_understood(project: Deployment) -> None:
    insert_notes(project, 8)
    first = ask(project, 5, None, id=1, endCursor=None)
    assert bodies(first["page"]) == [f"note {i}" for i in range(5)]
    # A page that was loaded before keeps its extent, whatever the number of items is.
    again = ask(project, 2, None, id=2, endCursor=first["continueCursor"])
    assert bodies(again["page"]) == [f"note {i}" for i in range(5)]


def test_reads_only_the_notes_of_the_page(project: Deployment) -> None:
    insert_notes(project, 200)
    far = ask(project, 150, None)["continueCursor"]
    with project.trace() as work:
        page = ask(project, 10, far)["page"]
    assert bodies(page) == [f"note {i}" for i in range(150, 160)]
    assert work.documents_read <= 10, f"for a page of 10 notes it read {work.documents_read}"


def test_rejects_arguments_that_are_not_pagination_options(project: Deployment) -> None:
    options: dict[str, object] = {"numItems": 3, "cursor": None}
    for arguments in (
        {},
        options,
        {"paginationOpts": {"numItems": 3}},
        {"paginationOpts": {**options, "numItems": "3"}},
        {"paginationOpts": {**options, "cursor": 5}},
        {"paginationOpts": options, "title": "0"},
    ):
        with project.fails("ArgumentValidationError"):
            project.query("index:listNotes", arguments)
