"""`convex-evals bench`: what things cost on this machine."""

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from convex_evals.cli.options import EvalsFolder, JsonFile, in_existing_folder
from convex_evals.cli.tree import Commands

if TYPE_CHECKING:
    from convex_evals.backend.bench import BackendFigures, Timings
    from convex_evals.pipeline.bench import PipelineFigures, Profile
    from convex_evals.runner.bench import ClusterFigures, ScaleFigures
    from convex_evals.web.bench import ServiceFigures, WebFigures

bench = Commands()


@bench.callback()
def group() -> None:
    """Benchmark this machine.

    Examples:
      convex-evals bench backend
      convex-evals bench pipeline --json figures.json
      convex-evals bench web --runs 200
    """


@bench.command("backend")
def backend(json: JsonFile = None) -> None:
    """Benchmark the embedded deployment: start, push, queries, updates, a hot document, memory.

    Examples:
      convex-evals bench backend
    """
    import asyncio

    from convex_evals.cli.output import write_json

    figures = asyncio.run(_measure())
    if json is not None:
        write_json(figures.to_json(), json)
    if json != "-":
        _print(figures)


@bench.command("pipeline")
def pipeline(
    profile: Annotated[
        bool,
        typer.Option("--profile", help="Show where the CPU time of warm gradings goes, by process and function."),
    ] = False,
    flame_graph: Annotated[
        Path,
        typer.Option(
            "--flame-graph",
            metavar="FILE",
            help="Where --profile draws our own code, with folded stacks beside it (default: flame-graph.svg).",
        ),
    ] = Path("flame-graph.svg"),
    foreign: Annotated[
        bool,
        typer.Option("--foreign", help="Grade a suite with its own ESLint configuration and vitest graders instead."),
    ] = False,
    json: JsonFile = None,
) -> None:
    """Benchmark grading step by step, against doing the same with the ordinary tools (needs npm).

    Examples:
      convex-evals bench pipeline
      convex-evals bench pipeline --foreign
      convex-evals bench pipeline --profile
    """
    import asyncio

    from convex_evals.cli.output import remark, write_json
    from convex_evals.core.settings import read_settings
    from convex_evals.pipeline.bench import measure_pipeline, profile_pipeline, write_flame_graph

    if profile:
        profiled = asyncio.run(profile_pipeline(read_settings(), remark, foreign=foreign))
        folded = write_flame_graph(profiled.stacks, "Python code of a warm grading", flame_graph)
        remark(f"wrote {flame_graph} and {folded}")
        if json is not None:
            write_json(profiled.to_json(), json)
        if json != "-":
            _print_profile(profiled)
        return
    figures = asyncio.run(measure_pipeline(read_settings(), remark, foreign=foreign))
    if json is not None:
        write_json(figures.to_json(), json)
    if json != "-":
        _print_pipeline(figures)


@bench.command("web")
def web(
    runs: Annotated[int, typer.Option("--runs", min=2, help="Runs to generate (default: 1000).")] = 1000,
    json: JsonFile = None,
    scores: Annotated[
        str | None,
        typer.Option(
            "--scores",
            metavar="FILE|URL",
            callback=in_existing_folder,
            help="Measure with this database, empty or filled by an earlier benchmark (default: a temporary file).",
        ),
    ] = None,
    postgres: Annotated[
        bool, typer.Option("--postgres", help="Measure with a temporary PostgreSQL server instead of a file.")
    ] = False,
    publishing: Annotated[
        bool, typer.Option("--publish/--no-publish", help="Publish the pages, too, which takes longest.")
    ] = True,
) -> None:
    """Benchmark the pages over generated runs: time, statements and bytes of each, publishing, open live pages.

    Examples:
      convex-evals bench web --runs 100
    """
    import asyncio

    from convex_evals.cli.output import remark, write_json
    from convex_evals.core.errors import UsageError
    from convex_evals.web.bench import measure_web, temporary_database

    if postgres and scores is not None:
        raise UsageError("Choose one database: --postgres starts a server of its own, --scores names another.")
    with temporary_database(remark) if postgres else nullcontext((scores, None)) as (where, server):
        figures = asyncio.run(measure_web(where, runs, remark, [server] if server else [], publishing=publishing))
    if json is not None:
        write_json(figures.to_json(), json)
    if json != "-":
        _print_web(figures)


@bench.command("service")
def service(
    scores: Annotated[
        str | None,
        typer.Option(
            "--scores",
            metavar="FILE|URL",
            callback=in_existing_folder,
            help="The service's database, empty or filled by an earlier benchmark (default: a temporary SQLite file).",
        ),
    ] = None,
    servers: Annotated[
        int | None, typer.Option("--servers", min=1, help="Processes of `serve` (default: 2; 1 on SQLite).")
    ] = None,
    runners: Annotated[
        int | None, typer.Option("--runners", min=1, help="Runners that record at once (default: 50; 8 on SQLite).")
    ] = None,
    evals: Annotated[int, typer.Option("--evals", min=1, help="Evals that each of them records.")] = 10,
    readers: Annotated[
        int, typer.Option("--readers", min=1, help="People on the leaderboard and the pages of runs.")
    ] = 200,
    pause: Annotated[
        float, typer.Option("--pause", min=0, help="Seconds between two pages of a reader, on average.")
    ] = 10.0,
    history: Annotated[int, typer.Option("--history", min=2, help="Runs to generate before.")] = 100,
    json: JsonFile = None,
) -> None:
    """Benchmark `serve` under load: runners record while readers load pages, then both sides are compared.

    The exit code is 1 when anything was lost, refused or not answered.

    Examples:
    convex-evals bench service
    convex-evals bench service --scores postgresql://user@host/empty
    """
    import asyncio

    from convex_evals.cli.output import remark, write_json
    from convex_evals.web.bench import Load, measure_service

    team = scores is not None and "://" in scores
    load = Load(servers or (2 if team else 1), runners or (50 if team else 8), evals, readers, pause, history)
    figures = asyncio.run(measure_service(scores, load, remark))
    if json is not None:
        write_json(figures.to_json(), json)
    if json != "-":
        _print_service(figures)
    if not figures.ok:
        raise typer.Exit(1)


@bench.command("cluster")
def cluster(
    answers: Annotated[
        int, typer.Option("--answers", min=1, help="Reference answers to grade both ways (default: 8).")
    ] = 8,
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Times to grade them each way (default: 5).")] = 5,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Most sleeping workers (default: 200).")] = 200,
    evals: EvalsFolder = None,
    json: JsonFile = None,
) -> None:
    """Benchmark grading on a Ray cluster that this starts: overhead against one machine, throughput by workers.

    Examples:
      convex-evals bench cluster --workers 2
    """
    import asyncio

    from convex_evals.cli.output import remark, write_json
    from convex_evals.core.settings import read_settings
    from convex_evals.runner.bench import measure_cluster
    from convex_evals.suite import find_suite, load_suite

    suite = load_suite(find_suite(evals))
    measuring = measure_cluster(read_settings(), suite, remark, answers=answers, rounds=rounds, workers=workers)
    figures = asyncio.run(measuring)
    if json is not None:
        write_json(figures.to_json(), json)
    if json != "-":
        _print_cluster(figures)


@bench.command("scale")
def scale(
    evals: Annotated[int, typer.Option("--evals", min=4, help="Evals to generate (default: 1000).")] = 1000,
    json: JsonFile = None,
) -> None:
    """Benchmark `validate` and `run` with thousands of trivial evals: time, memory, queries of the scores.

    Each is measured with a quarter of the evals and with all of them, then two runs at once on the same cache.

    Examples:
    convex-evals bench scale --evals 10000
    """
    import asyncio

    from convex_evals.cli.output import remark, write_json
    from convex_evals.core.settings import read_settings
    from convex_evals.runner.bench import measure_scale

    figures = asyncio.run(measure_scale(read_settings(), evals, remark))
    if json is not None:
        write_json(figures.to_json(), json)
    if json != "-":
        _print_scale(figures)


async def _measure() -> "BackendFigures":
    from convex_evals.backend.bench import measure_backend
    from convex_evals.cli.output import remark
    from convex_evals.core.settings import read_settings
    from convex_evals.core.toolchain import prepare_toolchain

    return await measure_backend(await prepare_toolchain(read_settings(), remark), remark)


def _print(figures: "BackendFigures") -> None:
    from convex_evals.cli.output import console, print_table, table

    rows = table(["measured", "times", "median ms", "p99 ms"])
    for label, timings in _timings(figures):
        rows.add_row(label, str(timings.count), f"{timings.median:.2f}", f"{timings.p99:.2f}")
    out = console()
    print_table(rows)
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
        ("response to commit of a mutation scheduled for now", figures.scheduled),
        ("indexed range of 100 in 10,000", figures.range_of_100),
        ("walk through 10,000 in pages of 500", figures.paginated_walk),
        ("32 clients x 50 mutations of one document", figures.hot_document),
    ]


def _print_web(figures: "WebFigures") -> None:
    from convex_evals.cli.output import console, print_table, table

    rows = table(["page", "first ms", "p50 ms", "p95 ms", "cpu ms", "statements", "kB", "kB sent"])
    for page in figures.pages:
        times = (f"{page.first:.0f}", f"{page.p50:.1f}", f"{page.p95:.1f}", f"{page.cpu:.1f}", str(page.statements))
        rows.add_row(page.page, *times, f"{page.bytes / 1000:.0f}", f"{page.compressed / 1000:.0f}")
    out = console()
    generated = "" if figures.generated is None else f", generated in {figures.generated:.1f} s"
    out.print(f"\n{figures.engine}: {figures.runs} generated runs x {figures.evals} evals{generated}")
    print_table(rows)
    first = f"{figures.start:.1f} s to the first answer, {figures.first_page:.1f} s more to the first leaderboard"
    out.print(f"\nstart: {first}")
    out.print(f"200 live pages open on one run, nothing changes: {figures.idle_share:.1%} of a core")
    for name, done in zip(("publish", "publish again"), figures.publishing, strict=False):
        out.print(f"{name}: {done.files} files in {done.seconds:.1f} s ({done.cpu_seconds:.1f} s of CPU time)")
    out.print(f"scripts and styles: {figures.assets / 1000:.0f} kB")


def _print_service(figures: "ServiceFigures") -> None:
    from convex_evals.cli.output import console, count, print_table, table

    load, out = figures.load, console()
    who = f"{load.runners} runners x {load.evals} evals, {count(load.readers, 'reader')}"
    out.print(f"{who}, {count(load.servers, 'server')} on {figures.database}")
    rows = table(["request", "times", "p50 ms", "p95 ms", "max ms", "statuses"])
    for each in figures.requests:
        statuses = ", ".join(f"{status or 'no answer'}: {number}" for status, number in each.statuses.items())
        rows.add_row(each.kind, str(each.count), f"{each.p50:.0f}", f"{each.p95:.0f}", f"{each.max:.0f}", statuses)
    print_table(rows)
    out.print(f"\n{figures.records} records and {figures.artifacts} artifacts arrived in {figures.seconds:.1f} s")
    out.print(f"{figures.caught_up} records were sent after their run was over, as `sync` does")
    out.print(f"lost: {'; '.join(figures.lost) or 'nothing'}; refused or not answered: {figures.failures}")


def _print_pipeline(figures: "PipelineFigures") -> None:
    from convex_evals.cli.output import console, print_table, table

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
    print_table(rows)
    cpu, wall = figures.warm.cpu_ms / figures.baseline.cpu_ms, figures.warm.wall_ms / figures.baseline.wall_ms
    out.print(f"\nall together, warm to ordinary: {cpu:.3f} of the CPU time, {wall:.3f} of the wall time")


def _print_profile(profile: "Profile") -> None:
    from convex_evals.cli.output import console, print_table, table

    out = console()
    rows = table(["step", "process", "times", "cpu ms", "share"])
    for share in profile.shares:
        cost, times = share.cpu_ms / profile.gradings, share.times / profile.gradings
        rows.add_row(share.step or "", share.process, f"{times:.1f}", f"{cost:.1f}", f"{cost / profile.cpu_ms:.1%}")
    print_table(rows)
    out.print(f"\none warm grading (mean of {profile.gradings}): {profile.cpu_ms:.0f} ms of CPU time\n")
    rows = table(["innermost function of ours", "share of this process"])
    for name, count in profile.stacks.own().most_common(25):
        rows.add_row(name, f"{count / profile.stacks.total:.1%}")
    print_table(rows)


def _print_cluster(figures: "ClusterFigures") -> None:
    from convex_evals.cli.output import console, print_table, table

    out, overhead = console(), figures.overhead
    rows = table(["round", "local cpu ms", "ray cpu ms", "local wall ms", "ray wall ms"])
    for number, (local, ray) in enumerate(zip(overhead.local, overhead.ray, strict=True), start=1):
        times = [f"{each * 1000:.0f}" for each in (local.cpu, ray.cpu, local.wall, ray.wall)]
        rows.add_row(str(number), *times)
    print_table(rows)
    cpu, wall = f"{overhead.cpu:+.1%} CPU time", f"{overhead.wall:+.1%} wall time"
    out.print(f"\nRay adds to an answer (median of {len(overhead.local)} rounds): {cpu}, {wall}")
    out.print(f"not counted: the {overhead.idle:.1%} of a core that Ray takes on a node whether or not it grades\n")
    rows = table(["workers", "answers", "answers/s", "of the ideal", "runner cpu ms"])
    for each in figures.throughput:
        share, cpu = f"{each.efficiency:.0%}", f"{each.runner * 1000:.1f}"
        rows.add_row(str(each.workers), str(each.answers), f"{each.per_second:.2f}", share, cpu)
    print_table(rows)
    out.print(f"\ngrading replaced by a sleep of {overhead.seconds:.2f} s")


def _print_scale(figures: "ScaleFigures") -> None:
    from convex_evals.cli.output import console, print_table, table

    rows = table(["command", "evals", "seconds", "ms per eval", "cpu ms per eval", "MB halfway", "MB at most"])
    for each in figures.commands:
        costs = (f"{each.seconds:.1f}", f"{each.ms_per_eval:.1f}", f"{each.cpu_ms_per_eval:.1f}")
        rows.add_row(each.name, f"{each.evals:,}", *costs, f"{each.halfway:.0f}", f"{each.memory:.0f}")
    print_table(rows)
    out = console()
    out.print("\nmemory is that of the command itself, without grading workers\n")
    rows = table(["query of the scores", "median ms"])
    for query in figures.queries:
        rows.add_row(query.name, f"{query.ms:.1f}")
    print_table(rows)
