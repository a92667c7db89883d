"""Flats by an index and by what the index cannot decide."""

from typing import Any

from convex_evals.pipeline.grading.kit import Deployment, assert_same, same_schema

# city, rent, rooms, description; not in the order of rent.
FLATS: list[tuple[str, float, float, str]] = [
    ("Bonn", 900, 3, "Sunny, with a Balcony"),
    ("Bonn", 700, 2, "balcony to the south"),
    ("Ulm", 500, 4, "Two balconies, one BALCONY glazed"),
    ("Bonn", 800, 2.5, "Quiet and dark"),
    ("Bonn", 700, 4, "Roof terrace, sunbalcony"),
    ("Bonn", 650.5, 1, "One room, balcony"),
    ("Bonn", 901, 5, "Large balcony"),
    ("bonn", 100, 5, "balcony"),
    ("Bonn", 0, 3, "Caretaker's, (no) balcony?"),
]


def insert_flats(project: Deployment) -> list[str]:
    names = ("city", "rent", "rooms", "description")
    return project.insert_many("flats", [dict(zip(names, flat, strict=True)) for flat in FLATS])


def find(project: Deployment, city: str, max_rent: float, min_rooms: float, word: str) -> list[Any]:
    found: list[Any] = project.query("index:findFlats", city=city, maxRent=max_rent, minRooms=min_rooms, word=word)
    return found


def descriptions(project: Deployment, city: str, max_rent: float, min_rooms: float, word: str) -> list[str]:
    return [flat["description"] for flat in find(project, city, max_rent, min_rooms, word)]


def test_the_schema_is_the_one_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer, exact=True)


def test_the_flats_meet_all_conditions_and_the_cheapest_comes_first(project: Deployment) -> None:
    insert_flats(project)
    places = (8, 1, 4, 0)
    assert_same(descriptions(project, "Bonn", 900, 2, "balcony"), [FLATS[place][3] for place in places])
    assert_same(descriptions(project, "Ulm", 1000, 0, "balcony"), [FLATS[2][3]])
    assert_same(descriptions(project, "Bonn", 1000, 4, "roof"), [FLATS[4][3]])


def test_limits_of_rent_and_rooms_are_included(project: Deployment) -> None:
    insert_flats(project)
    assert_same([flat["rent"] for flat in find(project, "Bonn", 901, 5, "")], [901])
    assert_same([flat["rent"] for flat in find(project, "Bonn", 900, 3, "")], [0, 700, 900])
    assert_same([flat["rent"] for flat in find(project, "Bonn", 800, 2.5, "")], [0, 700, 800])
    assert_same([flat["rent"] for flat in find(project, "Bonn", 650.5, 1, "")], [0, 650.5])
    assert_same([flat["rent"] for flat in find(project, "Bonn", 0, 0, "")], [0])


def test_the_word_may_be_anywhere_in_any_case(project: Deployment) -> None:
    insert_flats(project)
    assert_same(descriptions(project, "Bonn", 900, 0, "QUIET"), ["Quiet and dark"])
    assert_same(descriptions(project, "Bonn", 900, 0, "nbalc"), ["Roof terrace, sunbalcony"])
    assert_same(descriptions(project, "Bonn", 900, 0, "(no) BALCONY?"), ["Caretaker's, (no) balcony?"])
    assert_same(len(descriptions(project, "Bonn", 900, 0, "")), 6)


def test_returns_an_empty_array_when_no_flat_meets_all_conditions(project: Deployment) -> None:
    insert_flats(project)
    for conditions in (("Bonn", 900, 6, ""), ("Bonn", 900, 2, "garden"), ("Bonn", -1, 0, ""), ("Rome", 900, 0, "")):
        assert_same(find(project, *conditions), [], what=f"the flats for {conditions}")


def test_returns_complete_documents(project: Deployment) -> None:
    ids = insert_flats(project)
    assert_same(find(project, "Bonn", 900, 3, "sun"), [project.get(ids[4]), project.get(ids[0])], ignore=())


def test_reads_no_flats_of_other_cities_and_none_that_are_too_expensive(project: Deployment) -> None:
    rents = {i: i * 7 % 400 for i in range(400)}
    flats = [{"city": f"city {i % 4}", "rent": rents[i], "rooms": i % 3, "description": "flat"} for i in rents]
    project.insert_many("flats", flats)
    candidates = [i for i in rents if i % 4 == 1 and rents[i] <= 99]
    with project.trace() as work:
        found = find(project, "city 1", 99, 2, "FLAT")
    assert len(found) == len([i for i in candidates if i % 3 == 2])
    assert work.documents_read <= len(candidates), (
        f"{len(candidates)} flats come into question, and it read {work.documents_read}"
    )


def test_rejects_arguments_that_are_not_the_four_conditions(project: Deployment) -> None:
    given: dict[str, object] = {"city": "Bonn", "maxRent": 900, "minRooms": 2, "word": "balcony"}
    for name, wrong in {"city": 5, "maxRent": "900", "minRooms": "2", "word": 5}.items():
        without = {each: given[each] for each in given if each != name}
        for arguments in (without, {**given, name: wrong}, {**given, name: None}):
            with project.fails("ArgumentValidationError"):
                project.query("index:findFlats", arguments)
