"""`sync`: several services, one of which is down, what it says in JSON; and a run that is sent when it is resumed."""

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.web.served_site import serving

from convex_evals.scores import ScoresStore, encode
from convex_evals.web import Site

Command = Callable[..., subprocess.CompletedProcess[str]]
NOBODY = "http://127.0.0.1:9"


@dataclass
class Services:
    """Two that run, `here` and `there`, and one that does not, `gone`; all named in convex-evals.toml."""

    urls: dict[str, str]
    stores: dict[str, ScoresStore]
    tokens: dict[str, str]

    def has_all_of(self, name: str, run: str, folder: Path) -> bool:
        with ScoresStore.open(folder / "scores" / "scores.db") as own:
            return encode(self.stores[name].outbox.records(run)) == encode(own.outbox.records(run))


@pytest.fixture
def services(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    monkeypatch.setattr("convex_evals.cli.sync.TRIES", 1)
    made = Services({"gone": NOBODY}, {}, {})
    with ExitStack() as stack:
        for name in ("here", "there"):
            store = stack.enter_context(ScoresStore.open(tmp_path / f"{name}.db"))
            made.stores[name] = store
            made.tokens[name] = store.tokens.create("runner", ["record"], "local").token
            made.urls[name] = stack.enter_context(serving(Site(store)))
            monkeypatch.setenv(f"CONVEX_AUTH_TOKEN_{name.upper()}", made.tokens[name])
        named = "".join(f'[scores.{name}]\nurl = "{url}"\n' for name, url in made.urls.items())
        (tmp_path / "convex-evals.toml").write_text(named)
        yield made


def sync(command: Command, *arguments: str, code: int = 0) -> dict[str, dict[str, Any]]:
    """What it says in JSON, by the name of the service."""
    done = command("sync", "--json", *arguments)
    assert done.returncode == code, done.stderr
    return {each["name"]: each for each in json.loads(done.stdout)["destinations"]}


def test_every_service_gets_what_it_is_missing(
    convex_evals: Command, record_run: Callable[..., str], services: Services, tmp_path: Path
) -> None:
    run = record_run({"000-hello": "passed", "001-hello": "failed"})
    [(name, sent)] = sync(convex_evals, run, "--to", "here").items()
    assert (name, sent["url"], sent["unsent"], sent["problem"]) == ("here", services.urls["here"], [], None)
    assert sent["sent"] > 5
    assert services.has_all_of("here", run, tmp_path)
    assert not services.stores["there"].runs()
    with ScoresStore.open(tmp_path / "scores" / "scores.db") as own:
        for url in services.urls.values():
            own.outbox.send_again(run, url)
    said = sync(convex_evals, code=3)
    assert {name: each["unsent"] == [] for name, each in said.items()} == {"here": True, "there": True, "gone": False}
    assert "cannot be reached" in said["gone"]["problem"]
    [left] = said["gone"]["unsent"]
    assert (left["run"], left["refused"]) == (run, None) and left["records"] == sent["sent"]
    assert services.has_all_of("there", run, tmp_path)
    assert sync(convex_evals, "--to", "there") == {"there": {**said["there"], "sent": 0}}


def test_a_run_that_a_service_refuses_is_named_with_the_reason(
    convex_evals: Command, record_run: Callable[..., str], services: Services
) -> None:
    run = record_run({"000-hello": "passed"})
    sync(convex_evals, run, "--to", "here")
    services.stores["here"].decisions.delete(run, "ada", "A customer asked for it.")
    said = sync(convex_evals, run, "--to", "here", code=3)["here"]
    assert said["sent"] == 0
    assert "was deleted here by ada: A customer asked for it" in said["unsent"][0]["refused"]


def test_a_wrong_token_is_the_problem(
    convex_evals: Command, record_run: Callable[..., str], services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = record_run({"000-hello": "passed"})
    monkeypatch.setenv("CONVEX_AUTH_TOKEN_HERE", services.tokens["there"])
    said = sync(convex_evals, run, "--to", "here", code=3)["here"]
    assert "unknown, expired or revoked" in said["problem"]
    assert services.tokens["there"] not in json.dumps(said)


def test_there_may_be_nothing_to_send(convex_evals: Command, record_run: Callable[..., str]) -> None:
    run = record_run({"000-hello": "passed"})
    assert json.loads(convex_evals("sync", "--json").stdout) == {"destinations": []}
    refused = convex_evals("sync", run)
    assert refused.returncode == 2
    assert "name the service with --to" in refused.stderr


def test_a_run_that_is_resumed_is_sent_from_its_beginning(asked: Any, services: Services) -> None:
    asked.price(1_000)
    asked.server.script(asked.server.says(asked.right, usage={"prompt_tokens": 9_000, "completion_tokens": 1_000}))
    assert asked.start("--budget", "20").returncode == 3
    [run] = json.loads(asked("status", "--json").stdout)["runs"]
    resumed = asked("run", "--resume", run["id"], "--to", "here")
    assert resumed.returncode == 0, resumed.stderr
    said = f"here ({services.urls['here']})"
    assert resumed.stderr.startswith(f"Results are also sent to {said}.")
    assert asked("sync", "--to", "here").returncode == 0  # a busy machine may not be done in time
    assert services.has_all_of("here", run["id"], asked.folder)
    assert len(services.stores["here"].results(run["id"])) == 3
