"""Scores that nobody earned: a large history, made up with a fixed seed, to measure pages and queries with.

Every run of it has the label `generated`, and its models are of the provider `generated`.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from sqlalchemy import JSON, BigInteger, ColumnElement, Integer, Select, case, cast, insert, literal, select, union_all
from sqlalchemy.orm import Session

from convex_evals.core.ids import ALPHABET, LENGTH
from convex_evals.core.verdicts import StepName
from convex_evals.scores.artifacts import files_bytes, put_all, text_bytes
from convex_evals.scores.benchmarks import insert_benchmark
from convex_evals.scores.database import Database
from convex_evals.scores.records import GENERATED as LABEL
from convex_evals.scores.records import Benchmark, PlannedEval
from convex_evals.scores.rows import (
    AttemptRow,
    DiagnosticRow,
    GenerationRow,
    ModelRow,
    PlannedEvalRow,
    Row,
    RunRow,
    StepRow,
    UsageRow,
    WorkPeriodRow,
)

MODELS: Final = 12
STEPS: Final[tuple[StepName, ...]] = ("filesystem", "install", "deploy", "tsc", "eslint", "tests")
BEGIN: Final = datetime(2026, 1, 1, tzinfo=UTC)
BETWEEN: Final = timedelta(hours=7)
TAKES: Final = timedelta(minutes=9)
AT_ONCE: Final = 10_000
"""Rows in one statement."""


@dataclass
class Generator:
    """Makes rows. The same seed makes the same."""

    evals: Sequence[str]
    runs: int
    chance: random.Random = field(default_factory=lambda: random.Random(17))

    def __post_init__(self) -> None:
        self.skill = {number: self.chance.uniform(0.35, 0.95) for number in range(MODELS)}
        self.ease = {name: self.chance.uniform(-0.3, 0.3) for name in self.evals}

    def id(self) -> str:
        return "".join(self.chance.choices(ALPHABET, k=LENGTH))

    def benchmarks(self) -> Iterator[Benchmark]:
        prompts = {"default": "prompt", "no_guidelines": "bare"}
        for number in (1, 2):
            minted = BEGIN + BETWEEN * self.runs * (number - 1) / 2 - timedelta(minutes=1)
            yield Benchmark(f"v{number}", tuple(self.planned(number)), prompts, "pipeline", "toolchain", minted)

    def planned(self, version: int) -> Iterator[PlannedEval]:
        """The second version has other graders for every tenth eval."""
        for place, name in enumerate(self.evals):
            yield PlannedEval(name, f"content of {name}", f"grader {version if place % 10 == 0 else 1} of {name}")

    def passes(self, model: int, name: str, experiment: str) -> bool:
        help_ = 0.1 if experiment == "default" else 0.0
        return self.chance.random() < self.skill[model] + self.ease[name] + help_


def generate_scores(database: Database, evals: Sequence[str], runs: int) -> None:
    """Fills an empty database. The newest run is still running.

    Only what differs from attempt to attempt is made here; the database itself makes the rest of that.
    """
    made = Generator(evals, runs)
    with database.writing() as session:
        models = [{"name": f"generated/model-{number:02}", "provider": LABEL} for number in range(MODELS)]
        session.execute(insert(ModelRow), [{**each, "created_at": BEGIN} for each in models])
        found = session.execute(select(ModelRow.name, ModelRow.id).order_by(ModelRow.name))
        model_ids = [row.id for row in found]
        for benchmark in made.benchmarks():
            insert_benchmark(session, benchmark)
        answer = {"convex/index.ts": "export const answer = 42;\n", "package.json": "{}\n"}
        kept = put_all(session, text_bytes("A task."), text_bytes("An answer."), files_bytes(answer))
    with database.writing() as session:
        attempts = _insert_runs(session, made, model_ids)
        _add(session, AttemptRow, attempts)
        _insert_answers(session, kept, model_ids)
        _insert_steps(session)
        _insert_diagnostics(session, evals)
    database.refresh_statistics()


def _insert_runs(session: Session, made: Generator, model_ids: Sequence[int]) -> list[dict[str, Any]]:
    """With what they planned, and without their attempts, which are returned."""
    runs, attempts = list[dict[str, Any]](), list[dict[str, Any]]()
    for number in range(made.runs):
        experiment = "no_guidelines" if number // MODELS % 3 == 2 else "default"
        run = _run(made, number, model_ids[number % MODELS], experiment)
        done = made.evals if run["finished_at"] else made.evals[: len(made.evals) // 2]
        passes = [made.passes(number % MODELS, name, experiment) for name in done]
        of_run = [_attempt(made, run, name, passed=passed) for name, passed in zip(done, passes, strict=True)]
        runs.append({**run, **(_counts(of_run, run["finished_at"]) if run["finished_at"] else {})})
        attempts += of_run
    # Statements of many rows need the same columns in all.
    _add(session, RunRow, runs[:-1])
    _add(session, RunRow, runs[-1:])
    periods = ({"run_id": run["id"], "started_at": run["started_at"], "ended_at": run["finished_at"]} for run in runs)
    _add(session, WorkPeriodRow, [{"number": 1, **each} for each in periods])
    half = -(-made.runs // 2)
    for version, some in ((1, runs[:half]), (2, runs[half:])):
        if some:
            _insert_planned(session, made.planned(version), [run["id"] for run in some])
    return attempts


def _insert_planned(session: Session, planned: Iterator[PlannedEval], run_ids: Sequence[str]) -> None:
    """By the first run, which the others repeat."""
    columns = ("run_id", "eval", "content_fingerprint", "grader_fingerprint")
    first = run_ids[0]
    _add(
        session,
        PlannedEvalRow,
        [dict(zip(columns, (first, each.eval, each.content, each.grader), strict=True)) for each in planned],
    )
    same = (PlannedEvalRow.eval, PlannedEvalRow.content_fingerprint, PlannedEvalRow.grader_fingerprint)
    query = select(RunRow.id, *same).join(PlannedEvalRow, PlannedEvalRow.run_id == first)
    query = query.where(RunRow.id.in_(run_ids), RunRow.id != first)
    session.execute(insert(PlannedEvalRow).from_select(columns, query))


def _add(session: Session, rows: type[Row], values: Sequence[dict[str, Any]]) -> None:
    for start in range(0, len(values), AT_ONCE):
        session.connection().execute(insert(rows), values[start : start + AT_ONCE])


def _run(made: Generator, number: int, model_id: int, experiment: str) -> dict[str, Any]:
    started, over = BEGIN + BETWEEN * number, number < made.runs - 1
    return {
        "id": made.id(),
        "model_id": model_id,
        "experiment": experiment,
        "trials": 1,
        "suite_fingerprint": "suite",
        "pipeline_fingerprint": "pipeline",
        "toolchain_fingerprint": "toolchain",
        "prompt_fingerprint": "prompt" if experiment == "default" else "bare",
        "options": {},
        "labels": [LABEL],
        "status": "completed" if over else "running",
        "started_at": started,
        "finished_at": started + TAKES if over else None,
    }


def _counts(attempts: list[dict[str, Any]], finished: datetime) -> dict[str, Any]:
    """What a run that is over keeps."""
    passed = sum(each["status"] == "passed" for each in attempts)
    total = {"evals": len(attempts), "total": len(attempts), "counted_at": finished}
    return {**total, "passed": passed, "failed": len(attempts) - passed, "skipped": 0, "infrastructure": 0}


def _attempt(made: Generator, run: dict[str, Any], name: str, *, passed: bool) -> dict[str, Any]:
    step = None if passed else made.chance.choice(STEPS[2:])
    tested = step in (None, "tests")
    return {
        "id": made.id(),
        "run_id": run["id"],
        "eval": name,
        "trial": 1,
        "number": 1,
        "status": "passed" if passed else "failed",
        "failed_step": step,
        "failure": None if passed else f"{step}-failed",
        "tests_passed": (6 if passed else 4) if tested else None,
        "tests_total": 6 if tested else None,
        "duration_ms": made.chance.uniform(900, 4000),
        "cpu_ms": made.chance.uniform(700, 2500),
        "notes": [],
        "started_at": run["started_at"],
        "finished_at": run["started_at"] + timedelta(seconds=30),
    }


def _insert_answers(session: Session, kept: tuple[str, ...], model_ids: Sequence[int]) -> None:
    generations = {
        "attempt_id": AttemptRow.id,
        **{name: literal(artifact) for name, artifact in zip(("prompt", "response", "files"), kept, strict=True)},
        "from_cache": literal(False),
        "notes": literal([], JSON()),
        "recorded_at": AttemptRow.started_at,
    }
    _insert_selected(session, GenerationRow, generations, select(*generations.values()))
    usage = _usage(model_ids)
    _insert_selected(session, UsageRow, usage, select(*usage.values()).join(RunRow, RunRow.id == AttemptRow.run_id))


def _usage(model_ids: Sequence[int]) -> dict[str, ColumnElement[Any] | Any]:
    """As many tokens as the attempt's duration, which is random, makes of it. Nobody says what the last model costs."""
    tokens = cast(AttemptRow.duration_ms * 1000, BigInteger) % 2100 + 400
    prices = {number: 2e-6 * 1.7**place for place, number in enumerate(model_ids[:-1])}
    slowness = {number: 4 + place for place, number in enumerate(model_ids)}
    return {
        "attempt_id": AttemptRow.id,
        "input_tokens": cast(AttemptRow.cpu_ms * 1000, BigInteger) % 7000 + 2000,
        "output_tokens": tokens,
        "first_token_ms": AttemptRow.cpu_ms * case(slowness, value=RunRow.model_id) / 10,
        "generation_ms": tokens * case(slowness, value=RunRow.model_id),
        "cost_usd": tokens * case(prices, value=RunRow.model_id),
        "cost_source": case((RunRow.model_id == model_ids[-1], "unknown"), else_="estimated"),
    }


def _insert_steps(session: Session) -> None:
    """Up to the one that failed."""
    rows = [select(literal(name).label("name"), literal(place).label("place")) for place, name in enumerate(STEPS)]
    step = union_all(*rows).subquery("step")
    last = case({name: place for place, name in enumerate(STEPS)}, value=AttemptRow.failed_step, else_=len(STEPS))
    failed = step.c.place == last
    values = {
        "attempt_id": AttemptRow.id,
        "name": step.c.name,
        "status": case((failed, "failed"), else_="passed"),
        "failure": case((failed, step.c.name + "-failed"), else_=None),
        "duration_ms": literal(150.0),
        "cpu_ms": literal(120.0),
        "commands": literal([], JSON()),
        "excerpt": case((failed, step.c.name + " said what is wrong."), else_=""),
        "notes": literal([], JSON()),
        "recorded_at": AttemptRow.finished_at,
    }
    _insert_selected(session, StepRow, values, select(*values.values()).join(step, step.c.place <= last))


def _insert_diagnostics(session: Session, evals: Sequence[str]) -> None:
    mistakes = {name: f"mistake {sum(map(ord, name)) % 3}" for name in evals}
    mistake = case(mistakes, value=AttemptRow.eval)
    values = {
        "attempt_id": AttemptRow.id,
        "step": AttemptRow.failed_step,
        "position": cast(literal(0), Integer),
        "message": mistake + " that " + AttemptRow.failed_step + " finds.",
        "name": mistake,
        "file": literal("convex/index.ts"),
        "line": cast(literal(3), Integer),
        "tool": AttemptRow.failed_step,
        "fingerprint": AttemptRow.failed_step + ":" + mistake,
    }
    _insert_selected(session, DiagnosticRow, values, select(*values.values()).where(AttemptRow.status == "failed"))


def _insert_selected(
    session: Session, rows: type[Row], values: dict[str, Any], query: Select[*tuple[Any, ...]]
) -> None:
    session.execute(insert(rows).from_select(list(values), query))
