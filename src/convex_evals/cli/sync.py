"""Carries out `sync`: finds out what is to be sent where, sends it with a progress bar, says what is left."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import Final

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from convex_evals.cli.output import console, print_json, print_lines, remark
from convex_evals.cli.runs.lookup import existing_scores, find_run
from convex_evals.core.errors import InfrastructureError, UsageError
from convex_evals.core.retry import SENDING
from convex_evals.core.settings import Destination, Settings, read_settings
from convex_evals.runner import Courier, catch_up, outcome
from convex_evals.scores import ScoresStore, Unsent

TRIES: Final = 6


@dataclass(frozen=True, slots=True)
class Sent:
    """What came of it. `problem` is why the service took nothing more."""

    destination: Destination
    records: int
    unsent: tuple[Unsent, ...]
    problem: str | None

    def to_json(self) -> dict[str, object]:
        left = [{"run": each.run_id, "records": each.entries, "refused": each.refused} for each in self.unsent]
        place = {"url": self.destination.url, "name": self.destination.name}
        return {**place, "sent": self.records, "unsent": left, "problem": self.problem}


def perform(runs: Sequence[str], to: str | None, scores: str | None, *, json: bool) -> int:
    """Returns the exit code."""
    settings = read_settings()
    with existing_scores(scores) as store:
        chosen = tuple(find_run(store, each).id for each in runs)
        places = _destinations(store, settings, to, chosen)
        for run_id in chosen:
            for destination in places:
                store.outbox.send_again(run_id, destination.url)
        done = [_send(store, destination, chosen) for destination in places]
    if json:
        print_json({"destinations": [each.to_json() for each in done]})
    else:
        print_lines([outcome(each.destination, each.unsent) for each in done] or ["There is nothing to send."])
    return InfrastructureError.exit_code if any(each.unsent for each in done) else 0


def _destinations(store: ScoresStore, settings: Settings, to: str | None, runs: Sequence[str]) -> list[Destination]:
    """The one that is named, or those that the runs, or any runs that are not there yet, are sent to."""
    named = settings.destination(to)
    if named is not None:
        return [named]
    if runs:
        urls = dict.fromkeys(url for run_id in runs for url in store.outbox.destinations(run_id))
    else:
        urls = dict.fromkeys(each.destination for each in store.outbox.unsent())
    if runs and not urls:
        raise UsageError("These runs were not sent anywhere yet; name the service with --to.")
    found = (settings.destination(url) for url in urls)
    return [each for each in found if each is not None]


def _send(store: ScoresStore, destination: Destination, runs: Sequence[str]) -> Sent:
    waiting = store.outbox.unsent(destination.url, runs)
    sent: list[int] = []
    problem = None
    with closing(Courier(store, destination, remark)) as courier, _bar(destination, waiting) as advance:

        def on_sent(number: int) -> None:
            sent.append(number)
            advance(number)

        try:
            catch_up(courier, runs, on_sent, time.sleep, replace(SENDING, tries=TRIES))
        except InfrastructureError as error:
            problem = str(error)
            remark(problem)
    return Sent(destination, sum(sent), store.outbox.unsent(destination.url, runs), problem)


@contextmanager
def _bar(destination: Destination, waiting: Sequence[Unsent]) -> Iterator[Callable[[int], None]]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console(stderr=True), transient=True) as progress:
        total = sum(each.entries for each in waiting if each.refused is None)
        task = progress.add_task(f"records to {destination.shown}", total=total)
        yield lambda number: progress.advance(task, number)
