"""A process that records attempts in a run, until it is done or killed. It says what the store has promised to keep."""

import sys
from pathlib import Path

from convex_evals.core.steps import StepResult
from convex_evals.core.verdicts import STEPS
from convex_evals.scores import Generation, Outcome, ScoresStore, Usage

LINES = 200


def main(where: str, run_id: str, eval: str, trials: int, folder: str) -> None:
    with ScoresStore.open(where) as store:
        for trial in range(1, trials + 1):
            begun = store.begin_attempt(run_id, eval, trial)
            promise("begun", begun.id)
            text = f"answer of trial {trial} of {eval}\n" * LINES
            store.record_generation(begun.id, Generation("prompt", text, {"a.ts": text}, Usage(trial)))
            promise("generated", begun.id)
            for name in STEPS:
                log = Path(folder) / f"{begun.id}.log"
                log.write_text(f"{name} of {begun.id}\n" * LINES)
                store.record_step(begun.id, StepResult(name, "passed", 1.0, 1.0, log=log))
                promise(name, begun.id)
            store.finish_attempt(begun.id, Outcome("passed"))
            promise("finished", begun.id)


def promise(what: str, attempt_id: str) -> None:
    print(what, attempt_id, flush=True)


main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5])
