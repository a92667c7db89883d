"""Hostile answers, graded as `convex-evals run` grades: each gets its verdict, and nothing else is touched.

The tables are in `cases/`. Every `test` grades the quick ones, each as root or as an ordinary user; `test --all` grades
all of them as both.
"""

from collections.abc import Iterator

import pytest

from .answers import PASSES, HostileAnswer, together
from .batch import World, kept_cache, open_world
from .cases import CATEGORIES, HONEST, MISTAKEN
from .person import Person, people
from .problems import problems

pytestmark = pytest.mark.timeout(3000, func_only=True)
PEOPLE = people()
QUICK = [answer for answers in CATEGORIES.values() for answer in answers if answer.quick]
# Attacks that come to nothing when a Node action is called can be made by one answer.
CALLED = [answer for answer in QUICK if answer.script and answer.expected is PASSES]
TOGETHER = together("attacks_in_many_ways", CALLED)
SINGLE = [answer for answer in QUICK if answer not in CALLED]
FIRST = [answer for answer in HONEST if answer.template != "foreign"]
LAST = [answer for answer in (*HONEST, *MISTAKEN) if answer.name in ("honest_node", "mistaken_plain")]
LEAVES, FINDS = (
    next(answer for answer in CATEGORIES["cheating"] if answer.name == name)
    for name in ("leaves_state_behind", "finds_state_of_another")
)
# ESLint is kept warm between answers, so those that it reads are graded with it as well, honest ones after them.
READ_BY_LINTERS = [
    answer
    for category, answers in CATEGORIES.items()
    for answer in answers
    if category == "configuration" or "eslint" in answer.expected.steps
]
READ_QUICKLY = [answer for answer in READ_BY_LINTERS if answer.name in ("eslint_disable", "many_parentheses")]
READ_LAST = [answer for answer in HONEST if answer.template == "plain"]
ESLINT = ("--linter", "eslint")


@pytest.fixture(scope="module", params=PEOPLE, ids=lambda person: person.name)
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    """Begins with packages that are installed and reference answers that are bundled, which takes half a minute; so
    they are kept from one `test` to the next. The first person of `test --all` begins with nothing."""
    anew = request.config.getoption("exhaustive") and request.param == PEOPLE[0]
    with open_world(request.param, prepared=None if anew else kept_cache()) as opened:
        if not opened.is_prepared:
            results = opened.grade(FIRST).results.values()
            assert {result.status for result in results} == {"passed"}, "\n".join(map(str, results))
            opened.keep_cache()
        opened.remember_cache()
        yield opened


def theirs(person: Person) -> list[HostileAnswer]:
    """The share of the quick answers that is graded as this person, and then those that show what they left behind."""
    share = SINGLE[PEOPLE.index(person) :: len(PEOPLE)]
    return [LEAVES, TOGETHER, *share, FINDS, *LAST] if person == PEOPLE[-1] else [*share, *LAST]


def test_quick_attacks_are_contained(world: World) -> None:
    answers = theirs(world.person)
    found = problems(world, answers, world.grade(answers))
    assert not found, "\n".join(found)


@pytest.mark.exhaustive
@pytest.mark.parametrize("category", CATEGORIES)
def test_attacks_are_contained(world: World, category: str) -> None:
    answers = [*CATEGORIES[category], *HONEST, *MISTAKEN]
    found = problems(world, answers, world.grade(answers))
    assert not found, "\n".join(found)


@pytest.mark.exhaustive
@pytest.mark.parametrize("world", PEOPLE[:1], ids=lambda person: person.name, indirect=True)
def test_quick_attacks_on_a_warm_eslint_are_contained(world: World) -> None:
    answers = [*READ_QUICKLY, *READ_LAST]
    found = problems(world, answers, world.grade(answers, *ESLINT, jobs=1))
    assert not found, "\n".join(found)


@pytest.mark.exhaustive
def test_attacks_on_a_warm_eslint_are_contained(world: World) -> None:
    answers = [*READ_BY_LINTERS, *HONEST, *MISTAKEN]
    found = problems(world, answers, world.grade(answers, *ESLINT))
    assert not found, "\n".join(found)
