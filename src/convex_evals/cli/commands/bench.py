"""`convex-evals bench`: what things cost on this machine."""

from typing import TYPE_CHECKING

import typer

from convex_evals.cli.options import JsonFile

if TYPE_CHECKING:
    from convex_evals.backend.bench import BackendFigures, Timings
    from convex_evals.pipeline.bench import PipelineFigures

bench = typer.Typer(help="Benchmark this machine.", rich_markup_mode=None, pretty_exceptions_enable=False)


@bench.callback()
def group() -> None:
    """Benchmark this machine."""


@bench.command("backend")
def backend(json: JsonFile = None) -> None:
    """Benchmark the embedded deployment: start, push, queries, updates, a hot document, memory."""
    import asyncio

    from convex_evals.cli.output import write_json

    figures = asyncio.run(_measure())
    if json is not None:
        write_json(figures.to_json(), json)
    if json != "-":
        _print(figures)


@bench.command("pipeline")
def pipeline(json: JsonFile = None) -> None:
    """Benchmark grading step by step, against doing the same with the ordinary tools (needs npm)."""
    import asyncio

    from convex_evals.cli.output import remark, write_json
    from convex_evals.core.settings import read_settings
    from convex_evals.pipeline.bench import measure_pipeline

    figures = asyncio.run(measure_pipeline(read_settings(), remark))
    if json is not None:
        write_json(figures.to_json(), json)
    if json != "-":
        _print_pipeline(figures)


async def _measure() -> "BackendFigures":
    from convex_evals.backend.bench import measure_backend
    from convex_evals.cli.output import remark
    from convex_evals.core.settings import read_settings
    from convex_evals.core.toolchain import prepare_toolchain

    return await measure_backend(await prepare_toolchain(read_settings(), remark), remark)


def _print(figures: "BackendFigures") -> None:
    from convex_evals.cli.output import console, table

    rows = table(["measured", "times", "median ms", "p99 ms"])
    for label, timings in _timings(figures):
        rows.add_row(label, str(timings.count), f"{timings.median:.2f}", f"{timings.p99:.2f}")
    out = console()
    out.print(rows)
    out.print(f"\nhot document: {figures.hot_document_value:.0f} increments counted")
    out.print(
        f"one more idle deployment with its worker: {figures.idle.resident:.0f} MB resident, "
        f"{figures.idle.proportional:.0f} MB of it its own"
    )


def _timings(figures: "BackendFigures") -> list[tuple[str, "Timings"]]:
    return [
        ("start an empty deployment", figures.start),
        ("push a small project, already bundled", figures.push),
        ("query of one document over HTTP", figures.query_http),
        ("the same from the cache", figures.query_cached),
        ("query of one document over WebSocket", figures.query_socket),
        ("mutation to update of another client", figures.mutation_to_update),
        ("indexed range of 100 in 10,000", figures.range_of_100),
        ("walk through 10,000 in pages of 500", figures.paginated_walk),
        ("32 clients x 50 mutations of one document", figures.hot_document),
    ]


def _print_pipeline(figures: "PipelineFigures") -> None:
    from convex_evals.cli.output import console, table

    rows = table(
        ["project", "step", "cold cpu ms", "warm cpu ms", "ordinary cpu ms", "warm wall ms", "ordinary wall ms"]
    )
    for project in figures.projects:
        for name, warm in project.warm.steps.items():
            cold, ordinary = project.cold.steps[name], project.baseline.get(name)
            rows.add_row(
                project.name,
                name,
                f"{cold.cpu_ms:.0f}",
                f"{warm.cpu_ms:.0f}",
                f"{ordinary.cpu_ms:.0f}" if ordinary else "",
                f"{warm.wall_ms:.0f}",
                f"{ordinary.wall_ms:.0f}" if ordinary else "",
            )
    out = console()
    out.print(rows)
    cpu, wall = figures.warm.cpu_ms / figures.baseline.cpu_ms, figures.warm.wall_ms / figures.baseline.wall_ms
    out.print(f"\nall together, warm to ordinary: {cpu:.3f} of the processor time, {wall:.3f} of the wall time")
