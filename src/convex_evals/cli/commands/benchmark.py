"""Versions of the benchmark, and models ranked by them: `benchmark`, `leaderboard`."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from convex_evals.cli.completion import complete_benchmark
from convex_evals.cli.options import (
    Categories,
    EvalsFolder,
    Filter,
    Json,
    Scores,
    TableOptions,
    TagNames,
    experiment_option,
    takes,
)
from convex_evals.cli.output import print_lines
from convex_evals.cli.tree import Commands

if TYPE_CHECKING:
    from convex_evals.runner import BenchmarkChange
    from convex_evals.scores import Benchmark, ScoresStore

NewVersion = Annotated[str, typer.Argument(metavar="VERSION", help="Its name.")]
Version = Annotated[str, typer.Argument(metavar="VERSION", autocompletion=complete_benchmark, help="Its name.")]

benchmark = Commands()
_LABELS = {
    "added": "added",
    "removed": "removed",
    "taskChanged": "task changed",
    "graderChanged": "grader changed",
    "others": "changed",
}


@benchmark.callback()
def group() -> None:
    """Manage versions of the benchmark: what runs must have in common to be ranked together.

    Examples:
      convex-evals benchmark mint v1
      convex-evals benchmark diff v1 v2
    """


@benchmark.command("list")
def list_versions(json: Json = False, scores: Scores = None) -> None:
    """List benchmark versions, the newest first.

    Examples:
      convex-evals benchmark list
    """
    from convex_evals.cli.output import count, print_json
    from convex_evals.cli.runs.lookup import existing_scores

    with existing_scores(scores) as store:
        found = store.benchmarks()
    if json:
        print_json({"benchmarks": [_summary(each) for each in found]})
        return
    for each in found:
        print_lines([f"{each.name} · {count(len(each.evals), 'eval')} · minted {each.minted_at:%Y-%m-%d %H:%M} UTC"])
    if not found:
        print_lines(["There is no benchmark version yet; `convex-evals benchmark mint v1` makes one."])


@benchmark.command("mint")
def mint(
    name: NewVersion,
    category: Categories = None,
    filter: Filter = None,
    tag: TagNames = None,
    evals: EvalsFolder = None,
    scores: Scores = None,
) -> None:
    """Give today's suite, or a part of it, a version name, so that runs of these evals can be ranked.

    Every reference answer must have passed: these scores need a `convex-evals validate` of these evals as they are now.

    Examples:
      convex-evals benchmark mint v2
      convex-evals benchmark mint v1 --filter '^00[0-6]'
    """
    from convex_evals.cli.output import count
    from convex_evals.cli.runs.lookup import existing_scores
    from convex_evals.models import load_experiments
    from convex_evals.runner import mint_benchmark
    from convex_evals.suite import Selection, find_suite, load_suite

    suite = load_suite(find_suite(evals))
    with existing_scores(scores) as store:
        chosen = Selection(category or (), filter, (), tag or ())
        made = mint_benchmark(name, suite, load_experiments(), store, chosen)
    print_lines([f"Minted {made.name}: {count(len(made.evals), 'eval')}, {count(len(made.prompts), 'experiment')}."])


@benchmark.command("show")
def show(name: Version, json: Json = False, scores: Scores = None) -> None:
    """Show the fingerprints of a benchmark version.

    Examples:
      convex-evals benchmark show v1
    """
    from convex_evals.cli.output import print_json
    from convex_evals.cli.runs.lookup import existing_scores

    with existing_scores(scores) as store:
        found = _find(store, name)
    if json:
        print_json({**_summary(found), "evals": {each.eval: [each.content, each.grader] for each in found.evals}})
        return
    print_lines([f"{found.name} · minted {found.minted_at:%Y-%m-%d %H:%M} UTC"])
    print_lines([f"pipeline   {found.pipeline[:12]}", f"toolchain  {found.toolchain[:12]}"])
    for experiment, prompt in sorted(found.prompts.items()):
        print_lines([f"prompt     {prompt[:12]}  {experiment}"])
    for each in found.evals:
        print_lines([f"eval       {(each.content or '')[:12]}  {(each.grader or 'no grader')[:12]}  {each.eval}"])


@benchmark.command("diff")
def diff(
    before: Annotated[
        str, typer.Argument(metavar="OLDER", autocompletion=complete_benchmark, help="The older version.")
    ],
    after: Annotated[
        str, typer.Argument(metavar="NEWER", autocompletion=complete_benchmark, help="The newer version.")
    ],
    json: Json = False,
    scores: Scores = None,
) -> None:
    """Show what changed from one benchmark version to another, and how many evals stay comparable.

    Examples:
      convex-evals benchmark diff v1 v2
    """
    from convex_evals.cli.output import count, print_json
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
                print_lines([f"{_LABELS[name]:<15}{each}"])
    same, one = count(len(changed.same), "eval"), len(changed.same) == 1
    print_lines([f"{same} {'is' if one else 'are'} the same in both and {'stays' if one else 'stay'} comparable"])


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


@takes(TableOptions)
def leaderboard(
    options: TableOptions,
    benchmark: Annotated[
        str | None,
        typer.Option(
            "--benchmark",
            metavar="VERSION",
            autocompletion=complete_benchmark,
            help="The benchmark version (default: the newest).",
        ),
    ] = None,
    experiment: Annotated[str, experiment_option("The experiment.")] = "default",
    by_tag: Annotated[
        bool, typer.Option("--by-tag", help="Also show the scores by the tags of evals (--json always has them).")
    ] = False,
    evals: EvalsFolder = None,
) -> None:
    """Rank models by their complete runs of one benchmark version.

    A rank is a range when models cannot be told apart. Runs that do not belong to the version are listed, not ranked.
    As long as no version is minted, what the newest complete run of a whole suite was asked and graded with stands in
    for one or, where there is none, the longest run of a sample.

    Examples:
      convex-evals leaderboard
      convex-evals leaderboard --benchmark v1 -e no_guidelines
      convex-evals leaderboard --markdown
    """
    from convex_evals.cli import leaderboard as shown
    from convex_evals.cli.output import print_json, write_text
    from convex_evals.cli.runs.lookup import existing_scores
    from convex_evals.models import find_experiment
    from convex_evals.runner import leaderboard_json
    from convex_evals.scores import RunFilter
    from convex_evals.suite import find_suite, read_tags

    shape = options.shape
    with existing_scores(options.scores) as store:
        if not store.runs(RunFilter(experiment=experiment, limit=1)):
            find_experiment(experiment)  # a slip is a slip, and is said to be one
        found = shown.find_leaderboard(store, benchmark, experiment, read_tags(find_suite(evals)))
    match shape:
        case "json":
            print_json(leaderboard_json(found))
        case "csv":
            write_text(shown.leaderboard_csv(found, by_tag=by_tag), "-")
        case "markdown":
            write_text(shown.leaderboard_markdown(found, by_tag=by_tag), "-")
        case _:
            print_lines(shown.leaderboard_lines(found, by_tag=by_tag))
