from convex_evals.analysis.diagnostics import read_diagnostics
from convex_evals.analysis.evidence import StepEvidence

ERROR = "convex/index.ts(1,2): error TS2304: Cannot find name 'x'."


def test_the_excerpt_at_the_end_of_a_log_is_not_read_as_a_second_complaint() -> None:
    step = StepEvidence("tsc", "failed", "type-errors", ERROR)
    found = read_diagnostics(step, f"$ tsc\n{ERROR}\n(exit code 2)\ntype-errors: {ERROR}\n")
    assert [each.file for each in found] == ["convex/index.ts"]


def test_a_step_that_nobody_can_parse_speaks_for_itself() -> None:
    (found,) = read_diagnostics(StepEvidence("install", "failed", "package-not-found", "404: left-padd\nmore"))
    assert (found.kind, found.name, found.fingerprint) == ("install", "package-not-found", "install:package-not-found")


def test_a_person_may_have_written_what_went_wrong() -> None:
    (found,) = read_diagnostics(StepEvidence("tests", "failed", excerpt="`/api/*` paths return 404."))
    assert (found.kind, found.message) == ("test", "`/api/*` paths return 404.")


def test_a_step_that_said_nothing_complains_about_nothing() -> None:
    assert read_diagnostics(StepEvidence("deploy", "failed", "deploy-refused")) == ()
