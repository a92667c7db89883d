"""Tokens, on both engines; the plain token is nowhere in the database."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.scores.other_processes import other_process
from tests.scores.other_work import verify_tokens

from convex_evals.core.errors import UsageError
from convex_evals.scores import RIGHTS, Grant, Right, ScoresStore


def test_a_token_grants_what_it_was_made_for(store: ScoresStore) -> None:
    made = store.tokens.create("ci", ["record", "read"], "production", timedelta(days=90))
    expires = made.record.expires_at
    assert expires is not None and timedelta(days=89) < expires - datetime.now(UTC) <= timedelta(days=90)
    assert store.tokens.verify(made.token) == Grant("ci", ("record", "read"), "production", expires)


@pytest.mark.parametrize(
    ("right", "allowed"), [("record", "record"), ("read", "read"), ("label", "label read"), ("admin", " ".join(RIGHTS))]
)
def test_rights_include_others(right: Right, allowed: str) -> None:
    grant = Grant("x", (right,), "local")
    assert {each for each in RIGHTS if grant.may(each)} == set(allowed.split())


@pytest.mark.parametrize(
    "change", [lambda token: token[:-1] + "!", lambda token: token[:-1], lambda token: f"{token}x"]
)
def test_another_token_grants_nothing(store: ScoresStore, change: Any) -> None:
    made = store.tokens.create("ci", ["read"])
    same_id = made.token[:-43] + "A" * 43
    for other in (change(made.token), same_id, "", "\0", "a" * 10_000, made.token.replace("cevals", "other")):
        assert store.tokens.verify(other) is None


def test_an_expired_token_grants_nothing(store: ScoresStore) -> None:
    made = store.tokens.create("short", ["admin"], lifetime=timedelta(0))
    assert store.tokens.verify(made.token) is None


def test_revoking_takes_effect_at_once_in_other_processes(store: ScoresStore, where: str) -> None:
    made = store.tokens.create("ci", ["read"])
    with other_process(verify_tokens, where) as other:

        def ask() -> Any:
            other.line.send(made.token)
            return other.hear()

        assert ask() is True
        assert store.tokens.revoke("ci").revoked_at is not None
        assert ask() is False
    assert store.tokens.list()[0].revoked_at == store.tokens.revoke("ci").revoked_at


def test_names_are_used_once_and_written_plainly(store: ScoresStore) -> None:
    store.tokens.create("ci", ["read"])
    with pytest.raises(UsageError, match="There is a token 'ci' already"):
        store.tokens.create("ci", ["admin"])
    with pytest.raises(UsageError, match=r"up to 64 letters, digits, '\.', '_' or '-', not 'two words'"):
        store.tokens.create("two words", ["read"])
    with pytest.raises(UsageError, match="There is no token 'ic'; `convex-evals token list` shows them"):
        store.tokens.revoke("ic")


def test_the_last_use_is_known_to_the_hour(store: ScoresStore) -> None:
    made = store.tokens.create("ci", ["read"])
    assert store.tokens.list()[0].used_at is None
    store.tokens.verify(made.token)
    used = store.tokens.list()[0].used_at
    assert used is not None and (used.minute, used.second, used.microsecond) == (0, 0, 0)
    assert timedelta(0) <= datetime.now(UTC) - used < timedelta(hours=1, minutes=1)


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
def test_the_plain_token_is_not_in_the_files(store: ScoresStore, where: str) -> None:
    made = store.tokens.create("ci", ["record"])
    store.tokens.verify(made.token)
    secret = made.token[-20:].encode()
    kept = b"".join(path.read_bytes() for path in Path(where).parent.glob(f"{Path(where).name}*"))
    assert b"ci" in kept and secret not in kept


@pytest.mark.parametrize("server", ["postgresql"], indirect=True)
def test_the_plain_token_is_not_in_the_tables(store: ScoresStore, execute: Any) -> None:
    made = store.tokens.create("ci", ["record"])
    store.tokens.verify(made.token)
    (row,) = execute("SELECT row_to_json(tokens)::text FROM tokens")
    assert '"ci"' in row[0] and made.token[-20:] not in row[0]


def test_a_token_belongs_to_the_deployment_that_the_database_is(store: ScoresStore) -> None:
    assert store.tokens.create("before", ["read"]).record.deployment == "local"
    store.deployment.mark("production")
    assert store.tokens.create("after", ["read"]).record.deployment == "production"
    assert store.tokens.create("other", ["read"], "development").record.deployment == "development"


def test_a_database_is_marked_once(store: ScoresStore) -> None:
    assert store.deployment.name() == "local"
    for _ in range(2):
        store.deployment.mark("production")
    assert store.deployment.name() == "production"
    with pytest.raises(UsageError, match="marked 'production' and cannot become 'development'"):
        store.deployment.mark("development")
