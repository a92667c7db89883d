"""Triggers that put every record of a run that is sent somewhere on the list of what is still to be sent.

They are part of the transaction that records, whoever writes it. A revision that rebuilds one of these tables on
SQLite must call `follow_changes` with its name.
"""

from collections.abc import Collection
from typing import Final, NamedTuple

from convex_evals.scores.migrations.triggers import RUN_OF_ATTEMPT, do_after


class Followed(NamedTuple):
    """A change of a row of `table` puts `kind` with `key` on the list of the run that `run` leads to."""

    table: str
    changes: tuple[str, ...]
    kind: str
    key: str
    run: str


FOLLOWED: Final = (
    Followed("runs", ("INSERT", "UPDATE"), "run", "NEW.id", "NEW.id"),
    Followed("planned_evals", ("INSERT",), "run", "NEW.run_id", "NEW.run_id"),
    Followed("extra_trials", ("INSERT",), "run", "NEW.run_id", "NEW.run_id"),
    Followed("work_periods", ("INSERT", "UPDATE"), "run", "NEW.run_id", "NEW.run_id"),
    Followed("attempts", ("INSERT", "UPDATE"), "attempt", "NEW.id", "NEW.run_id"),
    Followed("generations", ("INSERT",), "generation", "NEW.attempt_id", RUN_OF_ATTEMPT),
    Followed("usage", ("INSERT",), "generation", "NEW.attempt_id", RUN_OF_ATTEMPT),
    Followed("steps", ("INSERT",), "step", "NEW.attempt_id || '/' || NEW.name", RUN_OF_ATTEMPT),
    Followed("diagnostics", ("INSERT",), "step", "NEW.attempt_id || '/' || NEW.step", RUN_OF_ATTEMPT),
    Followed("test_results", ("INSERT",), "tests", "NEW.attempt_id", RUN_OF_ATTEMPT),
    Followed("labels", ("INSERT",), "label", "NEW.id", "NEW.run_id"),
)


def follow_changes(tables: Collection[str] | None = None) -> None:
    for followed in FOLLOWED:
        if tables is None or followed.table in tables:
            for change in followed.changes:
                name = f"{followed.table}_outbox_{change.lower()}"
                do_after(change, followed.table, name, _listing(followed))


def _listing(followed: Followed) -> str:
    return (
        "INSERT INTO outbox (destination, run_id, kind, key) "
        f"SELECT destination, run_id, '{followed.kind}', {followed.key} FROM deliveries WHERE run_id = {followed.run} "
        "ON CONFLICT (destination, kind, key) DO UPDATE SET version = outbox.version + 1;"
    )
