"""`convex-evals db`: the database of the scores."""

from typing import TYPE_CHECKING, Annotated

import typer

from convex_evals.cli.options import Db, Json

if TYPE_CHECKING:
    from convex_evals.scores import DatabaseStatus

WATCH_SECONDS = 2
CONDITIONS = {
    "missing": "does not exist yet; the first run makes it, and so does `convex-evals db upgrade`",
    "empty": "has no tables yet; the first run makes them, and so does `convex-evals db upgrade`",
    "current": "up to date",
    "older": "older than this convex-evals; `convex-evals db upgrade`, or the next run, brings it up to date",
    "newer": "newer than this convex-evals; update convex-evals to use it",
    "foreign": "holds the tables of something else; name another database",
}

db = typer.Typer(help="Manage the scores database.", rich_markup_mode=None, pretty_exceptions_enable=False)


@db.callback()
def group() -> None:
    """Manage the scores database."""


@db.command("status")
def status(
    db: Db = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Keep watching, and print again whenever something changes.")
    ] = False,
    json: Json = False,
) -> None:
    """Show what is in the database and whether its schema is up to date. Changes nothing."""
    import time

    from convex_evals.scores import database_status

    shown = None
    while True:
        found = database_status(db)
        if found != shown:
            _print(found, json)
        if not watch:
            return
        shown = found
        time.sleep(WATCH_SECONDS)


@db.command("upgrade")
def upgrade(db: Db = None) -> None:
    """Create the database, or upgrade its schema. An older SQLite file is backed up first."""
    from convex_evals.scores import upgrade_database

    done = upgrade_database(db)
    if not done.changed:
        typer.echo(f"{done.location}: already up to date (version {done.after})")
    elif done.before is None:
        typer.echo(f"{done.location}: made (version {done.after})")
    else:
        kept = f"; the file as it was is {done.backup}" if done.backup else ""
        typer.echo(f"{done.location}: upgraded from version {done.before} to {done.after}{kept}")


def _print(found: "DatabaseStatus", json: bool) -> None:
    if json:
        from convex_evals.cli.output import print_json

        print_json(_as_json(found))
        return
    typer.echo(f"{found.location}: {CONDITIONS[found.condition]}")
    if found.size is not None:
        from convex_evals.cli.output import count

        figures = (count(found.runs, "run"), count(found.attempts, "attempt"), count(found.artifacts, "artifact"))
        version = f"version {found.revision} of {found.head}" if found.revision else "no version"
        typer.echo(" · ".join((version, *figures, f"{found.size / 1e6:.1f} MB")))


def _as_json(found: "DatabaseStatus") -> dict[str, object]:
    return {
        "location": found.location,
        "condition": found.condition,
        "version": found.revision,
        "newestVersion": found.head,
        "bytes": found.size,
        "runs": found.runs,
        "attempts": found.attempts,
        "artifacts": found.artifacts,
    }
