"""Reviews of one product, best first, page by page. The index is the model's choice; what is read is measured."""

from typing import Any

from convex_evals.pipeline.grading.kit import Deployment, assert_same

STARS: dict[str, list[float]] = {"lamp": [3, 5, 1, 4, 3, 5, 2, 3, 4.5, 0, 3], "desk": [5, 1, 3], "Lamp": [4]}
# Products take turns, so that the reviews of one are not next to each other.
REVIEWS = [
    {"product": product, "stars": STARS[product][turn], "text": f"{product} {turn}"}
    for turn in range(11)
    for product in STARS
    if turn < len(STARS[product])
]
LAMPS_BEST_FIRST = [f"lamp {turn}" for turn in (5, 1, 8, 3, 10, 7, 4, 0, 6, 2, 9)]


def ask(project: Deployment, product: str, num_items: int, cursor: str | None = None, **others: object) -> Any:
    options = {"numItems": num_items, "cursor": cursor, **others}
    return project.query("index:listReviews", product=product, paginationOpts=options)


def texts(page: list[Any]) -> list[str]:
    return [review["text"] for review in page]


def test_the_fields_are_those_of_the_task(project: Deployment, answer: Deployment) -> None:
    assert_same(project.schema().table("reviews").fields, answer.schema().table("reviews").fields)


def test_the_best_reviews_come_first_and_newer_ones_before_older(project: Deployment) -> None:
    project.insert_many("reviews", REVIEWS)
    pages = project.pages("index:listReviews", product="lamp", num_items=4)
    assert texts([review for page in pages for review in page.items]) == LAMPS_BEST_FIRST
    assert [len(page.items) for page in pages] == [4, 4, 3]


def test_lists_only_the_reviews_of_the_product_as_complete_documents(project: Deployment) -> None:
    ids = project.insert_many("reviews", REVIEWS)
    desks = [project.get(ids[place]) for place, review in enumerate(REVIEWS) if review["product"] == "desk"]
    found = ask(project, "desk", 100)
    assert_same(found["page"], [desks[0], desks[2], desks[1]], ignore=())
    assert found["isDone"] is True
    assert texts(ask(project, "Lamp", 100)["page"]) == ["Lamp 0"]


def test_a_product_without_reviews_has_one_empty_page(project: Deployment) -> None:
    project.insert_many("reviews", REVIEWS)
    pages = project.pages("index:listReviews", product="chair", num_items=10)
    assert [(page.items, page.is_done) for page in pages] == [([], True)]


def test_the_next_page_goes_on_where_the_last_one_ended(project: Deployment) -> None:
    project.insert_many("reviews", REVIEWS)
    first = ask(project, "lamp", 5)
    project.insert("reviews", product="lamp", stars=6, text="before the second page")
    project.insert("reviews", product="lamp", stars=2.5, text="in the second page")
    second = ask(project, "lamp", 100, first["continueCursor"])
    expected = [*LAMPS_BEST_FIRST[5:8], "in the second page", *LAMPS_BEST_FIRST[8:]]
    assert (texts(second["page"]), second["isDone"]) == (expected, True)


def test_the_options_of_reactive_clients_are_understood(project: Deployment) -> None:
    project.insert_many("reviews", REVIEWS)
    first = ask(project, "lamp", 6, id=1, endCursor=None)
    assert texts(first["page"]) == LAMPS_BEST_FIRST[:6]
    # A page that was loaded before keeps its extent, whatever the number of items is.
    again = ask(project, "lamp", 2, id=2, endCursor=first["continueCursor"])
    assert texts(again["page"]) == LAMPS_BEST_FIRST[:6]


def test_reads_only_the_reviews_of_the_page(project: Deployment) -> None:
    reviews = [{"product": f"product {i % 5}", "stars": i * 7 % 11, "text": f"{i}"} for i in range(300)]
    project.insert_many("reviews", reviews)
    far = ask(project, "product 3", 40)["continueCursor"]
    with project.trace() as work:
        page = ask(project, "product 3", 10, far)["page"]
    assert len(page) == 10, f"10 reviews were asked for, and {len(page)} returned"
    assert work.documents_read <= 10, f"for a page of 10 reviews it read {work.documents_read}"


def test_rejects_arguments_that_are_not_a_product_and_pagination_options(project: Deployment) -> None:
    options: dict[str, object] = {"numItems": 3, "cursor": None}
    for arguments in (
        {"paginationOpts": options},
        {"product": 5, "paginationOpts": options},
        {"product": None, "paginationOpts": options},
        {"product": "lamp"},
        {"product": "lamp", "paginationOpts": {"cursor": None}},
        {"product": "lamp", "paginationOpts": {**options, "numItems": "3"}},
    ):
        with project.fails("ArgumentValidationError"):
            project.query("index:listReviews", arguments)
