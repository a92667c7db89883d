"""Who else fails like this: failures that share a fingerprint."""

from sqlalchemy import and_, case, distinct, func, not_, or_, select
from sqlalchemy.orm import Session, aliased

from convex_evals.scores.records import FailuresAlike
from convex_evals.scores.rows import AttemptRow, DiagnosticRow, RunRow, StepRow


def count_failures_alike(session: Session, attempt_id: str) -> FailuresAlike:
    """One query. What a test is called means something within its eval only; other fingerprints count everywhere."""
    own, own_run, own_found = aliased(AttemptRow), aliased(RunRow), aliased(DiagnosticRow)
    alike = or_(not_(DiagnosticRow.fingerprint.startswith("test:")), AttemptRow.eval == own.eval)
    failed = and_(StepRow.attempt_id == DiagnosticRow.attempt_id, StepRow.name == DiagnosticRow.step)
    query = (
        select(
            func.count(distinct(AttemptRow.run_id)),
            func.count(distinct(case((RunRow.model_id != own_run.model_id, RunRow.model_id)))),
        )
        .select_from(own)
        .join(own_run, own_run.id == own.run_id)
        .join(own_found, and_(own_found.attempt_id == own.id, own_found.step == own.failed_step))
        .join(DiagnosticRow, DiagnosticRow.fingerprint == own_found.fingerprint)
        .join(StepRow, and_(failed, StepRow.status == "failed"))
        .join(AttemptRow, and_(AttemptRow.id == DiagnosticRow.attempt_id, AttemptRow.status == "failed", alike))
        .join(RunRow, RunRow.id == AttemptRow.run_id)
        .where(own.id == attempt_id, AttemptRow.run_id != own.run_id)
    )
    runs, models = session.execute(query).one()
    return FailuresAlike(runs, models)
