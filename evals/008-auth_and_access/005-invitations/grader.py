"""Invitations: for one address, for seven days, for one use, and only as long as their sender may invite."""

import base64
import json
import random
import re
from functools import partial
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Caller, CallFailed, Deployment, at_once

WEEK = 7 * 86_400_000
NOT_FOUND, FORBIDDEN, FULL, LAST_ADMIN, UNAUTHENTICATED = (
    {"code": code} for code in ("NOT_FOUND", "FORBIDDEN", "FULL", "LAST_ADMIN", "UNAUTHENTICATED")
)


def person(project: Deployment, name: str, **claims: Any) -> Caller:
    return project.as_user(name, **{"email": f"{name}@example.com", "emailVerified": True, **claims})


def create(project: Deployment, seats: int = 9, admin: str = "ada") -> str:
    team: str = person(project, admin).mutation("teams:create", name="team", seats=seats)
    return team


def invite(project: Deployment, team: str, name: str, role: str = "member", sender: str = "ada") -> str:
    arguments = {"teamId": team, "email": f"{name}@example.com", "role": role}
    token: str = person(project, sender).action("teams:invite", arguments)
    return token


def accept(project: Deployment, name: str, token: str, **claims: Any) -> Any:
    return person(project, name, **claims).mutation("teams:accept", token=token)


def refused(project: Deployment, name: str, token: str, **claims: Any) -> None:
    with project.fails(data=NOT_FOUND):
        accept(project, name, token, **claims)


def set_role(project: Deployment, team: str, name: str, role: str | None, admin: str = "ada") -> None:
    assert person(project, admin).mutation("teams:setRole", teamId=team, user=name, role=role) is None


def members(project: Deployment, team: str, caller: str = "ada") -> dict[str, str]:
    found = person(project, caller).query("teams:members", teamId=team)
    assert [each["user"] for each in found] == sorted(each["user"] for each in found)
    assert all(each.keys() == {"user", "role"} for each in found)
    return {each["user"]: each["role"] for each in found}


def pending(project: Deployment, team: str, caller: str = "ada") -> list[str]:
    found = person(project, caller).query("teams:pending", teamId=team)
    assert all(each.keys() == {"email", "role", "expires"} for each in found)
    return [each["email"].removesuffix("@example.com") for each in found]


def test_who_is_invited_can_join_once(project: Deployment) -> None:
    team, other = create(project), create(project)
    start = project.now()
    token, _ = invite(project, team, "ben"), invite(project, other, "ben")
    [waiting] = person(project, "ada").query("teams:pending", teamId=team)
    assert (waiting["email"], waiting["role"]) == ("ben@example.com", "member")
    assert 0 <= waiting["expires"] - start - WEEK < 60_000
    assert accept(project, "ben", token) == {"teamId": team, "role": "member"}
    assert (members(project, team, "ben"), pending(project, team)) == ({"ada": "admin", "ben": "member"}, [])
    assert (members(project, other), pending(project, other)) == ({"ada": "admin"}, ["ben"])
    refused(project, "twin", token, email="ben@example.com")
    assert members(project, team) == {"ada": "admin", "ben": "member"}


def test_a_second_click_changes_nothing(project: Deployment) -> None:
    team = create(project)
    token = invite(project, team, "ben")
    accept(project, "ben", token)
    assert accept(project, "ben", token) == {"teamId": team, "role": "member"}
    set_role(project, team, "ben", "admin")
    project.advance(days=30)
    assert accept(project, "ben", token) == {"teamId": team, "role": "admin"}
    assert members(project, team) == {"ada": "admin", "ben": "admin"}
    set_role(project, team, "ben", None)
    refused(project, "ben", token)
    fresh = invite(project, team, "ben")
    refused(project, "ben", token)
    assert accept(project, "ben", fresh) == {"teamId": team, "role": "member"}
    assert accept(project, "ben", token) == {"teamId": team, "role": "member"}
    set_role(project, team, "ben", None)
    refused(project, "ben", fresh)
    assert members(project, team) == {"ada": "admin"}


def test_two_people_with_one_address_cannot_both_join(project: Deployment) -> None:
    team = create(project)
    token = invite(project, team, "ben")
    callers = [person(project, name, email="BEN@example.com") for name in ("ben1", "ben2", "ben3")]
    received = at_once([partial(caller.mutation, "teams:accept", token=token) for caller in callers])
    assert [each.data for each in received if isinstance(each, CallFailed)] == [NOT_FOUND] * 2
    assert len(members(project, team)) == 2


def test_the_address_must_be_the_callers_own(project: Deployment) -> None:
    team = create(project)
    token = invite(project, team, "ben")
    refused(project, "eve", token)
    refused(project, "ben", token, emailVerified=False)
    refused(project, "ben", token, email="ben@example.org")
    for claims in ({}, {"email": "ben@example.com"}, {"emailVerified": True}):
        with project.fails(data=NOT_FOUND):
            project.as_user("ben", **claims).mutation("teams:accept", token=token)
    for wrong in ("", token + "x", token[:-1], "ben@example.com"):
        refused(project, "ben", wrong)
    assert members(project, team) == {"ada": "admin"}
    assert accept(project, "ben", token, email="Ben@Example.COM") == {"teamId": team, "role": "member"}


def test_capitals_make_no_difference(project: Deployment) -> None:
    team = create(project)
    ada = person(project, "ada")
    old = ada.action("teams:invite", teamId=team, email="Ben@Example.com", role="member")
    new = ada.action("teams:invite", teamId=team, email="bEN@example.COM", role="admin")
    assert pending(project, team) == ["ben"]
    refused(project, "ben", old)
    assert ada.mutation("teams:withdraw", teamId=team, email="BEN@example.com") is None
    assert pending(project, team) == []
    refused(project, "ben", new)
    assert ada.mutation("teams:withdraw", teamId=team, email="ben@example.com") is None


def test_invitations_end(project: Deployment) -> None:
    team, other = create(project), create(project)
    tokens = {name: invite(project, team, name) for name in ("ben", "cyd", "dan")}
    elsewhere = invite(project, other, "dan")
    replaced, tokens["dan"] = tokens["dan"], invite(project, team, "dan", "admin")
    project.advance(days=6, hours=23)
    assert pending(project, team) == ["ben", "cyd", "dan"]
    accept(project, "ben", tokens["ben"])
    refused(project, "dan", replaced)
    later = invite(project, team, "eve")
    project.advance(hours=2)
    assert pending(project, team) == ["eve"]
    for name in ("cyd", "dan"):
        refused(project, name, tokens[name])
    refused(project, "dan", elsewhere)
    person(project, "ada").mutation("teams:withdraw", teamId=team, email="eve@example.com")
    refused(project, "eve", later)
    assert members(project, team) == {"ada": "admin", "ben": "member"}


def test_invitations_end_with_the_rights_of_their_sender(project: Deployment) -> None:
    team = create(project, seats=5)
    for name in ("ben", "cyd"):
        accept(project, name, invite(project, team, name, "admin"))
    first, second = invite(project, team, "dan", sender="ben"), invite(project, team, "eve", sender="ada")
    with project.fails(data=FULL):
        invite(project, team, "fay")
    set_role(project, team, "ben", "admin")
    assert pending(project, team) == ["dan", "eve"]
    set_role(project, team, "ben", "member")
    assert pending(project, team) == ["eve"]
    refused(project, "dan", first)
    set_role(project, team, "ben", "admin")
    assert pending(project, team) == ["eve"]
    refused(project, "dan", first)
    third = invite(project, team, "fay", sender="cyd")
    set_role(project, team, "cyd", None)
    refused(project, "fay", third)
    replaced = invite(project, team, "eve", sender="ben")
    refused(project, "eve", second)
    set_role(project, team, "ada", "member", admin="ben")
    assert pending(project, team, "ben") == ["eve"]
    assert accept(project, "eve", replaced) == {"teamId": team, "role": "member"}


def test_seats_are_never_exceeded(project: Deployment) -> None:
    team = create(project, seats=3)
    first = invite(project, team, "ben")
    second = invite(project, team, "cyd")
    with project.fails(data=FULL):
        invite(project, team, "dan")
    third = invite(project, team, "ben", "admin")
    assert (pending(project, team), len(members(project, team))) == (["ben", "cyd"], 1)
    refused(project, "ben", first)
    accept(project, "ben", third)
    with project.fails(data=FULL):
        invite(project, team, "ben")
    project.advance(days=7, seconds=1)
    refused(project, "cyd", second)
    fourth = invite(project, team, "dan")
    with project.fails(data=FULL):
        invite(project, team, "eve")
    assert accept(project, "dan", fourth)["role"] == "member"
    set_role(project, team, "dan", None)
    set_role(project, team, "dan", None)
    set_role(project, team, "nobody", "admin")
    invite(project, team, "ben", "member")
    with project.fails(data=FULL):
        invite(project, team, "eve")
    assert members(project, team) == {"ada": "admin", "ben": "admin"}


def test_many_invitations_at_the_same_time(project: Deployment) -> None:
    team = create(project, seats=4)
    emails = [f"{name}@example.com" for name in ("ben", "cyd", "dan", "eve", "fay", "gus")]
    with person(project, "ada").clients(6) as clients, project.lockstep(6):
        calls = [
            partial(client.action, "teams:invite", teamId=team, email=email, role="member")
            for client, email in zip(clients, emails, strict=True)
        ]
        received = at_once(calls)
    assert [each.data for each in received if isinstance(each, CallFailed)] == [FULL] * 3
    assert len(pending(project, team)) == 3
    other = create(project)
    with person(project, "ada").clients(3) as clients, project.lockstep(3):
        calls = [
            partial(client.action, "teams:invite", teamId=other, email="ben@example.com", role="member")
            for client in clients
        ]
        tokens = at_once(calls)
    assert pending(project, other) == ["ben"]
    outcomes = at_once([partial(accept, project, "ben", token) for token in tokens])
    assert [each.data for each in outcomes if isinstance(each, CallFailed)] == [NOT_FOUND] * 2


def test_members_keep_the_higher_role(project: Deployment) -> None:
    team = create(project)
    accept(project, "ben", invite(project, team, "ben"))
    token = invite(project, team, "second", "admin")
    assert accept(project, "ben", token, email="second@example.com") == {"teamId": team, "role": "admin"}
    lower = invite(project, team, "ben", "member")
    assert accept(project, "ben", lower) == {"teamId": team, "role": "admin"}
    assert (members(project, team), pending(project, team)) == ({"ada": "admin", "ben": "admin"}, [])
    set_role(project, team, "ben", "member")
    assert accept(project, "ben", lower) == {"teamId": team, "role": "member"}


def test_tokens_cannot_be_guessed_and_are_not_stored(project: Deployment) -> None:
    team = create(project)
    tokens = [invite(project, team, name) for name in ("ben", "cyd", "dan")]
    assert [token for token in tokens if not re.fullmatch(r"[A-Za-z0-9_-]{32,}", token)] == []
    assert len({token[:12] for token in tokens}) == 3
    kept = json.dumps([project.documents(table) for table in project.tables()], default=repr)
    kept += json.dumps([job.args for job in project.scheduled()], default=repr)
    for token in tokens:
        encoded = base64.b64encode(token.encode()).decode().rstrip("=")[:-2]
        assert [form for form in (token, token[::-1], token.encode().hex(), encoded) if form in kept] == []
    found = re.findall(r'"([A-Za-z0-9_+/=-]{20,})"', kept)
    for value in found:
        refused(project, "ben", value)
    accept(project, "ben", tokens[0])


def test_who_may_do_what(project: Deployment) -> None:
    team, gone = create(project), create(project, admin="dan")
    accept(project, "ben", invite(project, team, "ben"))
    project.delete("teams", gone)
    for caller, name, code in (
        (person(project, "eve"), team, NOT_FOUND),
        (person(project, "eve"), gone, NOT_FOUND),
        (person(project, "ben"), gone, NOT_FOUND),
        (person(project, "ben"), team, FORBIDDEN),
        (project, team, UNAUTHENTICATED),
        (project, gone, UNAUTHENTICATED),
    ):
        with project.fails(data=code):
            caller.action("teams:invite", teamId=name, email="eve@example.com", role="admin")
        with project.fails(data=code):
            caller.mutation("teams:withdraw", teamId=name, email="eve@example.com")
        with project.fails(data=code):
            caller.mutation("teams:setRole", teamId=name, user="ben", role="admin")
        with project.fails(data=code):
            caller.query("teams:pending", teamId=name)
        if code != FORBIDDEN:
            with project.fails(data=code):
                caller.query("teams:members", teamId=name)
    with project.fails(data=UNAUTHENTICATED):
        project.mutation("teams:accept", token="x")
    with project.fails(data=UNAUTHENTICATED):
        project.mutation("teams:create", name="team", seats=1)
    for role in ("member", None):
        with project.fails(data=LAST_ADMIN):
            set_role(project, team, "ada", role)
    set_role(project, team, "ada", "admin")
    assert members(project, team) == {"ada": "admin", "ben": "member"}


def test_a_failed_demotion_keeps_invitations(project: Deployment) -> None:
    team = create(project)
    token = invite(project, team, "ben")
    with project.fails(data=LAST_ADMIN):
        set_role(project, team, "ada", None)
    assert pending(project, team) == ["ben"]
    assert accept(project, "ben", token) == {"teamId": team, "role": "member"}


def test_arguments_are_checked(project: Deployment) -> None:
    ada, team = person(project, "ada"), create(project)
    good: dict[str, dict[str, Any]] = {
        "create": {"name": "a", "seats": 2},
        "invite": {"teamId": team, "email": "a", "role": "member"},
        "withdraw": {"teamId": team, "email": "a"},
        "accept": {"token": "a"},
        "setRole": {"teamId": team, "user": "a", "role": "member"},
    }
    for name, arguments in good.items():
        call = ada.action if name == "invite" else ada.mutation
        for argument in arguments:
            rest = {key: value for key, value in arguments.items() if key != argument}
            for bad in (rest, {**rest, argument: True}):
                with project.fails("ArgumentValidationError"):
                    call(f"teams:{name}", bad)
    for name in ("members", "pending"):
        with project.fails("ArgumentValidationError"):
            ada.query(f"teams:{name}", teamId="nonsense")
    with project.fails("ArgumentValidationError"):
        ada.mutation("teams:setRole", teamId=team, user="a", role="owner")


class Truth:
    """Members, and invitations with their state, of one team with four seats."""

    def __init__(self) -> None:
        self.roles = {"ada": "admin"}
        self.sent: list[dict[str, Any]] = []

    def open(self, now: float) -> list[dict[str, Any]]:
        found = [each for each in self.sent if each["open"] and each["expires"] > now]
        return sorted(found, key=lambda each: str(each["name"]))

    def close(self, **fields: str) -> None:
        for each in self.sent:
            each["open"] = each["open"] and not fields.items() <= each.items()


def act(project: Deployment, team: str, truth: Truth, chance: random.Random) -> str:
    """Something by an admin or an invited person, on both sides; a text that says what."""
    name, now = chance.choice(["ben", "cyd", "dan", "eve"]), project.now()
    admin = chance.choice([each for each, role in truth.roles.items() if role == "admin"])
    kind = chance.choice(["invite"] * 4 + ["accept"] * 4 + ["role", "role", "withdraw", "wait"])
    if kind == "invite":
        role = chance.choice(["member", "admin"])
        others = [each for each in truth.open(now) if each["name"] != name]
        if len(others) + len(truth.roles) >= 4:
            with project.fails(data=FULL):
                invite(project, team, name, role, admin)
        else:
            token = invite(project, team, name, role, admin)
            truth.close(name=name)
            fields = {"name": name, "role": role, "sender": admin, "token": token, "by": None}
            truth.sent.append({**fields, "open": True, "expires": now + WEEK})
    elif kind == "accept" and truth.sent:
        click(project, team, truth, chance.choice(truth.sent), now)
    elif kind == "role" and name in truth.roles:
        role = chance.choice(["admin", "member", None])
        set_role(project, team, name, role)
        truth.roles.pop(name)
        truth.roles.update({name: role} if role else {})
        if role != "admin":
            truth.close(sender=name)
    elif kind == "withdraw":
        person(project, admin).mutation("teams:withdraw", teamId=team, email=f"{name}@example.com")
        truth.close(name=name)
    elif kind == "wait":
        project.advance(days=chance.choice([2, 4]))
    return f"{kind} {name} by {admin}"


def click(project: Deployment, team: str, truth: Truth, sent: dict[str, Any], now: float) -> None:
    name = sent["name"]
    if sent in truth.open(now):
        sent.update(open=False, by=name)
        role = "admin" if "admin" in (sent["role"], truth.roles.get(name)) else "member"
        assert accept(project, name, sent["token"]) == {"teamId": team, "role": role}
        truth.roles[name] = role
    elif sent["by"] == name and name in truth.roles:
        assert accept(project, name, sent["token"]) == {"teamId": team, "role": truth.roles[name]}
    else:
        refused(project, name, sent["token"])


@pytest.mark.parametrize("seed", range(4))
def test_teams_are_as_they_should_be_after_anything(project: Deployment, seed: int) -> None:
    chance, truth, done = random.Random(seed), Truth(), []
    team = create(project, seats=4)
    for _ in range(45):
        done.append(act(project, team, truth, chance))
        assert members(project, team) == truth.roles, f"after {done}"
        assert pending(project, team) == [each["name"] for each in truth.open(project.now())], f"after {done}"
