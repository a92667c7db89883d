"""One function that looks up documents by any index, with types as precise as the schema."""

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, Int64, TypeChecks

TOGETHER = 10  # so many refused snippets are compiled at once: what the compiler says about more might be cut off
HEAD = """\
import type { Doc, Id } from "./_generated/dataModel";
import { internalMutation, type DatabaseReader } from "./_generated/server";
import { lookup } from "./lib/lookup";

type IsAny<T> = 0 extends 1 & T ? true : false;
type Same<A, B> = IsAny<A> extends true ? false : [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type Kind<K extends Doc<"events">["kind"]> = Extract<Doc<"events">, { kind: K }>;
type Paid<M extends Doc<"payments">["method"]["type"]> = Extract<Doc<"payments">, { method: { type: M } }>;

declare const db: DatabaseReader;
declare const personId: Id<"people">;
declare const teamId: Id<"teams">;
declare const ticketId: Id<"tickets">;
declare const text: string;
declare const maybeText: string | undefined;
declare const twoKinds: "opened" | "login";
"""


def found(call: str, expected: str) -> str:
    """A module that compiles if the call gives exactly this."""
    return HEAD + (
        f"export async function check() {{\n  const found = await lookup({call});\n"
        f"  const same: Same<typeof found, {expected}> = true;\n  return same;\n}}\n"
    )


def used(call: str, use: str) -> str:
    """A module that does something with what the call gives."""
    return HEAD + f"export async function check() {{\n  const found = await lookup({call});\n  return {use};\n}}\n"


def called(call: str) -> str:
    return used(call, "found")


PEOPLE, EVENTS = 'Doc<"people">[]', 'Doc<"events">[]'
PLACE = 'db, "people", "by_role_and_place"'
COMPILES = {
    "no values": found('db, "people", "by_email", {}', PEOPLE),
    "one of many": found('db, "people", "by_email", { email: "a" }', PEOPLE),
    "maybe": found('db, "people", "by_email", { email: text }, { expect: "maybe" }', 'Doc<"people"> | null'),
    "one": found('db, "people", "by_email", { email: text }, { expect: "one" }', 'Doc<"people">'),
    "many with order and limit": found(
        'db, "people", "by_email", { email: text }, { expect: "many", order: "desc", limit: 3 }', PEOPLE
    ),
    "order and limit": found('db, "people", "by_email", {}, { order: "asc", limit: 3 }', PEOPLE),
    "no options": found('db, "people", "by_email", {}, {}', PEOPLE),
    "the first field": found(f'{PLACE}, {{ role: "agent" }}', PEOPLE),
    "the first two fields": found(f'{PLACE}, {{ role: "agent", "address.country": "IT" }}', PEOPLE),
    "three fields in another order": found(
        f'{PLACE}, {{ "address.city": "Rome", role: "customer", "address.country": "IT" }}', PEOPLE
    ),
    "all fields": found(
        f'{PLACE}, {{ role: "agent", "address.country": "IT", "address.city": "Rome", _creationTime: 5 }}', PEOPLE
    ),
    "undefined for an optional field": found('db, "people", "by_nickname", { nickname: undefined }', PEOPLE),
    "undefined for a field of an optional object": found(
        f'{PLACE}, {{ role: "agent", "address.country": undefined }}', PEOPLE
    ),
    "a value that may be undefined": found('db, "people", "by_nickname", { nickname: maybeText }', PEOPLE),
    "null for a nullable field": found('db, "teams", "by_lead", { leadId: null }', 'Doc<"teams">[]'),
    "an ID for a nullable field": found('db, "teams", "by_lead", { leadId: personId }', 'Doc<"teams">[]'),
    "a bigint": found('db, "teams", "by_size", { size: 5n }', 'Doc<"teams">[]'),
    "by ID": found('db, "tickets", "by_id", { _id: ticketId }, { expect: "one" }', 'Doc<"tickets">'),
    "by creation time": found('db, "teams", "by_creation_time", { _creationTime: 5 }', 'Doc<"teams">[]'),
    "a boolean": found('db, "tickets", "by_team", { teamId, closed: true }', 'Doc<"tickets">[]'),
    "values in a variable": HEAD
    + "const values = { teamId, closed: true, priority: 3 };\n"
    + 'export const tickets: Promise<Doc<"tickets">[]> = lookup(db, "tickets", "by_team", values);\n',
    "in a mutation": HEAD
    + "export const f = internalMutation({\n  args: {},\n  handler: async (ctx) => {\n"
    + '    const team = await lookup(ctx.db, "teams", "by_size", { size: 1n }, { expect: "one" });\n'
    + '    await ctx.db.patch("teams", team._id, { size: team.size + 1n });\n  },\n});\n',
    "a union without values": found('db, "events", "by_kind", {}', EVENTS),
    "one kind": found('db, "events", "by_kind", { kind: "imported" }', 'Kind<"imported">[]'),
    "one kind and the only one": found(
        'db, "events", "by_kind", { kind: "assigned" }, { expect: "one" }', 'Kind<"assigned">'
    ),
    "perhaps one of a kind": found(
        'db, "events", "by_kind", { kind: "login" }, { expect: "maybe" }', 'Kind<"login"> | null'
    ),
    "two kinds": found('db, "events", "by_kind", { kind: twoKinds }', 'Kind<"opened" | "login">[]'),
    "members with a field": found('db, "events", "by_ticket", { ticketId }', 'Kind<"opened" | "assigned">[]'),
    "members without a field": found(
        'db, "events", "by_ticket", { ticketId: undefined }', 'Kind<"login" | "imported">[]'
    ),
    "two values": found('db, "events", "by_ticket", { kind: "opened", ticketId }', 'Kind<"opened">[]'),
    "two values, one of them undefined": found(
        'db, "events", "by_ticket", { ticketId: undefined, kind: twoKinds }', 'Kind<"login">[]'
    ),
    "a literal or a string": found('db, "events", "by_source", { source: "web" }', 'Kind<"opened" | "login">[]'),
    "a literal that only a string can be": found('db, "events", "by_source", { source: "mail" }', 'Kind<"opened">[]'),
    "any string": found('db, "events", "by_source", { source: text }', 'Kind<"opened" | "login" | "imported">[]'),
    "a field that is optional in one member": found(
        'db, "events", "by_note", { note: text }', 'Kind<"assigned" | "imported">[]'
    ),
    "undefined where one member requires the field": found(
        'db, "events", "by_note", { note: undefined }', 'Kind<"opened" | "assigned" | "login">[]'
    ),
    "a string or undefined": found('db, "events", "by_note", { note: maybeText }', EVENTS),
    "a nested literal": found('db, "payments", "by_method", { "method.type": "card" }', 'Paid<"card">[]'),
    "a nested literal and another value": found(
        'db, "payments", "by_method", { amount: 5, "method.type": "cash" }', 'Paid<"cash">[]'
    ),
    "a nested field that one member has": found(
        'db, "payments", "by_code", { "method.code": text }', 'Paid<"voucher">[]'
    ),
    "a nested field that one member lacks": found(
        'db, "payments", "by_code", { "method.code": undefined }', 'Paid<"card" | "cash">[]'
    ),
    "a member's own field": used('db, "payments", "by_method", { "method.type": "card" }', "found[0]?.settled"),
    "the field of a document": used('db, "people", "by_email", { email: text }, { expect: "one" }', "found.name"),
}
REFUSED = {
    "an unknown table": called('db, "persons", "by_email", {}'),
    "an unknown index": called('db, "people", "by_mail", {}'),
    "an index of another table": called('db, "people", "by_team", {}'),
    "a search index": called('db, "people", "search_name", {}'),
    "no values at all": called('db, "people", "by_email"'),
    "only the second field": called(f'{PLACE}, {{ "address.country": "IT" }}'),
    "the first and the third field": called(f'{PLACE}, {{ role: "agent", "address.city": "Rome" }}'),
    "the creation time without the fields before": called(f'{PLACE}, {{ role: "agent", _creationTime: 5 }}'),
    "the second field of a union without the first": called('db, "events", "by_ticket", { kind: "opened" }'),
    "a field of the table that the index does not have": called('db, "people", "by_email", { email: "a", name: "b" }'),
    "a misspelled field": called('db, "people", "by_email", { email: "a", nickame: "b" }'),
    "a misspelled field alone": called('db, "people", "by_email", { emial: "a" }'),
    "a field of another index for a union": called('db, "events", "by_kind", { kind: "imported", source: "file" }'),
    "the creation time for by_id": called('db, "tickets", "by_id", { _id: ticketId, _creationTime: 5 }'),
    "a nested object": called(f'{PLACE}, {{ role: "agent", address: {{ country: "IT" }} }}'),
    "a number for a string": called('db, "people", "by_email", { email: 5 }'),
    "a number for a bigint": called('db, "teams", "by_size", { size: 5 }'),
    "an ID of another table": called('db, "tickets", "by_team", { teamId: personId, closed: true }'),
    "an ID of another table for by_id": called('db, "tickets", "by_id", { _id: teamId }'),
    "a string for an ID": called('db, "tickets", "by_team", { teamId: text }'),
    "an unknown literal": called(f'{PLACE}, {{ role: "boss" }}'),
    "an unknown kind": called('db, "events", "by_kind", { kind: "exported" }'),
    "any string for a literal": called('db, "events", "by_kind", { kind: text }'),
    "a wrong value in the second place": called(f'{PLACE}, {{ role: "agent", "address.country": 5 }}'),
    "undefined for a required field": called('db, "people", "by_email", { email: undefined }'),
    "a string or undefined for a required field": called('db, "people", "by_email", { email: maybeText }'),
    "undefined for a nullable field": called('db, "teams", "by_lead", { leadId: undefined }'),
    "undefined for a field that all members have": called('db, "events", "by_kind", { kind: undefined }'),
    "null for an optional field": called('db, "people", "by_nickname", { nickname: null }'),
    "a limit for one": called('db, "people", "by_email", { email: text }, { expect: "one", limit: 3 }'),
    "an order for maybe": called('db, "people", "by_email", { email: text }, { expect: "maybe", order: "desc" }'),
    "another expectation": called('db, "people", "by_email", { email: text }, { expect: "first" }'),
    "another order": called('db, "people", "by_email", {}, { order: "down" }'),
    "an unknown option": called('db, "people", "by_email", {}, { order: "asc", limits: 3 }'),
    "a field that the member does not have": used(
        'db, "payments", "by_method", { "method.type": "cash" }', "found[0]?.settled"
    ),
    "a field that only one of two kinds has": used('db, "events", "by_kind", { kind: twoKinds }', "found[0]?.personId"),
    "a field of what may be null": used('db, "people", "by_email", { email: text }, { expect: "maybe" }', "found.name"),
    "a field of an array": used('db, "people", "by_email", { email: text }', "found.name"),
    "a field that does not exist": used('db, "people", "by_email", { email: text }, { expect: "one" }', "found.nam"),
}


@pytest.mark.parametrize("name", COMPILES)
def test_compiles(type_checks: TypeChecks, name: str) -> None:
    assert type_checks.errors(COMPILES)[name] == ()


@pytest.mark.parametrize("name", REFUSED)
def test_does_not_compile(type_checks: TypeChecks, name: str) -> None:
    names = list(REFUSED)
    start = names.index(name) // TOGETHER * TOGETHER
    some = {each: REFUSED[each] for each in names[start : start + TOGETHER]}
    assert type_checks.errors(some)[name] != (), f"this compiles:\n{REFUSED[name][len(HEAD) :]}"


def person(project: Deployment, email: str, **fields: Any) -> str:
    return project.insert("people", {"email": email, "name": email.upper(), "role": "customer"} | fields)


def ticket(project: Deployment, team: str, who: str, **fields: Any) -> str:
    plain = {"teamId": team, "personId": who, "priority": 1, "subject": "s", "closed": False, "labels": {}}
    return project.insert("tickets", plain | fields)


def emails(people: list[dict[str, Any]]) -> list[str]:
    return [each["email"] for each in people]


def test_maybe_gives_the_only_document_or_null(project: Deployment) -> None:
    person(project, "a")
    found = person(project, "b", nickname="bee")
    assert project.query("desk:person", email="b") == project.get(found)
    assert project.query("desk:person", email="c") is None
    assert project.query("desk:person", email="") is None


def test_maybe_refuses_a_second_document(project: Deployment) -> None:
    for email in ("a", "b", "a"):
        person(project, email)
    with project.fails(data={"code": "AMBIGUOUS", "table": "people", "index": "by_email"}):
        project.query("desk:person", email="a")
    for name in ("x", "y"):
        project.insert("teams", name=name, size=Int64(3), leadId=None)
    with project.fails(data={"code": "AMBIGUOUS", "table": "teams", "index": "by_size"}):
        project.query("desk:teamOfSize", size=Int64(3))
    assert project.query("desk:teamOfSize", size=Int64(4)) is None


def test_one_refuses_none_and_a_second_document(project: Deployment) -> None:
    found = person(project, "a")
    assert project.query("desk:personById", id=found) == project.get(found)
    project.delete("people", found)
    with project.fails(data={"code": "MISSING", "table": "people", "index": "by_id"}):
        project.query("desk:personById", id=found)


def test_the_creation_time_is_the_last_field(project: Deployment) -> None:
    who = person(project, "a")
    team = project.insert("teams", name="t", size=Int64(1), leadId=None)
    for _ in range(2):
        ticket(project, team, who)
    first, second = project.documents("tickets")
    values = {name: first[name] for name in ("teamId", "closed", "priority")}
    for each in (first, second):
        assert project.query("desk:ticket", values | {"_creationTime": each["_creationTime"]}) == each
    with project.fails(data={"code": "MISSING", "table": "tickets", "index": "by_team"}):
        project.query("desk:ticket", values | {"_creationTime": 5})


def test_a_key_with_undefined_is_not_the_same_as_no_key(project: Deployment) -> None:
    for email, fields in (("a", {}), ("b", {"nickname": "n"}), ("c", {"nickname": ""}), ("d", {})):
        person(project, email, **fields)
    assert emails(project.query("desk:nicknamed")) == ["a", "d"]
    assert emails(project.query("desk:nicknamed", nickname="n")) == ["b"]
    assert emails(project.query("desk:nicknamed", nickname="")) == ["c"]
    assert emails(project.query("desk:byNickname")) == ["a", "d", "c", "b"]


def test_order_and_limit_apply_to_arrays(project: Deployment) -> None:
    for email, nickname in (("a", "z"), ("b", "m"), ("c", "m"), ("d", "a")):
        person(project, email, nickname=nickname)
    assert emails(project.query("desk:byNickname")) == ["d", "b", "c", "a"]
    assert emails(project.query("desk:byNickname", order="asc")) == ["d", "b", "c", "a"]
    assert emails(project.query("desk:byNickname", order="desc")) == ["a", "c", "b", "d"]
    assert emails(project.query("desk:byNickname", order="desc", limit=2)) == ["a", "c"]
    assert emails(project.query("desk:byNickname", limit=3)) == ["d", "b", "c"]
    assert emails(project.query("desk:byNickname", limit=9)) == ["d", "b", "c", "a"]
    assert project.query("desk:byNickname", limit=0) == []


def test_nested_fields_and_keys_in_any_order(project: Deployment) -> None:
    places = [("agent", "IT", "Rome"), ("agent", "IT", "Bari"), ("customer", "IT", "Rome"), ("agent", "FR", "Rome")]
    for number, (role, country, city) in enumerate(places):
        person(project, str(number), role=role, address={"country": country, "city": city})
    person(project, "none", role="agent")
    assert emails(project.query("desk:agentsIn", country="IT")) == ["1", "0"]
    assert emails(project.query("desk:agentsIn", country="IT", city="Rome")) == ["0"]
    assert emails(project.query("desk:agentsIn", country="FR")) == ["3"]
    assert emails(project.query("desk:agentsIn", country="DE")) == []


def test_null_is_a_value(project: Deployment) -> None:
    lead = person(project, "a")
    for name, of in (("z", None), ("b", lead), ("a", None)):
        project.insert("teams", name=name, size=Int64(1), leadId=of)
    assert project.query("desk:teamsLedBy", leadId=None) == ["a", "z"]
    assert project.query("desk:teamsLedBy", leadId=lead) == ["b"]


def test_mutations_look_up_what_they_have_written(project: Deployment) -> None:
    ada, ben = person(project, "a"), person(project, "b")
    team = project.insert("teams", name="t", size=Int64(1), leadId=None)
    for who in (ada, ben, ada):
        ticket(project, team, who)
    assert project.mutation("desk:closeAll", personId=ada) == 2
    assert [each["closed"] for each in project.documents("tickets")] == [True, False, True]


def test_documents_of_a_union(project: Deployment) -> None:
    who = person(project, "a")
    team = project.insert("teams", name="t", size=Int64(1), leadId=None)
    one, two = (ticket(project, team, who) for _ in range(2))
    project.insert("events", kind="opened", ticketId=one, source="mail")
    project.insert("events", kind="imported", source="file", note="first", rows=3)
    project.insert("events", kind="assigned", ticketId=one, to=who, note="hers")
    project.insert("events", kind="login", personId=who, source="web")
    project.insert("events", kind="assigned", ticketId=two, to=who)
    project.insert("events", kind="imported", source="file", note="second", rows=4)
    assert project.query("desk:imports") == {"rows": 7, "notes": ["first", "second"]}
    assert project.query("desk:history", ticketId=one) == ["hers", "from mail"]
    assert project.query("desk:history", ticketId=one, kind="opened") == ["from mail"]
    assert project.query("desk:history", ticketId=two) == ["assigned"]
    assert project.query("desk:unrelated") == ["imported by file", "imported by file", "login by web"]
    for drawer, amount in ((1, 5), (2, 6), (3, 5)):
        project.insert("payments", amount=amount, method={"type": "cash"}, drawer=drawer)
    project.insert("payments", amount=5, method={"type": "card", "last4": "1234"}, settled=True)
    assert project.query("desk:drawers", amount=5) == [1, 3]


@pytest.mark.parametrize("seed", range(2))
def test_tickets_are_found_in_the_order_of_the_index(project: Deployment, seed: int) -> None:
    chance = random.Random(seed)
    who = person(project, "a")
    teams = [project.insert("teams", name=name, size=Int64(1), leadId=None) for name in "xyz"]
    rows: list[dict[str, Any]] = [
        {"teamId": chance.choice(teams), "closed": chance.random() < 0.5, "priority": chance.choice([0, 1, -1, 2.5])}
        for _ in range(40)
    ]
    for row in rows:
        ticket(project, row["teamId"], who, closed=row["closed"], priority=row["priority"])
    for _ in range(25):
        team, closed = chance.choice(teams), chance.random() < 0.5
        order, limit = chance.choice([None, "asc", "desc"]), chance.choice([None, 1, 3, 100])
        options = {name: value for name, value in (("order", order), ("limit", limit)) if value is not None}
        wanted = [number for number, row in enumerate(rows) if row["teamId"] == team and row["closed"] == closed]
        wanted.sort(key=lambda number: (rows[number]["priority"], number), reverse=order == "desc")
        ids = [each["_id"] for each in project.documents("tickets")]
        received = project.query("desk:tickets", {"teamId": team, "closed": closed} | options)
        assert [ids.index(each["_id"]) for each in received] == wanted[:limit], options


def test_only_what_is_needed_is_read(project: Deployment) -> None:
    who = person(project, "a")
    teams = [project.insert("teams", name=name, size=Int64(1), leadId=None) for name in "xy"]
    for number in range(30):
        person(project, f"many{number % 2}", nickname=str(number))
        ticket(project, teams[number % 2], who, closed=number % 3 == 0)
    calls: list[tuple[int, str, Callable[[], Any]]] = [
        (1, "people.by_email", partial(project.query, "desk:person", email="a")),
        (1, "people.by_id", partial(project.query, "desk:personById", id=who)),
        (3, "people.by_nickname", partial(project.query, "desk:byNickname", limit=3)),
        (10, "tickets.by_team", partial(project.query, "desk:tickets", teamId=teams[0], closed=False)),
        (4, "tickets.by_team", partial(project.query, "desk:tickets", teamId=teams[0], closed=False, limit=4)),
    ]
    for limit, index, call in calls:
        with project.trace() as work:
            call()
        assert work.documents_read <= limit, index
        assert work.indexes == {index}
    with project.trace() as work, project.fails(data={"code": "AMBIGUOUS", "table": "people", "index": "by_email"}):
        project.query("desk:person", email="many1")
    assert work.documents_read <= 2
