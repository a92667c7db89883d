"""The demo from beginning to end: a run of the recorded model, what came of it, what to try next."""

from typing import Final

from convex_evals.cli.demo.explanation import explain
from convex_evals.cli.demo.story import Telling
from convex_evals.cli.main import INTERRUPTED
from convex_evals.cli.output import console, write_json
from convex_evals.cli.runs.as_json import runs_json
from convex_evals.cli.runs.options import RunOptions
from convex_evals.cli.runs.session import carry_out
from convex_evals.core.errors import InfrastructureError
from convex_evals.core.settings import read_settings
from convex_evals.scores import ScoresStore

MODEL: Final = "sample/apprentice"


def perform_demo(asked: RunOptions) -> int:
    """Runs it and returns the exit code: 0 although evals fail, which is what the demo shows."""
    # With JSON on standard output, words for people go to standard error.
    telling = Telling(console(stderr=asked.json == "-"))
    telling.introduce(MODEL)
    with ScoresStore.open(asked.scores) as store:
        settings = read_settings()
        session = carry_out(asked, settings, store)
        [run] = session.runs
        telling.tell(store, run, explain(store, settings, run) if run.counts.failed else None)
        if asked.json is not None:
            write_json(runs_json(store, session.runs), asked.json)
    if not session.complete:
        return INTERRUPTED
    return InfrastructureError.exit_code if run.counts.infrastructure else 0
