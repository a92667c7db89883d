"""Sends runs to a scores service while they go on, and says what a service has not got yet."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import groupby
from typing import Final

from convex_evals.cli.output import remark
from convex_evals.cli.runs.options import Purpose, RunOptions
from convex_evals.core.settings import Destination, Settings, read_settings
from convex_evals.runner import Notice, Plan, Watcher
from convex_evals.scores import RunPlan, ScoresStore

SENT: Final[tuple[Purpose, ...]] = ("run", "scheduled")
"""What is only about this machine is sent nowhere: whether a suite is valid, whether a key works."""


class Announcer:
    """Says something from any thread: among the progress while that is shown, otherwise as a remark."""

    def __init__(self) -> None:
        self._tell: Callable[[str], None] = remark

    def __call__(self, text: str) -> None:
        self._tell(text)

    @contextmanager
    def through(self, watcher: Watcher) -> Iterator[None]:
        loop = asyncio.get_running_loop()

        def tell(text: str) -> None:
            loop.call_soon_threadsafe(watcher, Notice(text))

        self._tell = tell
        try:
            yield
        finally:
            self._tell = remark


def sending_plans(
    plans: Sequence[Plan], asked: RunOptions, settings: Settings, store: ScoresStore, say: Announcer
) -> AbstractContextManager[None]:
    """Before the plans begin, so that runs are sent from their first record on. Says where to. Raises UsageError."""
    destination = settings.destination(asked.to) if asked.purpose in SENT else None
    if destination is None:
        return nullcontext()
    from convex_evals.runner import sending

    remark(f"Results are also sent to {destination.shown}.")
    for plan in plans:
        follow = store.outbox.follow if isinstance(plan.run, RunPlan) else store.outbox.send_again
        follow(plan.run.id, destination.url)
    return sending(store, destination, [plan.run.id for plan in plans], say)


def unsent_lines(store: ScoresStore) -> list[str]:
    """One per service that lacks something."""
    from convex_evals.runner import outcome

    settings, found = read_settings(), sorted(store.outbox.unsent(), key=lambda each: each.destination)
    return [
        outcome(settings.destination(url) or Destination(url), tuple(unsent))
        for url, unsent in groupby(found, key=lambda each: each.destination)
    ]


def unsent_json(store: ScoresStore) -> list[dict[str, object]]:
    return [
        {"url": each.destination, "run": each.run_id, "records": each.entries, "refused": each.refused}
        for each in store.outbox.unsent()
    ]
