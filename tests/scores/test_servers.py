"""Several `serve` processes on one PostgreSQL: whatever one of them is told, all of them know."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.scores.chaos import ServeProcess

from convex_evals.core.settings import Destination, Secret
from convex_evals.runner import Courier, catch_up
from convex_evals.scores import Holder, RemoteScores, ScoresStore, batch_of, encode
from convex_evals.scores.leases import Leases

SECONDS = 60


@dataclass
class Team:
    """Two servers, the database behind them, and the database of a runner."""

    first: str
    second: str
    database: ScoresStore
    runner: ScoresStore

    def token(self, name: str, right: Any) -> str:
        return self.database.tokens.create(name, [right], "development").token

    def send(self, url: str, token: str) -> None:
        """Whatever of the runner's is not there, as `sync` does."""
        courier = Courier(self.runner, Destination(url, token=Secret(token)), print)
        try:
            catch_up(courier, (), lambda _: None, time.sleep)
        finally:
            courier.close()


@pytest.fixture(scope="module")
def team(postgresql: Any, files: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    folder, where = tmp_path_factory.mktemp("servers"), postgresql.ready()
    with ExitStack() as stack:
        database = stack.enter_context(ScoresStore.open(where))
        runner = stack.enter_context(ScoresStore.open(files.ready()))
        servers = [ServeProcess(where, folder, "--read", "token") for _ in range(2)]
        for server in servers:
            stack.callback(server.kill)
            server.start()
        urls = [f"http://127.0.0.1:{server.port}" for server in servers]
        yield Team(*urls, database, runner)


@pytest.fixture
def run_id(team: Team, scene_of: Any, tmp_path: Path) -> str:
    scene = scene_of(team.runner, tmp_path)
    made: str = scene.run()
    attempt = team.runner.begin_attempt(made, "000-a/000-b")
    team.runner.record_generation(attempt.id, scene.generation(response=f"an answer of {made}"))
    team.runner.record_step(attempt.id, scene.step(log=made.encode()))
    return made


def test_what_one_records_the_other_shows(team: Team, run_id: str) -> None:
    team.runner.outbox.send_again(run_id, team.first)
    team.send(team.first, team.token("records", "record"))
    with RemoteScores(team.second, Secret(team.token("reads", "read"))) as scores:
        assert scores.export_run(run_id) == team.runner.export_run(run_id)
        assert scores.read_bytes(scores.generations(run_id)[0].response) == f"an answer of {run_id}".encode()


def test_a_revoked_token_grants_nothing(team: Team) -> None:
    headers = {"authorization": f"Bearer {team.token('leaver', 'read')}"}

    def statuses() -> list[int]:
        pages = (f"{url}/api/v1/runs" for url in (team.first, team.second))
        return [httpx2.get(page, headers=headers, timeout=SECONDS).status_code for page in pages]

    assert statuses() == [200, 200]
    team.database.tokens.revoke("leaver")
    assert statuses() == [401, 401]  # at once: what is known of tokens is in the database only


def test_who_listens_to_one_hears_what_the_other_records(team: Team, run_id: str) -> None:
    headers, heard, begun = {"authorization": f"Bearer {team.token('listens', 'read')}"}, [], threading.Event()

    def listen() -> None:
        with httpx2.stream("GET", f"{team.second}/api/v1/events", headers=headers, timeout=SECONDS) as answer:
            for line in answer.iter_lines():
                begun.set()
                if line.startswith("data: ") and json.loads(line.removeprefix("data: "))["run"] == run_id:
                    heard.append(json.loads(line.removeprefix("data: "))["kind"])
                    return

    listening = threading.Thread(target=listen)
    listening.start()
    assert begun.wait(SECONDS)
    team.runner.outbox.send_again(run_id, team.first)
    team.send(team.first, team.token("tells", "record"))
    listening.join(SECONDS)
    assert heard == ["run created"]


def test_a_run_has_one_runner_whichever_server_they_ask(team: Team, run_id: str) -> None:
    token = team.token("two", "record")
    team.runner.outbox.send_again(run_id, team.first)
    team.send(team.first, token)
    records = team.runner.outbox.records(run_id)

    def send(url: str, holder: Holder) -> httpx2.Response:
        body, headers = encode(batch_of(run_id, records, holder)), {"authorization": f"Bearer {token}"}
        return httpx2.post(f"{url}/api/v1/records", content=body, headers=headers, timeout=SECONDS)

    assert send(team.first, Holder("desk", "desk")).status_code == 200
    refused = send(team.second, Holder("laptop", "laptop"))
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "Held")
    assert send(team.second, Holder("desk", "desk")).status_code == 200


def test_two_servers_mark_a_lost_run_once(team: Team, run_id: str) -> None:
    """Both look for leases that are over, at the same moment."""
    team.runner.outbox.send_again(run_id, team.first)
    team.send(team.first, team.token("lost", "record"))
    Leases(team.database._database, timedelta(seconds=-1)).renew([run_id], Holder("desk", "desk"))
    marked: list[tuple[str, ...]] = []
    looking = [threading.Thread(target=lambda: marked.append(team.database.leases.end_overdue())) for _ in range(4)]
    for each in looking:
        each.start()
    for each in looking:
        each.join()
    assert [runs for runs in marked if run_id in runs] in ([], [(run_id,)])  # a server may have been quicker
    assert team.database.find_run(run_id).status == "stopped"
