"""The routes of `http.js`."""

from convex_evals.backend.deployed import HttpRoute
from convex_evals.backend.deployed.functions import Position
from convex_evals.backend.push.errors import invalid_modules, uncaught
from convex_evals.backend.push.facts import RouteFacts, RouterFacts

METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS")


def analyze_routes(path: str, router: RouterFacts) -> tuple[HttpRoute, ...]:
    """Raises RequestError when the default export is not a router, or a route is not one."""
    if not router.exported:
        raise invalid_modules(f"`convex/{path}` must have a default export of a Router.")
    if not router.is_router:
        raise invalid_modules(f"The default export of `convex/{path}` is not a Router.")
    if not router.has_routes:
        raise invalid_modules(".getRoutes property on Router not found")
    if router.thrown is not None:
        raise uncaught(router.thrown)
    if router.routes is None:
        raise _unexpected("return value is not an array")
    routes = [_analyze_route(path, index, route) for index, route in enumerate(router.routes)]
    return tuple(sorted(routes, key=_order))


def _analyze_route(module: str, index: int, route: RouteFacts) -> HttpRoute:
    place = f"arr[{index}]"
    if not route.is_entry:
        raise _unexpected(f"{place} is not an array")
    if route.path is None:
        raise _unexpected(f"{place}[0] is not a string")
    if route.method is None:
        raise _unexpected(f"{place}[1] is not a string")
    if route.method not in METHODS:
        raise _unexpected(f"'{route.method}' is not not a routable method (one of {', '.join(METHODS)})")
    if not route.is_action:
        raise _unexpected(f"{place}[2] not an HttpAction")
    if not route.has_handler:
        raise invalid_modules(f"{place}[2].handler is not a function")
    position = route.position
    place_in_source = None if position is None else Position(module, position.line, position.column)
    return HttpRoute(route.path, route.method, place_in_source)


def _order(route: HttpRoute) -> tuple[int, int]:
    position = route.position
    return (-1, -1) if position is None else (position.start_lineno, position.start_col)


def _unexpected(detail: str) -> Exception:
    return invalid_modules(
        "The `getRoutes()` method of Router did not return the expected type. `getRoutes()` should be a function "
        f"returning an array of entries of the form [path: string, method: string, handler: HttpAction] ({detail})"
    )
