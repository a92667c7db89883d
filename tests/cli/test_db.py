import json
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.scores.old_database import write_old_database

from convex_evals.scores import ScoresStore
from convex_evals.scores.schema import REVISIONS

NEWEST = REVISIONS.head
Command = Callable[..., subprocess.CompletedProcess[str]]


def test_a_database_is_created_and_its_status_reported(convex_evals: Command, tmp_path: Path) -> None:
    missing = convex_evals("db", "status")
    assert (missing.returncode, missing.stderr) == (0, "")
    assert missing.stdout.startswith("scores/scores.db: does not exist yet; the first run creates it")
    assert not (tmp_path / "scores").exists()
    assert convex_evals("db", "upgrade").stdout == f"scores/scores.db: made (version {NEWEST})\n"
    assert convex_evals("db", "upgrade").stdout == f"scores/scores.db: already up to date (version {NEWEST})\n"
    first, second = convex_evals("db", "status").stdout.splitlines()
    assert first == "scores/scores.db: up to date"
    assert second.startswith(f"version {NEWEST} of {NEWEST} · 0 runs · 0 attempts · 0 artifacts · 0.")


def test_json_has_every_fact_and_stable_names(convex_evals: Command) -> None:
    convex_evals("db", "upgrade", "--scores", "mine.db")
    found = json.loads(convex_evals("db", "status", "--scores", "mine.db", "--json").stdout)
    assert found.pop("bytes") > 0
    assert found == {
        "location": "mine.db",
        "condition": "current",
        "version": NEWEST,
        "newestVersion": NEWEST,
        "runs": 0,
        "attempts": 0,
        "artifacts": 0,
        "dataMigrations": [
            {
                "name": "0010_count_finished_runs",
                "state": "done",
                "rowsDone": 0,
                "rowsTotal": 0,
                "rowsPerSecond": None,
                "secondsLeft": None,
            }
        ],
    }


def test_there_may_be_nothing_to_migrate(convex_evals: Command) -> None:
    convex_evals("db", "upgrade")
    assert convex_evals("db", "migrate", "--dry-run").stdout == "There is nothing to migrate.\n"
    assert convex_evals("db", "migrate").stdout.startswith("Every data migration is done")
    assert json.loads(convex_evals("db", "migrate", "--json").stdout)[0]["state"] == "done"


def test_a_dry_run_lists_migrations_of_tables_that_do_not_exist_yet(convex_evals: Command, tmp_path: Path) -> None:
    write_old_database(str(tmp_path / "old.db"), tmp_path / "history")
    plan = ("db", "migrate", "--dry-run", "--scores", "old.db")
    assert convex_evals(*plan).stdout == (
        "0010_count_finished_runs: follows the upgrade of the tables from version 0003\n"
    )
    [job] = json.loads(convex_evals(*plan, "--json").stdout)
    assert (job["name"], job["state"], job["rowsTotal"]) == ("0010_count_finished_runs", "pending", None)
    convex_evals("db", "migrate", "--scores", "old.db")
    assert convex_evals(*plan).stdout == "There is nothing to migrate.\n"


def test_scores_are_backed_up_restored_and_checked(
    convex_evals: Command, record_run: Callable[..., str], tmp_path: Path
) -> None:
    run = record_run({"000-a": "failed"})
    made = convex_evals("db", "backup", "backup.db", "--json")
    assert (made.returncode, made.stderr) == (0, "")
    rows = json.loads(made.stdout)["rows"]
    done = convex_evals("db", "restore", "backup.db", "--scores", "other.db")
    assert done.stdout == f"other.db: {rows} rows restored from backup.db\n"
    again = convex_evals("db", "restore", "backup.db")
    assert (again.returncode, again.stdout) == (2, "")
    assert again.stderr.startswith("convex-evals: scores/scores.db is not empty, and a backup is restored only into")
    sound = convex_evals("db", "check", "--scores", "other.db")
    assert sound.returncode == 0
    assert sound.stdout.endswith("references checked, nothing is damaged\n")

    damage(tmp_path / "other.db")
    found = convex_evals("db", "check", "--scores", "other.db")
    assert found.returncode == 1
    first, last = found.stdout.splitlines()
    assert first.startswith("damaged artifact ")
    assert first.endswith(f": response of 000-basics/000-a in run {run[:8]}")
    assert last.startswith("other.db: ") and "1 damaged; restore a backup" in last
    told = json.loads(convex_evals("db", "check", "--scores", "other.db", "--json").stdout)
    assert not told["sound"]
    assert told["damagedArtifacts"][0]["uses"] == [{"run": run, "eval": "000-basics/000-a", "part": "response"}]


def damage(path: Path) -> None:
    with sqlite3.connect(path) as file:
        file.execute("DROP TRIGGER artifact_chunks_refuse_update")
        file.execute("UPDATE artifact_chunks SET content = X'00' WHERE sha256 IN (SELECT response FROM generations)")
    file.close()


def test_pruning_says_how_much_it_removed_and_needs_a_reason(
    convex_evals: Command, record_run: Callable[..., str], tmp_path: Path
) -> None:
    run = record_run({"000-a": "passed"})
    convex_evals("runs", "delete", run, "--why", "A mistake.")
    refused = convex_evals("db", "prune", "--why", " ")
    assert refused.stderr == "convex-evals: A decision about a run needs a reason; say it with --why.\n"
    pruned = convex_evals("db", "prune", "--why", "Asked to.", "--author", "Ada")
    assert pruned.stdout == "scores/scores.db: 4 artifacts of deleted runs removed\n"
    assert json.loads(convex_evals("db", "prune", "--why", "Again.", "--json").stdout)["artifacts"] == 0
    with ScoresStore.open(tmp_path / "scores" / "scores.db") as store:
        assert [each.kind for each in store.decisions.of_run(run)] == ["delete"]


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["status", "--scores", "mysql://me:geheim@host/x"], 2, "Expected a file such as scores.db or a URL"),
        (["upgrade", "--scores", "notes.txt"], 2, "notes.txt is not a database; name another file."),
        (
            ["status", "--scores", "postgresql://me:geheim@127.0.0.1:1/x"],
            3,
            "postgresql://me:***@127.0.0.1:1/x cannot be",
        ),
    ],
)
def test_bad_input_gets_one_sentence(
    convex_evals: Command, tmp_path: Path, arguments: list[str], code: int, sentence: str
) -> None:
    (tmp_path / "notes.txt").write_text("not a database, but long enough to be looked at " * 100)
    result = convex_evals("db", *arguments)
    assert (result.returncode, result.stdout) == (code, "")
    assert result.stderr.startswith(f"convex-evals: {sentence}")
    assert result.stderr.count("\n") == 1 and "geheim" not in result.stderr


@pytest.mark.parametrize("given", ["nope/x.db", "sqlite:///nope/x.db"])
@pytest.mark.parametrize("command", [["db", "upgrade"], ["run", "-m", "reference"], ["status"], ["bench", "web"]])
def test_scores_in_a_folder_that_does_not_exist_are_refused(
    convex_evals: Command, tmp_path: Path, command: list[str], given: str
) -> None:
    result = convex_evals(*command, "--scores", given)
    sentence = f"The folder {tmp_path / 'nope'} of --scores {given} does not exist; create it, or name another file."
    assert (result.returncode, result.stdout, result.stderr) == (2, "", f"convex-evals: {sentence}\n")
    assert list(tmp_path.iterdir()) == []


def test_the_default_scores_may_be_named_before_their_folder_exists(convex_evals: Command) -> None:
    assert convex_evals("db", "upgrade", "--scores", "scores/scores.db").returncode == 0


def test_watching_prints_again_when_something_changed(convex_evals: Command, tmp_path: Path) -> None:
    command = [Path(sys.executable).parent / "convex-evals", "db", "status", "--watch"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, bufsize=1) as watching:
        assert watching.stdout is not None
        try:
            assert "does not exist yet" in watching.stdout.readline()
            convex_evals("db", "upgrade")
            # It may have been looked at while it had no tables yet.
            assert "scores/scores.db: up to date\n" in (watching.stdout.readline() for _ in range(3))
            watching.send_signal(signal.SIGINT)
            assert watching.wait() == 130
        finally:
            watching.kill()
