"""Triggers with which the database itself keeps records as they are, or follows them, on both engines. Revisions use
them."""

from typing import Final, Literal

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
