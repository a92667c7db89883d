"""A component with HTTP endpoints of its own, mounted twice, and an app that knows nothing of them."""

import random
import re
from posixpath import dirname, join, normpath
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, Route, Sources

PATHS = {"press": "/media/press", "help": "/to/help"}
FOLDER = "convex/shortlinks"
TARGET = "https://example.com/a?b=c#d"
mounts = pytest.mark.parametrize("mount", PATHS)


def address(project: Deployment, mount: str, name: str) -> str:
    return f"{project.site_url}{PATHS[mount]}/to/{name}"


def post(project: Deployment, mount: str, name: str, target: str = TARGET) -> int:
    response = project.http.post(f"{PATHS[mount]}/links", json={"name": name, "target": target})
    if response.status == 201:
        assert response.json() == {"url": address(project, mount, name)}
    return response.status


def follow(project: Deployment, mount: str, name: str) -> str | None:
    response = project.http.get(f"{PATHS[mount]}/to/{name}")
    if response.status == 404:
        return None
    assert response.status == 302
    return response.header("Location")


def listed(project: Deployment, mount: str) -> list[dict[str, Any]]:
    response = project.http.get(f"{PATHS[mount]}/links")
    assert response.status == 200
    links: list[dict[str, Any]] = response.json()
    return links


@mounts
def test_a_link_that_was_posted_leads_to_its_target(project: Deployment, mount: str) -> None:
    assert follow(project, mount, "start") is None
    assert post(project, mount, "start") == 201
    assert follow(project, mount, "start") == TARGET
    assert listed(project, mount) == [
        {"name": "start", "target": TARGET, "visits": 1, "url": address(project, mount, "start")}
    ]


@mounts
@pytest.mark.parametrize(
    "name",
    ["a/b", "a/b/c/d", "to/start", "how/to/start", "to/to", "help", "to/help/to/x", "media/press/to/x", "-", "7"],
)
def test_names_may_have_several_parts(project: Deployment, mount: str, name: str) -> None:
    decoys = [name.rsplit("/", 1)[-1] + "-not", "not/" + name]
    for decoy in decoys:
        assert post(project, mount, decoy, "https://example.com/wrong") == 201
    assert post(project, mount, name) == 201
    assert follow(project, mount, name) == TARGET
    assert follow(project, mount, f"{name}?to=/to/{decoys[0]}&x=/links") == TARGET
    assert project.query("links:visits", mount=mount, name=name) == 2
    assert {link["name"]: link["visits"] for link in listed(project, mount)} == dict.fromkeys(decoys, 0) | {name: 2}


@mounts
def test_what_has_no_link_is_not_found_and_counts_nowhere(project: Deployment, mount: str) -> None:
    assert post(project, mount, "a/b") == 201
    for name in ("a", "b", "a/", "a/b/", "/a/b", "a/b/c", "A/B", "", "to/a/b"):
        assert follow(project, mount, name) is None, name
    assert project.query("links:visits", mount=mount, name="a/b") == 0


@mounts
def test_other_requests_below_a_mount_are_not_found(project: Deployment, mount: str) -> None:
    assert post(project, mount, "a") == 201
    other = [
        ("GET", "/"),
        ("GET", "/status"),
        ("GET", "/a"),
        ("POST", "/to/a"),
        ("PUT", "/links"),
        ("DELETE", "/links"),
    ]
    for method, path in [*other, ("GET", "/links/a"), ("POST", "/links/"), ("POST", "/"), ("DELETE", "/to/a")]:
        response = project.http.request(method, PATHS[mount] + path)
        assert response.status == 404, f"{method} {path}"
    assert project.http.get("/links").status == 404
    assert project.http.post("/links", json={"name": "b", "target": TARGET}).status == 404
    assert [link["name"] for link in listed(project, mount)] == ["a"]


@mounts
def test_what_is_not_a_link_is_refused(project: Deployment, mount: str) -> None:
    bodies: list[Any] = [
        {"name": "a"},
        {"target": TARGET},
        {"name": 1, "target": TARGET},
        {"name": "a", "target": None},
    ]
    for body in [*bodies, None, 5, "a", [], ["a", TARGET], {}]:
        response = project.http.post(f"{PATHS[mount]}/links", json=body)
        assert response.status == 400, body
    for text in (b"", b"{", b"name=a&target=b"):
        assert project.http.post(f"{PATHS[mount]}/links", body=text).status == 400, text
    for name in ("", "/", "/a", "a/", "a//b", "A", "a b", "a\n", "\u00e9", "a.b", "a_b", "a%2Fb"):
        assert post(project, mount, name) == 400, name
        with project.fails(data={"code": "BAD_NAME"}):
            project.mutation("links:add", mount=mount, name=name, target=TARGET)
    assert listed(project, mount) == []
    assert project.documents("links", component=mount) == []


@mounts
def test_a_name_is_used_once_in_each_mount(project: Deployment, mount: str) -> None:
    [other] = PATHS.keys() - {mount}
    assert post(project, mount, "a/b", "https://example.com/1") == 201
    assert post(project, mount, "a/b", "https://example.com/2") == 409
    with project.fails(data={"code": "TAKEN"}):
        project.mutation("links:add", mount=mount, name="a/b", target="https://example.com/3")
    assert follow(project, mount, "a/b") == "https://example.com/1"
    assert follow(project, other, "a/b") is None
    assert project.mutation("links:add", mount=other, name="a/b", target="https://example.com/4") == address(
        project, other, "a/b"
    )
    assert follow(project, other, "a/b") == "https://example.com/4"
    assert post(project, other, "a/b") == 409


def test_mounts_keep_their_links_apart(project: Deployment) -> None:
    chance = random.Random(7)
    truth: dict[str, dict[str, dict[str, Any]]] = {mount: {} for mount in PATHS}
    names = ["a", "b/a", "b", "to/a", "a/to/a", "b-1"]
    for _ in range(60):
        mount, name, number = chance.choice(list(PATHS)), chance.choice(names), chance.randrange(1000)
        links, target = truth[mount], f"https://example.com/{number}"
        link = {"name": name, "target": target, "visits": 0}
        match chance.choice(["post", "add", "follow", "follow"]):
            case "post":
                assert post(project, mount, name, target) == (409 if name in links else 201)
                links.setdefault(name, link)
            case "add" if name not in links:
                url = project.mutation("links:add", mount=mount, name=name, target=target)
                assert url == address(project, mount, name)
                links[name] = link
            case "follow" if name in links:
                assert follow(project, mount, name) == links[name]["target"]
                links[name]["visits"] += 1
            case _:
                visits = links[name]["visits"] if name in links else None
                assert project.query("links:visits", mount=mount, name=name) == visits
    for mount, links in truth.items():
        expected = [links[name] for name in sorted(links)]
        shown = [each | {"url": address(project, mount, each["name"])} for each in expected]
        assert listed(project, mount) == shown
        stored = project.documents("links", component=mount)
        fields = [{key: row[key] for key in row if not key.startswith("_")} for row in stored]
        assert sorted(fields, key=lambda row: str(row["name"])) == expected
    assert [table for table in project.tables() if project.documents(table)] == []


def test_the_app_has_endpoints_of_its_own(project: Deployment) -> None:
    assert post(project, "help", "x") == 201
    status = project.http.get("/status")
    assert (status.status, status.text) == (200, "ok")
    for rest in ("x", "x/y", "helpful", "helpx/to/x", "media/press/to/x", "to/help/to/x", "links"):
        response = project.http.get(f"/to/{rest}")
        assert (response.status, response.text) == (200, f"app {rest}")
    assert project.query("links:visits", mount="help", name="x") == 0
    for path in ("/media/press", "/links", "/press/links", "/help/links", "/media/links", "/shortlinks/links"):
        assert project.http.get(path).status == 404
    assert project.http.post("/to/x").status == 404


def test_the_app_does_not_define_endpoints_of_the_component(project: Deployment, files: Sources) -> None:
    assert project.routes() == [Route("GET", "/status"), Route("GET", "/to/*")]
    assert project.schema().tables == {}
    imported = {join_import("convex/http.ts", each.source) for each in files.module("convex/http.ts").imports}
    assert [each for each in imported if each.startswith(FOLDER)] == []


def join_import(path: str, source: str) -> str:
    """The file that an import means, without its ending, or the name of a package."""
    return normpath(join(dirname(path), source)) if source.startswith(".") else source


def test_the_component_is_complete_by_itself(files: Sources) -> None:
    for path in files.paths(f"{FOLDER}/**/*.ts"):
        for each in files.module(path).imports:
            found = join_import(path, each.source)
            assert not each.source.startswith(".") or found.startswith(f"{FOLDER}/"), f"{path} imports {each.source}"


def test_the_paths_of_mounts_are_in_the_configuration_only(files: Sources) -> None:
    for module in files.modules("convex/**/*"):
        if module.path == "convex/convex.config.ts":
            continue
        for node in module.node.find_all(kind="string_fragment"):
            assert not re.search(r"media/press|to/help", node.text()), f"{module.path}: {node.text()}"


def test_clients_can_call_two_functions_only(project: Deployment) -> None:
    public = {name: spec.kind for name, spec in project.functions().items() if spec.is_public}
    assert public == {"links:add": "mutation", "links:visits": "query"}
    right = {"mount": "press", "name": "a", "target": TARGET}
    wrong: list[dict[str, Any]] = [{"mount": "app"}, {"mount": 1}, {"name": 1}, {"target": 1}, {"more": 1}]
    for each in wrong:
        with project.fails("ArgumentValidationError"):
            project.mutation("links:add", right | each)
    for missing in right:
        with project.fails("ArgumentValidationError"):
            project.mutation("links:add", {key: right[key] for key in right if key != missing})
    wrong = [{"mount": "app", "name": "a"}, {"mount": "help", "name": 1}, {"mount": "help"}, {"name": "a"}]
    for each in wrong:
        with project.fails("ArgumentValidationError"):
            project.query("links:visits", each)
