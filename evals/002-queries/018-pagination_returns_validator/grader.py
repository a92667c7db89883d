"""Pages of books whose type is declared. The validator is read as declared, and tried with unusual pages."""

from typing import Any

from convex_evals.pipeline.grading.kit import Deployment, assert_same, same_schema

FIELDS = {"page", "isDone", "continueCursor", "splitCursor", "pageStatus"}


def insert_books(project: Deployment, count: int) -> list[str]:
    return project.insert_many("books", [book(number) for number in range(count)])


def book(number: int) -> dict[str, object]:
    """Every third one has a subtitle."""
    subtitle = {"subtitle": f"part {number}"} if number % 3 == 0 else {}
    return {"title": f"book {number * 7 % 10}", "pages": 100 + number, "cost": 9.5, **subtitle}


def ask(project: Deployment, num_items: int, cursor: str | None = None, **others: object) -> Any:
    options = {"numItems": num_items, "cursor": cursor, **others}
    return project.query("index:listBooks", paginationOpts=options)


def lengths(page: list[Any]) -> list[int]:
    return [item["pages"] for item in page]


def declared_result(deployment: Deployment) -> Any:
    returns = deployment.functions()["index:listBooks"].returns
    assert returns is not None, "listBooks does not declare the type of its result"
    return returns


def declared_item(deployment: Deployment) -> Any:
    returns = declared_result(deployment)
    assert returns["type"] == "object" and "page" in returns["value"], f"the result must have a page: {returns}"
    page = returns["value"]["page"]["fieldType"]
    assert page["type"] == "array", f"the page must be an array: {page}"
    return page["value"]


def test_the_schema_is_the_one_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)


def test_the_declared_type_of_an_item_is_exactly_that_of_the_task(project: Deployment, answer: Deployment) -> None:
    assert_same(declared_item(project), declared_item(answer), ignore=(), what="the validator of an item")
    assert "'any'" not in str(declared_result(project)), f"the validator allows any value: {declared_result(project)}"


def test_the_items_are_books_without_their_cost_oldest_first(project: Deployment) -> None:
    ids = insert_books(project, 8)
    pages = project.pages("index:listBooks", num_items=3)
    expected = [{"_id": ids[i], **{name: book(i)[name] for name in book(i) if name != "cost"}} for i in range(8)]
    assert_same([item for page in pages for item in page.items], expected, ignore=())
    assert [len(page.items) for page in pages] == [3, 3, 2]


def test_without_books_there_is_one_empty_page(project: Deployment) -> None:
    pages = project.pages("index:listBooks", num_items=10)
    assert [(page.items, page.is_done) for page in pages] == [([], True)]


def test_every_field_of_the_result_is_returned_and_declared(project: Deployment) -> None:
    insert_books(project, 9)
    for num_items in (1, 8, 100):
        result = ask(project, num_items, id=1)
        missing = FIELDS - result.keys()
        assert not missing, f"the pagination result has no {', '.join(sorted(missing))}"
    split = ask(project, 8)["splitCursor"]
    assert lengths(ask(project, 8, split, id=2, endCursor=None)["page"])[-1] == 108


def test_pages_that_clients_should_split_are_accepted(project: Deployment) -> None:
    insert_books(project, 9)
    cut_short = ask(project, 8, maximumRowsRead=5)
    assert (cut_short["pageStatus"], lengths(cut_short["page"])) == ("SplitRequired", [100, 101, 102, 103, 104])
    large = ask(project, 8, maximumRowsRead=8)
    assert (large["pageStatus"], len(large["page"])) == ("SplitRecommended", 8)


def test_reads_only_the_books_of_the_page(project: Deployment) -> None:
    insert_books(project, 200)
    far = ask(project, 150)["continueCursor"]
    with project.trace() as work:
        page = ask(project, 10, far)["page"]
    assert lengths(page) == list(range(250, 260))
    assert work.documents_read <= 10, f"for a page of 10 books it read {work.documents_read}"


def test_rejects_arguments_that_are_not_pagination_options(project: Deployment) -> None:
    options: dict[str, object] = {"numItems": 3, "cursor": None}
    for arguments in (
        {},
        {"paginationOpts": {"numItems": 3}},
        {"paginationOpts": {**options, "numItems": "3"}},
        {"paginationOpts": {**options, "cursor": 5}},
        {"paginationOpts": options, "title": "book"},
    ):
        with project.fails("ArgumentValidationError"):
            project.query("index:listBooks", arguments)
