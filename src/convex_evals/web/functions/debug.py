"""What an analyst looks up: the failures of a run, and everything about one of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from convex_evals.core.steps import StepResult
from convex_evals.scores import AttemptDetails, AttemptRecord, RunRecord
from convex_evals.suite import Eval, read_answer
from convex_evals.web.functions.function import Context, Function
from convex_evals.web.site import Site


@dataclass(frozen=True, slots=True)
class OfRun:
    runId: str


@dataclass(frozen=True, slots=True)
class OfEval:
    evalId: str


def failed_evals(context: Context, given: OfRun) -> dict[str, Any]:
    store = context.site.store
    run = store.find_run(given.runId)
    failed = store.result_details(run.id, statuses=("failed",))
    return {
        "run": _run(run),
        "totalEvals": run.counts.total,
        "passedCount": run.counts.passed,
        "failedCount": run.counts.failed,
        "failedEvals": [_failed(each) for each in failed],
    }


def eval_debug_info(context: Context, given: OfEval) -> dict[str, Any]:
    store = context.site.store
    details = store.find_attempt(given.evalId)
    found, run = details.attempt, store.find_run(details.attempt.run_id)
    source = _source(context.site, found.eval)
    return {
        "eval": {**_eval(found), "task": source.task if source else None, "status": found.status},
        "run": _run(run),
        "steps": [_step(each) for each in details.steps],
        "outputFiles": _files(store.read_files(details.generation.files) if details.generation else {}),
        "evalSourceFiles": _files(_source_files(source) if source else {}),
    }


def _run(run: RunRecord) -> dict[str, Any]:
    return {
        "_id": run.id,
        "_creationTime": run.started_at.timestamp() * 1000,
        "model": run.model,
        "provider": run.provider,
        "experiment": run.experiment,
        "status": run.status,
    }


def _eval(attempt: AttemptRecord) -> dict[str, Any]:
    category, _, name = attempt.eval.partition("/")
    return {
        "_id": attempt.id,
        "_creationTime": attempt.started_at.timestamp() * 1000,
        "runId": attempt.run_id,
        "evalPath": attempt.eval,
        "category": category,
        "name": name,
        "trial": attempt.trial,
    }


def _failed(details: AttemptDetails) -> dict[str, Any]:
    failed = next((step for step in details.steps if step.name == details.attempt.failed_step), None)
    return {
        **_eval(details.attempt),
        "failureReason": details.attempt.failure,
        "failedStep": None if failed is None else {"name": failed.name, "error": _error(failed)},
    }


def _step(step: StepResult) -> dict[str, Any]:
    return {
        "name": step.name,
        "status": step.status,
        "durationMs": step.duration_ms,
        "error": None if step.status == "passed" else _error(step),
        "diagnostics": [
            {"message": each.message, "name": each.name, "file": each.file, "line": each.line}
            for each in step.diagnostics
        ],
    }


def _error(step: StepResult) -> str:
    return step.excerpt or "\n".join(each.message for each in step.diagnostics) or step.failure or ""


def _source(site: Site, name: str) -> Eval | None:
    return next((each for each in site.suite.evals if each.id == name), None) if site.suite else None


def _source_files(found: Eval) -> dict[str, str]:
    files = {"TASK.txt": found.task, **{f"answer/{path}": text for path, text in read_answer(found).items()}}
    if found.grader is not None:
        files[found.grader.path.name] = found.grader.path.read_text(encoding="utf-8", errors="replace")
    return files if found.gaps is None else {**files, "GAPS.txt": found.gaps}


def _files(files: Mapping[str, str]) -> list[dict[str, str]]:
    """A list, because names of files cannot be fields of a Convex value."""
    return [{"path": path, "content": text} for path, text in sorted(files.items())]


DEBUG = (
    Function("debugQueries:getFailedEvalsForRun", "Query", "read", OfRun, failed_evals),
    Function("debug:getEvalDebugInfo", "Query", "read", OfEval, eval_debug_info),
)
