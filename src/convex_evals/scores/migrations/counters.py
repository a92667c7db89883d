"""Triggers that count the changes of every run, so that whoever keeps what was read knows when to read it again.

They are part of the transaction that records, whoever writes it. Every connection to a server counts in a row of its
own: writers never wait for one another, and the sum of the rows grows with every transaction. A revision that rebuilds
one of these tables on SQLite must call `count_changes` with its name.
"""

from collections.abc import Collection
from typing import Final, NamedTuple

from convex_evals.scores.migrations.triggers import RUN_OF_ATTEMPT, do_after, on_server

_COUNT: Final = (
    "INSERT INTO change_counts (subject, writer, number) VALUES ({subject}, {writer}, 1) "
    "ON CONFLICT (subject, writer) DO UPDATE SET number = change_counts.number + 1{once};"
)
_ONCE: Final = " WHERE change_counts.xmin <> pg_current_xact_id()::xid"  # more of them in one transaction say no more


class Counted(NamedTuple):
    """A change of a row of `table` is a change of `subject`: a run, or the versions of the benchmark."""

    table: str
    changes: tuple[str, ...]
    subject: str


COUNTED: Final = (
    Counted("runs", ("INSERT", "UPDATE"), "NEW.id"),
    Counted("runs", ("DELETE",), "OLD.id"),
    Counted("planned_evals", ("INSERT",), "NEW.run_id"),
    Counted("extra_trials", ("INSERT",), "NEW.run_id"),
    Counted("work_periods", ("INSERT", "UPDATE"), "NEW.run_id"),
    Counted("attempts", ("INSERT", "UPDATE"), "NEW.run_id"),
    Counted("generations", ("INSERT",), RUN_OF_ATTEMPT),
    Counted("usage", ("INSERT",), RUN_OF_ATTEMPT),
    Counted("steps", ("INSERT",), RUN_OF_ATTEMPT),
    Counted("diagnostics", ("INSERT",), RUN_OF_ATTEMPT),
    Counted("labels", ("INSERT",), "NEW.run_id"),
    Counted("benchmarks", ("INSERT",), "'benchmarks'"),
)


def count_changes(tables: Collection[str] | None = None) -> None:
    for counted in COUNTED:
        if tables is None or counted.table in tables:
            for change in counted.changes:
                _count(counted, change)


def _count(counted: Counted, change: str) -> None:
    writer, once = ("pg_backend_pid()", _ONCE) if on_server() else ("0", "")
    statement = _COUNT.format(subject=counted.subject, writer=writer, once=once)
    do_after(change, counted.table, f"{counted.table}_count_{change.lower()}", statement)
