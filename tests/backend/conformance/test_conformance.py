"""Every item of the checklist, by number, against the embedded deployment; and the page that lists them.

The app that most checks share is pushed by the CLI, and so are those of a few checks that push their own. The others
push over HTTP, which takes a tenth of the time; `test --all` lets the CLI push for them, too.
"""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from convex_evals.backend.conformance import Check, ItemResult, Target, all_checks, run_checks
from convex_evals.backend.conformance.target import EmbeddedDeployments, Pusher, PushResult, push_with_cli
from convex_evals.core.distribution import checkout_root
from convex_evals.core.settings import read_settings
from convex_evals.core.toolchain import prepare_toolchain

CHECKS = all_checks()
HEAVY = (65, 201, 204, 206, 233)  # a second loop, and tens of thousands of documents
SHARED = [check for check in CHECKS if not check.owns_deployment and check.number not in HEAVY]
THEIR_OWN = [check for check in CHECKS if check.owns_deployment]
BY_CLI = (209, 273, 278)  # one that fails because of the data, one that is deployed, one that is refused
PAGE = Path(checkout_root() or ".") / "docs" / "conformance.md"
GENERATED = {
    "_generated/api.js": """
import { anyApi, componentsGeneric } from "convex/server";
export const api = anyApi;
export const internal = anyApi;
export const components = componentsGeneric();
""",
    "_generated/server.js": """
export {
  actionGeneric as action, httpActionGeneric as httpAction, internalActionGeneric as internalAction,
  internalMutationGeneric as internalMutation, internalQueryGeneric as internalQuery, mutationGeneric as mutation,
  queryGeneric as query
} from "convex/server";
""",
}

_results: dict[int, ItemResult] = {}


@pytest.fixture(scope="module")
def push_over_http(bundle: Callable[..., Any], http_push: Callable[..., Any]) -> Pusher:
    async def push(target: Target, project: Path) -> PushResult:
        sources = GENERATED | _sources(project / "convex")
        refusal = await http_push(target.url, target.admin_key).refusal(bundle(sources))
        return PushResult(not refusal, refusal)

    return push


def _sources(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*.ts")}


def _run(checks: list[Check], pusher: Pusher) -> dict[int, ItemResult]:
    async def run() -> dict[int, ItemResult]:
        toolchain = await prepare_toolchain(read_settings())
        results = await run_checks(EmbeddedDeployments(toolchain, pusher), checks)
        return {item.check.number: item for item in results.items}

    return asyncio.run(run())


def _assert_as_documented(check: Check, result: ItemResult) -> None:
    documented = _documented()[check.number]
    assert (result.status, check.behaviour) == (documented.status, documented.behaviour), result.detail
    assert result.status == "passed" or not check.p1, result.detail


@pytest.mark.timeout(900)  # the first test waits for all of them
@pytest.mark.parametrize("check", SHARED, ids=lambda check: str(check.number))
def test_an_item_behaves_as_the_page_says(check: Check) -> None:
    if not _results:
        _results.update(_run(SHARED, push_with_cli))
    _assert_as_documented(check, _results[check.number])


@pytest.mark.exhaustive
def test_items_that_take_seconds_behave_as_the_page_says() -> None:
    heavy = [check for check in CHECKS if check.number in HEAVY]
    results = _run(heavy, push_with_cli)
    for check in heavy:
        _assert_as_documented(check, results[check.number])


@pytest.mark.parametrize("check", THEIR_OWN, ids=lambda check: str(check.number))
def test_an_item_with_its_own_deployment_behaves_as_the_page_says(check: Check, push_over_http: Pusher) -> None:
    pusher = push_with_cli if check.number in BY_CLI else push_over_http
    _assert_as_documented(check, _run([check], pusher)[check.number])


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "check", [check for check in THEIR_OWN if check.number not in BY_CLI], ids=lambda check: str(check.number)
)
def test_an_item_behaves_the_same_when_the_cli_pushes(check: Check) -> None:
    _assert_as_documented(check, _run([check], push_with_cli)[check.number])


def test_the_checklist_is_complete_and_nearly_all_of_it_passes() -> None:
    assert [check.number for check in CHECKS] == list(range(1, 310))
    passed = sum(row.status == "passed" for row in _documented().values())
    assert passed >= 0.95 * len(CHECKS)


class _Row:
    def __init__(self, match: re.Match[str]) -> None:
        self.number = int(match[1])
        self.behaviour = match[2].replace("\\|", "|")
        self.status = match[3]


def _documented() -> dict[int, _Row]:
    rows = (_Row(match) for match in re.finditer(r"^\| (\d+) \| (?:P1)? *\| (.*) \| (\w+) \|$", PAGE.read_text(), re.M))
    return {row.number: row for row in rows}
