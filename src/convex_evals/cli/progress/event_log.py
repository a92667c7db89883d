"""Progress for programs: every event of a run as one line of JSON, written as it happens.

The shapes are promised: fields are added and never renamed. docs/runner.md lists them.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from convex_evals.core.errors import UsageError
from convex_evals.core.steps import StepResult
from convex_evals.runner import (
    Event,
    Finished,
    Generated,
    Generating,
    Grading,
    Halted,
    Notice,
    Retrying,
    StepFinished,
    Stopping,
    Watcher,
    WorkItem,
)
from convex_evals.scores import Outcome


def logging_events(watcher: Watcher, stream: TextIO | None) -> Watcher:
    """Passes every event on to the watcher, and writes it to the stream."""
    if stream is None:
        return watcher

    def watch(event: Event) -> None:
        watcher(event)
        stream.write(json.dumps({"time": datetime.now(UTC).isoformat(), **event_json(event)}) + "\n")
        stream.flush()

    return watch


@contextmanager
def event_stream(destination: str | None) -> Iterator[TextIO | None]:
    """`-` is standard output. Raises UsageError when it cannot be written."""
    if destination is None or destination == "-":
        yield sys.stdout if destination else None
        return
    try:
        stream = Path(destination).open("w", encoding="utf-8")  # noqa: SIM115 - closed below
    except OSError as error:
        raise UsageError(f"The events cannot be written to {destination!r}: {error.strerror}.") from error
    with stream:
        yield stream


def event_json(event: Event) -> dict[str, Any]:
    match event:
        case Generating(item):
            return _of(item, "generating")
        case Generated(item):
            return _of(item, "generated")
        case Grading(item):
            return _of(item, "grading")
        case StepFinished(item, step):
            return _of(item, "step", **_step(step))
        case Retrying(item, reason):
            return _of(item, "retrying", reason=reason)
        case Finished(item, outcome):
            return _of(item, "finished", **_outcome(outcome))
        case Halted(run, model, reason):
            return {"event": "halted", "run": run, "model": model, "reason": reason}
        case Stopping():
            return {"event": "stopping"}
        case Notice(text):
            return {"event": "notice", "text": text}


def _of(item: WorkItem, name: str, **more: object) -> dict[str, Any]:
    return {"event": name, "run": item.run, "model": item.model, "eval": item.eval.id, "trial": item.trial, **more}


def _step(step: StepResult) -> dict[str, Any]:
    return {
        "step": step.name,
        "status": step.status,
        "durationMs": step.duration_ms,
        "cpuMs": step.cpu_ms,
        "failure": step.failure,
        "excerpt": step.excerpt,
    }


def _outcome(outcome: Outcome) -> dict[str, Any]:
    return {
        "status": outcome.status,
        "failedStep": outcome.failed_step,
        "failure": outcome.failure,
        "tests": asdict(outcome.tests) if outcome.tests else None,
        "durationMs": outcome.duration_ms,
        "cpuMs": outcome.cpu_ms,
        "broken": outcome.broken,
    }
