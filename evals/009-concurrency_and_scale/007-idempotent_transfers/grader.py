"""Requests that arrive several times and have their effect once."""

import json
import random
from functools import partial
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, at_once

DAY_MS = 24 * 3600 * 1000
ACCOUNTS = {"a": 100, "b": 50, "c": 0}
Row = tuple[str, str, int]


@pytest.fixture(autouse=True)
def accounts(project: Deployment) -> None:
    for account, balance in ACCOUNTS.items():
        assert project.mutation("ledger:open", account=account, balance=balance) is None


def transfer(project: Deployment, key: str, source: str, target: str, amount: float, client: str = "web") -> Any:
    arguments = {"client": client, "key": key, "from": source, "to": target, "amount": amount}
    return project.mutation("ledger:transfer", arguments)


def batch(project: Deployment, key: str, *rows: Row, client: str = "web") -> Any:
    transfers = [{"from": source, "to": target, "amount": amount} for source, target, amount in rows]
    return project.mutation("ledger:batch", client=client, key=key, transfers=transfers)


def balances(project: Deployment) -> dict[str, int]:
    return {account: project.query("ledger:balance", account=account) for account in ACCOUNTS}


def history(project: Deployment, account: str) -> list[Row]:
    return [
        (row["from"], row["to"], row["amount"])
        for row in project.query("ledger:history", account=account)
        if row.keys() == {"from", "to", "amount"}
    ]


def test_money_moves_from_one_account_to_the_other(project: Deployment) -> None:
    assert transfer(project, "k1", "a", "b", 30) == {"ok": True, "balance": 70}
    assert transfer(project, "k2", "a", "c", 70) == {"ok": True, "balance": 0}
    assert transfer(project, "k3", "a", "c", 1) == {"ok": False, "reason": "FUNDS"}
    assert transfer(project, "k4", "a", "x", 1) == {"ok": False, "reason": "NO_ACCOUNT"}
    assert transfer(project, "k5", "x", "a", 1) == {"ok": False, "reason": "NO_ACCOUNT"}
    assert transfer(project, "k6", "x", "x", 1) == {"ok": False, "reason": "NO_ACCOUNT"}
    assert balances(project) == {"a": 0, "b": 80, "c": 70}
    assert (project.query("ledger:balance", account="x"), history(project, "x")) == (None, [])
    assert history(project, "a") == [("a", "c", 70), ("a", "b", 30)]
    assert (history(project, "b"), history(project, "c")) == ([("a", "b", 30)], [("a", "c", 70)])
    with project.fails(data={"code": "EXISTS"}):
        project.mutation("ledger:open", account="a", balance=5)
    assert balances(project)["a"] == 0


def test_a_transfer_to_the_same_account_makes_no_money(project: Deployment) -> None:
    assert transfer(project, "k1", "a", "a", 60) == {"ok": True, "balance": 100}
    assert transfer(project, "k2", "a", "a", 101) == {"ok": False, "reason": "FUNDS"}
    assert batch(project, "k3", ("a", "a", 100), ("a", "b", 1)) == {"ok": True, "balances": [100, 99]}
    assert (balances(project), history(project, "a")) == (
        {"a": 99, "b": 51, "c": 0},
        [("a", "b", 1), ("a", "a", 100), ("a", "a", 60)],
    )


def test_a_repeated_request_gets_the_first_result_and_has_no_effect(project: Deployment) -> None:
    assert transfer(project, "k1", "a", "b", 30) == {"ok": True, "balance": 70}
    transfer(project, "k2", "a", "c", 70)
    for _ in range(2):
        assert transfer(project, "k1", "a", "b", 30) == {"ok": True, "balance": 70}
    assert balances(project) == {"a": 0, "b": 80, "c": 70}
    assert len(history(project, "a")) == 2


def test_a_refusal_is_a_result_too(project: Deployment) -> None:
    assert transfer(project, "k1", "c", "a", 10) == {"ok": False, "reason": "FUNDS"}
    assert transfer(project, "k2", "d", "a", 10) == {"ok": False, "reason": "NO_ACCOUNT"}
    assert batch(project, "k3", ("a", "b", 1), ("c", "a", 20)) == {"ok": False, "reason": "FUNDS", "position": 1}
    transfer(project, "k4", "a", "c", 50)
    project.mutation("ledger:open", account="d", balance=100)
    assert transfer(project, "k1", "c", "a", 10) == {"ok": False, "reason": "FUNDS"}
    assert transfer(project, "k2", "d", "a", 10) == {"ok": False, "reason": "NO_ACCOUNT"}
    assert batch(project, "k3", ("a", "b", 1), ("c", "a", 20)) == {"ok": False, "reason": "FUNDS", "position": 1}
    assert balances(project) == {"a": 50, "b": 50, "c": 50}


def test_a_batch_makes_all_transfers_or_none(project: Deployment) -> None:
    rows: list[Row] = [("a", "c", 90), ("c", "b", 80), ("b", "a", 130)]
    assert batch(project, "k1", *rows) == {"ok": True, "balances": [10, 10, 0]}
    assert balances(project) == {"a": 140, "b": 0, "c": 10}
    assert history(project, "c") == [("c", "b", 80), ("a", "c", 90)]
    for number, (more, reason) in enumerate(((("c", "b", 11), "FUNDS"), (("x", "b", 1), "NO_ACCOUNT"))):
        refused = {"ok": False, "reason": reason, "position": 2}
        assert batch(project, f"r{number}", ("a", "b", 100), ("b", "a", 5), more, ("c", "b", 99)) == refused
    assert balances(project) == {"a": 140, "b": 0, "c": 10}
    assert len(history(project, "a")) == 2
    assert batch(project, "k2") == {"ok": True, "balances": []}
    assert batch(project, "k1", *rows) == {"ok": True, "balances": [10, 10, 0]}
    assert balances(project) == {"a": 140, "b": 0, "c": 10}


@pytest.mark.parametrize("other", [("b", "b", 10), ("a", "a", 10), ("a", "b", 11)], ids=["source", "target", "amount"])
def test_a_key_cannot_be_used_for_something_else(project: Deployment, other: Row) -> None:
    transfer(project, "k1", "a", "b", 10)
    with project.fails(data={"code": "KEY_REUSED"}):
        transfer(project, "k1", *other)
    with project.fails(data={"code": "KEY_REUSED"}):
        batch(project, "k1", ("a", "b", 10))
    batch(project, "k2", ("a", "b", 10), ("b", "a", 5))
    for rows in ([("a", "b", 10)], [("b", "a", 5), ("a", "b", 10)], [("a", "b", 10), ("b", "a", 6)], []):
        with project.fails(data={"code": "KEY_REUSED"}):
            batch(project, "k2", *rows)
    with project.fails(data={"code": "KEY_REUSED"}):
        transfer(project, "k2", "a", "b", 10)
    assert balances(project) == {"a": 85, "b": 65, "c": 0}
    assert transfer(project, "k1", "a", "b", 10) == {"ok": True, "balance": 90}


def test_the_order_of_properties_makes_no_difference(project: Deployment) -> None:
    first = {"from": "a", "to": "b", "amount": 10}
    for each in (first, dict(reversed(first.items()))):
        assert project.mutation("ledger:batch", client="web", key="k", transfers=[each]) == {
            "ok": True,
            "balances": [90],
        }
    assert balances(project)["a"] == 90


def test_keys_belong_to_a_client(project: Deployment) -> None:
    assert transfer(project, "k", "a", "b", 10, client="web") == {"ok": True, "balance": 90}
    assert transfer(project, "k", "a", "b", 10, client="app") == {"ok": True, "balance": 80}
    assert transfer(project, "k", "a", "c", 1, client="we") == {"ok": True, "balance": 79}
    assert transfer(project, "bk", "a", "c", 1, client="we") == {"ok": True, "balance": 78}
    assert transfer(project, "k", "a", "c", 1, client="web:k") == {"ok": True, "balance": 77}
    assert transfer(project, "k:k", "a", "c", 2, client="web") == {"ok": True, "balance": 75}


@pytest.mark.parametrize("amount", [0, -5, 1.5])
def test_a_bad_amount_leaves_the_key_unused(project: Deployment, amount: float) -> None:
    with project.fails(data={"code": "BAD_AMOUNT"}):
        transfer(project, "k", "a", "b", amount)
    with project.fails(data={"code": "BAD_AMOUNT"}):
        arguments = [{"from": "a", "to": "b", "amount": 5}, {"from": "a", "to": "b", "amount": amount}]
        project.mutation("ledger:batch", client="web", key="k", transfers=arguments)
    assert balances(project) == ACCOUNTS
    assert transfer(project, "k", "a", "b", 5) == {"ok": True, "balance": 95}


def test_a_key_is_as_good_as_new_after_a_day(project: Deployment) -> None:
    transfer(project, "k", "a", "b", 10)
    project.advance(hours=20)
    assert transfer(project, "k", "a", "b", 10) == {"ok": True, "balance": 90}
    project.advance(hours=3, minutes=58)
    assert transfer(project, "k", "a", "b", 10) == {"ok": True, "balance": 90}
    with project.fails(data={"code": "KEY_REUSED"}):
        transfer(project, "k", "a", "b", 11)
    project.advance(minutes=3)
    assert transfer(project, "k", "a", "b", 11) == {"ok": True, "balance": 79}
    project.advance(hours=23)
    assert transfer(project, "k", "a", "b", 11) == {"ok": True, "balance": 79}
    assert balances(project) == {"a": 79, "b": 71, "c": 0}


def test_old_keys_are_no_longer_stored(project: Deployment) -> None:
    transfer(project, "old-key-1", "a", "b", 10)
    transfer(project, "old-key-2", "c", "b", 10)
    batch(project, "old-key-3", ("a", "b", 1))
    project.advance(hours=12)
    transfer(project, "newer-key", "a", "b", 10)
    project.advance(hours=13, minutes=1)
    stored = json.dumps([project.documents(table) for table in project.tables()], default=str)
    assert "old-key" not in stored
    assert transfer(project, "newer-key", "a", "b", 10) == {"ok": True, "balance": 79}
    assert history(project, "a") == [("a", "b", 10), ("a", "b", 1), ("a", "b", 10)]


def test_the_same_request_from_many_connections_has_one_effect(project: Deployment) -> None:
    arguments = {"client": "web", "key": "k", "from": "a", "to": "b", "amount": 60}
    with project.clients(6) as clients:
        results = at_once([partial(client.mutation, "ledger:transfer", arguments) for client in clients])
    assert results == [{"ok": True, "balance": 40}] * 6
    assert balances(project) == {"a": 40, "b": 110, "c": 0}


def test_the_history_has_the_newest_50_transfers(project: Deployment) -> None:
    for number in range(4):
        batch(project, f"k{number}", *[("a", "b", 1), ("b", "a", 1)] * 7)
    transfer(project, "last", "a", "c", 7)
    assert history(project, "a") == [("a", "c", 7), *[("b", "a", 1), ("a", "b", 1)] * 25][:50]


def test_a_transfer_reads_few_documents(project: Deployment) -> None:
    for number in range(12):
        project.mutation("ledger:open", account=f"x{number}", balance=5)
        transfer(project, f"k{number}", "a", "b", 1)
        batch(project, f"b{number}", *[("a", "b", 1)] * 3)
    for _ in range(2):
        with project.trace() as work:
            transfer(project, "measured", "a", "b", 1)
        assert work.documents_read <= 20


class Truth:
    def __init__(self) -> None:
        self.balances = dict(ACCOUNTS)
        self.known: dict[tuple[str, str], tuple[float, object, Any]] = {}

    def execute(self, rows: list[Row]) -> tuple[dict[str, Any], int]:
        """The result, without the position, and the position."""
        after, left = dict(self.balances), []
        for position, (source, target, amount) in enumerate(rows):
            if source not in after or target not in after:
                return {"ok": False, "reason": "NO_ACCOUNT"}, position
            if after[source] < amount:
                return {"ok": False, "reason": "FUNDS"}, position
            after[source] -= amount
            after[target] += amount
            left.append(after[source])
        self.balances = after
        return {"ok": True, "balances": left}, 0

    def request(self, client: str, key: str, kind: str, rows: list[Row], now: float) -> Any:
        """The result, or None if the key was used for something else."""
        first = self.known.get((client, key))
        if first is not None and now < first[0] + DAY_MS:
            return first[2] if first[1] == (kind, rows) else None
        result, position = self.execute(rows)
        if kind == "batch":
            result |= {} if result["ok"] else {"position": position}
        elif result["ok"]:
            result = {"ok": True, "balance": result["balances"][0]}
        self.known[client, key] = (now, (kind, rows), result)
        return result


@pytest.mark.parametrize("seed", range(3))
def test_whatever_is_repeated_balances_and_results_are_right(project: Deployment, seed: int) -> None:
    chance, truth, done = random.Random(seed), Truth(), []
    past: list[tuple[str, str, str, list[Row]]] = []
    for _ in range(36):
        kind = chance.choice(["transfer", "batch"])
        rows = [
            (chance.choice("aabcx"), chance.choice("abccc"), chance.randrange(1, 60))
            for _ in range(1 if kind == "transfer" else chance.randrange(4))
        ]
        request = (chance.choice(["web", "app"]), chance.choice("123456"), kind, rows)
        if past and chance.random() < 0.4:
            request = chance.choice(past)
        past.append(request)
        done.append(request)
        client, key, kind, rows = request
        expected = truth.request(client, key, kind, rows, project.now())
        send = partial(batch, project, key, *rows) if kind == "batch" else partial(transfer, project, key, *rows[0])
        if expected is None:
            with project.fails(data={"code": "KEY_REUSED"}):
                send(client=client)
        else:
            assert send(client=client) == expected, f"after {done}"
        assert balances(project) == truth.balances, f"after {done}"
        if chance.random() < 0.1:
            project.advance(hours=chance.choice([5, 11, 25]), minutes=17)


def test_arguments_are_checked(project: Deployment) -> None:
    right = {"client": "web", "key": "k", "from": "a", "to": "b", "amount": 1}
    for name in right:
        with project.fails("ArgumentValidationError"):
            project.mutation("ledger:transfer", right | {name: None})
    for name in ("from", "to", "amount"):
        with project.fails("ArgumentValidationError"):
            rows = [{"from": "a", "to": "b", "amount": 1} | {name: None}]
            project.mutation("ledger:batch", client="web", key="k", transfers=rows)
    for name in ("client", "key", "transfers"):
        with project.fails("ArgumentValidationError"):
            project.mutation("ledger:batch", {"client": "web", "key": "k", "transfers": []} | {name: None})
    for arguments in ({"account": 1, "balance": 1}, {"account": "z", "balance": "1"}):
        with project.fails("ArgumentValidationError"):
            project.mutation("ledger:open", arguments)
    for name in ("balance", "history"):
        with project.fails("ArgumentValidationError"):
            project.query(f"ledger:{name}", account=1)
