"""The large suites of `bench scale`, and a small measurement."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from convex_evals.core.settings import read_settings
from convex_evals.runner.bench.scale import _measure, _query, measure_scale, write_suite
from convex_evals.suite import Pipeline, load_suite


def test_generated_suites_have_as_many_static_evals_as_asked_for(tmp_path: Path) -> None:
    suite = load_suite(write_suite(tmp_path, 1003))
    assert not suite.problems
    assert len(suite.evals) == 1003
    assert {each.pipeline for each in suite.evals} == {Pipeline.STATIC}
    assert sum(each.grader is not None for each in suite.evals) == 101


@pytest.fixture
def one_core() -> Iterator[None]:
    """For the commands that are measured: each of their workers takes most of a second to start."""
    ours = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(ours)})
    yield
    os.sched_setaffinity(0, ours)


async def test_a_command_and_questions_about_its_run_are_measured(one_core: None, tmp_path: Path) -> None:
    figures = await _measure(read_settings(), tmp_path, "run", write_suite(tmp_path, 1), 1)
    assert (figures.name, figures.evals) == ("run", 1)
    assert figures.cpu_seconds > 0 and figures.memory >= figures.halfway > 0
    assert {query.name for query in _query(tmp_path / "run.db")} >= {
        "all runs",
        "its results",
        "details of one attempt",
    }


@pytest.mark.exhaustive
async def test_commands_are_measured_with_a_quarter_and_with_all_and_two_at_once(one_core: None) -> None:
    said: list[str] = []
    figures = await measure_scale(read_settings(), 4, said.append)
    assert [(each.name, each.evals) for each in figures.commands] == [
        ("validate", 1),
        ("run", 1),
        ("validate", 4),
        ("run", 4),
        ("run (first of two at once)", 1),
        ("run (second of two at once)", 1),
    ]
    assert all(each.cpu_seconds > 0 and each.memory >= each.halfway > 0 for each in figures.commands)
    assert {query.name for query in figures.queries} >= {"all runs", "its results", "details of one attempt"}
    assert len(said) == 5
