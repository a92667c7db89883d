"""What other processes do; `line` leads to the test. They run this file by its path: they do not know the tests."""

import os
import sys
import time
from pathlib import Path
from typing import Any

from convex_evals.core.steps import StepResult
from convex_evals.core.verdicts import STEPS
from convex_evals.scores import Generation, JobStatus, Outcome, ScoresStore, Usage, migrate_data

LINES = 200


def open_new(line: Any, where: str, complaints: str) -> None:
    os.dup2(os.open(complaints, os.O_WRONLY | os.O_CREAT), sys.stderr.fileno())
    ScoresStore.open(where).close()


def hold(line: Any, where: str, run_id: str) -> None:
    with ScoresStore.open(where) as store, store.hold_run(run_id):
        line.send("held")
        time.sleep(600)


def write_attempts(line: Any, where: str, run_id: str, eval: str, trials: int, folder: str) -> None:
    """Until it is done or killed. It says what the store has promised to keep."""
    with ScoresStore.open(where) as store:
        for trial in range(1, trials + 1):
            begun = store.begin_attempt(run_id, eval, trial)
            line.send(("begun", begun.id))
            text = f"answer of trial {trial} of {eval}\n" * LINES
            store.record_generation(begun.id, Generation("prompt", text, {"a.ts": text}, Usage(trial)))
            line.send(("generated", begun.id))
            for name in STEPS:
                log = Path(folder) / f"{begun.id}.log"
                log.write_text(f"{name} of {begun.id}\n" * LINES)
                store.record_step(begun.id, StepResult(name, "passed", 1.0, 1.0, log=log))
                line.send((name, begun.id))
            store.finish_attempt(begun.id, Outcome("passed"))
            line.send(("finished", begun.id))


def migrate_in_batches(line: Any, where: str, batch: int) -> None:
    """It says what each batch did, and waits for an answer before the next."""

    def tell(status: JobStatus) -> None:
        line.send(status.done)
        line.recv()

    migrate_data(where, batch, tell)


def verify_tokens(line: Any, where: str) -> None:
    with ScoresStore.open(where) as store:
        while True:
            line.send(store.tokens.verify(line.recv()) is not None)


if "ASKED" in globals():
    name, line, arguments = globals()["ASKED"]
    globals()[name](line, *arguments)
