import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from convex_evals.scores import ScoresStore

Command = Callable[..., subprocess.CompletedProcess[str]]


def test_a_token_is_printed_once_listed_and_revoked(convex_evals: Command, tmp_path: Path) -> None:
    made = convex_evals("token", "create", "ci", "--can", "record", "--can", "read", "--expires", "90d")
    assert made.returncode == 0 and made.stderr.startswith("ci can record, read in local, until 2")
    token = made.stdout.strip()
    with ScoresStore.open(tmp_path / "scores" / "scores.db") as store:
        grant = store.tokens.verify(token)
        assert grant is not None and grant.rights == ("record", "read")
        listed = convex_evals("token", "list").stdout
        assert "record, read  local  valid" in listed and token[-20:] not in listed
        assert convex_evals("token", "revoke", "ci").stdout == "ci is revoked.\n"
        assert store.tokens.verify(token) is None
    (found,) = json.loads(convex_evals("token", "list", "--json").stdout)
    assert (found["name"], found["state"], found["rights"]) == ("ci", "revoked", ["record", "read"])


def test_a_token_can_be_for_another_deployment(convex_evals: Command) -> None:
    made = convex_evals("token", "create", "ci", "--can", "admin", "--for", "production")
    assert made.stderr.startswith("ci can admin in production. Keep it now")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("create", "ci", "--can", "read", "--expires", "soon"), "--expires must be a number of hours, days or weeks"),
        (("create", "ci", "--can", "write"), "--can must be record, read, label or admin, not 'write'."),
        (("create", "two words", "--can", "read"), "A token's name has up to 64 letters"),
        (("list",), "There are no scores in scores/scores.db yet"),
    ],
)
def test_mistakes_are_one_sentence(convex_evals: Command, arguments: tuple[str, ...], sentence: str) -> None:
    result = convex_evals("token", *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(f"convex-evals: {sentence}") and result.stderr.count("\n") == 1
