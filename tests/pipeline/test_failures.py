"""The table of failures."""

import re
from pathlib import Path

import pytest

from convex_evals.pipeline import failures
from convex_evals.pipeline.failures import FAILURES

SOURCES = Path(failures.__file__).parents[1]  # the runner has failures of its own


@pytest.mark.parametrize("kind", FAILURES.values(), ids=lambda kind: kind.name)
def test_only_what_the_model_did_counts_and_it_is_never_tried_again(kind: failures.FailureKind) -> None:
    assert kind.counted == (kind.fault == "model")
    assert not (kind.counted and kind.retried)
    assert kind.status == ("failed" if kind.counted else "infrastructure")


def test_only_the_network_the_disk_the_provider_the_browser_and_the_cluster_can_never_be_the_models_doing() -> None:
    assert {kind.name for kind in FAILURES.values() if kind.fault == "infrastructure"} == {
        "registry-unreachable",
        "registry-refused",
        "disk-full",
        "machine-failed",
        "browser-missing",
        "node-lost",
        "generation-failed",
        "generation-timeout",
        "generation-refused",
        "model-unusable",
    }


def test_every_kind_that_a_step_names_is_in_the_table_and_every_kind_is_named() -> None:
    texts = [path.read_text() for path in SOURCES.rglob("*.py") if path != Path(failures.__file__)]
    words = {word for text in texts for word in re.findall(r'"([a-z]+(?:-[a-z]+)+)"', text)}
    assert words >= FAILURES.keys()
    named = {
        word for text in texts for word in re.findall(r'(?:failed|_Failed|Failure|Accident)\(\s*"([a-z-]+)"', text)
    }
    assert named <= FAILURES.keys()
