"""Bikes on a map: positions in a geospatial index, and journals that are merged page by page."""

import math
import random
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, wait_until

PUBLIC = {
    "bikes:add": "mutation",
    "bikes:move": "mutation",
    "bikes:change": "mutation",
    "bikes:remove": "mutation",
    "bikes:where": "query",
    "bikes:nearest": "query",
    "bikes:inArea": "query",
    "bikes:countInArea": "query",
    "bikes:journal": "query",
}
KINDS = ["city", "cargo", "electric"]
EXTRAS = ["child seat", "basket", "lamp"]
EARTH = 6_371_010
TOWN = {"west": 13.2, "south": 52.4, "east": 13.6, "north": 52.6}
EVERYWHERE = {"west": 13.0, "south": 52.0, "east": 14.0, "north": 53.0}


def at(latitude: float, longitude: float) -> dict[str, float]:
    return {"latitude": latitude, "longitude": longitude}


CENTRE = at(52.5, 13.4)


def somewhere(chance: random.Random) -> dict[str, float]:
    return at(52.5 + chance.uniform(-0.15, 0.15), 13.4 + chance.uniform(-0.3, 0.3))


def metres(one: dict[str, float], other: dict[str, float]) -> float:
    first, second = math.radians(one["latitude"]), math.radians(other["latitude"])
    across = math.radians(other["longitude"] - one["longitude"])
    half = math.sin((second - first) / 2) ** 2 + math.cos(first) * math.cos(second) * math.sin(across / 2) ** 2
    return 2 * EARTH * math.asin(math.sqrt(half))


def inside(area: dict[str, float], position: dict[str, float]) -> bool:
    return (
        area["south"] <= position["latitude"] <= area["north"] and area["west"] <= position["longitude"] <= area["east"]
    )


class Map:
    """What the map has to show."""

    def __init__(self, project: Deployment) -> None:
        self.project = project
        self.bikes: dict[str, dict[str, Any]] = {}
        self.events: list[tuple[str, str]] = []

    def add(self, position: dict[str, float], kind: str = "city", extras: list[str] | None = None) -> str:
        row = {"name": f"bike {len(self.bikes)}", "kind": kind, "extras": extras or [], "position": position}
        bike: str = self.project.mutation("bikes:add", row)
        self.bikes[bike] = {**row, "state": "free"}
        return bike

    def move(self, bike: str, position: dict[str, float]) -> None:
        assert self.project.mutation("bikes:move", bike=bike, position=position) is None
        self.bikes[bike]["position"] = position

    def change(self, bike: str, state: str) -> None:
        assert self.project.mutation("bikes:change", bike=bike, state=state) is None
        self.bikes[bike]["state"] = state
        self.events.append((bike, state))

    def remove(self, bike: str) -> None:
        assert self.project.mutation("bikes:remove", bike=bike) is None
        del self.bikes[bike]

    def check_nearest(
        self, position: dict[str, float], reach: float, kinds: list[str], extra: str | None, limit: int
    ) -> None:
        arguments = {"position": position, "metres": reach, "kinds": kinds, "limit": limit}
        if extra is not None:
            arguments["extra"] = extra
        wanted = sorted(
            (metres(position, row["position"]), bike)
            for bike, row in self.bikes.items()
            if row["state"] == "free" and row["kind"] in kinds and (extra is None or extra in row["extras"])
        )
        expected = [(bike, distance) for distance, bike in wanted if distance <= reach][:limit]
        received = self.project.query("bikes:nearest", arguments)
        assert [each["bike"] for each in received] == [bike for bike, _ in expected], arguments
        for each, (bike, distance) in zip(received, expected, strict=True):
            assert set(each) == {"bike", "name", "distance"}
            assert each["name"] == self.bikes[bike]["name"]
            assert each["distance"] == pytest.approx(distance, rel=0.01, abs=1)

    def check_area(self, area: dict[str, float], kind: str | None, limit: int) -> None:
        arguments: dict[str, Any] = {"area": area, "limit": limit, "cursor": None}
        if kind is not None:
            arguments["kind"] = kind
        received: list[dict[str, Any]] = []
        for _ in range(200):
            part = self.project.query("bikes:inArea", arguments)
            assert set(part) == {"bikes", "cursor"}
            assert len(part["bikes"]) <= limit, arguments
            received += part["bikes"]
            arguments["cursor"] = part["cursor"]
            if part["cursor"] is None:
                break
        assert arguments["cursor"] is None, "the cursor never becomes null"
        free = {
            bike: row for bike, row in self.bikes.items() if row["state"] == "free" and inside(area, row["position"])
        }
        expected = [
            {"bike": bike, "name": row["name"], "position": row["position"]}
            for bike, row in sorted(free.items())
            if kind in (None, row["kind"])
        ]
        assert sorted(received, key=lambda each: each["bike"]) == expected, arguments
        assert self.project.query("bikes:countInArea", area=area) == len(free)

    def check_journal(self, bikes: list[str], size: int) -> None:
        pages = self.project.pages("bikes:journal", num_items=size, bikes=bikes)
        received = [(each["bike"], each["state"]) for page in pages for each in page.items]
        assert received == [event for event in reversed(self.events) if event[0] in bikes]


@pytest.mark.parametrize("seed", range(2))
def test_searches_find_what_is_there_whatever_happens(project: Deployment, seed: int) -> None:
    chance, shown = random.Random(seed), Map(project)
    gone: list[str] = []
    for _ in range(6):
        shown.add(somewhere(chance), chance.choice(KINDS), chance.sample(EXTRAS, chance.randrange(3)))
    for number in range(12):
        bike, step = chance.choice(list(shown.bikes)), chance.random()
        if step < 0.2 or len(shown.bikes) < 4:
            shown.add(somewhere(chance), chance.choice(KINDS), chance.sample(EXTRAS, chance.randrange(3)))
        elif step < 0.5:
            shown.move(bike, somewhere(chance))
        elif step < 0.9:
            shown.change(bike, chance.choice(["free", "free", "rented", "broken"]))
        else:
            shown.remove(bike)
            gone.append(bike)
        if number % 3 == 2:
            kinds = chance.sample(KINDS, chance.randrange(1, 4))
            shown.check_nearest(somewhere(chance), chance.uniform(3_000, 30_000), kinds, None, chance.randrange(1, 9))
            shown.check_nearest(CENTRE, 50_000, kinds, chance.choice(EXTRAS), 5)
            shown.check_area(TOWN, chance.choice([None, *KINDS]), chance.randrange(1, 4))
            bike = chance.choice(list(shown.bikes))
            assert project.query("bikes:where", bike=bike) == shown.bikes[bike]["position"]
    shown.check_journal(sorted(shown.bikes), 3)
    for bike in gone:
        assert project.query("bikes:where", bike=bike) is None


def test_a_bike_that_is_moved_stays_what_it_is(project: Deployment) -> None:
    shown = Map(project)
    rented, free = shown.add(CENTRE, "cargo", ["basket"]), shown.add(CENTRE, "electric", ["lamp"])
    shown.change(rented, "rented")
    for bike in (rented, free):
        shown.move(bike, at(52.51, 13.41))
    for extra in (None, "basket", "lamp"):
        shown.check_nearest(CENTRE, 10_000, KINDS, extra, 5)
    shown.check_area(TOWN, "electric", 5)
    shown.change(rented, "free")
    shown.check_nearest(CENTRE, 10_000, ["cargo"], "basket", 5)


def test_the_nearest_bikes_are_those_that_fulfil_everything(project: Deployment) -> None:
    shown = Map(project)
    wanted = shown.add(at(52.53, 13.4), "cargo", ["basket", "child seat"])
    shown.add(at(52.501, 13.4), "cargo", ["basket"])
    shown.add(at(52.502, 13.4), "city", ["child seat"])
    shown.add(at(52.503, 13.4), "electric")
    rented = shown.add(at(52.504, 13.4), "cargo", ["child seat"])
    shown.change(rented, "rented")
    other = shown.add(at(52.54, 13.4), "electric", ["child seat"])
    received = project.query(
        "bikes:nearest", position=CENTRE, metres=10_000, kinds=["cargo", "electric"], extra="child seat", limit=1
    )
    assert [each["bike"] for each in received] == [wanted]
    for reach, kinds, extra, limit in (
        (10_000, ["cargo", "electric"], "child seat", 10),
        (4_000, ["cargo", "electric"], "child seat", 10),
        (3_000, KINDS, "child seat", 10),
        (10_000, KINDS, None, 3),
        (10_000, ["electric"], None, 10),
        (10_000, KINDS, "no such extra", 10),
    ):
        shown.check_nearest(CENTRE, reach, kinds, extra, limit)
    assert other in shown.bikes


def test_no_kinds_find_no_bikes(project: Deployment) -> None:
    shown = Map(project)
    shown.add(CENTRE)
    shown.check_nearest(CENTRE, 1_000, [], None, 5)
    shown.check_nearest(CENTRE, 1_000, KINDS, None, 5)


def test_an_extra_can_be_listed_twice(project: Deployment) -> None:
    shown = Map(project)
    bike = shown.add(CENTRE, "cargo", ["basket", "lamp", "basket"])
    shown.check_nearest(CENTRE, 1_000, KINDS, "basket", 5)
    shown.move(bike, at(52.501, 13.4))
    shown.check_nearest(CENTRE, 1_000, KINDS, "basket", 5)
    shown.change(bike, "rented")
    shown.change(bike, "free")
    shown.check_nearest(CENTRE, 1_000, KINDS, "lamp", 5)
    shown.remove(bike)
    shown.check_nearest(CENTRE, 1_000, KINDS, "basket", 5)
    assert project.documents("pointsByFilterKey", component="geospatial") == []


def test_positions_are_in_the_component_only(project: Deployment) -> None:
    shown = Map(project)
    bikes = [shown.add(at(52.5 + number / 1000, 13.4)) for number in range(3)]
    shown.change(bikes[0], "broken")
    shown.move(bikes[1], at(52.123, 13.456))
    points = project.documents("points", component="geospatial")
    assert sorted(each["coordinates"]["latitude"] for each in points) in ([52.123, 52.5, 52.502], [52.123, 52.502])
    shown.remove(bikes[2])
    points = project.documents("points", component="geospatial")
    assert sorted(each["coordinates"]["latitude"] for each in points) in ([52.123, 52.5], [52.123])
    stored = [row for table in project.tables() for row in project.documents(table)]
    assert not any("52.123" in str(row) or "13.456" in str(row) for row in stored)
    assert project.query("bikes:where", bike=bikes[0]) == CENTRE


@pytest.mark.parametrize("flaw", ["rented", "of another kind", "without the extra", "far away"])
def test_searches_do_not_read_bikes_that_are_not_wanted(project: Deployment, flaw: str) -> None:
    """To look at a bike is to read two documents: its position, and what the app knows about it."""
    shown, crowd = Map(project), 60
    for number in range(2):
        shown.add(at(52.5 + number / 100, 13.4), "cargo", ["basket"])
    for number in range(crowd):
        position = at(38.7, number / 1000) if flaw == "far away" else at(52.45 + number / 1000, 13.35 + number / 1000)
        kind = "city" if flaw == "of another kind" else "cargo"
        bike = shown.add(position, kind, ["lamp" if flaw == "without the extra" else "basket"])
        if flaw == "rented":
            shown.change(bike, "rented")
    near = {"position": CENTRE, "metres": 20_000, "kinds": ["cargo"], "extra": "basket", "limit": 5}
    searches: dict[str, dict[str, Any]] = {"nearest": near}
    if flaw != "without the extra":
        searches["inArea"] = {"area": TOWN, "kind": "cargo", "limit": 10, "cursor": None}
    if flaw in ("rented", "far away"):
        searches["countInArea"] = {"area": TOWN}
    for name, arguments in searches.items():
        with project.trace() as work:
            found = project.query(f"bikes:{name}", arguments)
        assert (found if name == "countInArea" else len(found["bikes"] if name == "inArea" else found)) == 2
        assert work.documents_read < 2 * crowd, f"{name} among {crowd} bikes that are {flaw}"


def test_more_bikes_than_a_search_returns_at_once_are_counted(project: Deployment) -> None:
    shown = Map(project)
    for number in range(66):
        shown.add(at(52.45 + number / 1000, 13.3 + number / 1000))
    assert project.query("bikes:countInArea", area=EVERYWHERE) == 66
    shown.check_area(EVERYWHERE, "city", 65)
    shown.check_area({**EVERYWHERE, "south": 52.4805}, None, 20)


def test_the_journal_merges_bikes_page_by_page(project: Deployment) -> None:
    shown, chance = Map(project), random.Random(7)
    bikes = [shown.add(CENTRE) for _ in range(3)]
    for _ in range(13):
        shown.change(chance.choice(bikes), chance.choice(["free", "rented", "broken"]))
    shown.change(bikes[0], shown.bikes[bikes[0]]["state"])
    for size in (1, 4, 50):
        shown.check_journal(bikes, size)
    shown.check_journal(bikes[:2], 3)
    shown.check_journal([bikes[2]], 3)
    shown.check_journal([bikes[1], bikes[0], bikes[1]], 5)
    shown.check_journal([], 5)
    shown.remove(bikes[0])
    shown.check_journal(bikes, 6)
    quiet = shown.add(CENTRE)
    shown.check_journal([quiet], 5)
    shown.check_journal([quiet, bikes[1]], 5)


def test_a_page_of_the_journal_reads_little(project: Deployment) -> None:
    shown = Map(project)
    first, second, other = (shown.add(CENTRE) for _ in range(3))
    for _ in range(6):
        for bike in (first, other, second, other):
            shown.change(bike, "free")
    cursor = None
    for _ in range(2):
        options = {"numItems": 6, "cursor": cursor}
        with project.trace() as work:
            page = project.query("bikes:journal", bikes=[first, second], paginationOpts=options)
        assert [each["bike"] for each in page["page"]] == [second, first] * 3
        assert work.documents_read <= 10
        cursor = page["continueCursor"]


def test_pages_of_the_journal_that_are_shown_already_stay_in_touch(project: Deployment) -> None:
    """With endCursor, as clients ask again: what is new belongs to the first page."""
    shown = Map(project)
    bikes = [shown.add(CENTRE) for _ in range(2)]
    for number in range(6):
        shown.change(bikes[number % 2], "free" if number % 3 else "rented")
    first = project.query("bikes:journal", bikes=bikes, paginationOpts={"numItems": 2, "cursor": None})
    middle = {"numItems": 2, "cursor": first["continueCursor"]}
    second = project.query("bikes:journal", bikes=bikes, paginationOpts=middle)
    shown.change(bikes[0], "broken")
    again = {"numItems": 2, "cursor": None, "endCursor": first["continueCursor"]}
    newest = project.query("bikes:journal", bikes=bikes, paginationOpts=again)
    assert [each["state"] for each in newest["page"]] == ["broken", *(each["state"] for each in first["page"])]
    middle["endCursor"] = second["continueCursor"]
    assert project.query("bikes:journal", bikes=bikes, paginationOpts=middle)["page"] == second["page"]


def test_bikes_that_were_removed_cannot_be_changed(project: Deployment) -> None:
    shown = Map(project)
    bike = shown.add(CENTRE)
    shown.remove(bike)
    for name, arguments in (
        ("move", {"position": CENTRE}),
        ("change", {"state": "free"}),
        ("remove", {}),
    ):
        with project.fails(data={"code": "NO_SUCH_BIKE"}):
            project.mutation(f"bikes:{name}", arguments, bike=bike)
    assert project.documents("points", component="geospatial") == []
    shown.check_journal([bike], 5)
    shown.check_nearest(CENTRE, 1_000, KINDS, None, 5)


def test_those_who_look_at_the_map_see_changes(project: Deployment) -> None:
    shown = Map(project)
    bike = shown.add(CENTRE)
    with project.subscribe("bikes:nearest", position=CENTRE, metres=500, kinds=KINDS, limit=3) as live:
        wait_until(lambda: live.value is not None and len(live.value) == 1)
        shown.change(bike, "rented")
        live.wait_until(lambda value: value == [], seconds=20)


def test_clients_can_call_these_functions_and_no_others_and_arguments_are_validated(project: Deployment) -> None:
    functions = project.functions()
    assert {name: spec.kind for name, spec in functions.items() if spec.is_public} == PUBLIC
    bike = Map(project).add(CENTRE)
    bad = {"latitude": "52", "longitude": 13}
    new = {"name": "a", "kind": "city", "extras": [], "position": CENTRE}
    near = {"position": CENTRE, "metres": 1, "kinds": [], "limit": 1}
    part = {"area": TOWN, "limit": 1, "cursor": None}
    calls: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("add", new, {"name": 1, "kind": "tandem", "extras": [1], "position": bad}),
        ("move", {"bike": bike, "position": CENTRE}, {"bike": "x", "position": {"latitude": 1}}),
        ("change", {"bike": bike, "state": "free"}, {"bike": "x", "state": "lost"}),
        ("remove", {"bike": bike}, {"bike": "x"}),
        ("where", {"bike": bike}, {"bike": "x"}),
        ("nearest", near, {"position": bad, "metres": "1", "kinds": ["tandem"], "limit": "1"}),
        ("inArea", part, {"area": {"west": 1, "south": 1, "east": 2}, "limit": "1", "cursor": 1}),
        ("countInArea", {"area": TOWN}, {"area": {**TOWN, "west": "1"}}),
        (
            "journal",
            {"bikes": [], "paginationOpts": {"numItems": 1, "cursor": None}},
            {"bikes": ["x"], "paginationOpts": 5},
        ),
    ]
    for name, good, wrong in calls:
        call = project.mutation if PUBLIC[f"bikes:{name}"] == "mutation" else project.query
        for key in good:
            with project.fails("ArgumentValidationError"):
                call(f"bikes:{name}", {**good, key: wrong[key]})
            with project.fails("ArgumentValidationError"):
                call(f"bikes:{name}", {other: value for other, value in good.items() if other != key})
    for name, arguments in (("nearest", {**near, "extra": 1}), ("inArea", {**part, "kind": "tandem"})):
        with project.fails("ArgumentValidationError"):
            project.query(f"bikes:{name}", arguments)
