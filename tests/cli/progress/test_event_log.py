import json
from pathlib import Path

import pytest
from tests.cli.progress.conftest import make_item

from convex_evals.cli.progress.event_log import event_json, event_stream, logging_events
from convex_evals.core.errors import UsageError
from convex_evals.core.steps import StepResult, TestCounts
from convex_evals.runner import (
    Event,
    Finished,
    Generated,
    Generating,
    Grading,
    Halted,
    Retrying,
    StepFinished,
    Stopping,
)
from convex_evals.scores import Outcome

ITEM = make_item(trial=2)
EVENTS: list[tuple[Event, dict[str, object]]] = [
    (Generating(ITEM), {"event": "generating"}),
    (Generated(ITEM), {"event": "generated"}),
    (Grading(ITEM), {"event": "grading"}),
    (
        StepFinished(ITEM, StepResult("tsc", "failed", 1.5, 2.5, (), "index.ts(1,1)", Path("log"), "type-errors")),
        {"event": "step", "step": "tsc", "status": "failed", "failure": "type-errors", "excerpt": "index.ts(1,1)"},
    ),
    (Retrying(ITEM, "disk full"), {"event": "retrying", "reason": "disk full"}),
    (
        Finished(ITEM, Outcome("failed", "tests", tests=TestCounts(5, 6))),
        {"event": "finished", "status": "failed", "failedStep": "tests", "tests": {"passed": 5, "total": 6}},
    ),
]


@pytest.mark.parametrize(("event", "expected"), EVENTS)
def test_an_event_says_what_happened_to_which_eval(event: Event, expected: dict[str, object]) -> None:
    shown = event_json(event)
    assert expected.items() <= shown.items()
    assert (shown["run"], shown["model"], shown["eval"], shown["trial"]) == ("r" * 32, "tester", "000-a/000-b", 2)


def test_events_of_a_whole_run_need_no_eval() -> None:
    assert event_json(Stopping()) == {"event": "stopping"}
    halted = {"event": "halted", "run": "r", "model": "m", "reason": "no key"}
    assert event_json(Halted("r", "m", "no key")) == halted


def test_every_event_is_a_line_at_once_and_the_watcher_sees_it_too(tmp_path: Path) -> None:
    seen: list[Event] = []
    file = tmp_path / "events.jsonl"
    with event_stream(str(file)) as stream:
        watch = logging_events(seen.append, stream)
        for number, (event, _) in enumerate(EVENTS, start=1):
            watch(event)
            lines = file.read_text().splitlines()
            assert len(lines) == number
            assert json.loads(lines[-1])["time"].endswith("+00:00")
    assert seen == [event for event, _ in EVENTS]


def test_a_file_that_cannot_be_written_is_reported_before_anything_runs(tmp_path: Path) -> None:
    message = "events cannot be written"
    with pytest.raises(UsageError, match=message), event_stream(str(tmp_path / "no" / "file")):
        pass
