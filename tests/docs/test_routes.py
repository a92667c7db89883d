"""docs/service.md lists every route that programs use."""

import re
from pathlib import Path

import pytest

from convex_evals.scores import ScoresStore
from convex_evals.web import Site, create_app


@pytest.fixture
def routes(tmp_path: Path) -> set[str]:
    with ScoresStore.open(tmp_path / "scores.db") as store:
        described = create_app(Site(store)).openapi()["paths"]
    return {f"{method.upper()} {path}" for path, methods in described.items() for method in methods}


def test_the_page_lists_every_route_of_the_api(repository: Path, routes: set[str]) -> None:
    text = (repository / "docs" / "service.md").read_text()
    listed = set(re.findall(r"`((?:GET|POST|PUT|PATCH|DELETE) /api/v1/[^`]*)`", text))
    assert routes - listed == set(), "routes that docs/service.md does not list"
    assert listed - routes == set(), "routes that docs/service.md lists, but that are not there"
