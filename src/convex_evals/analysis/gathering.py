"""Evidence, put together: what was recorded of a failure, and everything that follows from it."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from convex_evals.analysis.counterfactuals import Neighbour, gather_counterfactuals
from convex_evals.analysis.differences import compare_answers
from convex_evals.analysis.evidence import Counterfactuals, Evidence, UnknownSymbol
from convex_evals.analysis.gaps import match_gap
from convex_evals.analysis.surface import Surface, complained_symbols, snippet_symbols, unknown_symbols
from convex_evals.core.diagnostics import Diagnostic
from convex_evals.core.verdicts import StepName
from convex_evals.scores import AttemptDetails
from convex_evals.suite import Eval, read_answer

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore


@dataclass(frozen=True, slots=True)
class Recorded:
    """A failed result as the scores have it, with the files read."""

    details: AttemptDetails
    failed_step: StepName
    files: dict[str, str]

    @classmethod
    def read(cls, store: "ScoresStore", details: AttemptDetails) -> "Recorded":
        files = store.read_files(details.generation.files) if details.generation else {}
        return cls(details, _failed_step(details), files)


def evidence_of(recorded: Recorded, asked: Eval | None, answer_files: tuple[str, ...] = ("**/*",)) -> Evidence:
    """What was recorded and what the suite has; nothing that follows from it. `asked` is None when the eval is gone."""
    attempt = recorded.details.attempt
    steps = recorded.details.steps
    diagnostics = [each for step in steps if step.status == "failed" for each in _counted(step.diagnostics)]
    return Evidence(
        failed_step=recorded.failed_step,
        eval=attempt.eval,
        category=attempt.eval.partition("/")[0],
        trial=attempt.trial,
        task=asked.task if asked else "",
        error=next((step.excerpt for step in steps if step.name == recorded.failed_step), ""),
        steps=steps,
        tests=attempt.tests,
        diagnostics=tuple(sorted(diagnostics, key=lambda each: each.step != recorded.failed_step)),
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
    known = replace(evidence, differences=evidence.differences or compare_answers(evidence.files, evidence.answer))
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


def _counted(diagnostics: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    """A lint rule that is broken twice in the same way on one line is one mistake."""
    once = {(each.name, each.place, each.message) if each.step == "eslint" else each: each for each in diagnostics}
    return tuple(once.values())


def _symbols(evidence: Evidence, surface: Surface) -> tuple[UnknownSymbol, ...]:
    if evidence.files:
        found = unknown_symbols(evidence.files, surface)
    else:
        found = snippet_symbols(evidence.cause.model_snippet, surface)
    names = {(symbol.name, symbol.line) for symbol in found}
    complained = complained_symbols(evidence.diagnostics, surface)
    return (*found, *(symbol for symbol in complained if (symbol.name, symbol.line) not in names))
