"""Versions of the benchmark, and models ranked by them: `benchmark`, `leaderboard`."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from convex_evals.cli.options import EvalsFolder, Json, Scores

if TYPE_CHECKING:
    from convex_evals.runner import BenchmarkChange
    from convex_evals.scores import Benchmark, ScoresStore

Version = Annotated[str, typer.Argument(metavar="VERSION", help="Its name.")]

benchmark = typer.Typer(help="Manage benchmark versions.", rich_markup_mode=None, pretty_exceptions_enable=False)
_LABELS = {
    "added": "added",
    "removed": "removed",
    "taskChanged": "task changed",
    "graderChanged": "grader changed",
    "others": "changed",
}


@benchmark.callback()
def group() -> None:
    """Manage versions of the benchmark: what runs must have in common to be ranked together."""


@benchmark.command("list")
def list_versions(json: Json = False, scores: Scores = None) -> None:
    """List benchmark versions, the newest first."""
    from convex_evals.cli.output import count, print_json
    from convex_evals.cli.runs.lookup import existing_scores

    with existing_scores(scores) as store:
        found = store.benchmarks()
    if json:
        print_json({"benchmarks": [_summary(each) for each in found]})
        return
    for each in found:
        typer.echo(f"{each.name} · {count(len(each.evals), 'eval')} · minted {each.minted_at:%Y-%m-%d %H:%M} UTC")
    if not found:
        typer.echo("There is no benchmark version yet; `convex-evals benchmark mint v1` makes one.")


@benchmark.command("mint")
def mint(name: Version, evals: EvalsFolder = None, scores: Scores = None) -> None:
    """Give today's suite a version name, so that its runs can be ranked.

    Every reference answer must have passed: these scores need a complete `convex-evals validate` of exactly this suite.
    """
    from convex_evals.cli.output import count
    from convex_evals.cli.runs.lookup import existing_scores
    from convex_evals.models import load_experiments
    from convex_evals.runner import mint_benchmark
    from convex_evals.suite import find_suite, load_suite

    suite = load_suite(find_suite(evals))
    with existing_scores(scores) as store:
        made = mint_benchmark(name, suite, load_experiments(), store)
    typer.echo(f"Minted {made.name}: {count(len(made.evals), 'eval')}, {count(len(made.prompts), 'experiment')}.")


@benchmark.command("show")
def show(name: Version, json: Json = False, scores: Scores = None) -> None:
    """Show the fingerprints of a benchmark version."""
    from convex_evals.cli.output import print_json
    from convex_evals.cli.runs.lookup import existing_scores

    with existing_scores(scores) as store:
        found = _find(store, name)
    if json:
        print_json({**_summary(found), "evals": {each.eval: [each.content, each.grader] for each in found.evals}})
        return
    typer.echo(f"{found.name} · minted {found.minted_at:%Y-%m-%d %H:%M} UTC")
    typer.echo(f"pipeline   {found.pipeline[:12]}\ntoolchain  {found.toolchain[:12]}")
    for experiment, prompt in sorted(found.prompts.items()):
        typer.echo(f"prompt     {prompt[:12]}  {experiment}")
    for each in found.evals:
        typer.echo(f"eval       {(each.content or '')[:12]}  {(each.grader or 'no grader')[:12]}  {each.eval}")


@benchmark.command("diff")
def diff(
    before: Annotated[str, typer.Argument(metavar="VERSION", help="The older version.")],
    after: Annotated[str, typer.Argument(metavar="VERSION", help="The newer version.")],
    json: Json = False,
    scores: Scores = None,
) -> None:
    """Show what changed from one benchmark version to another, and how many evals stay comparable."""
    from convex_evals.cli.output import print_json
    from convex_evals.cli.runs.lookup import existing_scores
    from convex_evals.runner import compare_benchmarks

    with existing_scores(scores) as store:
        changed = compare_benchmarks(_find(store, before), _find(store, after))
    if json:
        print_json(_change_json(changed))
        return
    for name, found in _change_json(changed).items():
        if name != "same":
            for each in found:
                typer.echo(f"{_LABELS[name]:<15}{each}")
    typer.echo(f"{len(changed.same)} evals are the same in both and stay comparable")


def _find(store: "ScoresStore", name: str) -> "Benchmark":
    from convex_evals.runner import find_benchmark

    found = find_benchmark(store, name)
    assert found is not None  # only without a name
    return found


def _summary(found: "Benchmark") -> dict[str, Any]:
    return {
        "name": found.name,
        "mintedAt": found.minted_at.isoformat(),
        "evalCount": len(found.evals),
        "pipeline": found.pipeline,
        "toolchain": found.toolchain,
        "prompts": dict(found.prompts),
    }


def _change_json(changed: "BenchmarkChange") -> dict[str, list[str]]:
    return {
        "added": list(changed.added),
        "removed": list(changed.removed),
        "taskChanged": list(changed.task_changed),
        "graderChanged": list(changed.grader_changed),
        "same": list(changed.same),
        "others": list(changed.others),
    }


def leaderboard(
    benchmark: Annotated[
        str | None, typer.Option("--benchmark", metavar="VERSION", help="The benchmark version (default: the newest).")
    ] = None,
    experiment: Annotated[
        str, typer.Option("--experiment", "-e", metavar="NAME", help="The experiment (default: default).")
    ] = "default",
    json: Json = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    scores: Scores = None,
) -> None:
    """Rank models by their complete runs of one benchmark version.

    A rank is a range when models cannot be told apart. Runs that do not belong to the version are listed, not ranked.
    """
    from convex_evals.cli.leaderboard import leaderboard_csv, leaderboard_json, leaderboard_lines
    from convex_evals.cli.output import print_json, print_lines
    from convex_evals.cli.runs.lookup import existing_scores
    from convex_evals.core.errors import UsageError
    from convex_evals.runner import find_benchmark, read_leaderboard

    if json and csv:
        raise UsageError("Choose one of --json and --csv.")
    with existing_scores(scores) as store:
        version = find_benchmark(store, benchmark)
        if version is None:
            raise UsageError(
                "No benchmark version is minted, so no run can be ranked; "
                "`convex-evals validate`, then `convex-evals benchmark mint v1` makes one."
            )
        found = read_leaderboard(store, version, experiment)
    if json:
        print_json(leaderboard_json(found))
    elif csv:
        typer.echo(leaderboard_csv(found), nl=False)
    else:
        print_lines(leaderboard_lines(found))
