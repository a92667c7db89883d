"""What `show RUN EVAL` prints in full: logs, prompts, responses, files, the reference answer and how it differs."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import NamedTuple

from convex_evals.cli.output import console, remark, visible, write_text
from convex_evals.cli.runs.lookup import suite_for
from convex_evals.core.errors import UsageError
from convex_evals.core.verdicts import StepName
from convex_evals.models import UNASKED
from convex_evals.runner import suite_of
from convex_evals.scores import AttemptDetails, GenerationRecord, RunRecord, ScoresStore
from convex_evals.suite import Eval, Given, Selection, find_suite, load_suite, read_answer, read_given, select

NOTHING = "/dev/null"
STYLES = {"+": "green", "-": "red", "@": "cyan"}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be printed, one after the other."""

    log: StepName | None = None
    files: bool = False
    prompt: bool = False
    response: bool = False
    reference: bool = False
    diff: bool = False
    evals: Path | None = None

    @property
    def something(self) -> bool:
        return self.log is not None or self.of_model or self.reference

    @property
    def of_model(self) -> bool:
        return self.files or self.prompt or self.response or self.diff


def print_evidence(store: ScoresStore, run: RunRecord, details: AttemptDetails, wanted: Wanted) -> None:
    """Into a file or a pipe texts go as they are."""
    if wanted.log is not None:
        _write(_log(store, details, wanted.log))
    if wanted.of_model:
        _print_generation(store, run, details, wanted)
    if wanted.reference:
        _print_files(reference_files(store, run, details, wanted.evals).reference)


class Expected(NamedTuple):
    """What an eval starts from, if anything, and its whole reference answer."""

    given: Given
    reference: Mapping[str, str]


def reference_files(store: ScoresStore, run: RunRecord, details: AttemptDetails, evals: Path | None) -> Expected:
    """From the suite that the run was planned from unless another is named."""
    with eval_of(store, run, details, evals) as asked:
        return Expected(read_given(asked), read_answer(asked, asked.settings.answer_files))


@contextmanager
def eval_of(store: ScoresStore, run: RunRecord, details: AttemptDetails, evals: Path | None) -> Iterator[Eval]:
    """From the suite that the run was planned from, unless another is named."""
    with suite_for(store, run.id, (details.attempt.eval,), evals) as folder:
        suite = load_suite(find_suite(folder or suite_of(run)))
        [asked] = select(suite, Selection(names=[details.attempt.eval]))
        yield asked


def _print_generation(store: ScoresStore, run: RunRecord, details: AttemptDetails, wanted: Wanted) -> None:
    generation = details.generation
    if generation is None:
        raise UsageError(f"{details.attempt.eval} was never answered, so there is nothing of the model to show.")
    if wanted.prompt:
        if run.fingerprints.prompt is None and run.provider in UNASKED:
            remark(f"{run.model} is not sent a prompt; this is the task.")
        _write(store.read_text(generation.prompt))
    if wanted.response:
        _write(store.read_text(generation.response))
    if wanted.files:
        _print_files(store.read_files(generation.files))
    if wanted.diff:
        _print_diff(store, generation, reference_files(store, run, details, wanted.evals))


def _print_files(files: Mapping[str, str]) -> None:
    for path, text in files.items():
        _write(f"==> {visible(path)} <==\n{text}")


def _print_diff(store: ScoresStore, generation: GenerationRecord, expected: Expected) -> None:
    """How the model's files differ from the reference answer and, if files were given, what it changed in those."""
    answer = expected.given.completed(store.read_files(generation.files))
    if expected.given:
        _write("==> how the answer differs from the reference answer <==")
    _print_lines(diff_lines(expected.reference, answer), "The answer is the reference answer, word for word.")
    if expected.given:
        _write("\n==> what the answer changes in the given files <==")
        _print_lines(diff_lines(expected.given.files, answer, "given"), "The answer changes none of the given files.")


def _print_lines(lines: Iterator[str], otherwise: str) -> None:
    from rich.text import Text

    out, shown = console(), [visible(line) for line in lines]
    for line in shown:
        out.print(Text(line, style=STYLES.get(line[:1], "")), soft_wrap=True)
    if not shown:
        remark(otherwise)


def diff_lines(expected: Mapping[str, str], answer: Mapping[str, str], name: str = "reference") -> Iterator[str]:
    """From what is expected to the model's answer, file by file."""
    for path in dict.fromkeys([*expected, *answer]):
        before, after = (files.get(path, "").splitlines() for files in (expected, answer))
        source = f"{name}/{path}" if path in expected else NOTHING
        target = f"model/{path}" if path in answer else NOTHING
        yield from unified_diff(before, after, source, target, lineterm="")


def _log(store: ScoresStore, details: AttemptDetails, name: StepName) -> str:
    if name not in details.logs:
        raise UsageError(f"The step {name} of {details.attempt.eval} has no log: it was not reached.")
    return store.read_text(details.logs[name])


def _write(text: str) -> None:
    whole = text if text.endswith("\n") or not text else f"{text}\n"
    if sys.stdout.isatty():
        sys.stdout.write(visible(whole))
    else:
        write_text(whole, "-")
