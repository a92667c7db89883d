import random
from collections.abc import Mapping

import pytest

from convex_evals.statistics import Tally, holm, look, unsettled
from convex_evals.statistics.comparison import SIGNIFICANT

EVALS = 24
LOOKS = 4


def tallies(**verdicts: tuple[int, int]) -> dict[str, Tally]:
    return {name: Tally(passed, trials) for name, (passed, trials) in verdicts.items()}


@pytest.mark.parametrize(
    ("a", "b", "settled"),
    [
        ((1, 1), (1, 1), False),  # once is chance
        ((2, 2), (2, 2), True),
        ((0, 2), (0, 3), True),
        ((2, 2), (1, 1), True),
        ((0, 1), (1, 2), False),
        ((2, 2), (0, 2), False),  # a difference must be borne out
        ((1, 2), (1, 2), False),
        ((2, 2), (1, 2), False),
    ],
)
def test_an_eval_is_settled_when_both_have_always_done_the_same(
    a: tuple[int, int], b: tuple[int, int], settled: bool
) -> None:
    assert unsettled(tallies(x=a), tallies(x=b)) == (() if settled else ("x",))
    assert unsettled(tallies(x=b), tallies(x=a)) == (() if settled else ("x",))


def test_evals_of_one_side_only_deserve_no_trial() -> None:
    assert unsettled(tallies(x=(1, 1)), tallies(y=(1, 1))) == ()


def test_the_level_is_shared_by_looks_and_p_corrected_for_pairs() -> None:
    failing, passing = (dict.fromkeys(map(str, range(9)), Tally(passed, 1)) for passed in (0, 1))
    models = {"a": failing, "b": passing, "c": passing}
    found = look(models, [("a", "b"), ("a", "c"), ("b", "c")], 2, LOOKS)
    assert [each.p for each in found] == holm([2 / 2**9, 2 / 2**9, 1.0])
    assert {each.level for each in found} == {SIGNIFICANT / LOOKS}
    assert [each.verdict for each in found] == ["better", "better", "cannot tell"]
    # Alone and looked at once it would be decided; p is 0.031.
    six = {name: {key: models[name][key] for key in "012345"} for name in "ab"}
    assert [look(six, [("a", "b")], 1, looks)[0].verdict for looks in (1, 2)] == ["better", "cannot tell"]


def test_a_pair_without_a_shared_eval_is_left_out() -> None:
    assert look({"a": tallies(x=(1, 1)), "b": tallies(y=(1, 1))}, [("a", "b")], 1, 1) == ()


def test_trials_that_never_vary_cannot_decide_more() -> None:
    a, b = tallies(x=(2, 2), y=(0, 2), z=(2, 2)), tallies(x=(2, 2), y=(2, 2), z=(2, 2))
    [found] = look({"a": a, "b": b}, [("a", "b")], 2, 5)
    assert found.verdict == "cannot tell" and found.is_hopeless


def go_on(chances: Mapping[str, list[float]], chance: random.Random, *, fixed: str | None = None) -> str:
    """The procedure from beginning to end: a look after every trial, further trials of what is not settled."""
    names = [str(number) for number in range(EVALS)]
    found: dict[str, dict[str, Tally]] = {"a": {}, "b": {}}
    for number in range(1, LOOKS + 1):
        todo = names if number == 1 else unsettled(found["a"], found["b"])
        for model in ("a", "b"):
            if model != fixed or number == 1:
                _try(found[model], chances[model], todo, chance)
        [seen] = look(found, [("a", "b")], number, LOOKS)
        if seen.verdict != "cannot tell":
            return seen.verdict
    return "cannot tell"


def _try(
    found: dict[str, Tally], chances: list[float], todo: list[str] | tuple[str, ...], chance: random.Random
) -> None:
    for name in todo:
        before = found.get(name, Tally(0, 0))
        found[name] = Tally(before.passed + (chance.random() < chances[int(name)]), before.trials + 1)


def some_chances(chance: random.Random) -> list[float]:
    """As they are in a suite: many evals always pass or always fail, the others do as they like."""
    return [chance.choice([0.0, 1.0, 1.0, chance.random(), chance.random()]) for _ in range(EVALS)]


@pytest.mark.parametrize("fixed", [None, "a"])
def test_models_that_are_alike_are_told_apart_in_less_than_one_of_twenty(fixed: str | None) -> None:
    """Simulated: four looks and the choice of evals included. 250 of them have a standard error of 1.4 points."""
    chance, wrong = random.Random(7), 0
    for _ in range(250):
        chances = some_chances(chance)
        wrong += go_on({"a": chances, "b": chances}, chance, fixed=fixed) != "cannot tell"
    assert wrong / 250 <= SIGNIFICANT


def test_a_clear_difference_is_found_and_in_the_right_direction() -> None:
    chance = random.Random(11)
    verdicts = [
        go_on({"a": [each * 0.3 for each in chances], "b": [max(each, 0.8) for each in chances]}, chance)
        for chances in (some_chances(chance) for _ in range(40))
    ]
    assert verdicts.count("worse") == 0
    assert verdicts.count("better") >= 36
