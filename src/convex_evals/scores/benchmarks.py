"""Versions of the benchmark: minted once, never changed."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from convex_evals.core.errors import UsageError
from convex_evals.scores.records import Benchmark, PlannedEval
from convex_evals.scores.rows import BenchmarkRow


def insert_benchmark(session: Session, benchmark: Benchmark) -> None:
    if session.get(BenchmarkRow, benchmark.name) is not None:
        raise UsageError(f"There is a benchmark version {benchmark.name!r} already; choose another name.")
    session.add(
        BenchmarkRow(
            name=benchmark.name,
            evals={each.eval: [each.content, each.grader] for each in benchmark.evals},
            prompts=dict(benchmark.prompts),
            pipeline=benchmark.pipeline,
            toolchain=benchmark.toolchain,
            minted_at=benchmark.minted_at,
        )
    )


def read_benchmarks(session: Session) -> tuple[Benchmark, ...]:
    """The newest first."""
    rows = session.scalars(select(BenchmarkRow).order_by(BenchmarkRow.minted_at.desc(), BenchmarkRow.name))
    return tuple(_record(row) for row in rows)


def _record(row: BenchmarkRow) -> Benchmark:
    evals = (PlannedEval(name, content, grader) for name, (content, grader) in sorted(row.evals.items()))
    return Benchmark(row.name, tuple(evals), row.prompts, row.pipeline, row.toolchain, row.minted_at)
