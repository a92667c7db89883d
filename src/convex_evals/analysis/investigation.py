"""One failure from what was recorded of it to what the report says about it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from convex_evals.analysis.classification import Classification, Engine
from convex_evals.analysis.counterfactuals import Neighbour, gather_counterfactuals
from convex_evals.analysis.differences import compare_answers
from convex_evals.analysis.evidence import Counterfactuals, Evidence, Example, Parity, UnknownSymbol
from convex_evals.analysis.facts import causes, error_line, evidence_lines, fingerprints
from convex_evals.analysis.gaps import match_gap
from convex_evals.analysis.isolation import Bound, BoundReached, GradingProbes, Outcome, isolate_cause, locate_cause
from convex_evals.analysis.labels import label_for
from convex_evals.analysis.prior import PriorReports, cure, history, is_repeat
from convex_evals.analysis.report.types import FailureReport, Label
from convex_evals.analysis.surface import Surface, complained_symbols, read_surface, snippet_symbols, unknown_symbols
from convex_evals.analysis.terms import words_of
from convex_evals.core.diagnostics import Diagnostic
from convex_evals.core.errors import InfrastructureError
from convex_evals.core.settings import Settings
from convex_evals.core.toolchain import Toolchain
from convex_evals.core.verdicts import StepName
from convex_evals.models import task_in
from convex_evals.pipeline import GradingOptions, find_packages
from convex_evals.scores import AttemptDetails, RunRecord
from convex_evals.suite import Eval, read_answer, read_given, read_question

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore

Try = Callable[[Mapping[str, str]], Awaitable[Outcome | None]]
"""Puts files through the failed step. Raises BoundReached."""
_CODE: Final = frozenset({".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs"})


@dataclass(frozen=True, slots=True)
class Recorded:
    """A failed result as the scores have it, with the files read."""

    details: AttemptDetails
    failed_step: StepName
    files: dict[str, str]
    prompt: str = ""

    @classmethod
    def read(cls, store: "ScoresStore", details: AttemptDetails) -> "Recorded":
        made = details.generation
        files, prompt = (store.read_files(made.files), store.read_text(made.prompt)) if made else ({}, "")
        return cls(details, _failed_step(details), files, prompt)

    def question(self, asked: Eval) -> str:
        """What the model was told: nobody can heed what has been added to a task since."""
        question, told = read_question(asked), task_in(self.prompt)
        if told is None or asked.task.strip() in self.prompt or not _is_another_version(told, asked.task):
            return question
        return question.replace(asked.task, told)


def _is_another_version(told: str, task: str) -> bool:
    """A text that has little in common with the task is not an earlier one: what is kept may be anything."""
    shared, all_words = words_of(told) & words_of(task), words_of(told) | words_of(task)
    return 2 * len(shared) >= len(all_words)


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
        task=recorded.question(asked) if asked else "",
        error=next((step.excerpt for step in steps if step.name == recorded.failed_step), ""),
        steps=steps,
        tests=attempt.tests,
        diagnostics=tuple(sorted(diagnostics, key=lambda each: each.step != recorded.failed_step)),
        files=read_given(asked).completed(recorded.files) if asked and recorded.files else recorded.files,
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


MOST_EXAMPLES = 8
PARITY_TRIES = 2  # the reference, and the answer with the reference's configuration
CHANGED = "No change was tried, because the eval is not what it was when the run was graded."
UNEQUIPPED = "No change was tried, because the packages that grading needs are not installed."
GONE = "No change was tried, because the suite no longer has this eval."


@dataclass(frozen=True, slots=True)
class Investigated:
    """Everything about one failure: what engines looked at, what one of them said, and what is reported."""

    evidence: Evidence
    classification: Classification
    report: FailureReport


@dataclass(frozen=True)
class Investigator:
    """What all failures of one run share. Without `probes` nothing is tried."""

    store: "ScoresStore"
    settings: Settings
    toolchain: Toolchain | None
    run: RunRecord
    options: GradingOptions
    evals: dict[str, Eval]
    changed: frozenset[str]
    engine: Engine
    prior: PriorReports
    labels: tuple[Label, ...]
    neighbours: tuple[Neighbour, ...]
    probes: GradingProbes | None = None
    probe_seconds: float = 0.0
    _surfaces: dict[Path, Surface | None] = field(default_factory=dict)

    async def investigate(self, details: AttemptDetails) -> Investigated:
        evidence = await self.gather(details)
        classification = await self.engine.classify(evidence)
        return Investigated(evidence, classification, self._report(evidence, classification))

    async def gather(self, details: AttemptDetails) -> Evidence:
        """All the evidence, the cause included."""
        recorded = Recorded.read(self.store, details)
        asked = self.evals.get(details.attempt.eval)
        evidence = evidence_of(recorded, asked, self.options.answer_files or ("**/*",))
        own = next((each for each in self.neighbours if each.attempt == details.attempt.id), None)
        evidence = complete(evidence, await self._surface(recorded.files, asked), own, self.neighbours)
        evidence = await self._with_cause(evidence, asked)
        prior = self.prior.findings(evidence.eval, fingerprints(evidence))
        return replace(with_gap(evidence), prior=prior, examples=self._examples(evidence))

    def _examples(self, evidence: Evidence) -> tuple[Example, ...]:
        """Never the label of this very failure: that one overrules the engine, and must not be parroted."""
        others = [each for each in self.labels if (each.run, each.eval) != (self.run.id, evidence.eval)]
        return tuple(Example(each.eval, each.failure_class, each.why) for each in reversed(others[-MOST_EXAMPLES:]))

    async def _with_cause(self, evidence: Evidence, asked: Eval | None) -> Evidence:
        if asked is None:
            return replace(evidence, cause=locate_cause(evidence, GONE))
        if self.probes is None or asked.id in self.changed:
            note = UNEQUIPPED if self.probes is None else CHANGED
            return replace(evidence, cause=locate_cause(evidence, note))
        beside = Bound(self.probe_seconds, PARITY_TRIES)
        try_files = partial(self.probes.try_files, asked, evidence.failed_step, self.options, beside)
        evidence = replace(evidence, parity=await examine_parity(evidence, try_files))
        bound = Bound(self.probe_seconds)
        probe = self.probes.probe(asked, evidence.failed_step, self.options, bound)
        return replace(evidence, cause=await isolate_cause(evidence, probe, bound))

    async def _surface(self, files: Mapping[str, str], asked: Eval | None) -> Surface | None:
        """Of the package that the answer was graded with, else of our own; None when it cannot be had."""
        if self.toolchain is None:
            return None
        options = self.options.completed(asked.settings) if asked is not None else self.options
        installed = find_packages(files, options, self.toolchain, self.settings)
        convex = installed.package("convex") if installed else None
        if convex is None or not convex.is_dir():
            convex = self.toolchain.packages.node_modules / "convex"
        if convex not in self._surfaces:
            try:
                self._surfaces[convex] = await read_surface(convex, self.toolchain, self.settings)
            except InfrastructureError:
                self._surfaces[convex] = None
        return self._surfaces[convex]

    def _report(self, evidence: Evidence, classification: Classification) -> FailureReport:
        return FailureReport(
            eval=evidence.eval,
            trial=evidence.trial,
            failed_step=evidence.failed_step,
            error=error_line(evidence),
            model_snippet=evidence.cause.model_snippet,
            expected_snippet=evidence.cause.expected_snippet,
            found=evidence.cause.found,
            cause_note=evidence.cause.note or "Not known.",
            classification=classification,
            evidence=evidence_lines(evidence),
            fingerprints=fingerprints(evidence),
            causes=causes(evidence),
            repeat=is_repeat(evidence.prior),
            history=history(evidence.prior),
            cure=cure(evidence.prior),
            label=label_for(self.labels, self.run.id, evidence.eval, evidence.trial),
        )


async def examine_parity(evidence: Evidence, try_files: Try) -> Parity | None:
    """Does the reference pass the very check that the answer failed, and is it only the configuration?

    None when nothing could be tried. The reference goes first: with one that fails, nothing else says anything.
    """
    if not evidence.answer or not evidence.files:
        return None
    try:
        reference = await try_files(evidence.answer)
        if reference is None:
            return None
        parity = Parity(() if reference.passed else reference.complaints)
        swapped = with_configuration(evidence.files, evidence.answer)
        if not reference.passed or evidence.failed_step == "tests" or swapped == dict(evidence.files):
            return parity
        cured = await try_files(swapped)
    except BoundReached:
        return None
    return Parity((), cured.passed if cured is not None else None)


def with_configuration(files: Mapping[str, str], reference: Mapping[str, str]) -> dict[str, str]:
    """The answer's own code with package.json, tsconfig.json and the like from the reference."""
    return {
        **{path: text for path, text in files.items() if not is_configuration(path)},
        **{path: text for path, text in reference.items() if is_configuration(path)},
    }


def is_configuration(path: str) -> bool:
    """Whatever is not code; and code that only configures a tool, such as vite.config.ts."""
    name = PurePosixPath(path)
    return name.suffix not in _CODE or name.stem.endswith(".config")
