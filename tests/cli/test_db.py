import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from convex_evals.scores.schema import REVISIONS

NEWEST = REVISIONS.head
Command = Callable[..., subprocess.CompletedProcess[str]]


def test_a_database_is_made_and_its_status_told(convex_evals: Command, tmp_path: Path) -> None:
    missing = convex_evals("db", "status")
    assert (missing.returncode, missing.stderr) == (0, "")
    assert missing.stdout.startswith("scores/scores.db: does not exist yet; the first run makes it")
    assert not (tmp_path / "scores").exists()
    assert convex_evals("db", "upgrade").stdout == f"scores/scores.db: made (version {NEWEST})\n"
    assert convex_evals("db", "upgrade").stdout == f"scores/scores.db: already up to date (version {NEWEST})\n"
    first, second = convex_evals("db", "status").stdout.splitlines()
    assert first == "scores/scores.db: up to date"
    assert second.startswith(f"version {NEWEST} of {NEWEST} · 0 runs · 0 attempts · 0 artifacts · 0.")


def test_json_has_every_fact_and_stable_names(convex_evals: Command) -> None:
    convex_evals("db", "upgrade", "--db", "mine.db")
    found = json.loads(convex_evals("db", "status", "--db", "mine.db", "--json").stdout)
    assert found.pop("bytes") > 0
    assert found == {
        "location": "mine.db",
        "condition": "current",
        "version": NEWEST,
        "newestVersion": NEWEST,
        "runs": 0,
        "attempts": 0,
        "artifacts": 0,
    }


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["status", "--db", "mysql://me:geheim@host/x"], 2, "Expected a file such as scores.db or a URL"),
        (["upgrade", "--db", "notes.txt"], 2, "notes.txt is not a database; name another file."),
        (["status", "--db", "postgresql://me:geheim@127.0.0.1:1/x"], 3, "postgresql://me:***@127.0.0.1:1/x cannot be"),
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
