"""A process that records attempts in a run, until it is done or killed. It says what the store has promised to keep."""

import sys
from dataclasses import dataclass
from pathlib import Path

from convex_evals.core.verdicts import STEPS, Status, StepName
from convex_evals.scores import Generation, Outcome, ScoresStore, Usage

LINES = 200


@dataclass(frozen=True)
class Step:
    name: StepName
    log: Path
    status: Status = "passed"
    duration_ms: float = 1.0
    cpu_ms: float = 1.0
    commands: tuple[()] = ()
    excerpt: str = ""
    failure: str | None = None
    notes: tuple[str, ...] = ()


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
                store.record_step(begun.id, Step(name, log))
                promise(name, begun.id)
            store.finish_attempt(begun.id, Outcome("passed"))
            promise("finished", begun.id)


def promise(what: str, attempt_id: str) -> None:
    print(what, attempt_id, flush=True)


main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5])
