"""Conditional requests and ranges over HTTP, and a file storage without leftovers."""

import hashlib
import random
from functools import partial
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, at_once

CONTENT = bytes(range(256)) * 2
TYPE = 'text/plain; charset="x-weird"'


def tag(content: bytes) -> str:
    return f'"{hashlib.sha256(content).hexdigest()}"'


def put(project: Deployment, name: str, content: bytes, **headers: str) -> int:
    response = project.http.put(f"/files/{name}", body=content, headers=dashed(headers))
    assert response.status == 412 or response.header("ETag") == tag(content)
    return response.status


def delete(project: Deployment, name: str, **headers: str) -> int:
    return project.http.delete(f"/files/{name}", headers=dashed(headers)).status


def dashed(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


def get(project: Deployment, name: str = "a.txt", **headers: str) -> tuple[int, bytes, str | None]:
    """Status, body and Content-Range; what other headers must be there is checked."""
    response = project.http.get(f"/files/{name}", headers=dashed(headers))
    if response.status in (200, 206):
        assert response.header("Accept-Ranges") == "bytes"
        assert response.header("Content-Type") == TYPE
    if response.status in (200, 206, 304):
        assert response.header("ETag") == tag(CONTENT)
    return response.status, response.body, response.header("Content-Range")


def stored(project: Deployment) -> list[str]:
    """The tags of everything in the file storage."""
    return sorted(tag(project.storage.download(file.url).body) for file in project.storage.files())


@pytest.fixture
def filled(project: Deployment) -> Deployment:
    assert put(project, "a.txt", CONTENT, Content_Type=TYPE) == 201
    return project


def test_files_come_back_as_they_were_sent(filled: Deployment) -> None:
    assert get(filled) == (200, CONTENT, None)
    assert filled.http.get("/files/b.txt").status == 404
    assert put(filled, "b.txt", b"") == 201
    response = filled.http.get("/files/b.txt")
    assert (response.status, response.body, response.header("ETag")) == (200, b"", tag(b""))
    assert response.header("Content-Type") == "application/octet-stream"
    assert put(filled, "b.txt", b"\xff\x00", Content_Type="image/png") == 200
    response = filled.http.get("/files/b.txt")
    assert (response.body, response.header("Content-Type")) == (b"\xff\x00", "image/png")
    assert (delete(filled, "b.txt"), delete(filled, "b.txt"), filled.http.get("/files/b.txt").status) == (204, 404, 404)
    assert stored(filled) == [tag(CONTENT)]


WHOLE = (200, CONTENT, None)
PARTS: list[tuple[str, tuple[int, bytes, str | None]]] = [
    ("bytes=0-0", (206, CONTENT[:1], "bytes 0-0/512")),
    ("bytes=0-511", (206, CONTENT, "bytes 0-511/512")),
    ("bytes=10-19", (206, CONTENT[10:20], "bytes 10-19/512")),
    ("bytes=500-9999", (206, CONTENT[500:], "bytes 500-511/512")),
    ("bytes=511-512", (206, CONTENT[511:], "bytes 511-511/512")),
    ("bytes=300-", (206, CONTENT[300:], "bytes 300-511/512")),
    ("bytes=0-", (206, CONTENT, "bytes 0-511/512")),
    ("bytes=-5", (206, CONTENT[-5:], "bytes 507-511/512")),
    ("bytes=-512", (206, CONTENT, "bytes 0-511/512")),
    ("bytes=-9999", (206, CONTENT, "bytes 0-511/512")),
    ("bytes=007-08", (206, CONTENT[7:9], "bytes 7-8/512")),
    ("bytes=512-", (416, b"", "bytes */512")),
    ("bytes=512-600", (416, b"", "bytes */512")),
    ("bytes=-0", (416, b"", "bytes */512")),
    ("bytes=0-1,5-6", WHOLE),
    ("bytes=5-4", WHOLE),
    ("bytes=600-599", WHOLE),
    ("bytes=-", WHOLE),
    ("bytes=a-b", WHOLE),
    ("bytes=1.5-3", WHOLE),
    ("bytes=", WHOLE),
    ("bytes", WHOLE),
    ("items=0-1", WHOLE),
    ("bytes=--5", WHOLE),
    ("bytes=5", WHOLE),
]


def test_parts_are_exactly_what_was_asked_for(filled: Deployment) -> None:
    received = {header: get(filled, Range=header) for header, _ in PARTS}
    for header, (status, body, content_range) in PARTS:
        got = received[header]
        shown = (got[0], got[1] if status != 416 else b"", got[2])
        assert shown == (status, body, content_range), header


def test_an_empty_file_has_no_parts(project: Deployment) -> None:
    put(project, "empty", b"")
    for header in ("bytes=0-", "bytes=0-5", "bytes=-5", "bytes=3-"):
        response = project.http.get("/files/empty", headers={"Range": header})
        assert (response.status, response.header("Content-Range")) == (416, "bytes */0"), header
    response = project.http.get("/files/empty", headers={"Range": "bytes=x"})
    assert (response.status, response.body) == (200, b"")


def test_a_known_content_is_not_sent_again(filled: Deployment) -> None:
    good, other = tag(CONTENT), tag(b"other")
    for header in (good, "*", f"W/{good}", f"{other},{good}", f"{other} , W/{good}", f"{good}, {other}"):
        assert get(filled, If_None_Match=header) == (304, b"", None), header
        assert get(filled, If_None_Match=header, Range="bytes=0-1")[:2] == (304, b""), header
        assert get(filled, If_None_Match=header, Range="bytes=600-")[0] == 304, header
    for header in (other, good.strip('"'), f"W/{other}", f'"{good}"', good.upper(), good[:-2] + '"'):
        assert get(filled, If_None_Match=header) == WHOLE, header
        assert get(filled, If_None_Match=header, Range="bytes=0-1")[0] == 206, header
    assert filled.http.get("/files/none", headers={"If-None-Match": "*"}).status == 404


def test_downloads_go_on_only_with_the_same_content(filled: Deployment) -> None:
    good, other = tag(CONTENT), tag(b"other")
    assert get(filled, If_Range=good, Range="bytes=500-") == (206, CONTENT[500:], "bytes 500-511/512")
    assert get(filled, If_Range=other, Range="bytes=500-") == WHOLE
    assert get(filled, If_Range=other, Range="bytes=600-") == WHOLE
    assert get(filled, If_Range=good, Range="bytes=600-")[0] == 416
    assert get(filled, If_Range=good) == WHOLE


def test_conditions_protect_changes(filled: Deployment) -> None:
    old, new = tag(CONTENT), tag(b"new")
    assert put(filled, "a.txt", b"new", If_None_Match="*") == 412
    assert put(filled, "a.txt", b"new", If_Match=new) == 412
    assert put(filled, "b.txt", b"new", If_Match="*") == 412
    assert put(filled, "b.txt", b"new", If_Match=new) == 412
    assert [delete(filled, "b.txt", If_Match="*"), delete(filled, "b.txt", If_Match=new)] == [412, 412]
    assert delete(filled, "a.txt", If_Match=new) == 412
    assert (get(filled), filled.http.get("/files/b.txt").status, stored(filled)) == (WHOLE, 404, [old])
    assert put(filled, "a.txt", b"new", If_Match=old) == 200
    assert put(filled, "b.txt", b"new", If_None_Match="*") == 201
    assert put(filled, "b.txt", b"newer", If_Match="*") == 200
    assert stored(filled) == sorted([new, tag(b"newer")])
    assert delete(filled, "a.txt", If_Match=old) == 412
    assert [delete(filled, "a.txt", If_Match=new), delete(filled, "b.txt", If_Match="*")] == [204, 204]
    assert stored(filled) == []


@pytest.mark.parametrize("condition", ["If-None-Match", "If-Match"])
def test_of_several_at_the_same_time_one_wins(project: Deployment, condition: str) -> None:
    value = "*"
    if condition == "If-Match":
        put(project, "a.txt", b"first")
        value = tag(b"first")
    contents = [b"one", b"two", b"three", b"four"]
    with project.lockstep(4):
        calls = [
            partial(project.http.put, "/files/a.txt", body=content, headers={condition: value}) for content in contents
        ]
        statuses = [response.status for response in at_once(calls)]
    assert sorted(statuses) == [200 if condition == "If-Match" else 201, 412, 412, 412]
    winner = contents[[status != 412 for status in statuses].index(True)]
    assert project.http.get("/files/a.txt").body == winner
    assert stored(project) == [tag(winner)]


def test_several_without_a_condition_leave_one(project: Deployment) -> None:
    contents = [b"one", b"two", b"three", b"four"]
    with project.lockstep(4):
        responses = at_once([partial(project.http.put, "/files/a.txt", body=content) for content in contents])
    assert sorted(response.status for response in responses) == [200, 200, 200, 201]
    assert stored(project) == [tag(project.http.get("/files/a.txt").body)]


def test_large_files_survive(project: Deployment) -> None:
    content = random.Random(1).randbytes(3_000_000)
    assert put(project, "large", content) == 201
    assert project.http.get("/files/large").body == content
    response = project.http.get("/files/large", headers={"Range": "bytes=2000000-2000009"})
    assert (response.status, response.body) == (206, content[2_000_000:2_000_010])


def step(project: Deployment, truth: dict[str, bytes], chance: random.Random) -> str:
    """A request with or without a condition, and what must come of it; a text that says what was done."""
    name, content = chance.choice("xyz"), chance.choice([b"", b"1", b"22"])
    guess = chance.choice(["*", tag(b"1"), tag(truth.get(name, b"22"))])
    headers: dict[str, str] = chance.choice([{}, {"If_Match": guess}, {"If_None_Match": "*"}])
    before = truth.get(name)
    is_met = before is not None and guess in ("*", tag(before))
    if chance.random() < 0.3:
        headers.pop("If_None_Match", None)
        expected = 412 if headers and not is_met else 404 if before is None else 204
        assert delete(project, name, **headers) == expected
        if expected == 204:
            del truth[name]
        return f"DELETE {name} {headers}: {expected}"
    is_met = before is None if "If_None_Match" in headers else is_met
    expected = 412 if headers and not is_met else 201 if before is None else 200
    assert put(project, name, content, **headers) == expected
    if expected != 412:
        truth[name] = content
    return f"PUT {name} {content!r} {headers}: {expected}"


@pytest.mark.parametrize("seed", range(3))
def test_storage_contains_just_the_files(project: Deployment, seed: int) -> None:
    chance, truth, done = random.Random(seed), dict[str, bytes](), list[str]()
    for _ in range(25):
        done.append(step(project, truth, chance))
        assert stored(project) == sorted(map(tag, truth.values())), f"after {done}"
    received: dict[str, Any] = {name: project.http.get(f"/files/{name}") for name in "xyz"}
    assert {name: each.body for name, each in received.items() if each.status == 200} == truth


def test_clients_can_call_nothing(project: Deployment) -> None:
    assert [name for name, function in project.functions().items() if function.is_public] == []
