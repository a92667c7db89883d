"""Which component's `http.js` answers a request, and by which route."""

from collections.abc import Sequence
from dataclasses import dataclass

from convex_evals.backend.deployed import Application, ComponentDefinition, ComponentInstance, HttpRoute

MODULE = "http.js"
ROUTABLE_METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD")

_CHILD_REFERENCE = "_reference/childComponent/"


@dataclass(frozen=True, slots=True)
class Routed:
    """`path` is what the router of the component is asked for; `route` is None when it will not find anything."""

    instance: ComponentInstance
    path: str
    route: HttpRoute | None


@dataclass(frozen=True, slots=True)
class _Mount:
    path: str
    component: str


def find_route(application: Application | None, method: str, path: str) -> Routed | None:
    """None when no component serves HTTP at `path`, which is that of the URL, still percent-encoded."""
    component, rest = "", path
    while application is not None:
        instance, definition = application.instance(component), application.definition_of(component)
        if instance is None or definition is None:
            break
        found = _find_in(instance, definition, "GET" if method == "HEAD" else method, rest)
        if not isinstance(found, _Mount):
            return found
        component, rest = found.component, "/" + rest.removeprefix(found.path)
    return None


def _find_in(
    instance: ComponentInstance, definition: ComponentDefinition, method: str, path: str
) -> Routed | _Mount | None:
    module = definition.analysis.get(MODULE)
    routes = None if module is None else module.http_routes
    prefix = _own_prefix(instance)
    own = "/" + path.removeprefix(prefix) if path.startswith(prefix) else None
    exact = _exact(routes or (), method, own)
    if exact is not None and own is not None:
        return Routed(instance, own, exact)
    longest = _longest_prefix(routes or (), method, own)
    mount = _longest_mount(instance, definition, path)
    if mount is not None and (longest is None or len(mount.path) >= len(prefix) + len(longest.path) - len("/*")):
        return mount
    return None if routes is None else Routed(instance, own or path, longest)


def _own_prefix(instance: ComponentInstance) -> str:
    """What stands before the routes of a component. Children are reached through their mount instead."""
    return instance.http_prefix or "/" if instance.path == "" else "/"


def _exact(routes: Sequence[HttpRoute], method: str, path: str | None) -> HttpRoute | None:
    return next((route for route in routes if route.method == method and route.path == path), None)


def _longest_prefix(routes: Sequence[HttpRoute], method: str, path: str | None) -> HttpRoute | None:
    matching = [
        route
        for route in routes
        if route.method == method and route.path.endswith("*") and (path or "").startswith(route.path[:-1])
    ]
    return max(matching, key=lambda route: len(route.path), default=None)


def _longest_mount(instance: ComponentInstance, definition: ComponentDefinition, path: str) -> _Mount | None:
    mounts = definition.metadata.get("httpMounts")
    found: list[_Mount] = []
    for prefix, reference in (mounts if isinstance(mounts, dict) else {}).items():
        child = instance.children.get(str(reference).removeprefix(_CHILD_REFERENCE))
        if child is not None and path.startswith(prefix):
            found.append(_Mount(prefix, child))
    return max(found, key=lambda mount: len(mount.path), default=None)
