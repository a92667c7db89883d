"""The face of the scores: everything that is recorded of runs, and everything that is asked about them."""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy.orm import Session

from convex_evals.core.steps import StepResult
from convex_evals.scores import artifacts, attempts, benchmarks, locks, runs, steps
from convex_evals.scores.artifacts import Uploads
from convex_evals.scores.attempts import RESULTS, Attempts
from convex_evals.scores.changes import Changes
from convex_evals.scores.database import Database, Deployment, find_location
from convex_evals.scores.decisions import Decisions
from convex_evals.scores.history import History
from convex_evals.scores.intake import Intake
from convex_evals.scores.jobs import Jobs
from convex_evals.scores.labels import Labels
from convex_evals.scores.leases import Leases
from convex_evals.scores.outbox import Outbox
from convex_evals.scores.pages import PageQueries
from convex_evals.scores.records import (
    EVERY_RUN,
    AttemptDetails,
    AttemptRecord,
    AttemptStatus,
    Benchmark,
    FailuresAlike,
    Generation,
    GenerationRecord,
    OpenAttempt,
    Outcome,
    PendingEval,
    PlannedEval,
    RecordedSteps,
    RunExport,
    RunFilter,
    RunPlan,
    RunRecord,
    RunStatus,
    Upgrade,
    Usage,
)
from convex_evals.scores.schema import REVISIONS, Revisions, make_folder, read_state, upgrade_schema
from convex_evals.scores.tokens import Sessions, Tokens


class ScoresStore:
    """Runs, attempts and evidence in one database.

    Every method is one transaction: when it returns, its work is on disk; when it raises, nothing was changed.
    Methods block for milliseconds; asynchronous code calls them with `asyncio.to_thread`. One store serves any number
    of threads, and several processes may each open one on the same database.
    """

    def __init__(self, database: Database, upgraded: Upgrade | None = None) -> None:
        self._database = database
        self.location = database.location.shown
        self.file = database.location.path  # None: they are on a server
        self.upgraded = upgraded  # what opening it changed
        self.tokens = Tokens(database)
        self.sessions = Sessions(database)
        self.labels = Labels(database)
        self.jobs = Jobs(database)
        self.decisions = Decisions(database)
        self.deployment = Deployment(database)
        self.history = History(database)
        self.pages = PageQueries(database)
        self.outbox = Outbox(database)
        self.intake = Intake(database)
        self.uploads = Uploads(database)
        self.leases = Leases(database)
        self.changes = Changes(database)

    @classmethod
    def open(cls, where: str | Path | None = None, revisions: Revisions = REVISIONS) -> Self:
        """Opens a SQLite file or a postgresql:// URL; ./scores/scores.db without one.

        What is missing is made; an older schema is upgraded, a SQLite file being copied first; a newer one is refused.
        """
        location = find_location(where)
        make_folder(location)
        database = Database(location)
        try:
            with database.reading() as session:
                state = read_state(session.connection(), revisions)
            current = state.condition == "current"
            return cls(database, None if current else upgrade_schema(location, revisions))
        except BaseException:
            database.close()
            raise

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Recording

    def create_run(self, plan: RunPlan) -> str:
        """Records what will be done and returns the id of the run, which is running now."""
        with self._database.writing() as session:
            return runs.insert_run(session, plan)

    def hold_run(self, run_id: str) -> AbstractContextManager[None]:
        """Keeps other processes from working on the run meanwhile. Raises UsageError when one already does."""
        return locks.hold_run(self._database, run_id)

    def begin_attempt(self, run_id: str, eval: str, trial: int = 1) -> OpenAttempt:
        """The next attempt at an eval and trial of the plan. At most one of them is open at a time."""
        with self._database.writing() as session:
            begun = attempts.begin_attempt(session, run_id, eval, trial)
            runs.begin_period(session, run_id)
            return begun

    def record_generation(self, attempt_id: str, generation: Generation) -> None:
        with self._database.writing() as session:
            attempts.insert_generation(session, attempt_id, generation)

    def record_unusable(self, attempt_id: str, tries: Sequence[Usage]) -> None:
        """What was paid for answers of which none is of use."""
        with self._database.writing() as session:
            attempts.insert_usage(session, attempt_id, tries)

    def reuse_generation(self, attempt_id: str, source_attempt_id: str) -> None:
        """This attempt grades what the model wrote for another one; nothing is counted as used twice."""
        with self._database.writing() as session:
            attempts.insert_reused_generation(session, attempt_id, source_attempt_id)

    def record_step(self, attempt_id: str, step: StepResult) -> None:
        with self._database.writing() as session:
            steps.insert_step(session, attempt_id, step)

    def finish_attempt(self, attempt_id: str, outcome: Outcome) -> None:
        with self._database.writing() as session:
            attempts.finish_attempt(session, attempt_id, outcome)

    def finish_run(self, run_id: str, status: RunStatus, reason: str | None = None) -> None:
        """Attempts that are still open are marked interrupted."""
        with self._database.writing() as session:
            runs.close_run(session, run_id, status, reason)

    def resume_run(self, run_id: str) -> tuple[PendingEval, ...]:
        """Marks what a crash left open as interrupted, and says what is to be done. Hold the run before."""
        with self._database.writing() as session:
            runs.reopen_run(session, run_id)
            session.flush()
            return runs.read_pending(session, run_id)

    def add_trials(self, run_id: str, trials: Iterable[tuple[str, int]]) -> None:
        """Plans more trials of some evals, each (eval, trial). Those that every eval has stay the run's `trials`."""
        with self._database.writing() as session:
            runs.insert_extra_trials(session, run_id, trials)

    def mint_benchmark(self, benchmark: Benchmark) -> None:
        """Raises UsageError when there is one of that name."""
        with self._database.writing() as session:
            benchmarks.insert_benchmark(session, benchmark)

    def fill_with_generated_runs(self, evals: Sequence[str], runs: int) -> None:
        """For measuring with an empty database: a long made-up history, labelled as such."""
        from convex_evals.scores.generated import generate_scores

        generate_scores(self._database, evals, runs)

    # Asking

    def benchmarks(self) -> tuple[Benchmark, ...]:
        """Every version of the benchmark, the newest first."""
        with self._database.reading() as session:
            return benchmarks.read_benchmarks(session)

    def planned(self, run_id: str) -> tuple[PlannedEval, ...]:
        with self._database.reading() as session:
            return runs.read_planned(session, run_id)

    def find_run(self, reference: str) -> RunRecord:
        """By its id or the beginning of it, at least four characters. Raises UsageError."""
        with self._database.reading() as session:
            return runs.read_run(session, runs.find_run_id(session, reference))

    def runs(self, chosen: RunFilter = EVERY_RUN) -> tuple[RunRecord, ...]:
        with self._database.reading() as session:
            return runs.list_runs(session, chosen)

    def is_run_held(self, run_id: str) -> bool:
        """Whether a process works on it. A running run that nobody holds has died and can be resumed."""
        return locks.is_run_held(self._database, run_id) or self.leases.is_held(run_id)

    def pending(self, run_id: str) -> tuple[PendingEval, ...]:
        """What `resume_run` would say; changes nothing."""
        with self._database.reading() as session:
            return runs.read_pending(session, run_id)

    def attempts(self, run_id: str, eval: str | None = None) -> tuple[AttemptRecord, ...]:
        """Every attempt, by eval, trial and number."""
        with self._database.reading() as session:
            return attempts.read_attempts(session, Attempts(run_id, eval))

    def results(self, run_id: str) -> tuple[AttemptRecord, ...]:
        """Of each eval and trial the latest attempt that has a result."""
        return attempts.results_of(self.attempts(run_id))

    def details(
        self, run_id: str, eval: str | None = None, statuses: Sequence[AttemptStatus] | None = None
    ) -> tuple[AttemptDetails, ...]:
        """Attempts with their generations and steps, by eval, trial and number."""
        with self._database.reading() as session:
            return _details(session, Attempts(run_id, eval, statuses))

    def result_details(
        self, run_id: str, eval: str | None = None, statuses: Sequence[AttemptStatus] = RESULTS
    ) -> tuple[AttemptDetails, ...]:
        """Of each eval and trial the latest attempt that has a result, if it is one of these."""
        results = {each.id for each in self.results(run_id) if each.status in statuses}
        return tuple(each for each in self.details(run_id, eval, statuses) if each.attempt.id in results)

    def find_attempt(self, attempt_id: str) -> AttemptDetails:
        """Raises UsageError."""
        with self._database.reading() as session:
            found = attempts.read_attempt(session, attempt_id)
            details = _details(session, Attempts(found.run_id, found.eval))
            return next(each for each in details if each.attempt.id == attempt_id)

    def passed_unseen(self, run_id: str) -> tuple[str, ...]:
        """Evals whose pages nobody looked at for want of a browser, and which passed by their other tests."""
        with self._database.reading() as session:
            return steps.read_passed_unseen(session, run_id)

    def failures_alike(self, attempt_id: str) -> FailuresAlike:
        """How many others fail like this attempt: a diagnostic of its failed step has the same fingerprint."""
        with self._database.reading() as session:
            return steps.count_failures_alike(session, attempt_id)

    def generations(self, run_id: str) -> tuple[GenerationRecord, ...]:
        """What models were asked in a run, and what that took; much quicker than `details`."""
        with self._database.reading() as session:
            return tuple(attempts.read_generations(session, Attempts(run_id)).values())

    def export_run(self, run_id: str) -> RunExport:
        """Everything about a run but the contents of its artifacts."""
        with self._database.reading() as session:
            run, planned = runs.read_run(session, run_id), runs.read_planned(session, run_id)
            return RunExport(run, planned, _details(session, Attempts(run_id)))

    def read_bytes(self, artifact: str) -> bytes:
        """An artifact as it was recorded, checked against its SHA-256."""
        with self._database.reading() as session:
            return artifacts.read_bytes(session, artifact)

    def read_text(self, artifact: str) -> str:
        """A prompt, a response or a log."""
        return artifacts.bytes_text(self.read_bytes(artifact))

    def read_files(self, artifact: str) -> dict[str, str]:
        """The files of a generation: relative path -> text."""
        return artifacts.bytes_files(self.read_bytes(artifact))


def _details(session: Session, which: Attempts) -> tuple[AttemptDetails, ...]:
    generated = attempts.read_generations(session, which)
    graded = steps.read_steps(session, which)
    return tuple(
        AttemptDetails(attempt, generated.get(attempt.id), found.steps, found.logs)
        for attempt in attempts.read_attempts(session, which)
        for found in (graded.get(attempt.id, RecordedSteps()),)
    )
