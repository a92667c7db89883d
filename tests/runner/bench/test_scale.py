"""The large suites of `bench scale`, and a small measurement."""

from pathlib import Path

from convex_evals.core.settings import read_settings
from convex_evals.runner.bench.scale import measure_scale, write_suite
from convex_evals.suite import Pipeline, load_suite


def test_generated_suites_have_as_many_static_evals_as_asked_for(tmp_path: Path) -> None:
    suite = load_suite(write_suite(tmp_path, 1003))
    assert not suite.problems
    assert len(suite.evals) == 1003
    assert {each.pipeline for each in suite.evals} == {Pipeline.STATIC}
    assert sum(each.grader is not None for each in suite.evals) == 101


async def test_commands_are_measured_with_a_quarter_and_with_all_and_two_at_once() -> None:
    said: list[str] = []
    figures = await measure_scale(read_settings(), 8, said.append)
    assert [(each.name, each.evals) for each in figures.commands] == [
        ("validate", 2),
        ("run", 2),
        ("validate", 8),
        ("run", 8),
        ("run (first of two at once)", 2),
        ("run (second of two at once)", 2),
    ]
    assert all(each.cpu_seconds > 0 and each.memory >= each.halfway > 0 for each in figures.commands)
    assert {query.name for query in figures.queries} >= {"all runs", "its results", "details of one attempt"}
    assert len(said) == 5
