"""`convex-evals db`: the database of the scores."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from convex_evals.cli.options import Author, Json, Scores, Why
from convex_evals.cli.output import print_lines
from convex_evals.cli.tree import Commands

if TYPE_CHECKING:
    from convex_evals.scores import DatabaseStatus, JobStatus

WATCH_SECONDS = 2
CONDITIONS = {
    "missing": "does not exist yet; the first run creates it, and so does `convex-evals db upgrade`",
    "empty": "has no tables yet; the first run creates them, and so does `convex-evals db upgrade`",
    "current": "up to date",
    "older": "older than this convex-evals; `convex-evals db upgrade`, or the next run, brings it up to date",
    "newer": "newer than this convex-evals; update convex-evals to use it",
    "foreign": "holds the tables of something else; name another database",
}

db = Commands()


@db.callback()
def group() -> None:
    """Manage the scores database.

    Examples:
      convex-evals db status --watch
      convex-evals db backup scores-copy.db
      convex-evals db check
    """


@db.command("status")
def status(
    scores: Scores = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Keep watching, and print again whenever something changes.")
    ] = False,
    json: Json = False,
) -> None:
    """Show what is in the database, whether its schema is up to date, and how far data migrations have got.

    Examples:
      convex-evals db status
      convex-evals db status --watch
    """
    import time

    from convex_evals.scores import database_status

    shown = None
    while True:
        found = database_status(scores)
        if found != shown:
            _print(found, json)
        if not watch:
            return
        shown = found
        time.sleep(WATCH_SECONDS)


@db.command("upgrade")
def upgrade(scores: Scores = None) -> None:
    """Create the database, or upgrade its schema. An older SQLite file is backed up first.

    Examples:
      convex-evals db upgrade
    """
    from convex_evals.scores import upgrade_database

    done = upgrade_database(scores)
    if not done.changed:
        print_lines([f"{done.location}: already up to date (version {done.after})"])
    elif done.before is None:
        print_lines([f"{done.location}: made (version {done.after})"])
    else:
        kept = f"; the file as it was is {done.backup}" if done.backup else ""
        print_lines([f"{done.location}: upgraded from version {done.before} to {done.after}{kept}"])


@db.command("migrate")
def migrate(
    scores: Scores = None,
    batch: Annotated[int, typer.Option("--batch", min=1, metavar="N", help="Rows to change in one transaction.")] = 200,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and change nothing.")] = False,
    json: Json = False,
) -> None:
    """Run the data migrations that are unfinished. It may be stopped and started again at any time.

    Files are migrated when they are opened. A server is migrated by a person, between the release that adds columns and
    the one that makes them mandatory; several processes may do it together.

    Examples:
      convex-evals db migrate --dry-run
    """
    from convex_evals.cli.output import print_json
    from convex_evals.scores import database_status, migrate_data

    tell = (lambda _: None) if json else (lambda job: print_lines([_job_line(job)]))
    if dry_run:
        _print_plan(database_status(scores), json)
        return
    jobs = migrate_data(scores, batch, tell)
    if json:
        print_json([_job_json(job) for job in jobs])
    else:
        print_lines(["Every data migration is done; `convex-evals db upgrade` may follow."])


@db.command("backup")
def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to make.")],
    scores: Scores = None,
    json: Json = False,
) -> None:
    """Copy all scores into one file, from a SQLite file or a PostgreSQL server, while others read and write.

    The file is a SQLite database that `db restore` can restore to either engine. It appears when it is complete.

    Examples:
      convex-evals db backup scores-backup.db
    """
    from convex_evals.cli.output import count, print_json, progress_bar
    from convex_evals.scores import back_up

    with progress_bar("rows") as tell:
        rows = back_up(scores, file, tell)
    if json:
        print_json({"file": str(file), "rows": rows, "bytes": file.stat().st_size})
    else:
        print_lines([f"{file}: {count(rows, 'row')}, {file.stat().st_size / 1e6:.1f} MB"])


@db.command("restore")
def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file made by `db backup`.")],
    scores: Scores = None,
    json: Json = False,
) -> None:
    """Copy a backup into a database that is missing or empty, completely or not at all.

    Examples:
      convex-evals db restore scores-backup.db --scores restored.db
    """
    from convex_evals.cli.output import count, print_json, progress_bar
    from convex_evals.scores import database_status
    from convex_evals.scores import restore as restore_backup

    with progress_bar("rows") as tell:
        rows = restore_backup(scores, file, tell)
    location = database_status(scores).location
    if json:
        print_json({"location": location, "rows": rows})
    else:
        print_lines([f"{location}: {count(rows, 'row')} restored from {file}"])


@db.command("check")
def check(scores: Scores = None, json: Json = False) -> None:
    """Verify that every artifact has the bytes that were recorded, and that every reference resolves.

    Names what is damaged, and the runs it belongs to. Then the exit code is 1.

    Examples:
      convex-evals db check
    """
    from convex_evals.cli.db import inspection_json, inspection_lines
    from convex_evals.cli.output import print_json, progress_bar
    from convex_evals.scores import check_database

    with progress_bar("artifacts") as tell:
        found = check_database(scores, tell)
    if json:
        print_json(inspection_json(found))
    else:
        print_lines(inspection_lines(found))
    raise typer.Exit(0 if found.sound else 1)


@db.command("prune")
def prune(why: Why, author: Author = None, scores: Scores = None, json: Json = False) -> None:
    """Remove the artifacts that only deleted runs had. Who did it and why is recorded.

    Examples:
      convex-evals db prune --why 'The disk is full.'
    """
    from convex_evals.cli.author import author_name
    from convex_evals.cli.output import count, print_json
    from convex_evals.cli.runs.lookup import existing_scores

    with existing_scores(scores) as store:
        removed = store.decisions.prune(author or author_name(), why)
        location = store.location
    if json:
        print_json({"location": location, "artifacts": removed})
    else:
        print_lines([f"{location}: {count(removed, 'artifact')} of deleted runs removed"])


def _print_plan(found: "DatabaseStatus", json: bool) -> None:
    from convex_evals.cli.output import print_json

    if json:
        print_json([*map(_job_json, found.jobs), *map(_later_job_json, found.later_jobs)])
        return
    unfinished = [_job_line(job) for job in found.jobs if job.state != "done"]
    later = [f"{name}: follows the upgrade of the tables from version {found.revision}" for name in found.later_jobs]
    print_lines([*unfinished, *later] or ["There is nothing to migrate."])


def _print(found: "DatabaseStatus", json: bool) -> None:
    from convex_evals.cli.output import count, print_json

    if json:
        print_json(_as_json(found))
        return
    print_lines([f"{found.location}: {CONDITIONS[found.condition]}"])
    if found.size is not None:
        figures = (count(found.runs, "run"), count(found.attempts, "attempt"), count(found.artifacts, "artifact"))
        version = f"version {found.revision} of {found.head}" if found.revision else "no version"
        print_lines([" · ".join((version, *figures, f"{found.size / 1e6:.1f} MB"))])
        print_lines(_job_line(job) for job in found.jobs if job.state != "done")


def _job_line(job: "JobStatus") -> str:
    told = f"{job.name}: {job.state}, {job.done} of {job.total} rows"
    if job.rate is None or job.seconds_left is None or job.state == "done":
        return told
    return f"{told}, {job.rate:.0f} rows/s, {job.seconds_left:.0f} s left"


def _job_json(job: "JobStatus") -> dict[str, object]:
    return {
        "name": job.name,
        "state": job.state,
        "rowsDone": job.done,
        "rowsTotal": job.total,
        "rowsPerSecond": job.rate,
        "secondsLeft": job.seconds_left,
    }


def _later_job_json(name: str) -> dict[str, object]:
    unknown = dict.fromkeys(("rowsTotal", "rowsPerSecond", "secondsLeft"))
    return {"name": name, "state": "pending", "rowsDone": 0, **unknown}


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
        "dataMigrations": [_job_json(job) for job in found.jobs],
    }
