"""One index on three fields that serves three queries."""

from typing import Any

from convex_evals.pipeline.grading.kit import Deployment, same_function_spec

ORGANIZATIONS = ("acme", "acme-west", "zoo")
KINDS = ("meeting", "party", "fair")


def fill(project: Deployment) -> list[dict[str, Any]]:
    """Nine events for each organization and kind, at nine times; the order of insertion says nothing about them."""
    events = [
        {
            "title": f"{organization} {kind} {slot}",
            "organization": organization,
            "kind": kind,
            "startsAt": slot * 5 % 9 * 100 + number,
        }
        for slot in range(9)
        for number, kind in enumerate(KINDS)
        for organization in ORGANIZATIONS
    ]
    project.insert_many("events", events)
    return project.documents("events")


def chosen(events: list[dict[str, Any]], organization: str, kind: str) -> list[dict[str, Any]]:
    found = [event for event in events if (event["organization"], event["kind"]) == (organization, kind)]
    return sorted(found, key=lambda event: event["startsAt"])


def test_the_fields_and_the_functions_have_the_described_types(project: Deployment, answer: Deployment) -> None:
    assert project.schema().table("events").fields == answer.schema().table("events").fields
    same_function_spec(project, answer)


def test_the_table_has_exactly_one_index(project: Deployment) -> None:
    table = project.schema().table("events")
    assert len(table.indexes) == 1
    assert not table.search_indexes and not table.vector_indexes


def test_events_between_two_times_come_earliest_first(project: Deployment) -> None:
    meetings = chosen(fill(project), "acme", "meeting")
    asked = {"organization": "acme", "kind": "meeting"}
    assert project.query("index:between", asked, **{"from": 100, "until": 400}) == meetings[1:4]
    assert project.query("index:between", asked, **{"from": 100.5, "until": 400.5}) == meetings[2:5]
    assert project.query("index:between", asked, **{"from": 0, "until": 9000}) == meetings
    assert project.query("index:between", asked, **{"from": 400, "until": 400}) == []


def test_the_latest_events_come_last_one_first(project: Deployment) -> None:
    fairs = chosen(fill(project), "acme-west", "fair")
    assert project.query("index:latest", organization="acme-west", kind="fair", limit=3) == fairs[:-4:-1]
    assert project.query("index:latest", organization="acme-west", kind="fair", limit=50) == fairs[::-1]
    assert project.query("index:latest", organization="acme-west", kind="concert", limit=3) == []


def test_the_program_is_sorted_by_kind_and_time(project: Deployment) -> None:
    events = fill(project)
    expected = [event for kind in sorted(KINDS) for event in chosen(events, "zoo", kind)]
    assert project.query("index:program", organization="zoo") == expected
    assert project.query("index:program", organization="acm") == []


def test_each_query_reads_only_what_it_returns(project: Deployment) -> None:
    fill(project)
    asked = {"organization": "acme", "kind": "party"}
    with project.trace() as between:
        project.query("index:between", asked, **{"from": 200, "until": 500})
    with project.trace() as latest:
        project.query("index:latest", asked, limit=2)
    with project.trace() as program:
        project.query("index:program", organization="acme")
    read = [work.documents_read for work in (between, latest, program)]
    assert read == [3, 2, 27], "documents read by between, latest and program"
