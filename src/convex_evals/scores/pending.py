"""What is left to do of a run: the plan minus what has a verdict."""

from collections import defaultdict

from sqlalchemy import select
from sqlalchemy.orm import Session

from convex_evals.scores.attempts import RESULTS
from convex_evals.scores.records import AttemptStatus, PendingEval
from convex_evals.scores.rows import AttemptRow, GenerationRow
from convex_evals.scores.runs import read_extra_trials, read_planned, read_run

Tried = list[tuple[AttemptStatus, str | None]]  # status, and the attempt if it has a generation; oldest first


def read_pending(session: Session, run_id: str) -> tuple[PendingEval, ...]:
    trials = range(1, read_run(session, run_id).trials + 1)
    tried = _tried(session, run_id)
    places = [(planned.eval, trial) for planned in read_planned(session, run_id) for trial in trials]
    places += read_extra_trials(session, run_id)
    all_places = (_pending(eval, trial, tried[eval, trial]) for eval, trial in places)
    return tuple(pending for pending in all_places if pending is not None)


def _pending(eval: str, trial: int, tried: Tried) -> PendingEval | None:
    result = next((status for status, _ in reversed(tried) if status in RESULTS), None)
    if result is not None and result != "infrastructure":
        return None
    generated_by = next((attempt for _, attempt in reversed(tried) if attempt is not None), None)
    return PendingEval(eval, trial, len(tried), result is not None, generated_by)


def _tried(session: Session, run_id: str) -> defaultdict[tuple[str, int], Tried]:
    query = (
        select(AttemptRow.eval, AttemptRow.trial, AttemptRow.status, GenerationRow.attempt_id)
        .outerjoin(GenerationRow, GenerationRow.attempt_id == AttemptRow.id)
        .where(AttemptRow.run_id == run_id)
        .order_by(AttemptRow.number)
    )
    tried: defaultdict[tuple[str, int], Tried] = defaultdict(list)
    for eval, trial, status, generated in session.execute(query):
        tried[eval, trial].append((status, generated))
    return tried
