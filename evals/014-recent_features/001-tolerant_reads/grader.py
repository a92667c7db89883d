"""A limit that need not be exact at the same time, a suspension that must be, and no call in the way of another."""

import random
import threading
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, Sources, at_once

LIMIT = 50
Event = tuple[str, str]


@pytest.fixture(autouse=True)
def stopped_clock(project: Deployment) -> Iterator[None]:
    """Seconds count here, and must not depend on how long the calls take."""
    with project.stopped_clock():
        yield


def submit(project: Deployment, events: list[Event]) -> list[str]:
    sent = [{"tenant": tenant, "text": text} for tenant, text in events]
    outcomes: list[str] = project.mutation("events:submit", events=sent)
    assert isinstance(outcomes, list) and len(outcomes) == len(events)
    return outcomes


def fill(project: Deployment, tenant: str, count: int, name: str = "e") -> list[str]:
    return submit(project, [(tenant, f"{name}{number}") for number in range(count)])


def suspend(project: Deployment, tenant: str, is_suspended: bool = True) -> None:
    assert project.mutation("events:suspend", tenant=tenant, isSuspended=is_suspended) is None


def recent(project: Deployment, tenant: str) -> list[str]:
    texts: list[str] = project.query("events:recent", tenant=tenant)
    return texts


def tally(outcomes: list[str]) -> dict[str, int]:
    return dict(Counter(outcomes))


def test_events_are_recorded_up_to_the_limit(project: Deployment) -> None:
    assert recent(project, "ada") == []
    assert submit(project, []) == []
    assert fill(project, "ada", 3) == ["recorded"] * 3
    assert recent(project, "ada") == ["e0", "e1", "e2"]
    assert fill(project, "ada", 46, "f") == ["recorded"] * 46
    assert fill(project, "ada", 3, "g") == ["recorded", "limited", "limited"]
    assert fill(project, "ada", 1, "h") == ["limited"]
    assert recent(project, "ada") == [*(f"e{n}" for n in range(3)), *(f"f{n}" for n in range(46)), "g0"]
    assert fill(project, "ben", 1) == ["recorded"]


def test_events_of_the_same_call_count_for_their_tenants(project: Deployment) -> None:
    fill(project, "ada", 40)
    mixed = [(tenant, f"{tenant}{number}") for number in range(15) for tenant in ("ada", "ben")]
    outcomes = submit(project, mixed)
    assert outcomes[1::2] == ["recorded"] * 15
    assert outcomes[0::2] == ["recorded"] * 10 + ["limited"] * 5
    assert recent(project, "ben") == [f"ben{number}" for number in range(15)]
    assert tally(fill(project, "eve", 80)) == {"recorded": LIMIT, "limited": 30}
    assert recent(project, "eve") == [f"e{number}" for number in range(LIMIT)]


def test_an_event_counts_for_a_minute(project: Deployment) -> None:
    fill(project, "ada", 20, "a")
    project.advance(seconds=30)
    fill(project, "ada", 30, "b")
    project.advance(seconds=28)
    assert fill(project, "ada", 1, "c") == ["limited"]
    project.advance(seconds=4)
    assert recent(project, "ada") == [f"b{n}" for n in range(30)]
    assert tally(fill(project, "ada", 21, "d")) == {"recorded": 20, "limited": 1}
    project.advance(seconds=57)
    assert tally(fill(project, "ada", 40, "e")) == {"recorded": 30, "limited": 10}
    project.advance(seconds=70)
    assert recent(project, "ada") == []


def test_suspended_tenants_record_nothing(project: Deployment) -> None:
    fill(project, "ada", 2)
    suspend(project, "ada")
    suspend(project, "ada")
    assert submit(project, [("ada", "x"), ("ben", "y"), ("ada", "z")]) == ["suspended", "recorded", "suspended"]
    assert (recent(project, "ada"), recent(project, "ben")) == (["e0", "e1"], ["y"])
    suspend(project, "ada", False)
    suspend(project, "ada", False)
    suspend(project, "new", False)
    assert fill(project, "ada", 1, "w") == ["recorded"]
    fill(project, "ben", LIMIT)
    suspend(project, "ben")
    assert fill(project, "ben", 1) == ["suspended"]
    suspend(project, "ben", False)
    assert fill(project, "ben", 1) == ["limited"]


def test_one_call_after_another_is_exact(project: Deployment) -> None:
    """Time passes by more than a result that depends on the clock is kept, and never by close to a minute."""
    chance = random.Random(1)
    tenants = ["ada", "ben", "eve"]
    held: dict[str, list[tuple[float, str]]] = {tenant: [] for tenant in tenants}
    suspended: set[str] = set()
    for step in range(16):
        if chance.random() < 0.25:
            tenant = chance.choice(tenants)
            suspend(project, tenant, tenant not in suspended)
            suspended ^= {tenant}
        events = [(chance.choice(tenants), f"{step} {n}") for n in range(chance.choice([1, 10, 50, 200]))]
        expected, now = [], project.now()
        for tenant, text in events:
            if tenant in suspended:
                expected.append("suspended")
            elif sum(now - at < 60_000 for at, _ in held[tenant]) >= LIMIT:
                expected.append("limited")
            else:
                expected.append("recorded")
                held[tenant].append((now, text))
        assert submit(project, events) == expected, f"in step {step}"
        project.advance(seconds=chance.choice([18.1, 25, 39]))
        for tenant in tenants:
            texts = [text for at, text in held[tenant] if project.now() - at < 60_000]
            assert recent(project, tenant) == texts, f"after step {step}"


@pytest.mark.parametrize("count", [5, 40])
def test_senders_are_never_executed_twice(project: Deployment, count: int) -> None:
    """Six calls at the same time: below the limit all along, and with a limit that is reached meanwhile."""
    fill(project, "ada", 15)
    fill(project, "ben", 15)
    calls = [
        [(tenant, f"{n} {m}") for m in range(count) for tenant in (("ada", "ben") if n % 2 else ("ben", "ada"))]
        for n in range(6)
    ]
    with project.trace() as work, project.overlapping(6):
        results = at_once([partial(submit, project, events) for events in calls])
    executed = [call.function for call in work.calls]
    assert executed == ["events:submit"] * 6, f"6 calls at the same time were executed {len(executed)} times"
    for tenant in ("ada", "ben"):
        texts = recent(project, tenant)
        recorded = [
            text
            for events, outcomes in zip(calls, results, strict=True)
            for (who, text), outcome in zip(events, outcomes, strict=True)
            if (who, outcome) == (tenant, "recorded")
        ]
        assert sorted(texts[15:]) == sorted(recorded)
        assert len(texts) >= min(LIMIT, 15 + 6 * count)
    assert {outcome for outcomes in results for outcome in outcomes} <= {"recorded", "limited"}
    more = LIMIT - len(recent(project, "ada"))
    assert tally(fill(project, "ada", 60)).get("recorded", 0) == max(0, more)
    assert project.scheduled() == []
    assert project.crons() == {}


def test_suspensions_of_others_do_not_matter(project: Deployment) -> None:
    events = [(f"sender {number % 10}", str(number)) for number in range(400)]

    def suspend_others() -> None:
        for number in range(12):
            suspend(project, f"other {number}")

    with project.trace() as work, project.overlapping(2):
        at_once([partial(submit, project, events), suspend_others])
    assert len(work.calls_of("events:submit")) == 1


def test_only_recent_events_of_the_tenant_are_read(project: Deployment) -> None:
    fill(project, "ada", 30)
    fill(project, "ben", 40)
    project.advance(minutes=2)
    fill(project, "ada", 7)
    with project.trace() as work:
        assert len(recent(project, "ada")) == 7
    assert work.documents_read <= 8


def submit_into(project: Deployment, events: list[Event], outcomes: list[str]) -> None:
    outcomes += submit(project, events)


def test_nothing_is_recorded_after_a_suspension(project: Deployment) -> None:
    """A long call is running when one of its tenants is suspended: it has recorded all of these events, or none."""
    for turn in range(6):
        tenants = [f"{turn} {name}" for name in "abcdefghij"]
        outcomes: list[str] = []
        events = [(tenant, str(number)) for number in range(45) for tenant in tenants]
        running = threading.Thread(target=submit_into, args=(project, events, outcomes))
        running.start()
        for _ in range(turn):
            recent(project, "nobody")
        suspend(project, tenants[0])
        before = recent(project, tenants[0])
        running.join()
        assert recent(project, tenants[0]) == before, "events were recorded after suspend had returned"
        assert tally(outcomes[0::10]) == ({"recorded": 45} if before else {"suspended": 45})
        assert all(len(recent(project, tenant)) == 45 for tenant in tenants[1:4])


def test_clients_can_call_three_functions_only(project: Deployment) -> None:
    public = {name: spec.kind for name, spec in project.functions().items() if spec.is_public}
    assert public == {"events:submit": "mutation", "events:suspend": "mutation", "events:recent": "query"}
    wrong: list[dict[str, Any]] = [
        {},
        {"events": "x"},
        {"events": [{"tenant": "ada"}]},
        {"events": [{"text": "x"}]},
        {"events": [{"tenant": 1, "text": "x"}]},
        {"events": [{"tenant": "ada", "text": 1}]},
        {"events": [{"tenant": "ada", "text": "x", "more": 1}]},
    ]
    for each in wrong:
        with project.fails("ArgumentValidationError"):
            project.mutation("events:submit", each)
    both = {"tenant": "ada", "isSuspended": True}
    for each in ({}, {"tenant": "ada"}, {"isSuspended": True}, both | {"tenant": 1}, both | {"isSuspended": 1}):
        with project.fails("ArgumentValidationError"):
            project.mutation("events:suspend", each)
    for each in ({}, {"tenant": 1}):
        with project.fails("ArgumentValidationError"):
            project.query("events:recent", each)
    assert recent(project, "ada") == []


def test_what_the_context_offers_is_named(files: Sources) -> None:
    assert files.searches() == []
