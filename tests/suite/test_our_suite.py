"""The suite in this repository."""

import json
import re

import pytest

from convex_evals.core.distribution import checkout_root
from convex_evals.suite import Suite, load_suite, read_answer


@pytest.fixture
def suite() -> Suite:
    checkout = checkout_root()
    assert checkout is not None
    return load_suite(checkout / "evals")


def test_nothing_in_it_is_broken(suite: Suite) -> None:
    assert not suite.problems
    assert [each.id for each in suite.evals][:1] == ["000-fundamentals/000-empty_functions"]


def test_every_answer_resolves_to_the_same_versions_forever(suite: Suite) -> None:
    assert suite.settings.packages_before is not None  # so that a caret means one version, not the newest
    for each in suite.evals:
        package = json.loads(read_answer(each, suite.settings.answer_files)["package.json"])
        for name, version in package["dependencies"].items():
            assert re.fullmatch(r"[~^]?\d+\.\d+\.\d+", version), f"{each.id} leaves {name} open: {version}"


def test_the_empty_functions_answer_exports_what_its_task_names(suite: Suite) -> None:
    (first,) = [each for each in suite.evals if each.name == "000-empty_functions"]
    asked = set(re.findall(r"^- `(\w+)`", first.task, re.MULTILINE))
    source = (first.answer / "convex" / "index.ts").read_text()
    assert set(re.findall(r"^export const (\w+)", source, re.MULTILINE)) == asked
    assert len(asked) == 6
