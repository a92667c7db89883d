"""Recording a run, a mutation for each thing that happens. The token may be an argument, as it was in the original."""

from dataclasses import dataclass, field
from typing import Any

from convex_evals.core.steps import StepResult, TestCounts
from convex_evals.core.verdicts import Status, StepName
from convex_evals.scores import Generation, Outcome, PlannedEval, RunPlan, RunStatus
from convex_evals.web.functions.function import Context, Function


@dataclass(frozen=True, slots=True)
class StartRun:
    model: str
    provider: str
    plannedEvals: list[str]
    experiment: str = "default"


@dataclass(frozen=True, slots=True)
class StartEval:
    runId: str
    evalPath: str


@dataclass(frozen=True, slots=True)
class RecordOutput:
    evalId: str
    prompt: str
    response: str
    files: list[dict[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class RecordStep:
    evalId: str
    name: StepName
    status: Status
    durationMs: float = 0.0
    error: str = ""


@dataclass(frozen=True, slots=True)
class CompleteEval:
    evalId: str
    status: Status
    failedStep: StepName | None = None
    failureReason: str | None = None
    testsPassed: float = 0.0
    testsTotal: float = 0.0
    durationMs: float = 0.0


@dataclass(frozen=True, slots=True)
class CompleteRun:
    runId: str
    status: RunStatus = "completed"
    reason: str | None = None


def start_run(context: Context, given: StartRun) -> str:
    planned = tuple(PlannedEval(name) for name in dict.fromkeys(given.plannedEvals))
    return context.site.store.create_run(RunPlan(given.model, given.provider, given.experiment, planned))


def start_eval(context: Context, given: StartEval) -> str:
    return context.site.store.begin_attempt(given.runId, given.evalPath).id


def record_output(context: Context, given: RecordOutput) -> None:
    files = {each["path"]: each["content"] for each in given.files}
    context.site.store.record_generation(given.evalId, Generation(given.prompt, given.response, files))


def record_step(context: Context, given: RecordStep) -> None:
    step = StepResult(given.name, given.status, given.durationMs, 0.0, excerpt=given.error)
    context.site.store.record_step(given.evalId, step)


def complete_eval(context: Context, given: CompleteEval) -> None:
    tests = TestCounts(int(given.testsPassed), int(given.testsTotal)) if given.testsTotal else None
    outcome = Outcome(given.status, given.failedStep, given.failureReason, tests, given.durationMs)
    context.site.store.finish_attempt(given.evalId, outcome)


def complete_run(context: Context, given: CompleteRun) -> None:
    context.site.store.finish_run(given.runId, given.status, given.reason)


def _mutation(name: str, arguments: type[Any], answer: Any) -> Function:
    return Function(f"admin:{name}", "Mutation", "record", arguments, answer)


RECORDING = (
    _mutation("startRun", StartRun, start_run),
    _mutation("startEval", StartEval, start_eval),
    _mutation("recordOutput", RecordOutput, record_output),
    _mutation("recordStep", RecordStep, record_step),
    _mutation("completeEval", CompleteEval, complete_eval),
    _mutation("completeRun", CompleteRun, complete_run),
)
