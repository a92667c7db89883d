"""Versions of the benchmark: what is minted, and which runs belong to one."""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from convex_evals.core.errors import UsageError
from convex_evals.models import Experiment, prompt_fingerprint
from convex_evals.pipeline import GradingOptions
from convex_evals.runner.plans import VALIDATE, as_with_browser, pipeline_fingerprint
from convex_evals.runner.results import NOT_SCORES, UNMINTED, missing_text, same_text
from convex_evals.scores import Benchmark, PlannedEval, RunRecord
from convex_evals.suite import Selection, Suite, select

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore

NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


def mint_benchmark(
    name: str,
    suite: Suite,
    experiments: Mapping[str, Experiment],
    store: "ScoresStore",
    selection: Selection,
) -> Benchmark:
    """Records the chosen evals of today as a version. Raises UsageError unless the suite is whole and the references of
    these evals all pass."""
    if not NAME.fullmatch(name):
        raise UsageError(f"A benchmark version is named in small letters, digits and . _ -, not {name!r}.")
    if suite.problems:
        raise UsageError(f"The suite has broken evals ({suite.problems[0]}); `convex-evals list` shows them.")
    options = GradingOptions().completed(suite.settings)
    evals = tuple(
        PlannedEval(each.id, each.fingerprints.content, each.fingerprints.grader) for each in select(suite, selection)
    )
    pipeline = pipeline_fingerprint(options)
    benchmark = Benchmark(
        name,
        evals,
        {
            each.name: prompt_fingerprint(each.prompt_settings(options.answer_files or ()))
            for each in experiments.values()
        },
        pipeline,
        _toolchain_of_proof(store, evals, pipeline, selection),
        datetime.now(UTC),
    )
    store.mint_benchmark(benchmark)
    return benchmark


def _toolchain_of_proof(store: "ScoresStore", evals: Sequence[PlannedEval], pipeline: str, selection: Selection) -> str:
    """That of a `validate` run of these evals, and perhaps others, in which all passed."""
    proofs = [run for run in store.runs() if _proves(store, run, evals, pipeline)]
    names = {each.eval for each in evals}
    seen = next((run for run in proofs if names.isdisjoint(store.passed_unseen(run.id))), None)
    if seen is not None:
        return as_with_browser(str(seen.fingerprints.toolchain))
    validate = " ".join(["convex-evals validate", *_as_options(selection)])
    if proofs:
        advice = f"`convex-evals doctor` says what this machine lacks; then run `{validate}` again."
        raise UsageError(f"Nobody has looked at the pages of the reference answers, because nothing could; {advice}")
    raise UsageError(f"These scores have no run that shows that every reference answer passes; run `{validate}` first.")


def _proves(store: "ScoresStore", run: RunRecord, evals: Sequence[PlannedEval], pipeline: str) -> bool:
    proves = VALIDATE in run.labels and run.counts.passed == run.counts.total and run.fingerprints.toolchain
    same = run.fingerprints.pipeline == pipeline
    return bool(proves) and same and set(store.planned(run.id)) >= set(evals)


def _as_options(selection: Selection) -> Iterator[str]:
    given = [("-c", selection.categories), ("--name", selection.names), ("--tag", selection.tags)]
    given.append(("-f", [selection.pattern] if selection.pattern is not None else []))
    yield from (f"{option} {shlex.quote(value)}" for option, values in given for value in values)


def find_benchmark(store: "ScoresStore", name: str | None) -> Benchmark | None:
    """The version of that name, or the newest if no name is given; None if no version was minted. Raises UsageError
    when there is no version of that name."""
    known = store.benchmarks()
    if name is None:
        return known[0] if known else None
    found = [each for each in known if each.name == name]
    if not found:
        names = ", ".join(each.name for each in known)
        advice = f"there are: {names}." if names else f"`convex-evals benchmark mint {name}` makes it."
        raise UsageError(f"There is no benchmark version {name!r}; {advice}")
    return found[0]


def why_not_ranked(
    run: RunRecord, planned: Iterable[PlannedEval], benchmark: Benchmark, toolchain: str | None = None
) -> str | None:
    """Why a run does not belong to a version; None when it does. `toolchain` is what its verdicts are worth, if that is
    known (see `RunFigures.toolchain`)."""
    label = next((label for label in run.labels if label in NOT_SCORES), None)
    if label is not None:
        return f"a {label} run"
    if not run.is_complete:
        return missing_text(run)
    where = "the ranked runs" if benchmark.name == UNMINTED else benchmark.name
    matching = set(planned) & set(benchmark.evals)
    if len(matching) < len(benchmark.evals):
        return f"other evals: {same_text(len(matching), len(benchmark.evals))} as in {where}"
    if run.evals > len(benchmark.evals):
        return f"other evals: {run.evals - len(benchmark.evals)} more than in {where}"
    if (run.fingerprints.pipeline or "") != benchmark.pipeline:
        return "graded with other options or another version of convex-evals"
    if (toolchain or run.fingerprints.toolchain or "") != benchmark.toolchain:
        return "graded with another toolchain"
    if run.fingerprints.prompt not in (None, benchmark.prompts.get(run.experiment)):
        return "asked with another prompt"
    return None


@dataclass(frozen=True, slots=True)
class BenchmarkChange:
    """What is different from one version to another. Evals that are in neither list are comparable."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    task_changed: tuple[str, ...]
    grader_changed: tuple[str, ...]
    same: tuple[str, ...]
    others: tuple[str, ...]
    """Of pipeline, toolchain and the prompts of experiments, those that differ."""


def compare_benchmarks(before: Benchmark, after: Benchmark) -> BenchmarkChange:
    first, second = ({each.eval: each for each in side.evals} for side in (before, after))
    both = sorted(first.keys() & second.keys())
    return BenchmarkChange(
        added=tuple(sorted(second.keys() - first.keys())),
        removed=tuple(sorted(first.keys() - second.keys())),
        task_changed=tuple(name for name in both if first[name].content != second[name].content),
        grader_changed=tuple(name for name in both if first[name].grader != second[name].grader),
        same=tuple(name for name in both if first[name] == second[name]),
        others=_other_changes(before, after),
    )


def _other_changes(before: Benchmark, after: Benchmark) -> tuple[str, ...]:
    prompts = sorted(before.prompts.keys() | after.prompts.keys())
    return (
        *(["pipeline"] if before.pipeline != after.pipeline else []),
        *(["toolchain"] if before.toolchain != after.toolchain else []),
        *(f"prompt of {name}" for name in prompts if before.prompts.get(name) != after.prompts.get(name)),
    )
