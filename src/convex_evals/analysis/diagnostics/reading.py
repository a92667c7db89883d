"""From one failed step to what it complains about."""

from convex_evals.analysis.diagnostics.deploy import command_output, read_deploy_errors
from convex_evals.analysis.diagnostics.fingerprints import normalised
from convex_evals.analysis.diagnostics.lint import read_findings, read_mentioned_rules
from convex_evals.analysis.diagnostics.tests import read_failed_tests
from convex_evals.analysis.diagnostics.typescript import read_type_errors
from convex_evals.analysis.evidence import Diagnostic, DiagnosticKind, StepEvidence
from convex_evals.core.verdicts import StepName

KINDS: dict[StepName, DiagnosticKind] = {
    "filesystem": "filesystem",
    "install": "install",
    "deploy": "deploy",
    "tsc": "type",
    "eslint": "lint",
    "tests": "test",
}


def read_diagnostics(step: StepEvidence, log: str = "") -> tuple[Diagnostic, ...]:
    """What a step that failed complains about. Without its log, the excerpt has to do."""
    text = _own_output(step, log) or step.excerpt
    found = _read(step, text, log)
    return tuple(found) or _in_its_own_words(step)


def _read(step: StepEvidence, text: str, log: str) -> list[Diagnostic]:
    match step.name:
        case "deploy":
            return read_deploy_errors(command_output(text) if log else text)
        case "tsc":
            return read_type_errors(text)
        case "eslint":
            return read_findings(text) or read_mentioned_rules(step.excerpt)
        case "tests":
            return read_failed_tests(text, step.excerpt)
    return []


def _own_output(step: StepEvidence, log: str) -> str:
    """A log ends with the excerpt, which would be read as a second complaint."""
    before, marker, _ = log.rpartition(f"\n{step.failure}: ")
    return before if marker else log


def _in_its_own_words(step: StepEvidence) -> tuple[Diagnostic, ...]:
    if not step.excerpt.strip():
        return ()
    kind, first = KINDS[step.name], step.excerpt.strip().partition("\n")[0]
    name = step.failure if step.name in ("filesystem", "install") else None
    return (Diagnostic(kind, step.excerpt.strip(), name=name, fingerprint=f"{kind}:{name or normalised(first)}"),)
