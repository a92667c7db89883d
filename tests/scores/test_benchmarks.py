"""Versions of the benchmark in the database."""

from datetime import UTC, datetime
from typing import Any

import pytest

from convex_evals.core.errors import UsageError
from convex_evals.scores import Benchmark, PlannedEval

V1 = Benchmark(
    "v1",
    (PlannedEval("000-a/000-b", "c1", "g1"), PlannedEval("000-a/001-c", "c2", None)),
    {"default": "p"},
    "pipeline",
    "toolchain",
    datetime(2026, 11, 16, tzinfo=UTC),
)


def test_a_version_is_read_back_as_it_was_minted(scene: Any) -> None:
    scene.store.mint_benchmark(V1)
    assert scene.store.benchmarks() == (V1,)


def test_a_name_is_taken_once(scene: Any) -> None:
    scene.store.mint_benchmark(V1)
    with pytest.raises(UsageError, match="already"):
        scene.store.mint_benchmark(V1)


def test_a_version_is_never_changed_or_deleted(scene: Any, execute: Any) -> None:
    scene.store.mint_benchmark(V1)
    for statement in ("UPDATE benchmarks SET pipeline = 'other'", "DELETE FROM benchmarks"):
        with pytest.raises(Exception, match="benchmarks are never changed or deleted"):
            execute(statement)
    assert scene.store.benchmarks() == (V1,)
