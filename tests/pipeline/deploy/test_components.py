"""Which components of a project can be pushed without asking the CLI."""

from pathlib import Path
from typing import Any

import pytest

from convex_evals.pipeline.deploy.components import Definition, Definitions, read_definitions

APP = "convex/convex.config.ts"
POOL = "../packages/node_modules/@convex-dev/workpool/dist/component/convex.config.js"
FLOW = "../packages/node_modules/@convex-dev/workflow/dist/component/convex.config.js"
POOL_IMPORT = "@convex-dev/workpool/convex.config.js"
Inputs = dict[str, dict[str, Any]]


def imported(path: str, original: str | None) -> dict[str, Any]:
    return {"path": path, "kind": "import-statement", **({"original": original} if original else {})}


def inputs(app: list[dict[str, Any]], **more: list[dict[str, Any]]) -> Inputs:
    server = imported("../packages/node_modules/convex/server.js", "convex/server")
    named = {"pool": POOL, "flow": FLOW}
    found = {APP: {"imports": [server, *app]}}
    return found | {named[name]: {"imports": [server, *imports]} for name, imports in more.items()}


def read(tmp_path: Path, found: Inputs) -> Definitions | None:
    for name in found:
        path = tmp_path / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    return read_definitions(found, tmp_path / "project", [tmp_path / "packages/node_modules"])


def test_an_app_without_components_is_its_own_only_definition(tmp_path: Path) -> None:
    assert read(tmp_path, inputs([])) == Definitions(Definition(tmp_path / "project" / APP, "", {}), ())


def test_components_are_named_by_their_place_and_by_the_package_that_is_imported(tmp_path: Path) -> None:
    flow = imported(FLOW, "@convex-dev/workflow/convex.config")
    found = read(tmp_path, inputs([flow], flow=[imported(POOL, POOL_IMPORT)], pool=[]))
    assert found is not None
    places = {each.path: dict(each.imports) for each in (found.app, *found.components)}
    folder = "../../packages/node_modules/@convex-dev"
    assert places == {
        "": {"@convex-dev/workflow/convex.config": f"{folder}/workflow/dist/component"},
        f"{folder}/workflow/dist/component": {POOL_IMPORT: f"{folder}/workpool/dist/component"},
        f"{folder}/workpool/dist/component": {},
    }
    assert found.packages == {
        f"{folder}/workflow/dist/component": "@convex-dev/workflow",
        f"{folder}/workpool/dist/component": "@convex-dev/workpool",
    }


LOCAL = "convex/counter/convex.config.ts"
BESIDE = "components/audit/convex.config.ts"
ELSEWHERE = "elsewhere/convex.config.js"
AT_THE_ROOT = "convex.config.ts"


def test_components_of_the_project_are_named_by_their_place(tmp_path: Path) -> None:
    imports = [imported(LOCAL, "./counter/convex.config"), imported(BESIDE, "../components/audit/convex.config.js")]
    found = read(tmp_path, {**inputs(imports), LOCAL: {"imports": []}, BESIDE: {"imports": []}})
    assert found is not None
    assert [(each.path, each.is_local) for each in found.components] == [
        ("counter", True),
        ("../components/audit", True),
    ]
    assert found.packages == {"counter": "../counter", "../components/audit": "../../components/audit"}
    assert not found.app.is_local


@pytest.mark.parametrize(
    "found",
    [
        pytest.param({**inputs([imported(LOCAL, "@/counter/convex.config")]), LOCAL: {"imports": []}}, id="by alias"),
        pytest.param(
            {**inputs([imported(AT_THE_ROOT, "../convex.config")]), AT_THE_ROOT: {"imports": []}}, id="around the app"
        ),
        pytest.param(
            {
                **inputs([imported(LOCAL, "./counter/convex.config")]),
                LOCAL: {"imports": [imported(BESIDE, "../../components/audit/convex.config")]},
                BESIDE: {"imports": []},
            },
            id="nested",
        ),
        pytest.param(
            {
                **inputs([imported(LOCAL, "./counter/convex.config")], pool=[]),
                LOCAL: {"imports": [imported(POOL, POOL_IMPORT)]},
            },
            id="a package in its own",
        ),
        pytest.param({**inputs([imported(ELSEWHERE, "x/convex.config")]), ELSEWHERE: {"imports": []}}, id="no package"),
        pytest.param({**inputs([]), "convex/auth.config.ts": {"imports": []}}, id="another config"),
        pytest.param(inputs([imported(POOL, "../node_modules/pool/convex.config.js")], pool=[]), id="by its path"),
        pytest.param(inputs([imported(POOL, None)], pool=[]), id="unknown how"),
        pytest.param(inputs([imported(POOL, "#pool")], pool=[]), id="under another name"),
        pytest.param(
            inputs(
                [imported(POOL, POOL_IMPORT), imported(FLOW, "@convex-dev/workflow/convex.config")],
                flow=[imported(POOL, "pool-alias/convex.config")],
                pool=[],
            ),
            id="two names",
        ),
        pytest.param({POOL: {"imports": []}}, id="no app"),
    ],
)
def test_the_cli_looks_at_everything_else(tmp_path: Path, found: Inputs) -> None:
    assert read(tmp_path, found) is None


def test_the_cli_looks_at_a_component_that_is_published_with_its_sources(tmp_path: Path) -> None:
    found = inputs([imported(POOL, POOL_IMPORT)], pool=[])
    assert read(tmp_path, found) is not None
    (tmp_path / "project" / POOL).with_suffix(".ts").write_text("")
    assert read(tmp_path, found) is None
