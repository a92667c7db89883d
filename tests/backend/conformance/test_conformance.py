"""Every item of the checklist, by number, against the embedded deployment; and the page that lists them."""

import asyncio
import re
from pathlib import Path

import pytest

from convex_evals.backend.conformance import Check, ItemResult, all_checks, run_checks
from convex_evals.backend.conformance.run import EmbeddedDeployments
from convex_evals.core.distribution import checkout_root
from convex_evals.core.settings import read_settings
from convex_evals.core.toolchain import prepare_toolchain

CHECKS = all_checks()
PAGE = Path(checkout_root() or ".") / "docs" / "conformance.md"

_results: dict[str, dict[int, ItemResult]] = {}


def _result(check: Check) -> ItemResult:
    """Checks that share a deployment run together, the others by section, when the first of their tests asks."""
    group = _group(check)
    if group not in _results:
        _results[group] = asyncio.run(_run([each for each in CHECKS if _group(each) == group]))
    return _results[group][check.number]


def _group(check: Check) -> str:
    return check.section if check.owns_deployment else "shared"


async def _run(checks: list[Check]) -> dict[int, ItemResult]:
    toolchain = await prepare_toolchain(read_settings())
    results = await run_checks(EmbeddedDeployments(toolchain), checks)
    return {item.check.number: item for item in results.items}


@pytest.mark.timeout(900)  # the first test of a group waits for all of it
@pytest.mark.parametrize("check", CHECKS, ids=[str(check.number) for check in CHECKS])
def test_an_item_behaves_as_the_page_says(check: Check) -> None:
    result = _result(check)
    documented = _documented()[check.number]
    assert (result.status, check.behaviour) == (documented.status, documented.behaviour), result.detail
    assert result.status == "passed" or not check.p1, result.detail


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
