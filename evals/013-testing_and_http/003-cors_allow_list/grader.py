"""CORS with a list of allowed origins that changes: preflights, errors, credentials, and patterns."""

import json
from functools import partial
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, at_once

Response = Any
SITE = "https://app.example.com"
ORIGIN = (403, {"error": "origin"})
MALFORMED = (400, {"error": "malformed"})
NOT_FOUND = (404, {"error": "not found"})


def allow(project: Deployment, pattern: str, credentials: bool = False) -> None:
    assert project.admin.mutation("sites:allow", pattern=pattern, credentials=credentials) is None


def cors(response: Response) -> dict[str, str]:
    """The CORS headers, by the rest of their names."""
    names = {name.lower() for name in response.headers if name.lower().startswith("access-control-")}
    return {name.removeprefix("access-control-"): str(response.header(name)) for name in names}


def check_vary(response: Response) -> None:
    names = [name.strip().lower() for name in (response.header("Vary") or "").split(",")]
    assert "origin" in names, f"Vary must contain Origin, for status {response.status}"


def send(project: Deployment, method: str, path: str, origin: str | None, body: str = "") -> Response:
    headers = {"Content-Type": "application/json"} | ({} if origin is None else {"Origin": origin})
    response = project.http.request(method, path, body=body, headers=headers)
    check_vary(response)
    assert (response.header("Content-Type") or "").split(";")[0] == "application/json"
    return response


def seen(response: Response) -> tuple[int, Any]:
    return response.status, response.json()


def preflight(
    project: Deployment, path: str, origin: str | None, method: str | None, headers: str | None = None
) -> dict[str, str] | None:
    """The permission given, or None."""
    named = {"Origin": origin, "Access-Control-Request-Method": method, "Access-Control-Request-Headers": headers}
    sent = {name: value for name, value in named.items() if value is not None}
    response = project.http.options(path, headers=sent)
    check_vary(response)
    if response.status == 403:
        assert cors(response) == {}
        return None
    assert (response.status, response.body) == (204, b"")
    return cors(response)


def granted(origin: str = SITE, methods: str = "GET, POST") -> dict[str, str]:
    return {
        "allow-origin": origin,
        "expose-headers": "X-Total",
        "allow-methods": methods,
        "allow-headers": "content-type, x-request-id",
        "max-age": "600",
    }


def test_notes_can_be_used_from_allowed_sites(project: Deployment) -> None:
    allow(project, SITE)
    common = {"allow-origin": SITE, "expose-headers": "X-Total"}
    requests: list[tuple[str, str, str, tuple[int, Any]]] = [
        ("GET", "/notes", "", (200, [])),
        ("POST", "/notes", '{"text":"a"}', (201, {"number": 1})),
        ("POST", "/notes", '{"text":"","$x":1}', (201, {"number": 2})),
        ("POST", "/notes", '{"text":5}', MALFORMED),
        ("POST", "/notes", "null", MALFORMED),
        ("POST", "/notes", "{", MALFORMED),
        ("POST", "/notes", "[]", MALFORMED),
        ("DELETE", "/notes/3", "", NOT_FOUND),
        ("DELETE", "/notes/0", "", NOT_FOUND),
        ("DELETE", "/notes/01", "", NOT_FOUND),
        ("DELETE", "/notes/x", "", NOT_FOUND),
        ("DELETE", "/notes/1e0", "", NOT_FOUND),
        ("DELETE", "/notes/-1", "", NOT_FOUND),
        ("DELETE", "/notes/", "", NOT_FOUND),
        ("DELETE", "/notes/1/2", "", NOT_FOUND),
        ("DELETE", "/notes/2", "", (200, {"deleted": 2})),
        ("DELETE", "/notes/2", "", NOT_FOUND),
        ("POST", "/notes", '{"text":"c"}', (201, {"number": 3})),
        ("GET", "/notes", "", (200, [{"number": 1, "text": "a"}, {"number": 3, "text": "c"}])),
    ]
    for method, path, body, expected in requests:
        response = send(project, method, path, SITE, body)
        assert (seen(response), cors(response)) == (expected, common), (method, path, body)
        assert expected[0] != 200 or method != "GET" or response.header("X-Total") == str(len(expected[1]))


def test_programs_without_an_origin_need_no_permission(project: Deployment) -> None:
    for body, expected in (('{"text":"a"}', (201, {"number": 1})), ("", MALFORMED)):
        response = send(project, "POST", "/notes", None, body)
        assert (seen(response), cors(response)) == (expected, {})
    response = send(project, "GET", "/notes", None)
    assert (seen(response), cors(response)) == ((200, [{"number": 1, "text": "a"}]), {})
    assert response.header("X-Total") == "1"
    response = send(project, "DELETE", "/notes/1", None)
    assert (seen(response), cors(response)) == ((200, {"deleted": 1}), {})


def test_other_sites_can_do_nothing(project: Deployment) -> None:
    allow(project, SITE)
    send(project, "POST", "/notes", None, '{"text":"a"}')
    for origin in ("https://evil.example", "null", "https://example.com"):
        for method, path, body in (
            ("GET", "/notes", ""),
            ("POST", "/notes", '{"text":"b"}'),
            ("POST", "/notes", "{"),
            ("DELETE", "/notes/1", ""),
            ("DELETE", "/notes/7", ""),
        ):
            response = send(project, method, path, origin, body)
            assert (seen(response), cors(response)) == (ORIGIN, {}), (origin, method)
            assert preflight(project, path, origin, method) is None
    assert seen(send(project, "GET", "/notes", None)) == (200, [{"number": 1, "text": "a"}])


PATTERNS: list[tuple[str, list[str], list[str]]] = [
    (
        "https://example.com",
        ["https://example.com"],
        ["http://example.com", "https://example.com:443", "https://a.example.com", "https://example.com.evil.org"],
    ),
    (
        "https://*.example.com",
        ["https://a.example.com", "https://b.a.example.com", "https://x-1.2.example.com"],
        [
            "https://example.com",
            "https://.example.com",
            "https://a..example.com",
            "https://evilexample.com",
            "https://a-example.com",
            "https://aXexample.com",
            "https://a.exampleXcom",
            "https://a.example.com.evil.org",
            "https://evil.org/.example.com",
            "https://evil.org?.example.com",
            "https://evil.org:1.example.com",
            "https://user@a.example.com",
            "https://A.example.com",
            "https://a.example.com:8443",
            "http://a.example.com",
            "https://*.example.com",
            "https://a.example.com/",
            "https://a_b.example.com",
            "xhttps://a.example.com",
        ],
    ),
    (
        "http://*.localhost:3000",
        ["http://a.localhost:3000"],
        ["http://localhost:3000", "http://a.localhost", "http://a.localhost:30001", "https://a.localhost:3000"],
    ),
]


@pytest.mark.parametrize(("pattern", "inside", "outside"), PATTERNS, ids=range(len(PATTERNS)))
def test_patterns_match_what_they_say(project: Deployment, pattern: str, inside: list[str], outside: list[str]) -> None:
    allow(project, pattern)
    for origin in inside:
        response = send(project, "GET", "/notes", origin)
        assert (response.status, cors(response).get("allow-origin")) == (200, origin), origin
        assert preflight(project, "/notes", origin, "POST") == granted(origin)
    for origin in outside:
        response = send(project, "GET", "/notes", origin)
        assert (seen(response), cors(response)) == (ORIGIN, {}), origin
        assert preflight(project, "/notes", origin, "POST") is None


def test_the_list_can_change(project: Deployment) -> None:
    for pattern in (SITE, "https://*.example.com", "https://other.org"):
        allow(project, pattern)
    for origin in (SITE, "https://other.org", "https://x.example.com"):
        assert cors(send(project, "GET", "/notes", origin))["allow-origin"] == origin
    project.admin.mutation("sites:forbid", pattern=SITE)
    assert send(project, "GET", "/notes", SITE).status == 200
    assert project.admin.mutation("sites:forbid", pattern="https://*.example.com") is None
    assert [send(project, "GET", "/notes", origin).status for origin in (SITE, "https://other.org")] == [403, 200]
    project.admin.mutation("sites:forbid", pattern=SITE)
    allow(project, SITE)
    allow(project, SITE)
    assert send(project, "GET", "/notes", SITE).status == 200
    project.admin.mutation("sites:forbid", pattern=SITE)
    assert (send(project, "GET", "/notes", SITE).status, preflight(project, "/notes", SITE, "GET")) == (403, None)


def test_credentials_are_for_those_who_may(project: Deployment) -> None:
    allow(project, SITE, credentials=True)
    allow(project, "https://*.example.com")
    allow(project, "https://other.org")
    with_them = {"allow-origin": SITE, "expose-headers": "X-Total", "allow-credentials": "true"}
    for method, path in (("GET", "/notes"), ("DELETE", "/notes/1"), ("POST", "/notes")):
        assert cors(send(project, method, path, SITE)) == with_them
        assert "allow-credentials" not in cors(send(project, method, path, "https://b.example.com"))
    assert preflight(project, "/notes", SITE, "GET") == {**granted(), "allow-credentials": "true"}
    assert preflight(project, "/notes", "https://other.org", "GET") == granted("https://other.org")
    allow(project, SITE, credentials=False)
    assert "allow-credentials" not in cors(send(project, "GET", "/notes", SITE))
    allow(project, "https://*.example.com", credentials=True)
    assert cors(send(project, "GET", "/notes", SITE)) == with_them


def test_permission_is_given_for_what_can_be_done(project: Deployment) -> None:
    allow(project, SITE)
    for method in ("GET", "POST"):
        assert preflight(project, "/notes", SITE, method) == granted()
        assert preflight(project, "/notes/1", SITE, method) is None
    for path in ("/notes/1", "/notes/x"):
        assert preflight(project, path, SITE, "DELETE") == granted(methods="DELETE")
    for method in ("DELETE", "PUT", "PATCH", "OPTIONS", "get", "", None):
        assert preflight(project, "/notes", SITE, method) is None, method
    assert preflight(project, "/notes", None, "GET") is None
    for headers in ("content-type", "Content-Type,X-Request-Id", " x-request-id , CONTENT-TYPE"):
        assert preflight(project, "/notes", SITE, "POST", headers) == granted(), headers
    for headers in ("authorization", "content-type, x-other", "x-request-id-2", "content-type x-request-id"):
        assert preflight(project, "/notes", SITE, "POST", headers) is None, headers


def test_numbers_are_given_once(project: Deployment) -> None:
    with project.lockstep(4):
        body = json.dumps({"text": "a"})
        responses = at_once([partial(send, project, "POST", "/notes", None, body) for _ in range(4)])
    assert sorted(response.json()["number"] for response in responses) == [1, 2, 3, 4]
    for number in (4, 2):
        send(project, "DELETE", f"/notes/{number}", None)
    assert send(project, "POST", "/notes", None, body).json() == {"number": 5}
    assert [note["number"] for note in send(project, "GET", "/notes", None).json()] == [1, 3, 5]


def test_clients_can_call_nothing(project: Deployment) -> None:
    assert [name for name, function in project.functions().items() if function.is_public] == []
    for name, good in (("allow", {"pattern": "a", "credentials": True}), ("forbid", {"pattern": "a"})):
        for argument in good:
            rest = {key: value for key, value in good.items() if key != argument}
            for bad in (rest, {**rest, argument: 5}):
                with project.fails("ArgumentValidationError"):
                    project.admin.mutation(f"sites:{name}", bad)
