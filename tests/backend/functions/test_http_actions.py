import pytest

from convex_evals.backend.deployed import (
    AnalyzedModule,
    Application,
    ComponentDefinition,
    ComponentInstance,
    HttpRoute,
    UdfConfig,
)
from convex_evals.backend.functions.http_actions import find_route

Mounts = dict[str, str]


def definition(path: str, routes: tuple[str, ...] | None, mounts: Mounts | None = None) -> ComponentDefinition:
    """Routes are written `GET /path`; mounts go from a path to the name of a child."""
    found = tuple(HttpRoute(*reversed(route.split(" "))) for route in routes or ())
    analysis = {} if routes is None else {"http.js": AnalyzedModule(http_routes=found)}
    references = {mount: f"_reference/childComponent/{child}" for mount, child in (mounts or {}).items()}
    return ComponentDefinition(path, {}, analysis, None, {"httpMounts": references})


def application(app: ComponentDefinition, prefix: str | None = None, **components: ComponentDefinition) -> Application:
    """`outer` is mounted in the app, `inner` in `outer`."""
    instances = {
        "": ComponentInstance("", "", "", {"outer": "outer"}, http_prefix=prefix),
        "outer": ComponentInstance("c1", "outer", "outer", {"inner": "outer/inner"}, http_prefix="/outer/"),
        "outer/inner": ComponentInstance("c2", "outer/inner", "inner", http_prefix="/outer/in/"),
    }
    return Application(1, UdfConfig("1.44.0", b"", 0), {"": app, **components}, instances)


ALONE = application(
    definition(
        "",
        (
            "GET /exact",
            "POST /exact",
            "GET /a/*",
            "GET /a/long/*",
            "GET /a/long/exact",
            "POST /a/*",
            "GET /",
            "GET /%20",
        ),
    )
)


def routed(app: Application | None, request: str) -> tuple[str, str, str | None] | None:
    method, path = request.split(" ")
    found = find_route(app, method, path)
    return found and (found.instance.path, found.path, found.route and f"{found.route.method} {found.route.path}")


@pytest.mark.parametrize(
    ("request_line", "route"),
    [
        ("GET /exact", "GET /exact"),
        ("HEAD /exact", "GET /exact"),
        ("POST /exact", "POST /exact"),
        ("PUT /exact", None),
        ("OPTIONS /exact", None),
        ("GET /exact/", None),
        ("GET /Exact", None),
        ("GET /", "GET /"),
        ("GET /a/x", "GET /a/*"),
        ("GET /a/", "GET /a/*"),
        ("GET /a", None),
        ("GET /a/long/x", "GET /a/long/*"),
        ("GET /a/long/exact", "GET /a/long/exact"),
        ("HEAD /a/long/x", "GET /a/long/*"),
        ("POST /a/long/x", "POST /a/*"),
        ("POST /a/long/exact", "POST /a/*"),
        ("GET /%20", "GET /%20"),
        ("GET /%61/x", None),
    ],
)
def test_an_exact_path_wins_then_the_longest_prefix_of_the_method(request_line: str, route: str | None) -> None:
    assert routed(ALONE, request_line) == ("", request_line.split(" ")[1], route)


@pytest.mark.parametrize("app", [None, application(definition("", None))])
def test_without_http_js_there_are_no_routes(app: Application | None) -> None:
    assert routed(app, "GET /") is None


NESTED = application(
    definition("", ("GET /outer/own", "GET /outer/deeper/*", "GET /*"), {"/outer/": "outer"}),
    outer=definition("outer", ("GET /hi", "POST /in/*"), {"/in/": "inner"}),
    inner=definition("inner", ("GET /", "DELETE /x/*")),
)


@pytest.mark.parametrize(
    ("request_line", "expected"),
    [
        ("GET /outer/hi", ("outer", "/hi", "GET /hi")),
        ("GET /outer/own", ("", "/outer/own", "GET /outer/own")),
        ("GET /outer/deeper/x", ("", "/outer/deeper/x", "GET /outer/deeper/*")),
        ("POST /outer/deeper/x", ("outer", "/deeper/x", None)),
        ("GET /outer/nothing", ("outer", "/nothing", None)),
        ("GET /outer", ("", "/outer", "GET /*")),
        ("GET /elsewhere", ("", "/elsewhere", "GET /*")),
        ("GET /outer/in/", ("outer/inner", "/", "GET /")),
        ("DELETE /outer/in/x/y", ("outer/inner", "/x/y", "DELETE /x/*")),
        ("POST /outer/in/x", ("outer/inner", "/x", None)),
    ],
)
def test_mounts_compete_with_prefixes_by_length(request_line: str, expected: tuple[str, str, str | None]) -> None:
    assert routed(NESTED, request_line) == expected


PREFIXED = application(
    definition("", ("GET /hi", "GET /*", "GET /long/*"), {"/outer/": "outer", "/api/lo/": "outer"}),
    prefix="/api/",
    outer=definition("outer", ("GET /hi",)),
)


@pytest.mark.parametrize(
    ("request_line", "expected"),
    [
        ("GET /api/hi", ("", "/hi", "GET /hi")),
        ("GET /hi", ("", "/hi", None)),
        ("GET /api/other", ("", "/other", "GET /*")),
        ("GET /outer/hi", ("outer", "/hi", "GET /hi")),
        ("GET /api/outer/hi", ("", "/outer/hi", "GET /*")),
        ("GET /api/long/x", ("", "/long/x", "GET /long/*")),
        ("GET /api/lo/hi", ("outer", "/hi", "GET /hi")),
    ],
)
def test_the_prefix_of_the_app_stands_before_its_routes_but_not_before_mounts(
    request_line: str, expected: tuple[str, str, str | None]
) -> None:
    assert routed(PREFIXED, request_line) == expected


def test_a_component_that_is_not_mounted_any_more_serves_nothing() -> None:
    gone = ComponentInstance("c1", "outer", "outer", state="unmounted")
    app = application(definition("", None, {"/outer/": "outer"}), outer=definition("outer", ("GET /hi",)))
    app.instances["outer"] = gone
    assert routed(app, "GET /outer/hi") is None
