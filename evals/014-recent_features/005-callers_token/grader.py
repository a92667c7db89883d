"""Orders in the caller's name: with the token of this very call, which is stored nowhere."""

import base64
import hashlib
import itertools
import json
import random
import time
from functools import partial
from typing import Any, Final

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from convex_evals.pipeline.grading.kit import (
    Caller,
    CallFailed,
    Client,
    Deployment,
    Reply,
    Sources,
    WebRequest,
    WebServer,
    at_once,
)

KEY: Final = ec.derive_private_key(20261117, ec.SECP256R1())
UNAUTHENTICATED, BLOCKED = {"code": "UNAUTHENTICATED"}, {"code": "BLOCKED"}
NOT_FOUND, REFUSED = {"code": "NOT_FOUND"}, {"code": "REFUSED"}
numbers = itertools.count()


def token(user: str, **claims: Any) -> str:
    """Another one each time."""
    now = int(time.time())
    standard = {"iss": "https://sign-in.example", "aud": "prints", "sub": user, "iat": now - 5, "exp": now + 3000}
    return jwt.encode({**standard, "jti": str(next(numbers)), **claims}, KEY, "ES256", {"kid": "company"})


def fingerprint(of: str) -> str:
    return hashlib.sha256(of.encode()).hexdigest()


class Shop:
    def __init__(self, server: WebServer, status: int = 200) -> None:
        self.server, self.status = server, status
        self.url = server.reply("POST", "/orders", self.respond)

    def respond(self, request: WebRequest) -> Reply:
        if self.status >= 300:
            return Reply.json({"order": "none"}, self.status)
        return Reply.json({"order": f"order of {request.json()['photo']}"}, self.status)

    @property
    def received(self) -> list[tuple[str | None, Any]]:
        return [(each.headers.get("authorization"), each.json()) for each in self.server.requests]


def order(caller: Caller | Client, shop: Shop, photo: str = "cat") -> None:
    assert caller.action("prints:order", photo=photo, url=shop.url) == f"order of {photo}"


def nothing_is_stored(project: Deployment, tokens: list[str]) -> None:
    kept = json.dumps([project.documents(table) for table in project.tables()], default=repr)
    kept += json.dumps([job.args for job in project.scheduled()], default=repr)
    for each in tokens:
        signature = each.split(".")[2]
        forms = [each, signature, signature[::-1], signature.encode().hex()]
        forms.append(base64.b64encode(signature.encode()).decode().rstrip("=")[:-2])
        assert [form for form in forms if form in kept] == []


def test_an_order_is_made_with_the_token_of_the_call(project: Deployment, web_server: WebServer) -> None:
    shop = Shop(web_server)
    tokens = [token("ada"), token("ada"), token("ben", name="Ben", roles=["a", "b"]), token("cyd", note="x" * 3000)]
    for number, each in enumerate([*tokens, tokens[0]]):
        order(project.with_token(each), shop, f"photo {number}")
    expected = [(f"Bearer {each}", {"photo": f"photo {number}"}) for number, each in enumerate([*tokens, tokens[0]])]
    assert shop.received == expected
    nothing_is_stored(project, tokens)


def test_a_renewed_token_counts_from_the_next_call_on(project: Deployment, web_server: WebServer) -> None:
    shop = Shop(web_server, 201)
    tokens = [token("ada"), token("ada"), token("ben")]
    with project.clients(1) as (client,):
        for number, each in enumerate(tokens):
            client.authenticate(each)
            assert client.mutation("prints:checkIn", device=f"device {number}") == fingerprint(each)
            order(client, shop)
        client.authenticate(None)
        for path, args in (("checkIn", {"device": "none"}), ("block", {"fingerprint": fingerprint(tokens[0])})):
            with project.fails(data=UNAUTHENTICATED):
                client.mutation(f"prints:{path}", args)
        with project.fails(data=UNAUTHENTICATED):
            client.action("prints:order", photo="cat", url=shop.url)
    assert [header for header, _ in shop.received] == [f"Bearer {each}" for each in tokens]
    assert project.with_token(token("ada")).query("prints:devices") == [
        {"device": "device 0", "fingerprint": fingerprint(tokens[0])},
        {"device": "device 1", "fingerprint": fingerprint(tokens[1])},
    ]
    nothing_is_stored(project, tokens)


def test_orders_at_the_same_time_are_not_mixed_up(project: Deployment, web_server: WebServer) -> None:
    shop, tokens = Shop(web_server), [token(user) for user in ("ada", "ada", "ben", "ada")]
    for each in tokens[:2]:
        project.with_token(each).mutation("prints:checkIn", device="a")
    with project.lockstep(4):
        at_once([partial(order, project.with_token(each), shop, each[-20:]) for each in tokens])
    expected = [(f"Bearer {each}", {"photo": each[-20:]}) for each in tokens]
    assert sorted(shop.received, key=str) == sorted(expected, key=str)


def test_without_a_token_nothing_happens(project: Deployment, web_server: WebServer) -> None:
    shop, ada = Shop(web_server), token("ada")
    project.with_token(ada).mutation("prints:checkIn", device="phone")
    for caller in (project, project.as_user("ada"), project.admin):
        with project.fails(data=UNAUTHENTICATED):
            caller.action("prints:order", photo="cat", url=shop.url)
        with project.fails(data=UNAUTHENTICATED):
            caller.mutation("prints:checkIn", device="laptop")
        for each in (fingerprint(ada), "nonsense"):
            with project.fails(data=UNAUTHENTICATED):
                caller.mutation("prints:block", fingerprint=each)
    with project.as_user("ada").clients(1) as (client,), project.fails(data=UNAUTHENTICATED):
        client.action("prints:order", photo="cat", url=shop.url)
    assert shop.received == []
    assert project.query("prints:devices") == []
    expected = [{"device": "phone", "fingerprint": fingerprint(ada)}]
    assert project.as_user("ada").query("prints:devices") == expected
    assert project.with_token(ada).query("prints:devices") == expected


def test_devices_are_those_of_the_user(project: Deployment) -> None:
    first, second, other = token("ada"), token("ada"), token("ben")
    assert project.with_token(first).query("prints:devices") == []
    for each, name in ((first, "phone"), (other, "phone"), (second, "laptop"), (first, "old phone")):
        assert project.with_token(each).mutation("prints:checkIn", device=name) == fingerprint(each)
    assert project.with_token(token("ada")).query("prints:devices") == [
        {"device": "old phone", "fingerprint": fingerprint(first)},
        {"device": "laptop", "fingerprint": fingerprint(second)},
    ]
    assert project.with_token(other).query("prints:devices") == [{"device": "phone", "fingerprint": fingerprint(other)}]
    nothing_is_stored(project, [first, second, other])


def test_a_blocked_token_is_good_for_nothing(project: Deployment, web_server: WebServer) -> None:
    shop = Shop(web_server)
    phone, laptop, other = token("ada"), token("ada"), token("ben")
    for each in (phone, laptop, other):
        project.with_token(each).mutation("prints:checkIn", device="a")
    for each in (fingerprint(other), fingerprint(token("ada")), "", phone, fingerprint(phone).upper()):
        with project.fails(data=NOT_FOUND):
            project.with_token(laptop).mutation("prints:block", fingerprint=each)
    assert project.with_token(laptop).mutation("prints:block", fingerprint=fingerprint(phone)) is None
    with project.fails(data=NOT_FOUND):
        project.with_token(laptop).mutation("prints:block", fingerprint=fingerprint(phone))
    with project.fails(data=BLOCKED):
        project.with_token(phone).action("prints:order", photo="cat", url=shop.url)
    with project.fails(data=BLOCKED):
        project.with_token(phone).mutation("prints:checkIn", device="b")
    for each in (fingerprint(laptop), "nonsense"):
        with project.fails(data=BLOCKED):
            project.with_token(phone).mutation("prints:block", fingerprint=each)
    with project.with_token(phone).clients(1) as (client,), project.fails(data=BLOCKED):
        client.action("prints:order", photo="cat", url=shop.url)
    assert shop.received == []
    renewed = token("ada")
    for each in (laptop, other, renewed):
        order(project.with_token(each), shop)
    assert project.with_token(laptop).query("prints:devices") == [{"device": "a", "fingerprint": fingerprint(laptop)}]
    assert project.with_token(renewed).mutation("prints:checkIn", device="new") == fingerprint(renewed)
    assert project.with_token(laptop).mutation("prints:block", fingerprint=fingerprint(laptop)) is None
    with project.fails(data=BLOCKED):
        project.with_token(laptop).action("prints:order", photo="cat", url=shop.url)
    assert project.with_token(laptop).query("prints:devices") == [
        {"device": "new", "fingerprint": fingerprint(renewed)}
    ]


def test_what_the_print_shop_refuses_is_refused(project: Deployment, web_server: WebServer) -> None:
    for number, status in enumerate((304, 401, 403, 500)):
        shop = Shop(web_server, status)
        with project.fails(data=REFUSED):
            project.with_token(token("ada")).action("prints:order", photo="cat", url=shop.url)
        assert len(shop.received) == number + 1
    with project.fails(data=UNAUTHENTICATED):
        project.action("prints:order", photo="cat", url=shop.url)
    order(project.with_token(token("ada")), Shop(web_server, 299))


def test_little_is_read(project: Deployment, web_server: WebServer) -> None:
    shop, mine = Shop(web_server), token("ada")
    tokens = [token(user) for user in ("ada", "ben") for _ in range(20)]
    for number, each in enumerate(tokens):
        project.with_token(each).mutation("prints:checkIn", device=str(number))
    for each in tokens[:8]:
        project.with_token(mine).mutation("prints:block", fingerprint=fingerprint(each))
    for _ in range(2):
        with project.trace() as work:
            project.with_token(mine).mutation("prints:checkIn", device="mine")
        assert work.documents_read <= 5
    with project.trace() as work:
        order(project.with_token(mine), shop)
    assert work.documents_read <= 5


@pytest.mark.parametrize("seed", range(2))
def test_whatever_happens_every_order_has_its_own_token(project: Deployment, web_server: WebServer, seed: int) -> None:
    chance, shop = random.Random(seed), Shop(web_server)
    users = {token(user): user for user in ("ada", "ben") for _ in range(4)}
    tokens, names, blocked, sent = list(users), dict[str, str](), set[str](), list[str]()
    for number in range(40):
        mine, other = chance.choice(tokens), chance.choice(tokens)
        caller, act = project.with_token(mine), chance.choice(["order", "checkIn", "checkIn", "block"])
        expected: Any = None
        if mine in blocked:
            expected = BLOCKED
        elif act == "order":
            sent.append(f"Bearer {mine}")
        elif act == "checkIn":
            names[mine] = str(number)
        elif other not in names or other in blocked or users[other] != users[mine]:
            expected = NOT_FOUND
        else:
            blocked.add(other)
        try:
            if act == "order":
                order(caller, shop, str(number))
            elif act == "checkIn":
                assert caller.mutation("prints:checkIn", device=str(number)) == fingerprint(mine)
            else:
                assert caller.mutation("prints:block", fingerprint=fingerprint(other)) is None
            received = None
        except CallFailed as error:
            received = error.data
        assert received == expected, f"step {number}: {act}"
    assert [header for header, _ in shop.received] == sent
    for user in ("ada", "ben"):
        left = {fingerprint(each): names[each] for each in names if users[each] == user and each not in blocked}
        shown = project.as_user(user).query("prints:devices")
        assert shown == [{"device": device, "fingerprint": each} for each, device in left.items()]
    nothing_is_stored(project, tokens)


def test_clients_can_call_four_functions_only(project: Deployment) -> None:
    public = {name: spec for name, spec in project.functions().items() if spec.is_public}
    assert {name: spec.kind for name, spec in public.items()} == {
        "prints:order": "action",
        "prints:checkIn": "mutation",
        "prints:block": "mutation",
        "prints:devices": "query",
    }
    caller = project.with_token(token("ada"))
    right = {"photo": "cat", "url": "http://localhost"}
    for wrong in ({"photo": 1}, {"url": 1}, {"token": "a"}):
        with project.fails("ArgumentValidationError"):
            caller.action("prints:order", right | wrong)
    for name in right:
        with project.fails("ArgumentValidationError"):
            caller.action("prints:order", {name: right[name]})
    for path, arguments in (
        ("checkIn", {}),
        ("checkIn", {"device": 1}),
        ("checkIn", {"device": "a", "token": "a"}),
        ("block", {}),
        ("block", {"fingerprint": 1}),
        ("block", {"fingerprint": "a", "token": "a"}),
    ):
        with project.fails("ArgumentValidationError"):
            caller.mutation(f"prints:{path}", arguments)
    with project.fails("ArgumentValidationError"):
        caller.query("prints:devices", token="a")


def test_what_the_context_offers_is_named(files: Sources) -> None:
    assert files.searches() == []
