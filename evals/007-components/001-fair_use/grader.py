"""Allowances of which nothing is lost when something is refused, and nothing is gained by being quick."""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import CallFailed, Deployment, at_once

FUNCTIONS = {
    "board:send": ("mutation", {"user": "u", "body": "b"}),
    "board:sendMany": ("mutation", {"user": "u", "bodies": ["b"]}),
    "board:messages": ("query", {}),
    "board:allowance": ("query", {"user": "u"}),
    "board:setPin": ("mutation", {"door": "d", "pin": "1"}),
    "board:open": ("action", {"door": "d", "pin": "1"}),
}
USER, EVERYONE = (5, 10), (12, 15)
"""How many, and in how many minutes one comes back."""

MARGIN = 0.2
"""So much of an allowance may come back while a test runs, because the machine's time passes as well."""


@pytest.fixture(autouse=True)
def stopped_clock(project: Deployment) -> Iterator[None]:
    """Seconds count here, and must not depend on how long the calls take."""
    with project.stopped_clock():
        yield


def send(project: Deployment, user: str, *bodies: str) -> Any:
    if len(bodies) == 1:
        return project.mutation("board:send", user=user, body=bodies[0])
    return project.mutation("board:sendMany", user=user, bodies=bodies)


def sent(project: Deployment) -> list[str]:
    return [message["body"] for message in project.query("board:messages")]


def use(project: Deployment, user: str, count: int) -> None:
    for number in range(count):
        assert send(project, user, f"{user}{number}")["ok"]


def left(project: Deployment, user: str) -> tuple[int, int]:
    received = project.query("board:allowance", user=user)
    assert set(received) == {"user", "everyone"}
    return received["user"], received["everyone"]


def tries(project: Deployment, door: str, pin: str) -> str:
    """What comes of it: "open" or the code of the error."""
    try:
        result: str = project.action("board:open", door=door, pin=pin)
    except CallFailed as failure:
        code: str = failure.data["code"]
        return code
    return result


def pass_time(project: Deployment, milliseconds: float) -> None:
    project.advance(seconds=milliseconds / 1000)


def assert_minutes(milliseconds: float, minutes: float) -> None:
    """Within what the machine's own time can have added."""
    assert minutes - 1 <= milliseconds / 60_000 <= minutes + 0.01


@dataclass
class Allowance:
    most: int
    minutes: int
    value: float

    @classmethod
    def full(cls, most: int, minutes: int) -> "Allowance":
        return cls(most, minutes, most)

    def refill(self, minutes: float) -> None:
        self.value = min(self.most, self.value + minutes / self.minutes)

    @property
    def is_uncertain(self) -> bool:
        return self.value % 1 > 1 - MARGIN


@pytest.mark.parametrize("seed", range(3))
def test_what_is_left_is_exact_whatever_was_sent_and_refused(project: Deployment, seed: int) -> None:
    chance, done, expected = random.Random(seed), [], []
    everyone, own = Allowance.full(*EVERYONE), {user: Allowance.full(*USER) for user in ("ada", "ben", "cyd")}
    for number in range(22):
        user, count = chance.choice(sorted(own)), chance.choice([1, 1, 1, 2, 3])
        bodies = [f"{number}.{part}" for part in range(count)]
        if number % 4 == 3:
            minutes = chance.choice([4, 13, 27])
            while minutes:
                project.advance(minutes=minutes)
                done.append(f"{minutes} minutes")
                for each in (everyone, *own.values()):
                    each.refill(minutes)
                minutes = 3 if any(each.is_uncertain for each in (everyone, *own.values())) else 0
        done.append(f"{user} {count}")
        received = send(project, user, *bodies)
        short = next((name for name, each in (("user", own[user]), ("everyone", everyone)) if each.value < count), None)
        assert (received["ok"], received.get("reason")) == (short is None, short), f"after {done}"
        if short is None:
            everyone.value -= count
            own[user].value -= count
            expected += bodies
        else:
            lacking = own[user] if short == "user" else everyone
            assert_minutes(received["retryAfter"], (count - lacking.value) * lacking.minutes)
        assert left(project, user) == (int(own[user].value), int(everyone.value)), f"after {done}"
    assert sent(project) == expected


def test_a_message_for_which_others_leave_no_room_costs_its_author_nothing(project: Deployment) -> None:
    for user in ("ada", "ben"):
        use(project, user, 5)
    use(project, "cyd", 1)
    refused = send(project, "dan", "one", "two")
    assert (refused["ok"], refused["reason"]) == (False, "everyone")
    assert left(project, "dan") == (5, 1)
    assert send(project, "dan", "three")["ok"]
    for _ in range(5):
        assert send(project, "dan", "four")["reason"] == "everyone"
    assert left(project, "dan") == (4, 0)
    assert sent(project)[-1] == "three"


def test_a_refused_message_of_a_user_costs_everyone_nothing(project: Deployment) -> None:
    use(project, "ada", 5)
    for _ in range(3):
        assert send(project, "ada", "more")["reason"] == "user"
    assert left(project, "ada") == (0, 7)


def test_errors_cost_nothing_and_store_nothing(project: Deployment) -> None:
    with project.fails(data={"code": "EMPTY"}):
        send(project, "ada", "")
    with project.fails(data={"code": "EMPTY"}):
        send(project, "ada", "one", "", "two")
    with project.fails(data={"code": "TOO_MANY"}):
        send(project, "ada", *"abcdef")
    assert send(project, "ada") == {"ok": True, "ids": []}
    assert left(project, "ada") == (5, 12)
    made = send(project, "ada", *"abcde")
    assert len(set(made["ids"])) == 5
    assert project.query("board:messages") == [{"user": "ada", "body": body} for body in "abcde"]
    assert send(project, "ada") == {"ok": True, "ids": []}
    assert left(project, "ada") == (0, 7)


def test_after_the_stated_time_it_works_and_not_before(project: Deployment) -> None:
    use(project, "ada", 5)
    pass_time(project, 3 * 60_000)
    refused = send(project, "ada", "a", "b")
    assert_minutes(refused["retryAfter"], 17)
    pass_time(project, refused["retryAfter"] - 60_000)
    assert not send(project, "ada", "a", "b")["ok"]
    pass_time(project, 61_000)
    assert send(project, "ada", "a", "b")["ok"]


def test_what_has_come_back_is_shown_without_another_message(project: Deployment) -> None:
    use(project, "ada", 5)
    assert left(project, "ada") == (0, 7)
    for minutes, expected in ((9, (0, 7)), (2, (1, 7)), (6, (1, 8)), (60, (5, 12)), (600, (5, 12))):
        project.advance(minutes=minutes)
        assert left(project, "ada") == expected
    use(project, "ada", 1)
    assert left(project, "ada") == (4, 11)
    assert left(project, "never seen") == (5, 11)


def test_people_who_send_at_once_do_not_get_more(project: Deployment) -> None:
    with project.clients(8) as clients:
        made = at_once([partial(each.mutation, "board:send", user="ada", body="x") for each in clients])
    assert Counter(each["ok"] for each in made) == {True: 5, False: 3}
    assert len(sent(project)) == 5


def test_a_door_stands_three_wrong_pins_and_then_no_right_one(project: Deployment) -> None:
    assert project.mutation("board:setPin", door="front", pin="1234") is None
    project.mutation("board:setPin", door="back", pin="9")
    assert [tries(project, "front", str(pin)) for pin in range(3)] == ["WRONG_PIN"] * 3
    assert [tries(project, "front", pin) for pin in ("1234", "0", "1234", "1")] == ["LOCKED"] * 4
    assert tries(project, "back", "9") == "open"
    project.mutation("board:setPin", door="front", pin="5")
    assert tries(project, "front", "5") == "LOCKED"
    project.advance(minutes=18)
    assert tries(project, "front", "5") == "LOCKED"
    project.advance(minutes=3)
    assert tries(project, "front", "1234") == "WRONG_PIN"
    assert tries(project, "front", "5") == "LOCKED"


def test_a_door_is_opened_by_its_own_pin_and_not_by_that_of_another(project: Deployment) -> None:
    for door, pin in (("front", "5"), ("back", "9")):
        project.mutation("board:setPin", door=door, pin=pin)
    assert [tries(project, "front", pin) for pin in "95"] == ["WRONG_PIN", "open"]
    assert [tries(project, "back", pin) for pin in "59"] == ["WRONG_PIN", "open"]
    project.mutation("board:setPin", door="back", pin="7")
    assert [tries(project, "front", pin) for pin in "75"] == ["WRONG_PIN", "open"]


def test_the_right_pin_forgives_the_wrong_ones(project: Deployment) -> None:
    project.mutation("board:setPin", door="front", pin="5")
    for _ in range(3):
        assert [tries(project, "front", pin) for pin in "785"] == ["WRONG_PIN", "WRONG_PIN", "open"]
    assert [tries(project, "front", pin) for pin in "7775"] == ["WRONG_PIN"] * 3 + ["LOCKED"]


def test_a_locked_door_says_when_to_come_back(project: Deployment) -> None:
    project.mutation("board:setPin", door="front", pin="5")
    for _ in range(3):
        tries(project, "front", "0")
    project.advance(minutes=5)
    with project.fails() as failure:
        project.action("board:open", door="front", pin="5")
    assert failure.data.keys() == {"code", "retryAfter"}
    assert_minutes(failure.data["retryAfter"], 15)
    pass_time(project, failure.data["retryAfter"])
    assert tries(project, "front", "5") == "open"


def test_a_door_without_a_pin_cannot_be_tried(project: Deployment) -> None:
    for _ in range(5):
        with project.fails(data={"code": "NO_DOOR"}):
            project.action("board:open", door="new", pin="1")
    project.mutation("board:setPin", door="new", pin="1")
    assert [tries(project, "new", pin) for pin in "2221"] == ["WRONG_PIN"] * 3 + ["LOCKED"]


def test_of_many_pins_tried_at_once_only_three_are_compared(project: Deployment) -> None:
    project.mutation("board:setPin", door="front", pin="5")
    with project.clients(6) as clients, project.lockstep(6):
        made = at_once([partial(each.action, "board:open", door="front", pin="0") for each in clients])
    codes = Counter(each.data["code"] for each in made if isinstance(each, CallFailed))
    assert codes == {"WRONG_PIN": 3, "LOCKED": 3}
    assert tries(project, "front", "5") == "LOCKED"


def test_clients_can_call_these_functions_and_no_others_and_arguments_are_validated(project: Deployment) -> None:
    public = {name: spec.kind for name, spec in project.functions().items() if spec.is_public}
    assert public == {name: kind for name, (kind, _) in FUNCTIONS.items()}
    calls = {"query": project.query, "mutation": project.mutation, "action": project.action}
    for name, (kind, arguments) in FUNCTIONS.items():
        for argument in arguments:
            for rejected in ({**arguments, argument: 1}, {key: arguments[key] for key in arguments if key != argument}):
                with project.fails("ArgumentValidationError"):
                    calls[kind](name, rejected)
    with project.fails("ArgumentValidationError"):
        project.mutation("board:sendMany", user="u", bodies=[1])
