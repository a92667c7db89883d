"""One failure from what was recorded of it to what the report says about it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from convex_evals.analysis.classification import Classification, Engine
from convex_evals.analysis.counterfactuals import Neighbour
from convex_evals.analysis.evidence import Evidence
from convex_evals.analysis.facts import causes, error_line, evidence_lines, fingerprints
from convex_evals.analysis.gathering import Recorded, complete, evidence_of, with_gap
from convex_evals.analysis.isolation import Bound, GradingProbes, isolate_cause, locate_cause
from convex_evals.analysis.labels import label_for
from convex_evals.analysis.prior import PriorReports, cure, history, is_repeat
from convex_evals.analysis.report.types import FailureReport, Label
from convex_evals.analysis.surface import Surface, read_surface
from convex_evals.core.errors import InfrastructureError
from convex_evals.core.settings import Settings
from convex_evals.core.toolchain import Toolchain
from convex_evals.pipeline.install import find_packages
from convex_evals.pipeline.types import GradingOptions
from convex_evals.scores import AttemptDetails, RunRecord
from convex_evals.suite import Eval

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore

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
        return replace(with_gap(evidence), prior=prior)

    async def _with_cause(self, evidence: Evidence, asked: Eval | None) -> Evidence:
        if asked is None:
            return replace(evidence, cause=locate_cause(evidence, GONE))
        if self.probes is None or asked.id in self.changed:
            note = UNEQUIPPED if self.probes is None else CHANGED
            return replace(evidence, cause=locate_cause(evidence, note))
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
