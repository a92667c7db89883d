"""Evidence, put together: what was recorded of a failure, and everything that follows from it."""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from convex_evals.analysis.counterfactuals import Neighbour, gather_counterfactuals
from convex_evals.analysis.diagnostics import read_diagnostics
from convex_evals.analysis.differences import compare_answers
from convex_evals.analysis.evidence import (
    Counterfactuals,
    Diagnostic,
    Evidence,
    StepEvidence,
    TestsPassed,
    UnknownSymbol,
)
from convex_evals.analysis.gaps import match_gap
from convex_evals.analysis.surface import Surface, complained_symbols, snippet_symbols, unknown_symbols
from convex_evals.core.verdicts import StepName
from convex_evals.scores import AttemptDetails, StepRecord
from convex_evals.suite import Eval, read_answer

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore

_PACKAGES: Final = re.compile(r"^node_modules -> (?P<path>/.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Recorded:
    """A failed result as the scores have it, with the files and logs read."""

    details: AttemptDetails
    failed_step: StepName
    files: dict[str, str]
    logs: dict[StepName, str]

    @classmethod
    def read(cls, store: "ScoresStore", details: AttemptDetails) -> "Recorded":
        steps = [step for step in details.steps if step.log is not None]
        wanted = [step for step in steps if step.status == "failed" or step.name == "install"]
        files = store.read_files(details.generation.files) if details.generation else {}
        logs = {step.name: store.read_text(step.log) for step in wanted if step.log is not None}
        return cls(details, _failed_step(details), files, logs)

    def packages(self, cache: Path) -> Path | None:
        """The node_modules folder that the answer was graded with, if it is still in our cache and nowhere else."""
        found = _PACKAGES.search(self.logs.get("install", ""))
        path = Path(found["path"]).resolve() if found else None
        return path if path is not None and path.is_relative_to(cache.resolve()) and path.is_dir() else None


def evidence_of(recorded: Recorded, asked: Eval | None, answer_files: tuple[str, ...] = ("**/*",)) -> Evidence:
    """What was recorded and what the suite has; nothing that follows from it. `asked` is None when the eval is gone."""
    attempt = recorded.details.attempt
    steps = tuple(_step(step) for step in recorded.details.steps)
    diagnostics = [each for step in steps for each in _diagnostics(step, recorded)]
    first = {"tsc": "type", "eslint": "lint", "tests": "test"}.get(recorded.failed_step, recorded.failed_step)
    return Evidence(
        failed_step=recorded.failed_step,
        eval=attempt.eval,
        category=attempt.eval.partition("/")[0],
        trial=attempt.trial,
        task=asked.task if asked else "",
        error=next((step.excerpt for step in steps if step.name == recorded.failed_step), ""),
        steps=steps,
        tests=TestsPassed(attempt.tests.passed, attempt.tests.total) if attempt.tests else None,
        diagnostics=tuple(sorted(diagnostics, key=lambda each: each.kind != first)),
        files=recorded.files,
        answer=read_answer(asked, answer_files) if asked else {},
        grader=asked.grader.path.read_text(errors="replace") if asked and asked.grader else "",
        gaps=(asked.gaps or "") if asked else "",
    )


def complete(
    evidence: Evidence,
    surface: Surface | None = None,
    own: Neighbour | None = None,
    neighbours: tuple[Neighbour, ...] = (),
) -> Evidence:
    """Adds what follows from the rest, as far as it is missing; works with whatever there is, as in a labelled case."""
    known = replace(evidence, diagnostics=evidence.diagnostics or _from_error(evidence))
    known = replace(known, differences=known.differences or compare_answers(known.files, known.answer))
    if surface is not None and not known.unknown_symbols:
        known = replace(known, unknown_symbols=_symbols(known, surface))
    if known.counterfactuals == Counterfactuals():
        known = replace(known, counterfactuals=gather_counterfactuals(known, own, neighbours))
    return with_gap(known)


def with_gap(evidence: Evidence) -> Evidence:
    """Matches GAPS.txt again, because a cause that is known since says more."""
    return replace(evidence, gap=match_gap(evidence)) if evidence.gaps else evidence


def _failed_step(details: AttemptDetails) -> StepName:
    if details.attempt.failed_step is not None:
        return details.attempt.failed_step
    return next((step.name for step in details.steps if step.status == "failed"), "filesystem")


def _step(step: StepRecord) -> StepEvidence:
    return StepEvidence(step.name, step.status, step.failure, step.excerpt, step.notes)


def _diagnostics(step: StepEvidence, recorded: Recorded) -> tuple[Diagnostic, ...]:
    return read_diagnostics(step, recorded.logs.get(step.name, "")) if step.status == "failed" else ()


def _from_error(evidence: Evidence) -> tuple[Diagnostic, ...]:
    return read_diagnostics(StepEvidence(evidence.failed_step, "failed", excerpt=evidence.error))


def _symbols(evidence: Evidence, surface: Surface) -> tuple[UnknownSymbol, ...]:
    if evidence.files:
        found = unknown_symbols(evidence.files, surface)
    else:
        found = snippet_symbols(evidence.cause.model_snippet, surface)
    names = {(symbol.name, symbol.line) for symbol in found}
    complained = complained_symbols(evidence.diagnostics, surface)
    return (*found, *(symbol for symbol in complained if (symbol.name, symbol.line) not in names))
