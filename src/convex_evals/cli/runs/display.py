"""How `show` prints a run and an eval. Whatever a model or its code wrote is shown as text."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from convex_evals.cli.layout import Table
from convex_evals.cli.output import console, count, print_lines, print_table, table, visible
from convex_evals.cli.progress import SHORT_STEPS, SIGNS
from convex_evals.cli.runs.exports import eval_json, run_summary_json
from convex_evals.cli.runs.lookup import can_resume, condition
from convex_evals.cli.runs.summaries import (
    decisive_step,
    difficulty_lines,
    labels_text,
    reason,
    scored_lines,
    spending_line,
)
from convex_evals.core.ids import prefix
from convex_evals.core.steps import StepResult, TestCounts
from convex_evals.core.verdicts import STEPS
from convex_evals.models import cut_off
from convex_evals.runner import RunScore, Spending, TagsOfEvals, address_of, selection_text
from convex_evals.scores import AttemptDetails, AttemptRecord, FailuresAlike, GenerationRecord, RunRecord, ScoresStore

SECONDS = len("  seconds")
"""The column that is left out first."""
LAYOUTS = ((True, False), (False, False), (False, True))
"""Whether each step has a column, and whether names stand below their categories: the first that fits."""


def print_run(store: ScoresStore, run: RunRecord, tags: TagsOfEvals) -> None:
    """Evals x steps."""
    found = store.result_details(run.id)
    with_trial = run.counts.total > run.evals
    width = console().width + SECONDS
    tables = (_run_table(found, with_trial, apart=apart, grouped=grouped) for apart, grouped in LAYOUTS)
    print_table(next((each for each in tables if each.fits(width)), _run_table(found, with_trial)))
    spent = spending_line(Spending.of_run(store, run.id))
    state = condition(store, run)
    results = store.results(run.id)
    first, *more = scored_lines(run, RunScore.of(run, results))
    more += difficulty_lines(run, results, tags)
    lines = ["", f"{first} · {state}{f' ({run.reason})' if run.reason not in (None, state) else ''}", *more]
    lines += [spent] if spent is not None else []
    lines += [f"selected: {visible(selected)}"] if (selected := selection_text(run)) else []
    lines += [f"served at: {visible(address)}"] if (address := address_of(run)) else []
    lines += [f"labels: {labels}"] if (labels := labels_text(run)) else []
    if can_resume(store, run):
        lines.append(f"`convex-evals run --resume {prefix(run.id)}` continues what has no verdict.")
    print_lines(lines)


def _run_table(
    found: Sequence[AttemptDetails], with_trial: bool, *, apart: bool = False, grouped: bool = True
) -> Table:
    """With a column for each step or all signs in one, with whole names or below their categories."""
    headings = ["eval", *(["trial"] if with_trial else []), "status", *(STEPS if apart else ("steps",)), "seconds"]
    rows = table(headings, drop=("seconds",), short=dict(SHORT_STEPS.items()))
    above = ""
    for details in found:
        attempt = details.attempt
        category, _, name = attempt.eval.rpartition("/")
        if grouped and category != above:
            rows.add_row(category, style="bold")
            above = category
        trial = [str(attempt.trial)] if with_trial else []
        signs = list(_signs(details)) if apart else ["".join(sign or " " for sign in _signs(details))]
        shown = f"  {name}" if grouped else attempt.eval
        rows.add_row(shown, *trial, attempt.status, *signs, f"{(attempt.duration_ms or 0) / 1000:.1f}")
    return rows


def print_eval(store: ScoresStore, run: RunRecord, details: AttemptDetails, *, commands: bool = False) -> None:
    """Every step with its excerpt, those that did not pass first; the files, and the attempts before."""
    print_lines(line for text in _eval_lines(store, run, details, commands) for line in text.split("\n"))


def shown_json(store: ScoresStore, run: RunRecord, details: AttemptDetails) -> dict[str, Any]:
    generation = details.generation
    return {
        "run": run_summary_json(run),
        "eval": {
            **eval_json(store, details),
            "prompt": store.read_text(generation.prompt) if generation else None,
            "response": store.read_text(generation.response) if generation else None,
            "files": store.read_files(generation.files) if generation else {},
            "alike": asdict(store.failures_alike(details.attempt.id)) if details.attempt.failed_step else None,
            "earlierAttempts": [_attempt_json(each) for each in _earlier(store, run, details)],
        },
    }


def _attempt_json(attempt: AttemptRecord) -> dict[str, Any]:
    return {
        "number": attempt.number,
        "status": attempt.status,
        "failedStep": attempt.failed_step,
        "failure": attempt.failure,
        "notes": list(attempt.notes),
    }


def _eval_lines(store: ScoresStore, run: RunRecord, details: AttemptDetails, commands: bool) -> Iterator[str]:
    attempt = details.attempt
    yield f"{attempt.eval} · trial {attempt.trial} · {attempt.status} · run {prefix(run.id)} · {run.model}"
    if attempt.status not in ("passed", "running") and not _is_said_below(details):
        yield reason(details)
    if attempt.failed_step is not None:
        yield from _alike_lines(store.failures_alike(attempt.id))
    for note in attempt.notes:
        yield f"note: {visible(note)}"
    spent = spending_line(Spending.of([details.generation])) if details.generation else None
    if spent is not None:
        yield spent
    if details.generation is not None:
        yield from _generation_lines(details.generation)
    for step in sorted(details.steps, key=lambda step: step.status in ("passed", "skipped")):
        yield from _step_lines(step, attempt.tests, commands)
    yield from _file_lines(store, details)
    earlier = _earlier(store, run, details)
    if earlier:
        yield f"\n{count(len(earlier), 'earlier attempt')}, kept as evidence:"
    for each in earlier:
        said = next((line for note in each.notes for line in note.splitlines() if line.strip()), "")
        kind = f" ({each.failure})" if each.failure else ""
        yield f"  {each.number}: {each.status}{kind}{f': {visible(said)}' if said else ''}"


def _alike_lines(alike: FailuresAlike) -> Iterator[str]:
    if alike.runs:
        yield f"the same failure in {count(alike.runs, 'other run')} and {count(alike.models, 'other model')}"


def _generation_lines(generation: GenerationRecord) -> Iterator[str]:
    """How the answer came to its end, who gave it, and what was noted when it was read."""
    usage = generation.usage
    reason = usage.finish_reason if usage is not None else None
    ended = cut_off(reason) if generation.truncated else f"ended with {reason}"
    if usage is not None and reason is not None:
        upstream = f", answered by {visible(usage.upstream)}" if usage.upstream else ""
        first = f", first token after {usage.first_token_ms / 1000:.1f} s" if usage.first_token_ms is not None else ""
        yield f"answer: {visible(ended)}{upstream}{first}"
    elif generation.truncated:
        yield f"answer: {ended}"
    for note in generation.notes:
        yield f"answer: {visible(note)}"


def _earlier(store: ScoresStore, run: RunRecord, details: AttemptDetails) -> list[AttemptRecord]:
    """The tries before this one, first to last."""
    attempt = details.attempt
    tried = store.attempts(run.id, attempt.eval)
    return [each for each in tried if each.trial == attempt.trial and each.number < attempt.number]


def _is_said_below(details: AttemptDetails) -> bool:
    """Whether the reason is nothing but the beginning of a step's excerpt, with which the steps begin."""
    step = decisive_step(details)
    return step is not None and not details.attempt.broken and bool(step.excerpt) and step.cause == step.excerpt


def _step_lines(step: StepResult, tests: TestCounts | None, commands: bool) -> Iterator[str]:
    sign, _ = SIGNS[step.status]
    counts = f" {tests.passed}/{tests.total}" if tests is not None and step.name == "tests" else ""
    times = "" if step.status == "skipped" else f" · {step.duration_ms / 1000:.2f} s, CPU {step.cpu_ms / 1000:.2f} s"
    yield f"{sign} {step.name}{counts} · {step.status}{f' ({step.failure})' if step.failure else ''}{times}"
    for command in step.commands if commands else ():
        yield f"    $ {visible(' '.join(command.arguments))}"
        if command.ending != "exit code 0":
            yield f"      {command.ending}"
    for note in step.notes:
        yield f"    note: {visible(note)}"
    for line in step.excerpt.splitlines():
        yield f"    {visible(line)}"


def _file_lines(store: ScoresStore, details: AttemptDetails) -> Iterator[str]:
    if details.generation is None:
        yield "\nThe model gave no answer."
        return
    files = store.read_files(details.generation.files)
    yield f"\n{count(len(files), 'file')}{':' if files else ''}"
    for path, text in files.items():
        yield f"  {visible(path)} ({count(len(text.splitlines()), 'line')})"
    yield "--files prints them, --diff compares them with the reference answer, --commands shows what the steps ran."


def _signs(details: AttemptDetails) -> Iterator[str]:
    found = {step.name: SIGNS[step.status][0] for step in details.steps}
    tests = details.attempt.tests
    if tests is not None and "tests" in found:
        found["tests"] += f" {tests.passed}/{tests.total}"
    return (found.get(step, "") for step in STEPS)
