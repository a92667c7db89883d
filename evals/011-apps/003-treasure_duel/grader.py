"""A game with hidden treasures: rules, time limits that run out by themselves, and spectators who learn nothing."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import CallFailed, Deployment, at_once

FUNCTIONS = {
    "duel:create": ("mutation", {}),
    "duel:join": ("mutation", {"game": ""}),
    "duel:hide": ("mutation", {"game": "", "cells": [1, 2, 3]}),
    "duel:dig": ("mutation", {"game": "", "cell": 1}),
    "duel:resign": ("mutation", {"game": ""}),
    "duel:view": ("query", {"game": ""}),
    "duel:mine": ("query", {}),
    "duel:record": ("query", {"user": "u"}),
}
MINUTE = 60_000
LIMITS = {"open": 24 * 60, "hiding": 30, "playing": 10}
TICK_MINUTES = 7
"""Turns that nobody uses end at least a minute before or after a multiple of this."""

USERS = ("ada", "ben", "cyd", None)
HIDDEN = ([3, 7, 20], [0, 7, 24])


@dataclass
class Board:
    treasures: list[int] | None = None
    digs: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class Duel:
    """One game, of Ada and Ben, on the deployment and as it should be. `minutes` is how far the clock was moved."""

    project: Deployment
    id: str = ""
    status: str = "open"
    turn: int = 0
    strikes: list[int] = field(default_factory=lambda: [0, 0])
    boards: list[Board] = field(default_factory=lambda: [Board(), Board()])
    winner: str | None = None
    joined: bool = False
    minutes: float = 0
    deadline: float = LIMITS["open"]

    @classmethod
    def of(cls, project: Deployment) -> "Duel":
        return cls(project, project.as_user("ada").mutation("duel:create", {}))

    @classmethod
    def joined_by_ben(cls, project: Deployment) -> "Duel":
        duel = cls.of(project)
        duel.join("ben")
        return duel

    @classmethod
    def begun(cls, project: Deployment) -> "Duel":
        duel = cls.joined_by_ben(project)
        duel.hide("ada", HIDDEN[0])
        duel.hide("ben", HIDDEN[1])
        return duel

    def call(self, user: str, function: str, /, **arguments: Any) -> Any:
        return self.project.as_user(user).mutation(f"duel:{function}", {"game": self.id, **arguments})

    def goes_on(self, status: str, turn: int = 0) -> None:
        self.status, self.turn, self.deadline = status, turn, self.minutes + LIMITS[status]

    def ends(self, winner: str | None) -> None:
        self.status, self.winner = "over", winner

    def join(self, user: str) -> None:
        assert self.call(user, "join") is None
        self.joined = True
        self.goes_on("hiding")

    def hide(self, user: str, cells: list[int]) -> None:
        assert self.call(user, "hide", cells=cells) is None
        self.boards[player(user)].treasures = sorted(cells)
        if all(board.treasures for board in self.boards):
            self.goes_on("playing")

    def dig(self, user: str, cell: int) -> None:
        board = self.boards[1 - player(user)]
        found = cell in (board.treasures or [])
        assert self.call(user, "dig", cell=cell) is found
        board.digs.append({"cell": cell, "found": found})
        if sum(each["found"] for each in board.digs) == 3:
            self.ends(user)
        else:
            self.goes_on("playing", player(user) if found else 1 - player(user))

    def resign(self, user: str) -> None:
        assert self.call(user, "resign") is None
        self.ends(name(1 - player(user)))

    def wait(self, minutes: float) -> None:
        self.project.advance(minutes=minutes)
        until = self.minutes + minutes
        while self.status != "over" and self.deadline <= until:
            self.minutes = self.deadline
            self.time_is_up()
        self.minutes = until

    def time_is_up(self) -> None:
        if self.status == "playing":
            self.strikes[self.turn] += 1
            if self.strikes[self.turn] == 3:
                self.ends(name(1 - self.turn))
            else:
                self.goes_on("playing", 1 - self.turn)
        else:
            ready = [name(at) for at, board in enumerate(self.boards) if board.treasures]
            self.ends(ready[0] if ready else None)

    def shown_to(self, user: str | None) -> dict[str, Any]:
        boards = []
        for at, board in enumerate(self.boards):
            may_see = self.status == "over" or user == name(at)
            treasures = board.treasures if may_see else None
            boards.append({"isReady": board.treasures is not None, "treasures": treasures, "digs": board.digs})
        return {
            "status": self.status,
            "players": ["ada", "ben" if self.joined else None],
            "turn": name(self.turn) if self.status == "playing" else None,
            "strikes": self.strikes,
            "winner": self.winner,
            "boards": boards,
        }

    def check(self, *users: str | None) -> None:
        for user in users or USERS:
            seen = dict(caller(self.project, user).query("duel:view", game=self.id))
            deadline = seen.pop("deadline")
            assert seen == self.shown_to(user), f"seen by {user}"
            assert (deadline is None) == (self.status == "over")
            if deadline is not None:
                left = (deadline - self.project.now()) / MINUTE
                assert -0.9 <= left - (self.deadline - self.minutes) <= 0.1


def player(user: str) -> int:
    return ("ada", "ben").index(user)


def name(player: int) -> str:
    return ("ada", "ben")[player]


def caller(project: Deployment, user: str | None) -> Any:
    return project.as_user(user) if user else project


def record(project: Deployment, user: str) -> tuple[int, int, int]:
    received = project.query("duel:record", user=user)
    return received["won"], received["lost"], received["drawn"]


@pytest.mark.parametrize("seed", range(6))
def test_a_game_goes_by_the_rules_whatever_happens(project: Deployment, seed: int) -> None:
    chance = random.Random(seed)
    duel = Duel.begun(project)
    duel.check()
    steps = 0
    while duel.status != "over" and steps < 22:
        steps += 1
        user = name(duel.turn)
        free = [cell for cell in range(25) if cell not in [each["cell"] for each in duel.boards[1 - duel.turn].digs]]
        likely = [cell for cell in free if cell in (duel.boards[1 - duel.turn].treasures or [])] or free
        choice = chance.random()
        if choice < 0.62:
            duel.dig(user, chance.choice(likely if chance.random() < 0.3 else free))
        elif choice < 0.98:
            duel.wait(TICK_MINUTES * chance.choice([1, 1, 1, 2]))
        else:
            duel.resign(chance.choice(["ada", "ben"]))
        duel.check(chance.choice(USERS))
    duel.wait(24 * 60 + 1)
    duel.check()
    loser = "ben" if duel.winner == "ada" else "ada"
    assert record(project, str(duel.winner)) == (1, 0, 0)
    assert record(project, loser) == (0, 1, 0)


def test_nobody_sees_treasures_before_the_game_is_over_but_their_owner(project: Deployment) -> None:
    duel = Duel.joined_by_ben(project)
    duel.check()
    duel.hide("ben", [24, 0, 7])
    duel.check()
    duel.hide("ada", HIDDEN[0])
    duel.dig("ada", 7)
    duel.dig("ada", 1)
    duel.check()
    duel.resign("ada")
    duel.check()


def test_who_finds_the_third_treasure_wins(project: Deployment) -> None:
    duel = Duel.begun(project)
    duel.dig("ada", 1)
    for cell in HIDDEN[0]:
        duel.dig("ben", cell)
        duel.check("ada", None)
    assert (duel.status, duel.winner) == ("over", "ben")
    with project.fails(data={"code": "WRONG_STATUS"}):
        duel.call("ben", "dig", cell=5)


def test_a_dig_begins_a_new_time_limit_and_an_old_one_means_nothing(project: Deployment) -> None:
    duel = Duel.begun(project)
    duel.wait(8)
    duel.dig("ada", HIDDEN[1][0])
    duel.wait(8)
    duel.check("ada")
    assert duel.turn == 0
    duel.dig("ada", 1)
    duel.wait(8)
    duel.check("ada")
    duel.dig("ben", 1)
    duel.wait(8)
    duel.check("ada")
    assert duel.strikes == [0, 0]
    duel.wait(3)
    duel.check("ada")
    assert duel.strikes == [1, 0]


def test_a_third_strike_ends_the_game_without_anyone_doing_anything(project: Deployment) -> None:
    duel = Duel.begun(project)
    duel.wait(33)
    duel.check("ada")
    assert duel.strikes == [2, 1]
    duel.dig("ben", 1)
    duel.wait(11)
    duel.check()
    assert (duel.strikes, duel.winner) == ([3, 1], "ben")
    duel.wait(100)
    duel.check()


def test_who_watches_sees_that_the_time_is_up_without_anyone_calling_anything(project: Deployment) -> None:
    duel = Duel.begun(project)
    with project.subscribe("duel:view", game=duel.id) as live:
        assert (live.value["strikes"], live.value["turn"]) == ([0, 0], "ada")
        duel.wait(11)
        live.wait_until(lambda seen: (seen["strikes"], seen["turn"]) == ([1, 0], "ben"))


def test_who_does_not_hide_in_time_loses_to_one_who_has(project: Deployment) -> None:
    duel = Duel.joined_by_ben(project)
    duel.wait(20)
    duel.hide("ben", HIDDEN[1])
    duel.wait(8)
    duel.check("cyd")
    duel.wait(4)
    duel.check()
    assert duel.winner == "ben"


def test_a_game_that_nobody_prepares_is_drawn(project: Deployment) -> None:
    duel = Duel.joined_by_ben(project)
    duel.wait(32)
    duel.check()
    assert duel.winner is None
    assert [record(project, user) for user in ("ada", "ben")] == [(0, 0, 1), (0, 0, 1)]


def test_a_game_that_nobody_joins_is_over_after_a_day_and_does_not_count(project: Deployment) -> None:
    duel = Duel.of(project)
    duel.check()
    duel.wait(24 * 60 - 2)
    duel.check("ada")
    duel.wait(4)
    duel.check("ada", None)
    with project.fails(data={"code": "WRONG_STATUS"}):
        duel.call("ben", "join")
    assert record(project, "ada") == (0, 0, 0)


def test_a_game_that_was_joined_late_goes_on(project: Deployment) -> None:
    duel = Duel.of(project)
    duel.wait(23 * 60 + 50)
    duel.join("ben")
    duel.wait(20)
    duel.hide("ada", HIDDEN[0])
    duel.hide("ben", HIDDEN[1])
    duel.wait(5)
    duel.dig("ada", 1)
    duel.wait(7)
    duel.check("ben")
    assert duel.strikes == [0, 0]


def test_only_one_of_many_can_join(project: Deployment) -> None:
    duel = Duel.of(project)
    others = [project.as_user(f"user {number}") for number in range(5)]
    joins: list[Callable[[], Any]] = [partial(each.mutation, "duel:join", game=duel.id) for each in others]
    made = at_once(joins)
    assert sorted(each.data["code"] for each in made if isinstance(each, CallFailed)) == ["WRONG_STATUS"] * 4


def test_games_are_listed_with_the_newest_first(project: Deployment) -> None:
    first, second = Duel.of(project), Duel.joined_by_ben(project)
    third = project.as_user("ben").mutation("duel:create", {})
    project.as_user("ada").mutation("duel:join", game=third)
    second.resign("ada")
    assert project.as_user("ada").query("duel:mine") == [
        {"game": third, "status": "hiding", "opponent": "ben"},
        {"game": second.id, "status": "over", "opponent": "ben"},
        {"game": first.id, "status": "open", "opponent": None},
    ]
    assert [each["opponent"] for each in project.as_user("ben").query("duel:mine")] == ["ada", "ada"]
    assert project.as_user("cyd").query("duel:mine") == []
    project.as_user("ben").mutation("duel:resign", game=third)
    assert [record(project, user) for user in ("ada", "ben", "cyd")] == [(1, 1, 0), (1, 1, 0), (0, 0, 0)]


def test_what_the_rules_forbid_changes_nothing(project: Deployment) -> None:
    duel = Duel.of(project)

    def refused(code: str, user: str | None, function: str, **arguments: Any) -> None:
        with project.fails(data={"code": code}):
            caller(project, user).mutation(f"duel:{function}", {"game": duel.id, **arguments})

    refused("OWN_GAME", "ada", "join")
    refused("WRONG_STATUS", "ada", "resign")
    refused("WRONG_STATUS", "ada", "hide", cells=[1])
    refused("NOT_A_PLAYER", "ben", "hide", cells=[1, 2, 3])
    duel.join("ben")
    refused("OWN_GAME", "ada", "join")
    refused("WRONG_STATUS", "ben", "join")
    refused("WRONG_STATUS", "ada", "dig", cell=99)
    for cells in ([1, 2], [1, 2, 3, 4], [1, 1, 2], [1, 2, 25], [-1, 2, 3], [0.5, 1, 2], []):
        refused("INVALID", "ada", "hide", cells=cells)
    duel.hide("ada", HIDDEN[0])
    refused("INVALID", "ada", "hide", cells=[1, 2])
    refused("ALREADY_DONE", "ada", "hide", cells=[1, 2, 3])
    duel.check("ada")
    duel.hide("ben", HIDDEN[1])
    refused("WRONG_STATUS", "ben", "hide", cells=[1, 2, 3])
    refused("NOT_YOUR_TURN", "ben", "dig", cell=99)
    for cell in (25, -1, 1.5):
        refused("INVALID", "ada", "dig", cell=cell)
    duel.dig("ada", HIDDEN[1][0])
    refused("ALREADY_DONE", "ada", "dig", cell=HIDDEN[1][0])
    for user, code in (("cyd", "NOT_A_PLAYER"), (None, "NOT_LOGGED_IN")):
        for function, arguments in (("hide", {"cells": [1]}), ("dig", {"cell": 99}), ("resign", {})):
            refused(code, user, function, **arguments)
    refused("NOT_LOGGED_IN", None, "join")
    with project.fails(data={"code": "NOT_LOGGED_IN"}):
        project.mutation("duel:create", {})
    with project.fails(data={"code": "NOT_LOGGED_IN"}):
        project.query("duel:mine")
    duel.check()
    duel.dig("ada", 1)
    duel.dig("ben", HIDDEN[1][0])
    duel.check("ben")
    duel.resign("ben")
    refused("WRONG_STATUS", "ada", "resign")
    duel.check("ada")


def test_clients_can_call_these_functions_and_no_others_and_arguments_are_validated(project: Deployment) -> None:
    public = {name: spec.kind for name, spec in project.functions().items() if spec.is_public}
    assert public == {name: kind for name, (kind, _) in FUNCTIONS.items()}
    duel, ada = Duel.of(project), project.as_user("ada")
    for function, (kind, given) in FUNCTIONS.items():
        arguments = {**given, "game": duel.id} if "game" in given else given
        call = ada.query if kind == "query" else ada.mutation
        for argument, value in arguments.items():
            wrong = {**arguments, argument: 1 if isinstance(value, str) else "1"}
            for rejected in (wrong, {key: arguments[key] for key in arguments if key != argument}):
                with project.fails("ArgumentValidationError"):
                    call(function, rejected)
    with project.fails("ArgumentValidationError"):
        ada.mutation("duel:hide", game=duel.id, cells=["1", "2", "3"])
