"""API keys: never stored, good for what they were made for, and gone when they are gone."""

import base64
import json
import re
from functools import partial
from typing import Any

from convex_evals.pipeline.grading.kit import CallFailed, Deployment, at_once

UNAUTHORIZED = (401, {"error": "unauthorized"})
FORBIDDEN = (403, {"error": "forbidden"})
NOT_FOUND = {"code": "NOT_FOUND"}
BOTH = ("read", "write")
DAY = 86_400_000


def create(
    project: Deployment,
    user: str = "ada",
    scopes: tuple[str, ...] = BOTH,
    days: float | None = None,
    label: str = "key",
) -> tuple[str, str]:
    made = project.as_user(user).action("keys:create", label=label, scopes=scopes, days=days)
    assert made.keys() == {"keyId", "secret"}
    return made["keyId"], made["secret"]


def rotate(project: Deployment, key: str, user: str = "ada") -> str:
    made = project.as_user(user).action("keys:rotate", keyId=key)
    assert made.keys() == {"secret"}
    secret: str = made["secret"]
    return secret


def send(project: Deployment, method: str, header: str | None, **body: Any) -> tuple[int, Any]:
    headers = {} if header is None else {"Authorization": header}
    response = project.http.request(method, "/notes", headers=headers, **body)
    assert (response.header("Content-Type") or "").split(";")[0] == "application/json"
    assert response.status != 401 or response.header("WWW-Authenticate") == "Bearer"
    return response.status, response.json()


def get(project: Deployment, secret: str) -> tuple[int, Any]:
    return send(project, "GET", f"Bearer {secret}")


def add(project: Deployment, secret: str, text: str) -> tuple[int, Any]:
    return send(project, "POST", f"Bearer {secret}", json={"text": text})


def works(project: Deployment, *secrets: str) -> list[bool]:
    received = [get(project, secret) for secret in secrets]
    assert [each for each in received if each[0] != 200 and each != UNAUTHORIZED] == []
    return [status == 200 for status, _ in received]


def listed(project: Deployment, user: str = "ada") -> list[dict[str, Any]]:
    keys: list[dict[str, Any]] = project.as_user(user).query("keys:list")
    return keys


def test_programs_read_and_write_their_owners_notes(project: Deployment) -> None:
    _, secret = create(project)
    _, other = create(project, "ben")
    assert get(project, secret) == (200, [])
    assert [add(project, secret, text) for text in ("b", "a")] == [(201, {"count": 1}), (201, {"count": 2})]
    assert add(project, other, "c") == (201, {"count": 1})
    assert (get(project, secret), get(project, other)) == ((200, ["b", "a"]), (200, ["c"]))
    assert send(project, "GET", f"bEARER {secret}") == (200, ["b", "a"])
    assert send(project, "POST", f"BEARER {secret}", json={"text": "d", "$more": 1}) == (201, {"count": 3})
    for body in (
        {"json": {}},
        {"json": {"text": 5}},
        {"json": {"text": ""}},
        {"json": []},
        {"json": None},
        {"body": "{"},
    ):
        assert send(project, "POST", f"Bearer {secret}", **body) == (400, {"error": "malformed"})
    assert get(project, secret) == (200, ["b", "a", "d"])


def test_a_scope_is_needed(project: Deployment) -> None:
    (_, reader), (_, writer) = create(project, scopes=("read",)), create(project, scopes=("write",))
    assert (add(project, reader, "a"), add(project, writer, "b")) == (FORBIDDEN, (201, {"count": 1}))
    assert (get(project, reader), get(project, writer)) == ((200, ["b"]), FORBIDDEN)
    assert send(project, "POST", f"Bearer {reader}", body="{") == FORBIDDEN
    assert all(key["lastUsed"] is not None for key in listed(project))


def test_whatever_is_wrong_looks_the_same(project: Deployment) -> None:
    key, secret = create(project)
    expiring = create(project, days=1)[1]
    stored = [value for table in project.tables() for row in project.documents(table) for value in strings(row)]
    bad = [None, "", "Bearer", "Bearer ", secret, f"Basic {secret}", f"Bearer {secret}x", f"Bearer {secret[:-1]}"]
    bad += [f"Bearer {secret.swapcase()}", f"Bearer {key}", "Bearer sk_", "Bearer a.b.c", f"Bearer  {secret}"]
    bad += [f"Bearer {value}" for value in stored if re.fullmatch(r"[\x21-\x7e]+", value)]
    project.advance(days=1, seconds=1)
    bad.append(f"Bearer {expiring}")
    received = {(method, header): send(project, method, header) for header in bad for method in ("GET", "POST")}
    assert received == dict.fromkeys(received, UNAUTHORIZED)
    assert works(project, secret) == [True]


def strings(value: Any) -> list[str]:
    """Every text in a document."""
    if isinstance(value, dict):
        return [text for each in value.values() for text in strings(each)]
    if isinstance(value, list):
        return [text for each in value for text in strings(each)]
    return [value] if isinstance(value, str) else []


def test_secrets_cannot_be_guessed_and_are_not_stored(project: Deployment) -> None:
    made = [create(project, user) for user in ("ada", "ben", "cyd")]
    secrets = [secret for _, secret in made] + [
        rotate(project, key, user) for (key, _), user in zip(made[:2], ("ada", "ben"), strict=True)
    ]
    assert works(project, *secrets) == [True] * 5
    project.advance(minutes=10)
    assert [secret for secret in secrets if not re.fullmatch(r"sk_[A-Za-z0-9_-]{32,}", secret)] == []
    assert len({secret[:16] for secret in secrets}) == 5
    kept = json.dumps([project.documents(table) for table in project.tables()], default=repr)
    kept += json.dumps([job.args for job in project.scheduled()], default=repr)
    for secret in secrets:
        plain = secret[3:]
        forms = [plain, plain[::-1], plain.encode().hex(), base64.b64encode(plain.encode()).decode().rstrip("=")[:-2]]
        forms += [base64.b64encode(secret.encode()).decode().rstrip("=")[:-2], plain[8:-4]]
        assert [form for form in forms if form in kept] == []


def test_the_list_shows_the_callers_keys(project: Deployment) -> None:
    start = project.now()
    (first, secret), (second, other) = create(project, label="one", scopes=("write", "read")), create(project, days=0.5)
    create(project, "ben")
    shown = listed(project)
    assert 0 <= shown[1]["expires"] - start - DAY / 2 < 60_000
    fields = {"label": "one", "scopes": ["write", "read"], "expires": None, "hint": secret[-4:], "lastUsed": None}
    assert shown[0] == {"keyId": first, **fields}
    expires = shown[1]["expires"]
    fields = {"label": "key", "scopes": ["read", "write"], "expires": expires, "hint": other[-4:], "lastUsed": None}
    assert shown[1:] == [{"keyId": second, **fields}]
    fresh = rotate(project, second)
    assert listed(project)[1] == {"keyId": second, **fields, "hint": fresh[-4:]}
    assert (len(listed(project, "ben")), project.query("keys:list")) == (1, [])
    project.advance(days=0.5, seconds=5)
    assert [key["keyId"] for key in listed(project)] == [first]


def test_the_last_use_is_known_and_costs_next_to_nothing(project: Deployment) -> None:
    _, secret = create(project)
    for user in ("ben", "cyd", "dan", "eve", "fay"):
        for _ in range(3):
            create(project, user)
    get(project, secret)
    used = project.now()
    assert 0 <= used - listed(project)[0]["lastUsed"] <= 60_000
    with project.trace() as work:
        assert works(project, secret, secret) == [True, True]
    assert (work.documents_written, work.documents_read < 16) == (0, True)
    for wait in (20, 50, 59, 61, 200, 59, 31):
        project.advance(seconds=wait)
        before = project.now()
        assert works(project, secret) == [True]
        assert before - 60_000 <= listed(project)[0]["lastUsed"] <= project.now()
    add(project, secret, "a")
    project.advance(minutes=5)
    before = project.now()
    add(project, secret, "b")
    assert before - 60_000 <= listed(project)[0]["lastUsed"] <= project.now()


def test_rotating_leaves_time_to_change_over(project: Deployment) -> None:
    key, first = create(project, days=2)
    other = create(project)[1]
    second = rotate(project, key)
    assert works(project, first, second) == [True, True]
    project.advance(minutes=50)
    third = rotate(project, key)
    assert works(project, first, second, third) == [False, True, True]
    project.advance(minutes=50)
    assert works(project, first, second, third) == [False, True, True]
    project.advance(minutes=11)
    assert works(project, first, second, third, other) == [False, False, True, True]
    fourth = rotate(project, key)
    assert works(project, second, third, fourth) == [False, True, True]
    project.advance(days=2)
    assert works(project, third, fourth, other) == [False, False, True]
    with project.fails(data=NOT_FOUND):
        rotate(project, key)


def test_an_old_secret_ends_with_its_key(project: Deployment) -> None:
    key, first = create(project, days=1)
    project.advance(hours=23, minutes=30)
    second = rotate(project, key)
    project.advance(minutes=31)
    assert works(project, first, second) == [False, False]


def test_a_revoked_key_is_gone_at_once(project: Deployment) -> None:
    (key, first), (other, stays) = create(project), create(project)
    second = rotate(project, key)
    assert works(project, first, second) == [True, True]
    assert project.as_user("ada").mutation("keys:revoke", keyId=key) is None
    assert works(project, first, second, stays) == [False, False, True]
    assert add(project, second, "a") == UNAUTHORIZED
    assert [each["keyId"] for each in listed(project)] == [other]
    with project.fails(data=NOT_FOUND):
        project.as_user("ada").mutation("keys:revoke", keyId=key)
    with project.fails(data=NOT_FOUND):
        rotate(project, key)


def test_keys_of_others_might_as_well_not_exist(project: Deployment) -> None:
    key, secret = create(project)
    expired = create(project, days=1)[0]
    project.advance(days=1, seconds=1)
    for user, name in (("ben", key), ("ben", expired), ("ada", expired)):
        with project.fails(data=NOT_FOUND):
            rotate(project, name, user)
        with project.fails(data=NOT_FOUND):
            project.as_user(user).mutation("keys:revoke", keyId=name)
    with project.fails(data={"code": "UNAUTHENTICATED"}):
        project.action("keys:rotate", keyId=key)
    with project.fails(data={"code": "UNAUTHENTICATED"}):
        project.mutation("keys:revoke", keyId=key)
    with project.fails(data={"code": "UNAUTHENTICATED"}):
        project.action("keys:create", label="", scopes=[], days=None)
    assert works(project, secret) == [True]


def test_nobody_has_four_keys(project: Deployment) -> None:
    create(project, days=1)
    with project.as_user("ada").clients(4) as clients, project.lockstep(4):
        arguments = {"label": "a", "scopes": ["read"], "days": None}
        made = at_once([partial(client.action, "keys:create", arguments) for client in clients])
    failures = [each.data for each in made if isinstance(each, CallFailed)]
    assert failures == [{"code": "TOO_MANY"}] * 2
    keys = listed(project)
    assert len(keys) == 3
    with project.fails(data={"code": "INVALID"}):
        create(project, scopes=())
    project.advance(days=1, seconds=1)
    create(project)
    with project.fails(data={"code": "TOO_MANY"}):
        create(project)
    project.as_user("ada").mutation("keys:revoke", keyId=keys[1]["keyId"])
    create(project)
    with project.fails(data={"code": "TOO_MANY"}):
        create(project)
    create(project, "ben")


def test_bad_keys_are_not_made(project: Deployment) -> None:
    for bad in ({"scopes": ()}, {"scopes": ("read", "read")}, {"days": 0}, {"days": -1}):
        with project.fails(data={"code": "INVALID"}):
            create(project, **bad)
    assert listed(project) == []
    good: dict[str, Any] = {"label": "a", "scopes": ["read"], "days": None}
    for argument, value in (("label", 5), ("scopes", ["admin"]), ("scopes", "read"), ("days", "1")):
        for bad in ({**good, argument: value}, {key: good[key] for key in good if key != argument}):
            with project.fails("ArgumentValidationError"):
                project.as_user("ada").action("keys:create", bad)
    for name in ("suspend", "restore"):
        with project.fails("ArgumentValidationError"):
            project.admin.mutation(f"users:{name}", user=5)
    with project.fails("ArgumentValidationError"):
        project.as_user("ada").mutation("keys:revoke", keyId="nonsense")
    with project.fails("ArgumentValidationError"):
        project.as_user("ada").action("keys:rotate", keyId="nonsense")


def test_keys_of_suspended_users_do_not_work(project: Deployment) -> None:
    (_, secret), (_, other) = create(project), create(project, "ben")
    for _ in range(2):
        assert project.admin.mutation("users:suspend", user="ada") is None
    later = create(project)[1]
    assert works(project, secret, later, other) == [False, False, True]
    assert add(project, secret, "a") == UNAUTHORIZED
    assert len(listed(project)) == 2
    for _ in range(2):
        assert project.admin.mutation("users:restore", user="ada") is None
    assert works(project, secret, later, other) == [True, True, True]
    for name in ("suspend", "restore"):
        with project.fails("Could not find public function"):
            project.mutation(f"users:{name}", user="ada")
    public = {name for name, function in project.functions().items() if function.is_public}
    assert public == {"keys:create", "keys:rotate", "keys:revoke", "keys:list"}
