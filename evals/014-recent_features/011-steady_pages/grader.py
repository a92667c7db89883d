"""Pages of a search that matches little: each costs the same, and together they have everything."""

import random
from contextlib import ExitStack
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, LiveQuery

MOST_DOCUMENTS, MOST_BYTES, LARGEST = 200, 100_000, 20_000
ENOUGH_DOCUMENTS, ENOUGH_BYTES = 150, 60_000
ATTRIBUTES = ("price", "weight", "rating")
Offer = dict[str, Any]


def offer(number: int, size: int = 0, shop: str = "s", **attributes: float) -> Offer:
    values = {"price": 10.0, "weight": 1.0, "rating": 3.0} | attributes
    return {"shop": shop, "title": f"offer {number}", "description": "d" * size, **values}


def shown(offers: list[Offer], **bounds: float) -> list[Offer]:
    """What a search has to find in offers that were added in this order."""

    def matches(each: Offer) -> bool:
        low = all(each[name] >= bounds.get(f"min{name.capitalize()}", each[name]) for name in ATTRIBUTES)
        high = all(each[name] <= bounds.get(f"max{name.capitalize()}", each[name]) for name in ATTRIBUTES)
        return low and high

    return [item(each) for each in reversed(offers) if matches(each)]


def item(found: Offer) -> Offer:
    return {name: found[name] for name in ("title", *ATTRIBUTES)}


def check(project: Deployment, offers: list[Offer], num_items: int, **bounds: float) -> int:
    """Follows a search to its end, measures each call, and returns how many there were."""
    with project.trace() as work:
        pages = project.pages("offers:search", {"shop": "s", **bounds}, num_items=num_items)
    calls = work.calls_of("offers:search")
    assert len(calls) == len(pages)
    assert [found for page in pages for found in page.items] == shown(offers, **bounds)
    for call, page in zip(calls, pages, strict=True):
        assert len(page.items) <= num_items
        assert call.documents_read <= MOST_DOCUMENTS
        assert call.bytes_read <= MOST_BYTES
        if len(page.items) < num_items and not page.is_done:
            assert call.documents_read >= ENOUGH_DOCUMENTS or call.bytes_read >= ENOUGH_BYTES
    return len(pages)


def test_a_page_has_what_was_asked_for(project: Deployment) -> None:
    offers = [offer(number, price=number) for number in range(12)]
    project.insert_many("offers", offers)
    pages = project.pages("offers:search", num_items=5, shop="s")
    assert [len(page.items) for page in pages if page.items] == [5, 5, 2]
    assert [found for page in pages for found in page.items] == shown(offers)
    assert [page.is_done for page in pages] == [False] * (len(pages) - 1) + [True]
    assert [page.items for page in project.pages("offers:search", num_items=5, shop="other")] == [[]]


@pytest.mark.parametrize("attribute", ATTRIBUTES)
def test_bounds_are_inclusive(project: Deployment, attribute: str) -> None:
    offers = [offer(number) | {attribute: value} for number, value in enumerate([-1, 0, 0.5, 1, 2, 2.5, 3])]
    project.insert_many("offers", offers)
    name = attribute.capitalize()
    for low, high in [(0, None), (None, 2), (0.5, 2), (2, 2), (3, None), (None, -1), (2, 1), (0, 0), (-5, 5)]:
        bounds: dict[str, float] = {} if low is None else {f"min{name}": low}
        bounds |= {} if high is None else {f"max{name}": high}
        check(project, offers, 3, **bounds)


@pytest.mark.parametrize("num_items", [1, 10, 5000])
def test_rare_items_are_found_page_by_page(project: Deployment, num_items: int) -> None:
    offers = [offer(number, price=1 if number % 333 == 7 else 10) for number in range(1500)]
    project.insert_many("offers", offers)
    assert check(project, offers, num_items, maxPrice=5) <= 1500 // ENOUGH_DOCUMENTS + 6
    assert check(project, offers, num_items, maxPrice=0.5) <= 1500 // ENOUGH_DOCUMENTS + 1


def test_long_descriptions_make_shorter_pages(project: Deployment) -> None:
    offers = [offer(number, LARGEST - 400, rating=5 if number % 20 == 3 else 1) for number in range(60)]
    project.insert_many("offers", offers)
    for num_items in (2, 50):
        check(project, offers, num_items, minRating=4)
        check(project, offers, num_items)


@pytest.mark.parametrize("seed", range(3))
def test_whatever_is_searched_for_nothing_is_lost(project: Deployment, seed: int) -> None:
    chance = random.Random(seed)
    offers = [
        offer(
            number,
            chance.choice([0, 50, 300, 300, 2000, LARGEST - 400]) if chance.random() < 0.7 else 0,
            price=chance.randrange(100),
            weight=chance.randrange(100),
            rating=chance.randrange(6),
        )
        for number in range(500)
    ]
    project.insert_many("offers", offers)
    for _ in range(6):
        bounds: dict[str, float] = {}
        for name in chance.sample(["Price", "Weight"], chance.randrange(3)):
            low = chance.randrange(100)
            bounds |= {f"min{name}": low, f"max{name}": low + chance.choice([1, 10, 60])}
            if chance.random() < 0.4:
                del bounds[chance.choice([f"min{name}", f"max{name}"])]
        if chance.random() < 0.6:
            bounds[chance.choice(["minRating", "maxRating"])] = chance.randrange(6)
        check(project, offers, chance.choice([3, 20, 300]), **bounds)


@pytest.mark.parametrize("size", [0, 5000])
def test_clients_cannot_raise_the_limits(project: Deployment, size: int) -> None:
    project.insert_many("offers", [offer(number, size) for number in range(400)])
    options = {"numItems": 10_000, "cursor": None, "maximumRowsRead": 10_000, "maximumBytesRead": 10_000_000}
    with project.trace() as work:
        project.query("offers:search", shop="s", maxPrice=1, paginationOpts=options)
        project.query("offers:search", shop="s", paginationOpts=options)
    assert max(call.documents_read for call in work.calls) <= MOST_DOCUMENTS
    assert max(call.bytes_read for call in work.calls) <= MOST_BYTES


def test_documents_of_other_shops_are_not_read(project: Deployment) -> None:
    offers = [offer(number) for number in range(4)]
    for number in range(3):
        project.insert_many("offers", [offer(number, shop=f"r{number}"), offers[number], offer(number, shop="t")])
    project.insert_many("offers", [*[offer(number, shop="t") for number in range(30)], offers[3]])
    with project.trace() as work:
        pages = project.pages("offers:search", num_items=10, shop="s")
    assert [found for page in pages for found in page.items] == shown(offers)
    assert work.documents_read <= 4


@pytest.mark.parametrize("seed", range(2))
def test_pages_that_clients_subscribe_to_fit_together(project: Deployment, seed: int) -> None:
    chance = random.Random(seed)
    offers = [offer(number, price=chance.randrange(10)) for number in range(700)]
    ids = dict(zip((each["title"] for each in offers), project.insert_many("offers", offers), strict=True))
    with ExitStack() as stack:
        [client] = stack.enter_context(project.clients(1))
        lives: list[LiveQuery] = []
        cursor, is_done = None, False
        while not is_done:
            options = {"numItems": 8, "cursor": cursor}
            live = client.subscribe("offers:search", shop="s", maxPrice=1 if seed else 0, paginationOpts=options)
            first = live.wait_until(lambda value: value is not None)
            cursor, is_done = first["continueCursor"], first["isDone"]
            lives.append(live)
        for step in range(12):
            if chance.random() < 0.5:
                offers.append(offer(1000 + step, price=chance.randrange(3)))
                [ids[offers[-1]["title"]]] = project.insert_many("offers", [offers[-1]])
            else:
                items = [each for each in offers if each["price"] <= 1]
                gone = chance.choice(items)
                offers.remove(gone)
                project.delete("offers", ids[gone["title"]])
            client.catch_up()
            together = [found for live in lives for found in live.value["page"]]
            assert together == shown(offers, maxPrice=1 if seed else 0), f"after step {step}"


def test_clients_can_call_one_function_only(project: Deployment) -> None:
    public = {name: spec.kind for name, spec in project.functions().items() if spec.is_public}
    assert public == {"offers:search": "query"}
    right: dict[str, Any] = {"shop": "s", "paginationOpts": {"numItems": 5, "cursor": None}}
    assert project.query("offers:search", right)["isDone"] is True
    wrong: list[dict[str, Any]] = [
        {"shop": 1},
        {"paginationOpts": 5},
        {"more": 1},
        {"paginationOpts": {"numItems": "5"}},
    ]
    wrong += [{f"{end}{name.capitalize()}": "1"} for end in ("min", "max") for name in ATTRIBUTES]
    for each in [*[right | each for each in wrong], {"shop": "s"}, {"paginationOpts": right["paginationOpts"]}]:
        with project.fails("ArgumentValidationError"):
            project.query("offers:search", each)


def test_there_is_one_table_with_the_given_fields(project: Deployment) -> None:
    assert list(project.schema().tables) == ["offers"]
    fields = project.schema().table("offers").fields
    texts = dict.fromkeys(("shop", "title", "description"), "v.string()")
    assert {name: field.type for name, field in fields.items()} == texts | dict.fromkeys(ATTRIBUTES, "v.number()")
    assert [name for name, field in fields.items() if field.optional] == []
