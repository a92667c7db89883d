"""Which route answers: exact paths, prefixes of different lengths, methods, and what no route fits."""

from collections.abc import Iterable
from typing import Any

from convex_evals.pipeline.grading.kit import Deployment, Route

ROUTES = [
    Route("DELETE", "/products/*"),
    Route("GET", "/products"),
    Route("GET", "/products/*"),
    Route("GET", "/products/archive/*"),
    Route("GET", "/products/new"),
    Route("OPTIONS", "/products"),
    Route("POST", "/products"),
]
EXACT = {
    "GET /products": (200, {"route": "list"}),
    "GET /products?page=2": (200, {"route": "list"}),
    "POST /products": (201, {"route": "create"}),
    "GET /products/new": (200, {"route": "form"}),
}
PREFIXES = {
    "GET /products/7": ("product", "7"),
    "GET /products/pens/7?color=red": ("product", "pens/7"),
    "GET /products/": ("product", ""),
    "GET /products/newer": ("product", "newer"),
    "GET /products/new/": ("product", "new/"),
    "DELETE /products/7": ("delete", "7"),
    "DELETE /products/pens/7?color=red": ("delete", "pens/7"),
    "DELETE /products/": ("delete", ""),
}
OVERLAPS = {
    "GET /products/archive": ("product", "archive"),
    "GET /products/archived/7": ("product", "archived/7"),
    "GET /products/archive/2024": ("archive", "2024"),
    "GET /products/archive/": ("archive", ""),
    "GET /products/archive/2024/7?color=red": ("archive", "2024/7"),
    "DELETE /products/new": ("delete", "new"),
    "DELETE /products/archive/2024": ("delete", "archive/2024"),
}
NOTHING = (
    "GET /",
    "GET /product",
    "GET /productsandmore",
    "GET /Products",
    "GET /shop/products",
    "DELETE /products",
    "PUT /products",
    "PATCH /products/7",
    "POST /products/7",
    "POST /products/new",
    "OPTIONS /products/7",
)


def ask(project: Deployment, request: str) -> Any:
    method, path = request.split(" ")
    return project.http.request(method, path)


def answers(project: Deployment, requests: Iterable[str]) -> dict[str, tuple[int, Any]]:
    responses = {request: ask(project, request) for request in requests}
    return {request: (response.status, response.json()) for request, response in responses.items()}


def answers_of(routes: dict[str, tuple[str, str]]) -> dict[str, tuple[int, Any]]:
    return {request: (200, {"route": route, "rest": rest}) for request, (route, rest) in routes.items()}


def test_an_exact_path_is_answered_by_its_route(project: Deployment) -> None:
    assert answers(project, EXACT) == EXACT


def test_a_prefix_answers_and_knows_the_rest(project: Deployment) -> None:
    assert answers(project, PREFIXES) == answers_of(PREFIXES)


def test_the_most_specific_route_answers(project: Deployment) -> None:
    assert answers(project, OVERLAPS) == answers_of(OVERLAPS)


def test_a_request_that_fits_no_route_is_not_found(project: Deployment) -> None:
    assert {request: ask(project, request).status for request in NOTHING} == dict.fromkeys(NOTHING, 404)


def test_options_tells_the_allowed_methods_without_a_body(project: Deployment) -> None:
    response = project.http.options("/products")
    assert (response.status, response.header("Allow"), response.body) == (204, "GET, POST, OPTIONS", b"")


def test_answers_say_that_they_are_json(project: Deployment) -> None:
    requests = [*EXACT, *PREFIXES, *OVERLAPS]
    types = {request: (ask(project, request).header("Content-Type") or "").split(";")[0] for request in requests}
    assert types == dict.fromkeys(requests, "application/json")


def test_the_routes_are_those_of_the_task(project: Deployment) -> None:
    assert project.routes() == ROUTES
    assert project.functions() == {}
