"""`convex-evals benchmark`: versions of the benchmark."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from convex_evals.cli.options import EvalsFolder, Json, Scores

if TYPE_CHECKING:
    from convex_evals.runner.benchmarks import BenchmarkChange
    from convex_evals.scores import Benchmark, ScoresStore

Version = Annotated[str, typer.Argument(metavar="VERSION", help="Its name.")]

benchmark = typer.Typer(help="Manage benchmark versions.", rich_markup_mode=None, pretty_exceptions_enable=False)


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
    from convex_evals.runner import benchmarks
    from convex_evals.suite import find_suite, load_suite

    suite = load_suite(find_suite(evals))
    with existing_scores(scores) as store:
        made = benchmarks.mint(name, suite, load_experiments(), store)
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
    from convex_evals.runner.benchmarks import difference

    with existing_scores(scores) as store:
        changed = difference(_find(store, before), _find(store, after))
    if json:
        print_json(_change_json(changed))
        return
    for name, found in _change_json(changed).items():
        if name != "same":
            for each in found:
                typer.echo(f"{_LABELS[name]:<15}{each}")
    typer.echo(f"{len(changed.same)} evals are the same in both and stay comparable")


_LABELS = {
    "added": "added",
    "removed": "removed",
    "taskChanged": "task changed",
    "graderChanged": "grader changed",
    "others": "changed",
}


def _find(store: "ScoresStore", name: str) -> "Benchmark":
    from convex_evals.runner.benchmarks import find_benchmark

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
