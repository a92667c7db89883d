"""Seats that are held for a while, and a line for those that become free."""

import random
from functools import partial
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import CallFailed, Deployment, at_once

HOLD_MS = 600_000
SLACK_MS = 20_000  # a busy machine takes its time between two calls
SEATS = [f"{row}{number}" for row in "BA" for number in (2, 1, 3)]
CUSTOMERS = ["ada", "ben", "cem"]


def states(project: Deployment, show: str = "hamlet") -> dict[str, str]:
    return {each["seat"]: each["state"] for each in project.query("seats:map", show=show)}


def held(project: Deployment, customer: str, show: str = "hamlet") -> list[str]:
    return [each["seat"] for each in project.query("seats:heldBy", show=show, customer=customer)]


def call(project: Deployment, name: str, *seats: str, customer: str = "ada", show: str = "hamlet") -> Any:
    return project.mutation(f"seats:{name}", show=show, seats=seats, customer=customer)


def wait(project: Deployment, customer: str, count: int) -> Any:
    return project.mutation("seats:wait", show="hamlet", customer=customer, count=count)


@pytest.fixture(autouse=True)
def hamlet(project: Deployment) -> None:
    project.mutation("seats:open", show="macbeth", seats=SEATS[:2])
    assert project.mutation("seats:open", show="hamlet", seats=SEATS) is None


def test_seats_are_shown_in_the_order_in_which_they_were_opened(project: Deployment) -> None:
    project.mutation("seats:open", show="hamlet", seats=["Z", "Y"])
    assert project.query("seats:map", show="hamlet") == [{"seat": seat, "state": "free"} for seat in [*SEATS, "Z", "Y"]]
    assert project.query("seats:map", show="nothing") == []
    call(project, "hold", "Y", "A1", "B2")
    assert held(project, "ada") == ["B2", "A1", "Y"]
    assert set(states(project, "macbeth").values()) == {"free"}
    assert held(project, "ada", "macbeth") == []


def test_all_seats_are_held_or_none(project: Deployment) -> None:
    call(project, "hold", "A1", "B1", "A1")
    call(project, "hold", "A3", customer="ben")
    call(project, "buy", "A3", customer="ben")
    with project.fails(data={"code": "TAKEN", "seats": ["A3", "B1", "A1"]}):
        call(project, "hold", "A3", "A2", "B1", "A1", customer="cem")
    with project.fails(data={"code": "TAKEN", "seats": ["A3"]}):
        call(project, "hold", "A1", "A3")
    with project.fails(data={"code": "TAKEN", "seats": ["A3"]}):
        call(project, "hold", "A2", "A3", customer="ben")
    with project.fails(data={"code": "UNKNOWN_SEAT"}):
        call(project, "hold", "A2", "Q9", customer="cem")
    with project.fails(data={"code": "UNKNOWN_SEAT"}):
        call(project, "hold", "A3", "B1", "Q9", customer="cem")
    assert held(project, "cem") == []
    assert states(project) == {"B2": "free", "B1": "held", "B3": "free", "A2": "free", "A1": "held", "A3": "sold"}


def test_only_the_one_who_holds_seats_can_buy_or_release_them(project: Deployment) -> None:
    call(project, "hold", "A1", "A2")
    call(project, "hold", "B1", customer="ben")
    for seats in (["A1", "B1"], ["A1", "B2"], ["A1", "Q9"]):
        with project.fails(data={"code": "NOT_HELD"}):
            call(project, "buy", *seats)
    assert call(project, "release", "A1", "B1", "Q9") is None
    assert (held(project, "ada"), held(project, "ben")) == (["A2"], ["B1"])
    assert call(project, "buy", "A2") is None
    call(project, "release", "A2")
    with project.fails(data={"code": "NOT_HELD"}):
        call(project, "buy", "A2")
    assert states(project)["A2"] == "sold"
    assert held(project, "ada") == []


def test_a_hold_lasts_for_ten_minutes_from_the_last_time_it_was_asked_for(project: Deployment) -> None:
    start = project.now()
    until = call(project, "hold", "A1", "A2")
    assert start + HOLD_MS <= until <= project.now() + HOLD_MS
    project.advance(minutes=6)
    renewed = call(project, "hold", "A1", "A3")
    ends = {each["seat"]: each["until"] for each in project.query("seats:heldBy", show="hamlet", customer="ada")}
    assert ends == {"A1": renewed, "A2": until, "A3": renewed}
    project.advance(seconds=(until - SLACK_MS - project.now()) / 1000)
    assert held(project, "ada") == ["A2", "A1", "A3"]
    project.advance(seconds=SLACK_MS / 1000 + 1)
    assert held(project, "ada") == ["A1", "A3"]
    call(project, "hold", "A2", customer="ben")
    call(project, "buy", "A1")
    project.advance(minutes=9)
    assert states(project) == {"B2": "free", "B1": "free", "B3": "free", "A2": "held", "A1": "sold", "A3": "free"}
    with project.fails(data={"code": "NOT_HELD"}):
        call(project, "buy", "A3")


def test_the_end_of_an_earlier_hold_does_not_touch_a_later_one(project: Deployment) -> None:
    call(project, "hold", "A1")
    project.advance(minutes=5)
    call(project, "release", "A1")
    call(project, "hold", "A1", customer="ben")
    call(project, "release", "A1", customer="ben")
    call(project, "hold", "A1")
    project.advance(minutes=7)
    assert held(project, "ada") == ["A1"]
    project.advance(minutes=4)
    assert states(project)["A1"] == "free"


def test_racing_customers_never_hold_the_same_seat(project: Deployment) -> None:
    with project.clients(6) as clients:
        wishes = [SEATS[number:] + SEATS[:number] for number in range(6)]
        results = at_once(
            [
                partial(client.mutation, "seats:hold", show="hamlet", seats=wishes[number][:3], customer=f"c{number}")
                for number, client in enumerate(clients)
            ]
        )
    winners = [number for number, result in enumerate(results) if not isinstance(result, CallFailed)]
    assert winners
    for number in range(6):
        expected = sorted(wishes[number][:3]) if number in winners else []
        assert sorted(held(project, f"c{number}")) == expected
    assert list(states(project).values()).count("held") == 3 * len(winners)


def test_those_who_watch_see_a_hold_end_and_the_line_being_served(project: Deployment) -> None:
    call(project, "hold", *SEATS)
    wait(project, "ben", 2)
    wait(project, "cem", 3)
    with project.subscribe("seats:map", show="hamlet") as seats:
        assert {each["state"] for each in seats.value} == {"held"}
        project.advance(minutes=10)
        seats.wait_until(lambda found: [each["state"] for each in found].count("free") == 1)
    with project.subscribe("seats:heldBy", show="hamlet", customer="cem") as mine:
        assert [each["seat"] for each in mine.value] == ["B3", "A2", "A1"]
        project.advance(minutes=10)
        mine.wait_until(lambda found: found == [])


def test_the_line_is_served_in_order_and_nobody_overtakes(project: Deployment) -> None:
    call(project, "hold", *SEATS)
    for customer, count in (("ben", 3), ("cem", 1), ("ben", 1)):
        wait(project, customer, count)
    call(project, "release", "A1", "A2")
    assert (held(project, "ben"), held(project, "cem")) == ([], [])
    call(project, "hold", "A1", customer="dan")
    call(project, "release", "B3", "B2")
    assert (held(project, "ben"), held(project, "cem")) == (["B2", "B3", "A2"], [])
    project.mutation("seats:open", show="hamlet", seats=["Z", "Y"])
    assert (held(project, "ben"), held(project, "cem")) == (["B2", "B3", "A2", "Y"], ["Z"])
    wait(project, "eve", 2)
    project.mutation("seats:open", show="hamlet", seats=["X"])
    assert (held(project, "eve"), states(project)["X"]) == ([], "free")
    call(project, "buy", "Z", customer="cem")
    assert held(project, "eve") == []
    call(project, "release", "B2", customer="ben")
    assert held(project, "eve") == ["B2", "X"]
    wait(project, "fay", 1)
    call(project, "release", "B3", customer="ben")
    assert held(project, "fay") == ["B3"]


def test_seats_whose_holds_end_together_become_free_together(project: Deployment) -> None:
    call(project, "hold", "A1", "B3", "B2")
    call(project, "hold", "B1", "A2", "A3", customer="cem")
    call(project, "buy", "B1", "A2", "A3", customer="cem")
    wait(project, "ben", 1)
    wait(project, "dan", 1)
    project.advance(minutes=11)
    assert (held(project, "ben"), held(project, "dan"), states(project)["A1"]) == (["B2"], ["B3"], "free")


def test_holds_of_several_customers_that_end_together_become_free_together(project: Deployment) -> None:
    call(project, "hold", *SEATS)
    wait(project, "ben", 1)
    wait(project, "cem", 1)
    call(project, "release", "B2", "B1")
    assert (held(project, "ben"), held(project, "cem")) == (["B2"], ["B1"])
    call(project, "buy", "B3", "A2", "A1")
    wait(project, "dan", 2)
    call(project, "release", "A3")
    project.advance(minutes=11)
    assert (held(project, "dan"), states(project)["A3"]) == (["B2", "B1"], "free")


def test_every_show_has_a_line_of_its_own(project: Deployment) -> None:
    project.mutation("seats:wait", show="macbeth", customer="cem", count=3)
    wait(project, "ben", 1)
    assert (held(project, "ben"), held(project, "cem", "macbeth")) == (["B2"], [])
    project.mutation("seats:open", show="macbeth", seats=["Z"])
    assert held(project, "cem", "macbeth") == [*SEATS[:2], "Z"]


class Truth:
    """What the seats of one show must be, moment by moment."""

    def __init__(self) -> None:
        self.owner: dict[str, str | None] = dict.fromkeys(SEATS)
        self.until: dict[str, float] = {}
        self.line: list[tuple[str, int]] = []

    def serve(self, now: float) -> None:
        while self.line:
            customer, count = self.line[0]
            free = [seat for seat, owner in self.owner.items() if owner is None]
            if len(free) < count:
                return
            self.line.pop(0)
            self.give(free[:count], customer, now)

    def give(self, seats: list[str], customer: str, now: float) -> None:
        for seat in seats:
            self.owner[seat], self.until[seat] = customer, now + HOLD_MS

    def pass_until(self, now: float) -> None:
        while ended := [end for end in self.until.values() if end <= now]:
            moment = min(ended)
            self.free([seat for seat, end in self.until.items() if end < moment + 1])
            self.serve(moment)

    def free(self, seats: list[str]) -> None:
        for seat in seats:
            self.owner[seat] = None
            del self.until[seat]

    def of(self, customer: str) -> list[str]:
        return [seat for seat, owner in self.owner.items() if owner == customer and seat in self.until]

    def states(self) -> dict[str, str]:
        state = {True: "held", False: "sold"}
        return {seat: "free" if owner is None else state[seat in self.until] for seat, owner in self.owner.items()}


def take_step(project: Deployment, truth: Truth, step: str, customer: str, seats: list[str]) -> None:
    now = project.now()
    if step == "wait":
        wait(project, customer, len(seats))
        truth.line.append((customer, len(seats)))
        truth.serve(now)
    elif step == "release":
        call(project, "release", *seats, customer=customer)
        truth.free([seat for seat in seats if seat in truth.of(customer)])
        truth.serve(now)
    elif step == "buy":
        mine = truth.of(customer)[:1]
        call(project, "buy", *mine, customer=customer)
        for seat in mine:
            del truth.until[seat]
    elif all(truth.owner[seat] is None or seat in truth.of(customer) for seat in seats):
        until = call(project, "hold", *seats, customer=customer)
        assert abs(until - now - HOLD_MS) < SLACK_MS
        truth.give(seats, customer, until - HOLD_MS)
    else:
        with project.fails():
            call(project, "hold", *seats, customer=customer)


def let_time_pass(project: Deployment, truth: Truth, minutes: int) -> None:
    """Never stops close to the end of a hold, where nobody could say what is right."""
    project.advance(minutes=minutes)
    truth.pass_until(project.now() - SLACK_MS)
    while any(abs(end - project.now()) < 2 * SLACK_MS for end in truth.until.values()):
        project.advance(seconds=3 * SLACK_MS / 1000)
        truth.pass_until(project.now() - SLACK_MS)


@pytest.mark.parametrize("seed", range(3))
def test_whatever_happens_every_seat_and_the_line_are_as_they_should_be(project: Deployment, seed: int) -> None:
    chance, truth, done = random.Random(seed), Truth(), []
    steps = ["hold", "hold", "hold", "release", "wait", "wait", "time"] + (["buy"] if seed else [])
    for _ in range(28):
        step, customer = chance.choice(steps), chance.choice(CUSTOMERS)
        seats = chance.sample(SEATS, chance.choice([1, 1, 2, 3]))
        done.append((step, customer, seats))
        if step == "time":
            let_time_pass(project, truth, chance.choice([2, 5, 8, 13]))
        else:
            take_step(project, truth, step, customer, seats)
        assert states(project) == truth.states(), f"after {done}"
        assert {each: held(project, each) for each in CUSTOMERS} == {each: truth.of(each) for each in CUSTOMERS}


def test_other_shows_do_not_make_a_map_run_again(project: Deployment) -> None:
    with project.subscribe("seats:map", show="hamlet") as seats:
        call(project, "hold", "B2", show="macbeth")
        call(project, "release", "B2", show="macbeth")
        assert seats.executions() == 1


def test_one_seat_is_sold_without_reading_the_others(project: Deployment) -> None:
    project.mutation("seats:open", show="hamlet", seats=[f"S{number}" for number in range(60)])
    call(project, "hold", *[f"S{number}" for number in range(40)], customer="ben")
    for name in ("hold", "release", "hold", "buy"):
        with project.trace() as work:
            call(project, name, "S50")
        assert work.documents_read <= 20, name


def test_arguments_are_checked(project: Deployment) -> None:
    for wrong in ({"show": 1}, {"seats": "A1"}, {"customer": None}):
        for name in ("hold", "buy", "release"):
            with project.fails("ArgumentValidationError"):
                project.mutation(f"seats:{name}", {"show": "hamlet", "seats": ["A1"], "customer": "ada"} | wrong)
    with project.fails("ArgumentValidationError"):
        project.mutation("seats:wait", show="hamlet", count="1", customer="ada")
    with project.fails("ArgumentValidationError"):
        project.query("seats:map", show=1)
