"""Signed webhooks: exactly the bytes that were sent, every event once, in whatever order they arrive."""

import hashlib
import hmac
import json
import random
from functools import partial
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import CallFailed, Deployment, at_once

SECRET = "s3cret-ä"
UNAUTHORIZED = (401, {"error": "unauthorized"})
MALFORMED = (400, {"error": "malformed"})
UNKNOWN = (422, {"error": "unknown account"})
APPLIED, OUTDATED, DUPLICATE, IGNORED = (
    (200, {"status": status}) for status in ("applied", "outdated", "duplicate", "ignored")
)


def event(name: str = "e1", account: str = "main", sequence: int = 1, balance: float = 10, **more: Any) -> bytes:
    fields = {"type": "balance", "id": name, "account": account, "sequence": sequence, "balance": balance, **more}
    return json.dumps(fields).encode()


def sign(body: bytes, time: str, secret: str = SECRET) -> str:
    return hmac.new(secret.encode(), time.encode() + b"." + body, hashlib.sha256).hexdigest()


def seconds(project: Deployment, ago: int = 0) -> str:
    return str(int(project.now() / 1000) - ago)


def post(project: Deployment, body: bytes, header: str | None, bank: str = "north") -> tuple[int, Any]:
    headers = {} if header is None else {"X-Signature": header}
    response = project.http.post(f"/hooks/{bank}", body=body, headers=headers)
    assert (response.header("Content-Type") or "").split(";")[0] == "application/json"
    return response.status, response.json()


def deliver(
    project: Deployment, body: bytes, bank: str = "north", secret: str = SECRET, ago: int = 0
) -> tuple[int, Any]:
    time = seconds(project, ago)
    return post(project, body, f"t={time},v1={sign(body, time, secret)}", bank)


def ready(project: Deployment, *accounts: str, bank: str = "north") -> None:
    assert project.admin.mutation("banks:addSecret", bank=bank, secret=SECRET) is None
    for account in accounts:
        assert project.admin.mutation("banks:openAccount", bank=bank, account=account) is None


def state(project: Deployment, account: str = "main", bank: str = "north") -> Any:
    found = project.admin.query("banks:account", bank=bank, account=account)
    return found and (found["balance"], found["sequence"], found["events"])


def test_a_signed_event_is_applied_once(project: Deployment) -> None:
    ready(project, "main")
    assert project.admin.query("banks:account", bank="north", account="main") == {
        "balance": 0,
        "sequence": -1,
        "events": 0,
    }
    assert deliver(project, event(sequence=0, balance=-2.5)) == APPLIED
    assert deliver(project, event(sequence=0, balance=-2.5)) == DUPLICATE
    assert deliver(project, event(sequence=7, balance=99), ago=20) == DUPLICATE
    assert deliver(project, event(sequence=7, balance=99, account="nowhere")) == DUPLICATE
    assert state(project) == (-2.5, 0, 1)
    ready(project, "main")
    assert state(project) == (-2.5, 0, 1)
    assert state(project, "other") is None


def test_repetitions_at_the_same_moment_count_once(project: Deployment) -> None:
    ready(project, "main")
    with project.lockstep(4):
        received = at_once([partial(deliver, project, event(sequence=3)) for _ in range(4)])
    failures = [each for each in received if isinstance(each, CallFailed)]
    assert failures == []
    assert sorted(str(each) for each in received) == sorted(str(each) for each in [APPLIED] + [DUPLICATE] * 3)
    assert state(project) == (10, 3, 1)


def test_events_may_overtake_one_another(project: Deployment) -> None:
    ready(project, "main")
    assert deliver(project, event("late", sequence=5, balance=50)) == APPLIED
    assert deliver(project, event("early", sequence=4, balance=40)) == OUTDATED
    assert deliver(project, event("same", sequence=5, balance=55)) == OUTDATED
    assert deliver(project, event("early", sequence=9, balance=90)) == DUPLICATE
    assert state(project) == (50, 5, 3)
    numbers = random.Random(1).sample(range(10, 30), 8)
    with project.lockstep(8):
        at_once([partial(deliver, project, event(f"n{n}", sequence=n, balance=n)) for n in numbers])
    assert state(project) == (max(numbers), max(numbers), 11)


def test_an_event_that_was_not_accepted_can_come_again(project: Deployment) -> None:
    ready(project)
    assert deliver(project, event()) == UNKNOWN
    assert deliver(project, event()) == UNKNOWN
    assert post(project, event(), f"t={seconds(project)},v1={'0' * 64}") == UNAUTHORIZED
    assert deliver(project, event(sequence=-1)) == MALFORMED
    assert deliver(project, event(type="other")) == IGNORED
    ready(project, "main")
    assert state(project) == (0, -1, 0)
    assert deliver(project, event()) == APPLIED
    assert state(project) == (10, 1, 1)


def test_banks_have_nothing_to_do_with_each_other(project: Deployment) -> None:
    ready(project, "main")
    ready(project, "main", bank="south")
    project.admin.mutation("banks:addSecret", bank="south", secret="of the south")
    assert deliver(project, event(), "south", "of the south") == APPLIED
    assert deliver(project, event(), "north", "of the south") == UNAUTHORIZED
    assert deliver(project, event(), "nobody") == UNAUTHORIZED
    assert deliver(project, event(balance=3), "north") == APPLIED
    assert (state(project), state(project, bank="south")) == ((3, 1, 1), (10, 1, 1))
    assert project.admin.mutation("banks:removeSecret", bank="south", secret=SECRET) is None
    assert deliver(project, event(), "south") == UNAUTHORIZED
    assert deliver(project, event(), "north") == DUPLICATE


def test_secrets_come_and_go(project: Deployment) -> None:
    ready(project, "main")
    ready(project)
    project.admin.mutation("banks:addSecret", bank="north", secret="next")
    body, time = event(), seconds(project)
    old, new, junk = sign(body, time), sign(body, time, "next"), "ab" * 32
    assert post(project, body, f"v1={junk},t={time},v0={old},v1={new}") == APPLIED
    assert post(project, body, f"v1={old},v1={junk},t={time},x") == DUPLICATE
    assert project.admin.mutation("banks:removeSecret", bank="north", secret=SECRET) is None
    project.admin.mutation("banks:removeSecret", bank="north", secret="never there")
    assert post(project, body, f"t={time},v1={old}") == UNAUTHORIZED
    assert post(project, body, f"t={time},v1={junk},v1={new}") == DUPLICATE


def bad_headers(body: bytes, time: str) -> list[str | None]:
    good = sign(body, time)
    return [
        None,
        "",
        good,
        f"v1={good}",
        f"t=,v1={good}",
        f"t={time}",
        f"t={time},v0={good}",
        f"t={time},v1={good[:-1]}",
        f"t={time},v1={good}00",
        f"t={time},v1={good.upper()}",
        f"t={time}, v1={good}",
        f"t={time},v1=",
        f"t={time},v1={'zz' * 32}",
        f"t={time},t={time},v1={good}",
        f"t={time}.0,v1={sign(body, time + '.0')}",
        f"t=now,v1={sign(body, 'now')}",
        f"t={time},v1={sign(body, str(int(time) + 1))}",
        f"t={int(time) + 1},v1={good}",
        f"t={time},v1={hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()}",
        f"t={time},v1={sign(body + b' ', time)}",
    ]


def test_what_is_not_genuine_is_refused(project: Deployment) -> None:
    ready(project, "main")
    body, time = event(), seconds(project)
    received = {header: post(project, body, header) for header in bad_headers(body, time)}
    assert received == dict.fromkeys(received, UNAUTHORIZED)
    assert post(project, b"nonsense", f"t={time},v1={'0' * 64}") == UNAUTHORIZED
    assert state(project) == (0, -1, 0)


def test_old_copies_are_refused(project: Deployment) -> None:
    ready(project, "main")
    assert deliver(project, event("a"), ago=285) == APPLIED
    assert deliver(project, event("b", sequence=2), ago=-285) == APPLIED
    assert [deliver(project, event("c"), ago=ago) for ago in (302, -330, 5000)] == [UNAUTHORIZED] * 3
    body, time = event("d", sequence=3), seconds(project)
    header = f"t={time},v1={sign(body, time)}"
    assert post(project, body, header) == APPLIED
    project.advance(minutes=4)
    assert post(project, body, header) == DUPLICATE
    project.advance(minutes=2)
    assert post(project, body, header) == UNAUTHORIZED


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            b'{ "type":"balance",\r\n "id":"\\u00e9\xcc\x81","account":"main","sequence":1e0,"balance":1.50 }\n',
            APPLIED,
        ),
        (event(**{"$note": 1, "_id": "x", "": None, "bank": "south", "nested": {"a": [1]}}), APPLIED),
        (event(name=" "), APPLIED),
        (b'{"type":"balance","id":"\xff","account":"main","sequence":1,"balance":1}', MALFORMED),
        (b"\xff\xfe", MALFORMED),
        (b"", MALFORMED),
        (b"null", MALFORMED),
        (b"[]", MALFORMED),
        (b'"balance"', MALFORMED),
        (b"{}", MALFORMED),
        (b'{"type":5}', MALFORMED),
        (b'{"type":"balance"}', MALFORMED),
        (b'{"type":"other"}', IGNORED),
        (b'{"type":"","id":5}', IGNORED),
        (event(name=""), MALFORMED),
        (event(id=5), MALFORMED),
        (event(account=None), MALFORMED),
        (event(sequence=1.5), MALFORMED),
        (event(sequence="1"), MALFORMED),
        (event(sequence=-1), MALFORMED),
        (event(balance="1"), MALFORMED),
        (event(balance=True), MALFORMED),
    ],
    ids=range(22),
)
def test_signatures_are_about_bytes_and_events_about_fields(
    project: Deployment, body: bytes, expected: tuple[int, Any]
) -> None:
    ready(project, "main")
    assert deliver(project, body) == expected
    assert state(project)[2] == (expected == APPLIED)


def stored(project: Deployment, text: str) -> list[str]:
    """Tables that contain the text."""
    return [table for table in project.tables() if text in json.dumps(project.documents(table), default=str)]


def test_events_are_remembered_for_thirty_days_and_no_longer(project: Deployment) -> None:
    ready(project, "main")
    assert deliver(project, event("first-event")) == APPLIED
    project.advance(days=20)
    assert deliver(project, event("second-event", sequence=2)) == APPLIED
    project.advance(days=9, hours=23)
    assert deliver(project, event("first-event", sequence=9)) == DUPLICATE
    project.advance(days=1, hours=1)
    assert stored(project, "first-event") == []
    assert deliver(project, event("second-event", sequence=9)) == DUPLICATE
    assert deliver(project, event("first-event")) == OUTDATED
    assert state(project) == (10, 2, 3)
    project.advance(days=20)
    assert stored(project, "second-event") == []
    assert deliver(project, event("first-event")) == DUPLICATE


def test_clients_can_call_nothing(project: Deployment) -> None:
    assert [name for name, function in project.functions().items() if function.is_public] == []
    for name in ("addSecret", "removeSecret", "openAccount"):
        argument = "account" if name == "openAccount" else "secret"
        with project.fails("Could not find public function"):
            project.mutation(f"banks:{name}", {"bank": "north", argument: "a"})
        for bad in ({"bank": "north"}, {argument: "a"}, {"bank": 5, argument: "a"}, {"bank": "north", argument: 5}):
            with project.fails("ArgumentValidationError"):
                project.admin.mutation(f"banks:{name}", bad)
    for bad in ({"bank": "north"}, {"account": "a"}, {"bank": 5, "account": "a"}, {"bank": "north", "account": 5}):
        with project.fails("ArgumentValidationError"):
            project.admin.query("banks:account", bad)
