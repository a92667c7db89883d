"""Ranks in leagues of any size, kept by the aggregate component or by something as good."""

import random
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment

Leagues = dict[str, dict[str, int]]
"""The scores of the players of each league."""

FUNCTIONS = {
    "ranking:submit": ("mutation", {"league": "a", "player": "p", "score": 1}),
    "ranking:correct": ("mutation", {"league": "a", "player": "p", "score": 1}),
    "ranking:withdraw": ("mutation", {"league": "a", "player": "p"}),
    "ranking:promote": ("mutation", {"player": "p", "from": "a", "to": "b"}),
    "ranking:rename": ("mutation", {"player": "p", "name": "q"}),
    "ranking:importScores": ("mutation", {"league": "a", "scores": []}),
    "ranking:rank": ("query", {"league": "a", "player": "p"}),
    "ranking:page": ("query", {"league": "a", "offset": 0, "count": 1}),
    "ranking:between": ("query", {"league": "a", "low": 0, "high": 1}),
    "ranking:summary": ("query", {"league": "a"}),
}
MANY = 200
MOST_READ = 120


def ordered(scores: dict[str, int]) -> list[dict[str, Any]]:
    players = sorted(scores, key=lambda player: (-scores[player], player))
    return [{"player": each, "score": scores[each], "rank": rank_of(scores, scores[each])} for each in players]


def rank_of(scores: dict[str, int], score: int) -> int:
    return 1 + sum(other > score for other in scores.values())


def summary_of(scores: dict[str, int]) -> dict[str, Any]:
    found = [each["score"] for each in ordered(scores)]
    return {"players": len(found), "total": sum(found), "median": found[len(found) // 2] if found else None}


def change(project: Deployment, function: str, /, **arguments: Any) -> Any:
    return project.mutation(f"ranking:{function}", arguments)


def check(project: Deployment, leagues: Leagues, chance: random.Random, players: list[str]) -> None:
    """Everything about one league, with different pages, ranges and players each time."""
    league = chance.choice(sorted(leagues))
    scores = leagues[league]
    assert project.query("ranking:summary", league=league) == summary_of(scores)
    offset, count = chance.randint(0, len(scores) + 1), chance.randint(1, 5)
    received = project.query("ranking:page", league=league, offset=offset, count=count)
    assert received == ordered(scores)[offset : offset + count]
    low, high = chance.randint(-3, 3), chance.randint(-3, 4)
    received = project.query("ranking:between", league=league, low=low, high=high)
    assert received == sum(low <= score <= high for score in scores.values())
    player = chance.choice(players)
    expected = player in scores and {
        "rank": rank_of(scores, scores[player]),
        "of": len(scores),
        "score": scores[player],
    }
    assert project.query("ranking:rank", league=league, player=player) == (expected or None)


def step(project: Deployment, leagues: Leagues, chance: random.Random, players: list[str]) -> str:
    """One random operation, on the deployment and on the truth; what was done, for messages."""
    league, other = chance.choice(sorted(leagues)), chance.choice(sorted(leagues))
    player, score = chance.choice(players), chance.randint(-3, 3)
    scores = leagues[league]
    match chance.choice(["submit", "submit", "submit", "correct", "withdraw", "promote", "rename", "import"]):
        case "submit":
            assert change(project, "submit", league=league, player=player, score=score) is None
            scores[player] = max(score, scores.get(player, score))
            return f"submit {league} {player} {score}"
        case "correct":
            received = change(project, "correct", league=league, player=player, score=score)
            assert received == (player in scores)
            scores.update({player: score} if player in scores else {})
            return f"correct {league} {player} {score}"
        case "withdraw":
            assert change(project, "withdraw", league=league, player=player) == (player in scores)
            scores.pop(player, None)
            return f"withdraw {league} {player}"
        case "promote":
            arguments = {"player": player, "from": league, "to": other}
            assert project.mutation("ranking:promote", arguments) == (player in scores)
            if player in scores:
                moved = scores.pop(player)
                leagues[other][player] = max(moved, leagues[other].get(player, moved))
            return f"promote {player} {league} {other}"
        case "rename":
            return rename(project, leagues, player, chance.choice(players))
        case _:
            given = [{"player": chance.choice(players), "score": chance.randint(-3, 3)} for _ in range(3)]
            assert change(project, "importScores", league=league, scores=given) is None
            for each in given:
                scores[each["player"]] = max(each["score"], scores.get(each["player"], each["score"]))
            return f"import {league} {given}"


def rename(project: Deployment, leagues: Leagues, player: str, name: str) -> str:
    if any(name in scores for scores in leagues.values()):
        with project.fails(data={"code": "NAME_TAKEN"}):
            change(project, "rename", player=player, name=name)
    else:
        assert change(project, "rename", player=player, name=name) is None
        for scores in leagues.values():
            scores.update({name: scores.pop(player)} if player in scores else {})
    return f"rename {player} {name}"


@pytest.mark.parametrize("seed", range(3))
def test_ranks_pages_counts_and_sums_are_exact_after_every_change(project: Deployment, seed: int) -> None:
    chance, done = random.Random(seed), []
    players = ["ada", "Ben", "cyd", "Dan", "eve", "ö", "Zoe", "10", "9"]
    leagues: Leagues = {"north": {}, "south": {}}
    for _ in range(14):
        done.append(step(project, leagues, chance, players))
        try:
            check(project, leagues, chance, players)
        except AssertionError as wrong:
            raise AssertionError(f"after {'; '.join(done)}: {wrong}") from None


def check_all(project: Deployment, league: str, scores: dict[str, int]) -> None:
    assert project.query("ranking:page", league=league, offset=0, count=5) == ordered(scores)
    assert project.query("ranking:summary", league=league) == summary_of(scores)
    for player, score in scores.items():
        expected = {"rank": rank_of(scores, score), "of": len(scores), "score": score}
        assert project.query("ranking:rank", league=league, player=player) == expected


def test_a_corrected_score_changes_the_order_both_ways(project: Deployment) -> None:
    for player, score in (("ada", 3), ("ben", 2), ("cyd", 1)):
        change(project, "submit", league="a", player=player, score=score)
    assert change(project, "correct", league="a", player="ada", score=1) is True
    check_all(project, "a", {"ada": 1, "ben": 2, "cyd": 1})
    assert change(project, "correct", league="a", player="cyd", score=9) is True
    assert change(project, "correct", league="a", player="cyd", score=9) is True
    check_all(project, "a", {"ada": 1, "ben": 2, "cyd": 9})
    assert change(project, "correct", league="a", player="dan", score=9) is False


def test_a_promoted_player_has_the_better_of_two_scores(project: Deployment) -> None:
    for league, player, score in (("a", "ada", 3), ("a", "ben", 2), ("b", "ada", 5), ("b", "ben", 1), ("a", "cyd", 4)):
        change(project, "submit", league=league, player=player, score=score)
    for player in ("ada", "ben", "cyd"):
        assert project.mutation("ranking:promote", {"player": player, "from": "a", "to": "b"}) is True
        assert project.mutation("ranking:promote", {"player": player, "from": "a", "to": "b"}) is False
    check_all(project, "a", {})
    check_all(project, "b", {"ada": 5, "ben": 2, "cyd": 4})
    assert project.mutation("ranking:promote", {"player": "ada", "from": "b", "to": "b"}) is True
    check_all(project, "b", {"ada": 5, "ben": 2, "cyd": 4})


def test_scores_around_zero_are_counted_rightly(project: Deployment) -> None:
    given = [{"player": str(score), "score": score} for score in (-2, -1, 0, 1, 2)]
    change(project, "importScores", league="a", scores=given)
    for low in range(-3, 4):
        for high in (-1, 0, 1):
            received = project.query("ranking:between", league="a", low=low, high=high)
            assert received == sum(low <= score <= high for score in range(-2, 3)), (low, high)
    assert [project.query("ranking:rank", league="a", player=str(each))["rank"] for each in (1, 0, -1)] == [2, 3, 4]


def test_an_empty_league_has_nobody(project: Deployment) -> None:
    assert project.query("ranking:summary", league="a") == {"players": 0, "total": 0, "median": None}
    assert project.query("ranking:page", league="a", offset=0, count=5) == []
    assert project.query("ranking:between", league="a", low=-5, high=5) == 0
    assert project.query("ranking:rank", league="a", player="p") is None
    change(project, "submit", league="a", player="p", score=5)
    assert change(project, "withdraw", league="a", player="p") is True
    assert project.query("ranking:summary", league="a") == {"players": 0, "total": 0, "median": None}
    assert project.query("ranking:page", league="a", offset=0, count=5) == []


def test_a_taken_name_changes_nothing_in_any_league(project: Deployment) -> None:
    for league in ("a", "b", "c"):
        change(project, "submit", league=league, player="ada", score=1)
    change(project, "submit", league="c", player="ben", score=2)
    with project.fails(data={"code": "NAME_TAKEN"}):
        change(project, "rename", player="ada", name="ben")
    assert project.query("ranking:page", league="a", offset=0, count=5) == [{"player": "ada", "score": 1, "rank": 1}]
    change(project, "rename", player="ada", name="cyd")
    for league in ("a", "b"):
        assert project.query("ranking:rank", league=league, player="ada") is None
        assert project.query("ranking:rank", league=league, player="cyd") == {"rank": 1, "of": 1, "score": 1}
    assert [each["player"] for each in project.query("ranking:page", league="c", offset=0, count=5)] == ["ben", "cyd"]


def test_no_call_reads_a_large_part_of_a_large_league(project: Deployment) -> None:
    chance = random.Random(1)
    scores = {f"player {number}": chance.randint(-60, 60) for number in range(MANY)}
    given = [{"player": player, "score": score} for player, score in scores.items()]
    for start in range(0, MANY, 100):
        change(project, "importScores", league="big", scores=given[start : start + 100])
    queries: dict[str, tuple[dict[str, Any], Any]] = {
        "rank": ({"player": "player 7"}, {"rank": rank_of(scores, scores["player 7"]), "of": MANY}),
        "page": ({"offset": 100, "count": 5}, ordered(scores)[100:105]),
        "between": ({"low": -9, "high": 9}, sum(-9 <= score <= 9 for score in scores.values())),
        "summary": ({}, summary_of(scores)),
    }
    queries["rank"][1]["score"] = scores["player 7"]
    for name, (arguments, expected) in queries.items():
        with project.trace() as work:
            assert project.query(f"ranking:{name}", {"league": "big", **arguments}) == expected
        assert work.documents_read <= MOST_READ, name
    mutations: list[tuple[str, dict[str, Any]]] = [
        ("submit", {"league": "big", "player": "new", "score": 0}),
        ("correct", {"league": "big", "player": "player 5", "score": 61}),
        ("withdraw", {"league": "big", "player": "player 9"}),
        ("promote", {"player": "player 8", "from": "big", "to": "small"}),
    ]
    for name, arguments in mutations:
        with project.trace() as work:
            project.mutation(f"ranking:{name}", arguments)
        assert work.documents_read <= MOST_READ, name


QUERIES: list[tuple[str, dict[str, Any]]] = [
    ("rank", {"player": "ada"}),
    ("page", {"offset": 0, "count": 5}),
    ("between", {"low": 0, "high": 9}),
    ("summary", {}),
]


@pytest.mark.parametrize(("name", "arguments"), QUERIES, ids=[name for name, _ in QUERIES])
def test_a_change_in_another_league_does_not_run_a_query_again(
    project: Deployment, name: str, arguments: dict[str, Any]
) -> None:
    for league in ("a", "b"):
        given = [{"player": f"p{number}", "score": number} for number in range(6)]
        change(project, "importScores", league=league, scores=[*given, {"player": "ada", "score": 3}])
    with project.subscribe(f"ranking:{name}", {"league": "a", **arguments}) as live:
        change(project, "submit", league="b", player="new", score=4)
        change(project, "correct", league="b", player="ada", score=9)
        change(project, "withdraw", league="b", player="p1")
        change(project, "submit", league="c", player="first", score=4)
        assert live.executions() == 1
        change(project, "submit", league="a", player="best", score=5)
        live.wait_until(lambda _: len(live.updates) == 2)


def test_clients_can_call_these_functions_and_no_others_and_arguments_are_validated(project: Deployment) -> None:
    public = {name: spec.kind for name, spec in project.functions().items() if spec.is_public}
    assert public == {name: kind for name, (kind, _) in FUNCTIONS.items()}
    for name, (kind, arguments) in FUNCTIONS.items():
        call = project.query if kind == "query" else project.mutation
        for argument, value in arguments.items():
            wrong = {**arguments, argument: 1 if isinstance(value, str) else "1"}
            for rejected in (wrong, {key: arguments[key] for key in arguments if key != argument}):
                with project.fails("ArgumentValidationError"):
                    call(name, rejected)
    for entry in ({"player": 1, "score": 1}, {"player": "p", "score": "1"}, {"player": "p"}, {"score": 1}):
        with project.fails("ArgumentValidationError"):
            change(project, "importScores", league="a", scores=[entry])
