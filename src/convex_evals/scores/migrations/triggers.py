"""Triggers that keep records unchanged, list what is still to be sent, and count changes, on both engines.

They are part of the transaction that records, whoever writes it. A revision that rebuilds one of the tables on SQLite
must call `follow_changes` and `count_changes` with its name. Every connection to a server counts in a row of its own:
writers never wait for one another, and the sum of the rows grows with every transaction.
"""

from collections.abc import Collection
from typing import Final, Literal, NamedTuple

from alembic import op

RUN_OF_ATTEMPT: Final = "(SELECT run_id FROM attempts WHERE id = NEW.attempt_id)"
"""Of a new row that belongs to an attempt."""
_FUNCTION: Final = "CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ {body} $$"
_REFUSED: Final = "RAISE EXCEPTION '% are never changed or deleted', TG_TABLE_NAME;"
_IS_DELETED: Final = "EXISTS (SELECT 1 FROM run_decisions WHERE kind = 'delete' AND run_id = {run})"
_IS_RELEASED: Final = "EXISTS (SELECT 1 FROM released_artifacts WHERE sha256 = OLD.sha256)"
_RUN_OF: Final = {
    "id": "OLD.id",
    "run_id": "OLD.run_id",
    "attempt_id": "(SELECT run_id FROM attempts WHERE id = OLD.attempt_id)",
}


def refuse(table: str, change: str, when: str | None = None) -> None:
    """`change` is UPDATE, UPDATE OF columns or DELETE."""
    condition = f" WHEN ({when})" if when else ""
    _create(table, change, condition, "scores_refuse()")


def allow_deleting_with_its_run(table: str, column: Literal["id", "run_id", "attempt_id"]) -> None:
    """Rows go when an admin's record says that their run is deleted, and not otherwise. `column` leads to the run."""
    deleted = _IS_DELETED.format(run=_RUN_OF[column])
    _allow_deleting(table, deleted, f"scores_refuse_unless_deleted_by_{column}")


def allow_deleting_when_released(table: str) -> None:
    _allow_deleting(table, _IS_RELEASED, "scores_refuse_unless_released")


def do_after(change: str, table: str, name: str, statement: str) -> None:
    """A change of a row of `table` does this, too, in the same transaction. `statement` ends with a semicolon."""
    action = f"BEGIN {statement} END"
    if on_server():
        _replace_function(name, f"BEGIN {statement} RETURN NULL; END")
        action = f"EXECUTE FUNCTION {name}()"
    op.execute(f"CREATE TRIGGER {name} AFTER {change} ON {table} FOR EACH ROW {action}")


def _allow_deleting(table: str, allowed: str, function: str) -> None:
    if on_server():
        op.execute(f"DROP TRIGGER IF EXISTS {table}_refuse_delete ON {table}")
        body = f"BEGIN IF {allowed} THEN RETURN OLD; END IF; {_REFUSED} END"
        _replace_function(function, body)
        _create(table, "DELETE", "", f"{function}()")
    else:
        op.execute(f"DROP TRIGGER IF EXISTS {table}_refuse_delete")
        _create(table, "DELETE", f" WHEN (NOT {allowed})", "")


def _create(table: str, change: str, condition: str, function: str) -> None:
    action = (
        f"EXECUTE FUNCTION {function}"
        if on_server()
        else f"BEGIN SELECT RAISE(ABORT, '{table} are never changed or deleted'); END"
    )
    name = f"{table}_refuse_{change.split()[0].lower()}"
    op.execute(f"CREATE TRIGGER {name} BEFORE {change} ON {table} FOR EACH ROW{condition} {action}")


def _replace_function(name: str, body: str) -> None:
    op.execute(_FUNCTION.format(name=name, body=body))


def on_server() -> bool:
    return op.get_context().dialect.name == "postgresql"


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
