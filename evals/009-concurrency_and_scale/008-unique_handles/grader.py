"""Handles that are unique whatever their spelling, and stay reserved for a while."""

import random
import unicodedata
from functools import partial
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import CallFailed, Deployment, at_once

MONTH_MS = 30 * 24 * 3600 * 1000
TAKEN = {"code": "TAKEN"}
USERS = ["u1", "u2", "u3", "u4"]


def claim(project: Deployment, user: str, handle: str) -> None:
    assert project.mutation("handles:claim", user=user, handle=handle) is None


def claim_all(project: Deployment, **handles: str) -> None:
    claims = [{"user": user, "handle": handle} for user, handle in handles.items()]
    assert project.mutation("handles:claimAll", claims=claims) is None


def release(project: Deployment, user: str) -> None:
    assert project.mutation("handles:release", user=user) is None


def handle_of(project: Deployment, user: str) -> Any:
    return project.query("handles:handleOf", user=user)


def lookup(project: Deployment, handle: str) -> Any:
    found = project.query("handles:lookup", handle=handle)
    return found and (found["user"], found["handle"])


def reserved(project: Deployment, user: str) -> list[str]:
    return [each["handle"] for each in project.query("handles:reserved", user=user)]


def test_a_handle_is_kept_as_typed_and_found_in_any_spelling(project: Deployment) -> None:
    assert (handle_of(project, "u1"), lookup(project, "ada"), reserved(project, "u1")) == (None, None, [])
    claim(project, "u1", "  Ada_L \n")
    claim(project, "u2", "ﬁnn Ⅸ")
    assert (handle_of(project, "u1"), handle_of(project, "u2")) == ("Ada_L", "ﬁnn Ⅸ")
    for spelling in ("ada_l", "ADA_L", " Ada_L", "ａｄａ＿ｌ"):
        assert project.query("handles:lookup", handle=spelling) == {"user": "u1", "handle": "Ada_L"}
    assert lookup(project, "FINN ix") == ("u2", "ﬁnn Ⅸ")
    assert lookup(project, "ada") is None


def test_nobody_can_have_the_handle_of_somebody_else(project: Deployment) -> None:
    claim(project, "u1", "Ada")
    claim(project, "u2", "Ben")
    for handle in ("Ada", "aDA", " ada ", "Ａda"):
        for user in ("u2", "u3"):
            with project.fails(data=TAKEN):
                claim(project, user, handle)
    assert [handle_of(project, user) for user in USERS] == ["Ada", "Ben", None, None]
    assert reserved(project, "u2") == []


@pytest.mark.parametrize("handle", ["", "ab", "  ab  ", "x" * 21, " "])
def test_the_length_of_a_handle_is_limited(project: Deployment, handle: str) -> None:
    with project.fails(data={"code": "INVALID"}):
        claim(project, "u1", handle)
    with project.fails(data={"code": "INVALID"}):
        claim_all(project, u2="fine", u1=handle)
    assert (handle_of(project, "u1"), handle_of(project, "u2")) == (None, None)
    claim(project, "u1", " abc ")
    claim(project, "u2", f" {'x' * 20} ")
    claim(project, "u3", "ﬃ3x")  # five characters when it is normalized


def test_a_new_spelling_of_the_same_handle_gives_up_nothing(project: Deployment) -> None:
    claim(project, "u1", "ada")
    for spelling in ("ADA", "ADA", "Ａda"):
        claim(project, "u1", spelling)
        assert lookup(project, "ada") == ("u1", spelling)
        assert (handle_of(project, "u1"), reserved(project, "u1")) == (spelling, [])
    claim_all(project, u1="aDa", u2="ben")
    assert (handle_of(project, "u1"), reserved(project, "u1")) == ("aDa", [])


@pytest.mark.parametrize("how", ["rename", "release"])
def test_a_handle_that_was_given_up_is_reserved_for_30_days(project: Deployment, how: str) -> None:
    claim(project, "u1", "Ada")
    start = project.now()
    if how == "rename":
        claim(project, "u1", "other")
    else:
        release(project, "u1")
        release(project, "u1")
    assert handle_of(project, "u1") == ("other" if how == "rename" else None)
    assert lookup(project, "ada") is None
    (entry,) = project.query("handles:reserved", user="u1")
    assert entry.keys() == {"handle", "until"}
    assert entry["handle"] == "Ada"
    assert start + MONTH_MS <= entry["until"] <= project.now() + MONTH_MS
    for moment in (0, 29):
        project.advance(days=moment)
        with project.fails(data=TAKEN):
            claim(project, "u2", "ADA")
        with project.fails(data=TAKEN):
            claim_all(project, u2="ada", u3="cem")
    project.advance(days=1, minutes=-2)
    assert reserved(project, "u1") == ["Ada"]
    project.advance(minutes=4)
    assert reserved(project, "u1") == []
    claim(project, "u2", "aDa")
    assert lookup(project, "ada") == ("u2", "aDa")
    release(project, "u2")
    assert (reserved(project, "u1"), reserved(project, "u2")) == ([], ["aDa"])


def test_the_former_owner_can_take_a_reserved_handle_back(project: Deployment) -> None:
    claim(project, "u1", "Ada")
    claim(project, "u1", "Eve")
    project.advance(days=20)
    claim(project, "u1", "ada")
    assert (handle_of(project, "u1"), reserved(project, "u1")) == ("ada", ["Eve"])
    project.advance(days=20)
    with project.fails(data=TAKEN):
        claim(project, "u2", "Ada")
    claim(project, "u1", "Zoe")
    assert reserved(project, "u1") == ["Eve", "ada"]
    project.advance(days=11)
    assert reserved(project, "u1") == ["ada"]
    claim(project, "u2", "eve")
    project.advance(days=18)
    with project.fails(data=TAKEN):
        claim(project, "u3", "Ada")
    project.advance(days=2)
    claim(project, "u3", "Ada")


def test_no_more_than_two_handles_are_reserved_for_a_user(project: Deployment) -> None:
    for handle in ("one", "two", "three", "four"):
        claim(project, "u1", handle)
    assert reserved(project, "u1") == ["two", "three"]
    claim(project, "u2", "ONE")
    with project.fails(data=TAKEN):
        claim(project, "u3", "two")
    claim(project, "u1", "two")
    assert reserved(project, "u1") == ["three", "four"]
    release(project, "u1")
    assert reserved(project, "u1") == ["four", "two"]
    claim(project, "u3", "three")


def test_reservations_that_are_over_do_not_count(project: Deployment) -> None:
    for handle in ("one", "two", "three"):
        claim(project, "u1", handle)
    project.advance(days=31)
    claim(project, "u1", "four")
    assert reserved(project, "u1") == ["three"]
    claim(project, "u1", "five")
    assert reserved(project, "u1") == ["three", "four"]
    claim(project, "u1", "three")
    assert reserved(project, "u1") == ["four", "five"]
    claim(project, "u2", "one")
    claim(project, "u2", "two")
    claim(project, "u1", "one1")
    with project.fails(data=TAKEN):
        claim(project, "u3", "one")


def test_users_can_exchange_their_handles(project: Deployment) -> None:
    claim_all(project, u1="Ada", u2="Ben", u3="Cem")
    claim_all(project, u1="ben", u2="ada")
    assert [handle_of(project, user) for user in USERS] == ["ben", "ada", "Cem", None]
    claim_all(project, u1="ADA", u2="CEM", u3="BEN")
    assert [handle_of(project, user) for user in USERS] == ["ADA", "CEM", "BEN", None]
    assert [reserved(project, user) for user in USERS] == [[], [], [], []]
    assert [lookup(project, handle) for handle in ("ada", "ben", "cem")] == [
        ("u1", "ADA"),
        ("u3", "BEN"),
        ("u2", "CEM"),
    ]
    claim_all(project, u4="ada", u1="dan")
    assert (handle_of(project, "u4"), handle_of(project, "u1"), reserved(project, "u1")) == ("ada", "dan", [])
    claim_all(project, u4="dan", u1="new")
    assert (reserved(project, "u4"), reserved(project, "u1")) == (["ada"], [])
    claim_all(project)


@pytest.mark.parametrize(
    ("claims", "code"),
    [
        ({"u3": "new", "u1": "ben"}, "TAKEN"),
        ({"u1": "new", "u3": "NEW"}, "TAKEN"),
        ({"u1": "ben", "u2": "BEN"}, "TAKEN"),
        ({"u3": "ada", "u1": "ADA"}, "TAKEN"),
        ({"u3": "new", "u4": "old"}, "TAKEN"),
    ],
)
def test_all_claims_happen_or_none(project: Deployment, claims: dict[str, str], code: str) -> None:
    for user, handle in (("u1", "Ada"), ("u2", "old"), ("u2", "Ben")):
        claim(project, user, handle)
    with project.fails(data={"code": code}):
        claim_all(project, **claims)
    assert [handle_of(project, user) for user in USERS] == ["Ada", "Ben", None, None]
    assert [reserved(project, user) for user in USERS] == [[], ["old"], [], []]


def test_a_user_cannot_claim_twice_in_one_call(project: Deployment) -> None:
    claims = [{"user": "u1", "handle": "one"}, {"user": "u2", "handle": "two"}, {"user": "u1", "handle": "six"}]
    with project.fails(data={"code": "DUPLICATE"}):
        project.mutation("handles:claimAll", claims=claims)
    assert [handle_of(project, user) for user in USERS] == [None] * 4


def test_of_those_who_race_for_a_handle_one_gets_it(project: Deployment) -> None:
    spellings = ["ada", "Ada", "ADA", "aDa", " ada", "Ａda"]
    with project.clients(6) as clients:
        results = at_once(
            [
                partial(client.mutation, "handles:claim", user=f"r{number}", handle=spellings[number])
                for number, client in enumerate(clients)
            ]
        )
    winners = [number for number, result in enumerate(results) if not isinstance(result, CallFailed)]
    assert [handle_of(project, f"r{number}") is not None for number in range(6)] == [n in winners for n in range(6)]
    assert len(winners) == 1


def test_handles_are_found_by_their_beginning(project: Deployment) -> None:
    names = ["Bob", "ada", "ADAM", "adele", "Adam2", "adb", "ad ", "zoe"]
    for number, handle in enumerate([name + "_x" for name in names]):
        claim(project, f"s{number}", handle)
    claim(project, "s0", "adZ")
    release(project, "s3")
    assert project.query("handles:search", prefix="AD") == ["ad _x", "ada_x", "Adam2_x", "ADAM_x", "adb_x", "adZ"]
    assert project.query("handles:search", prefix=" ａda") == ["ada_x", "Adam2_x", "ADAM_x"]
    assert project.query("handles:search", prefix="bob") == []
    assert project.query("handles:search", prefix="zoe_x") == ["zoe_x"]
    for number in range(15):
        claim(project, f"t{number}", f"ttt{number:02}")
    assert project.query("handles:search", prefix="tt") == [f"ttt{number:02}" for number in range(10)]


def test_few_documents_are_read(project: Deployment) -> None:
    for number in range(0, 60, 20):
        claim_all(project, **{f"m{each}": f"many{each}" for each in range(number, number + 20)})
    calls = [
        (20, partial(claim, project, "u1", "mine")),
        (20, partial(claim, project, "u1", "other")),
        (20, partial(lookup, project, "MANY30")),
        (20, partial(handle_of, project, "m30")),
        (20, partial(reserved, project, "u1")),
        (30, partial(project.query, "handles:search", prefix="man")),
    ]
    for most, call in calls:
        with project.trace() as work:
            call()
        assert work.documents_read <= most
    for number in range(40):
        release(project, f"m{number}")
    with project.trace() as work:
        assert project.query("handles:search", prefix="man") == [f"many{number}" for number in range(40, 50)]
    assert work.documents_read <= 30


class Truth:
    def __init__(self) -> None:
        self.handles: dict[str, str] = {}
        self.reserved: list[tuple[str, str, float]] = []  # user, handle, until

    def blocks(self, user: str, handle: str, now: float) -> bool:
        """Whether it is reserved for somebody else."""
        return any(same(handle, kept) and owner != user and until > now for owner, kept, until in self.reserved)

    def claim(self, claims: dict[str, str], now: float) -> bool:
        wanted = [form(handle) for handle in claims.values()]
        others = [form(handle) for user, handle in self.handles.items() if user not in claims]
        if len(set(wanted)) < len(wanted) or set(wanted) & set(others):
            return False
        if any(self.blocks(user, handle, now) for user, handle in claims.items()):
            return False
        self.reserved = [each for each in self.reserved if form(each[1]) not in wanted]
        for user in claims:
            old = self.handles.get(user)
            if old is not None and form(old) not in wanted:
                self.keep(user, old, now)
        self.handles |= claims
        return True

    def keep(self, user: str, handle: str, now: float) -> None:
        self.reserved = [each for each in self.reserved if each[2] > now]
        self.reserved.append((user, handle, now + MONTH_MS))
        mine = [each for each in self.reserved if each[0] == user]
        if len(mine) > 2:
            self.reserved.remove(mine[0])

    def of(self, user: str, now: float) -> list[str]:
        return [handle for owner, handle, until in self.reserved if owner == user and until > now]


def form(handle: str) -> str:
    return unicodedata.normalize("NFKC", handle.strip()).lower()


def same(one: str, other: str) -> bool:
    return form(one) == form(other)


@pytest.mark.parametrize("seed", range(3))
def test_whatever_users_do_handles_and_reservations_are_right(project: Deployment, seed: int) -> None:
    chance, truth, done = random.Random(seed), Truth(), []
    names = ["ada", "Ada", "BEN", "ben", "cem", "dan", "eve"]
    for _ in range(40):
        step, users = chance.choice(["one", "one", "all", "release", "time"]), chance.sample(USERS, 3)
        claims = {user: chance.choice(names) for user in (users[:1] if step == "one" else users)}
        done.append((step, claims))
        now = project.now()
        if step == "time":
            project.advance(days=chance.choice([7, 16]), hours=1)
        elif step == "release":
            release(project, users[0])
            if users[0] in truth.handles:
                truth.keep(users[0], truth.handles.pop(users[0]), now)
        elif truth.claim(claims, now):
            claim_all(project, **claims)
        else:
            with project.fails(data=TAKEN):
                claim_all(project, **claims)
        for user in USERS:
            assert handle_of(project, user) == truth.handles.get(user), f"after {done}"
            assert reserved(project, user) == truth.of(user, project.now()), f"after {done}"


def test_arguments_are_checked(project: Deployment) -> None:
    for arguments in ({"user": 1, "handle": "abc"}, {"user": "u", "handle": 1}, {"user": "u"}):
        with project.fails("ArgumentValidationError"):
            project.mutation("handles:claim", arguments)
        with project.fails("ArgumentValidationError"):
            project.mutation("handles:claimAll", claims=[arguments])
    with project.fails("ArgumentValidationError"):
        project.mutation("handles:release", user=1)
    for name, argument in (("lookup", "handle"), ("handleOf", "user"), ("reserved", "user"), ("search", "prefix")):
        with project.fails("ArgumentValidationError"):
            project.query(f"handles:{name}", {argument: 1})
