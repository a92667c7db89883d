"""Rows that not everybody sees, without leaks through joins, counts, pages, search or errors."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Caller, Deployment

USERS = ("ada", "ben", "cyd", "dan", "eve")
NOT_FOUND, FORBIDDEN = {"code": "NOT_FOUND"}, {"code": "FORBIDDEN"}


def found_org(project: Deployment, admin: str, **roles: str) -> str:
    org: str = project.as_user(admin).mutation("orgs:create", name="acme")
    for user, role in roles.items():
        assert project.as_user(admin).mutation("orgs:setRole", orgId=org, user=user, role=role) is None
    return org


def set_role(project: Deployment, org: str, user: str, role: str | None) -> None:
    project.as_user("ada").mutation("orgs:setRole", orgId=org, user=user, role=role)


def add(caller: Caller, org: str, title: str, private: bool = False, assignee: str | None = None) -> str:
    fields = {"title": title, "body": f"about {title}", "isPrivate": private, "assignee": assignee}
    ticket: str = caller.mutation("tickets:create", orgId=org, **fields)
    return ticket


def titles(caller: Caller, org: str, size: int = 3) -> list[str]:
    """Of all pages, which must be full."""
    pages = [page.items for page in caller.pages("tickets:list", num_items=size, orgId=org)]
    items = [item for page in pages for item in page]
    sizes = [len(page) for page in pages if page]
    assert sizes[:-1] == [size] * len(sizes[:-1]), "pages must be full"
    return [item["title"] for item in items]


def test_who_is_no_member_any_more_sees_nothing(project: Deployment) -> None:
    org = found_org(project, "ada", ben="agent", cyd="agent")
    ben = project.as_user("ben")
    tickets = [
        add(ben, org, "public"),
        add(ben, org, "own", True),
        add(project.as_user("ada"), org, "his", True, "ben"),
    ]
    with ben.clients(1) as [client]:
        live = client.subscribe("tickets:get", ticketId=tickets[1])
        assert live.value["title"] == "own"
        set_role(project, org, "ben", None)
        client.catch_up()
        assert live.value is None
    assert [ben.query("tickets:get", ticketId=ticket) for ticket in tickets] == [None] * 3
    assert [ben.query("tickets:duplicates", ticketId=ticket) for ticket in tickets] == [None] * 3
    for call in calls(project, ben, org, tickets[1], tickets[2]):
        with project.fails(data=NOT_FOUND):
            call()
    set_role(project, org, "ben", "agent")
    assert titles(ben, org) == ["his", "own", "public"]


def calls(project: Deployment, caller: Caller, org: str, ticket: str, other: str) -> Iterator[Any]:
    """Everything that throws for those who do not see."""
    yield lambda: caller.mutation("orgs:setRole", orgId=org, user="eve", role="agent")
    yield lambda: add(caller, org, "new", assignee="nobody")
    yield lambda: caller.mutation("tickets:close", ticketId=ticket)
    yield lambda: caller.mutation("tickets:setPrivate", ticketId=ticket, isPrivate=False)
    yield lambda: caller.mutation("tickets:remove", ticketId=ticket)
    yield lambda: caller.mutation("tickets:markDuplicate", ticketId=ticket, originalId=other)
    yield lambda: caller.query("tickets:list", orgId=org, paginationOpts={"numItems": 3, "cursor": None})
    yield lambda: caller.query("tickets:counts", orgId=org)
    yield lambda: caller.query("tickets:find", orgId=org, prefix="")


def test_strangers_cannot_tell_what_exists(project: Deployment) -> None:
    org, gone = found_org(project, "ada", ben="agent"), found_org(project, "ada")
    ada = project.as_user("ada")
    ticket, removed = add(ada, org, "secret"), add(ada, org, "removed")
    assert ada.mutation("tickets:remove", ticketId=removed) is None
    project.delete("orgs", gone)
    elsewhere = found_org(project, "dan")
    dan = project.as_user("dan")
    own = add(dan, elsewhere, "own")
    for caller in (project, project.as_user("eve"), dan):
        for names in ((org, ticket, ticket), (gone, removed, removed)):
            for call in calls(project, caller, *names):
                with project.fails(data=NOT_FOUND):
                    call()
            assert caller.query("tickets:get", ticketId=names[1]) is None
            assert caller.query("tickets:duplicates", ticketId=names[1]) is None
    for pair in ((own, ticket), (own, removed), (ticket, own), (own, own)):
        with project.fails(data=NOT_FOUND):
            dan.mutation("tickets:markDuplicate", ticketId=pair[0], originalId=pair[1])
    assert dan.query("tickets:get", ticketId=own)["original"] is None
    with project.fails(data={"code": "INVALID_ASSIGNEE"}):
        add(dan, elsewhere, "new", assignee="ada")
    with project.fails(data={"code": "UNAUTHENTICATED"}):
        project.mutation("orgs:create", name="acme")


def test_members_may_not_do_everything(project: Deployment) -> None:
    org = found_org(project, "ada", ben="agent", cyd="agent")
    ada, ben, cyd = (project.as_user(user) for user in ("ada", "ben", "cyd"))
    mine, hidden = add(ben, org, "mine", assignee="cyd"), add(ada, org, "hidden", True)
    for call in (
        lambda: ben.mutation("orgs:setRole", orgId=org, user="ben", role="admin"),
        lambda: ben.mutation("orgs:setRole", orgId=org, user="cyd", role=None),
        lambda: ben.mutation("tickets:remove", ticketId=mine),
        lambda: cyd.mutation("tickets:setPrivate", ticketId=mine, isPrivate=True),
    ):
        with project.fails(data=FORBIDDEN):
            call()
    for name, rest in (("close", {}), ("setPrivate", {"isPrivate": False}), ("remove", {})):
        with project.fails(data=NOT_FOUND):
            ben.mutation(f"tickets:{name}", ticketId=hidden, **rest)
    for first, second in ((mine, hidden), (hidden, mine)):
        with project.fails(data=NOT_FOUND):
            ben.mutation("tickets:markDuplicate", ticketId=first, originalId=second)
    assert ben.mutation("tickets:setPrivate", ticketId=mine, isPrivate=True) is None
    assert cyd.mutation("tickets:close", ticketId=mine) is None
    shown = {"title": "mine", "body": "about mine", "open": False, "isPrivate": True}
    assert cyd.query("tickets:get", ticketId=mine) == {**shown, "creator": "ben", "assignee": "cyd", "original": None}


def test_an_organisation_keeps_an_admin(project: Deployment) -> None:
    org, other = found_org(project, "ada", ben="agent"), found_org(project, "ada")
    for role in (None, "agent"):
        with project.fails(data={"code": "LAST_ADMIN"}):
            set_role(project, org, "ada", role)
    set_role(project, org, "ada", "admin")
    set_role(project, org, "nobody", None)
    set_role(project, org, "ben", "admin")
    set_role(project, org, "ada", "agent")
    with project.fails(data=FORBIDDEN):
        set_role(project, org, "ben", None)
    with project.fails(data={"code": "LAST_ADMIN"}):
        project.as_user("ben").mutation("orgs:setRole", orgId=org, user="ben", role="agent")
    set_role(project, other, "cyd", "agent")
    assert project.as_user("cyd").query("tickets:counts", orgId=other) == {"open": 0, "closed": 0}


def test_links_show_nothing_that_is_hidden(project: Deployment) -> None:
    org = found_org(project, "ada", ben="agent")
    ada, ben = project.as_user("ada"), project.as_user("ben")
    original, first, second = (add(ada, org, title) for title in ("original", "z first", "a second"))
    for ticket in (first, second):
        assert ben.mutation("tickets:markDuplicate", ticketId=ticket, originalId=original) is None
    assert ben.query("tickets:duplicates", ticketId=original) == ["a second", "z first"]
    assert ben.query("tickets:get", ticketId=first)["original"] == {"ticketId": original, "title": "original"}
    with ben.clients(1) as [client]:
        live = client.subscribe("tickets:get", ticketId=first)
        ada.mutation("tickets:setPrivate", ticketId=original, isPrivate=True)
        client.catch_up()
        assert live.value["original"] is None
    assert ada.query("tickets:get", ticketId=first)["original"] == {"ticketId": original, "title": "original"}
    ada.mutation("tickets:setPrivate", ticketId=original, isPrivate=False)
    ada.mutation("tickets:setPrivate", ticketId=second, isPrivate=True)
    assert ben.query("tickets:duplicates", ticketId=original) == ["z first"]
    ada.mutation("tickets:markDuplicate", ticketId=first, originalId=second)
    assert ben.query("tickets:duplicates", ticketId=original) == []
    assert ada.query("tickets:duplicates", ticketId=original) == ["a second"]
    ada.mutation("tickets:remove", ticketId=second)
    assert ada.query("tickets:get", ticketId=first)["original"] is None


def test_hidden_tickets_make_no_gaps(project: Deployment) -> None:
    org = found_org(project, "ada", ben="agent")
    ada, ben = project.as_user("ada"), project.as_user("ben")
    for number in range(60):
        add(ada, org, f"t{number % 30:02}", private=number not in (0, 1, 2, 27, 59))
    assert titles(ben, org, 2) == ["t29", "t27", "t02", "t01", "t00"]
    assert len(titles(ada, org, 25)) == 60
    assert ben.query("tickets:counts", orgId=org) == {"open": 5, "closed": 0}
    assert [item["title"] for item in ben.query("tickets:find", orgId=org, prefix="t")] == [
        "t00",
        "t01",
        "t02",
        "t27",
        "t29",
    ]
    every = ada.query("tickets:find", orgId=org, prefix="t")
    assert [item["title"] for item in every] == [f"t{number // 2:02}" for number in range(10)]
    assert ben.query("tickets:get", ticketId=every[0]["ticketId"])["title"] == "t00", "the oldest first"
    assert ben.query("tickets:get", ticketId=every[1]["ticketId"]) is None
    assert [item["title"] for item in ada.query("tickets:find", orgId=org, prefix="t2")][:2] == ["t20", "t20"]
    assert ada.query("tickets:find", orgId=org, prefix="T") == []


def test_a_hundred_hidden_tickets_make_no_gap(project: Deployment) -> None:
    org = found_org(project, "ada", ben="agent")
    ada, ben = project.as_user("ada"), project.as_user("ben")
    for title in ("first", "second"):
        add(ada, org, title)
    for _ in range(100):
        add(ada, org, "hidden", private=True)
    add(ada, org, "last")
    assert titles(ben, org, 2) == ["last", "second", "first"]


def test_nothing_else_is_read(project: Deployment) -> None:
    org, other = found_org(project, "ada"), found_org(project, "ada")
    ada = project.as_user("ada")
    for number in range(40):
        add(ada, org, f"{'ab'[number % 2]}{number}")
    for number in range(60):
        add(ada, other, f"a{number}")
    with project.trace() as work:
        assert len(ada.query("tickets:find", orgId=org, prefix="b3")) == 6
    assert work.documents_read < 15
    with project.trace() as work:
        ada.query("tickets:list", orgId=org, paginationOpts={"numItems": 5, "cursor": None})
    assert work.documents_read < 55
    with project.trace() as work:
        assert ada.query("tickets:counts", orgId=org) == {"open": 40, "closed": 0}
    assert work.documents_read < 55


def test_arguments_are_checked(project: Deployment) -> None:
    org = found_org(project, "ada")
    ada = project.as_user("ada")
    ticket = add(ada, org, "a")
    good: dict[str, dict[str, Any]] = {
        "orgs:create": {"name": "a"},
        "orgs:setRole": {"orgId": org, "user": "ben", "role": "agent"},
        "tickets:create": {"orgId": org, "title": "a", "body": "b", "isPrivate": True, "assignee": None},
        "tickets:close": {"ticketId": ticket},
        "tickets:setPrivate": {"ticketId": ticket, "isPrivate": True},
        "tickets:remove": {"ticketId": ticket},
        "tickets:markDuplicate": {"ticketId": ticket, "originalId": ticket},
    }
    for name, arguments in good.items():
        for argument in arguments:
            rest = {key: value for key, value in arguments.items() if key != argument}
            for bad in (rest, {**rest, argument: 5}):
                with project.fails("ArgumentValidationError"):
                    ada.mutation(name, bad)
    with project.fails("ArgumentValidationError"):
        ada.mutation("orgs:setRole", orgId=org, user="ben", role="owner")
    for name in ("get", "duplicates", "counts", "find"):
        with project.fails("ArgumentValidationError"):
            ada.query(f"tickets:{name}", orgId="x", ticketId="x", prefix=5)


class Truth:
    """What should be the case: members of two organisations, and tickets in the order of their creation."""

    def __init__(self, orgs: list[str]) -> None:
        self.roles = {(org, "ada"): "admin" for org in orgs}
        self.tickets: dict[str, dict[str, Any]] = {}

    def seen(self, user: str, org: str) -> dict[str, dict[str, Any]]:
        role = self.roles.get((org, user))
        return {
            name: ticket
            for name, ticket in self.tickets.items()
            if role is not None
            and ticket["org"] == org
            and (role == "admin" or not ticket["private"] or user in (ticket["creator"], ticket["assignee"]))
        }


def change(project: Deployment, truth: Truth, chance: random.Random, org: str) -> str:
    """Something that is allowed, on both sides; a text that says what."""
    ada, user = project.as_user("ada"), chance.choice(USERS[1:])
    here = [name for name, ticket in truth.tickets.items() if ticket["org"] == org]
    kind = chance.choice(["role", "create", "create", "create", "close", "private", "remove", "leave"])
    if kind in ("role", "leave"):
        role = None if kind == "leave" else chance.choice(["agent", "agent", "admin"])
        set_role(project, org, user, role)
        truth.roles.pop((org, user), None)
        truth.roles.update({(org, user): role} if role else {})
    elif kind == "create":
        members = [member for each, member in truth.roles if each == org]
        creator, assignee = chance.choice(members), chance.choice([None, *members])
        title, private = f"{chance.choice('xy')}{chance.randrange(5)}", chance.random() < 0.6
        name = add(project.as_user(creator), org, title, private, assignee)
        fields = {
            "org": org,
            "title": title,
            "private": private,
            "creator": creator,
            "assignee": assignee,
            "open": True,
        }
        truth.tickets[name] = fields
    elif here:
        name = chance.choice(here)
        if kind == "close":
            ada.mutation("tickets:close", ticketId=name)
            truth.tickets[name]["open"] = False
        elif kind == "private":
            truth.tickets[name]["private"] = not truth.tickets[name]["private"]
            ada.mutation("tickets:setPrivate", ticketId=name, isPrivate=truth.tickets[name]["private"])
        else:
            ada.mutation("tickets:remove", ticketId=name)
            del truth.tickets[name]
    return f"{kind} {user}"


def check(project: Deployment, truth: Truth, user: str, org: str) -> None:
    caller, seen = project.as_user(user), truth.seen(user, org)
    if (org, user) not in truth.roles:
        with project.fails(data=NOT_FOUND):
            caller.query("tickets:counts", orgId=org)
        return
    assert titles(caller, org) == [ticket["title"] for ticket in reversed(seen.values())]
    open_ones = sum(ticket["open"] for ticket in seen.values())
    assert caller.query("tickets:counts", orgId=org) == {"open": open_ones, "closed": len(seen) - open_ones}
    found = [(ticket["title"], name) for name, ticket in seen.items() if ticket["title"].startswith("x")]
    expected = [name for _, name in sorted(found, key=lambda pair: pair[0])][:10]
    assert [item["ticketId"] for item in caller.query("tickets:find", orgId=org, prefix="x")] == expected


@pytest.mark.parametrize("seed", range(3))
def test_everybody_sees_just_what_they_may(project: Deployment, seed: int) -> None:
    chance, done = random.Random(seed), []
    orgs = [found_org(project, "ada"), found_org(project, "ada")]
    truth = Truth(orgs)
    for _ in range(40):
        org = chance.choice(orgs)
        done.append(change(project, truth, chance, org))
        check(project, truth, chance.choice(USERS), org)
    for name, ticket in truth.tickets.items():
        for user in USERS:
            received = project.as_user(user).query("tickets:get", ticketId=name)
            expected = ticket["title"] if name in truth.seen(user, ticket["org"]) else None
            assert (received and received["title"]) == expected, f"{user}, after {done}"
