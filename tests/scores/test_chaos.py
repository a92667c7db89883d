"""Runs that are sent to a service that fails in every way it can: nothing is lost, doubled or waited for."""

import subprocess
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.scores.chaos import Fate, Proxy, ServeProcess

from convex_evals.cli import main
from convex_evals.scores import ScoresStore, encode
from convex_evals.scores.transfer import artifacts_of

EVALS = 10
GRADER = """\
import time


def test_says_hello(files):
    time.sleep(0.5)
    assert files.text("hello.txt") == "hello 0\\n"
"""
ALL_KINDS: list[Fate] = [
    *["down"] * 2,
    *["busy"] * 2,
    *["pass"] * 6,
    "kill",
    *["pass"] * 6,
    *["half"] * 2,
    *["pass"] * 5,
    "kill late",
    *["pass"] * 5,
    "lose answer",
    "half",
]
Run = Callable[..., subprocess.CompletedProcess[str]]
Proxied = Callable[[Iterable[Fate]], Proxy]


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """Evals of which only files are graded, and all but the first of which fail."""
    for number in range(EVALS):
        path = tmp_path / "evals" / "000-basics" / f"{number:03}-hello"
        (path / "answer").mkdir(parents=True)
        (path / "TASK.txt").write_text("Say hello.\n")
        (path / "answer" / "hello.txt").write_text(f"hello {number}\n")
        (path / "eval.json").write_text('{"pipeline": "static"}')
        (path / "grader.py").write_text(GRADER)
    return tmp_path / "evals"


@pytest.fixture
def service(where: str, tmp_path: Path) -> Iterator[ServeProcess]:
    service = ServeProcess(where, tmp_path)
    yield service
    service.kill()


@pytest.fixture
def proxied(service: ServeProcess) -> Iterator[Proxied]:
    with ExitStack() as stack:

        def proxied(script: Iterable[Fate]) -> Proxy:
            proxy = Proxy(service, script)
            stack.callback(proxy.close)
            return proxy

        yield proxied


@pytest.fixture
def command(
    tmp_path: Path,
    store: ScoresStore,
    ready_workers: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Run:
    """The command line, with a token of the service, in the test's own process: what is killed here is the service."""
    store.deployment.mark("development")
    monkeypatch.setenv("CONVEX_AUTH_TOKEN", store.tokens.create("runner", ["record"]).token)
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str) -> subprocess.CompletedProcess[str]:
        capsys.readouterr()
        code = main.run(list(arguments))
        said = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, code, said.out, said.err)

    return command


def assert_same(runner: ScoresStore, team: ScoresStore) -> None:
    [run] = runner.runs()
    assert [each.id for each in team.runs()] == [run.id]
    records = runner.outbox.records(run.id)
    assert len(runner.attempts(run.id)) == EVALS
    assert encode(team.outbox.records(run.id)) == encode(records)
    assert team.export_run(run.id) == runner.export_run(run.id)
    for artifact in artifacts_of(records):
        assert team.read_bytes(artifact) == runner.read_bytes(artifact)


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.parametrize("server", ["sqlite", "postgresql"], indirect=True)
def test_a_service_that_fails_in_every_way_has_everything_in_the_end(
    suite: Path, tmp_path: Path, store: ScoresStore, service: ServeProcess, proxied: Proxied, command: Run
) -> None:
    proxy = proxied(ALL_KINDS)
    ran = command("run", "-m", "reference", "--evals", str(suite), "--to", proxy.url)
    assert ran.returncode == 0, ran.stderr
    assert f"sent to {proxy.url}" in ran.stderr.splitlines()[0]
    assert "is not accepting records" in ran.stderr
    for _ in range(10):
        if not proxy.script_is_over:
            command("sync", "-1", "--to", proxy.url)
    assert proxy.script_is_over
    rest = command("sync")
    assert rest.returncode == 0, rest.stderr
    assert command("sync").stdout == "There is nothing to send.\n"
    assert service.kills == 2
    with ScoresStore.open(tmp_path / "scores" / "scores.db") as runner:
        assert_same(runner, store)


@pytest.mark.slow
@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
def test_a_run_never_waits_for_a_service(
    suite: Path, tmp_path: Path, store: ScoresStore, proxied: Proxied, command: Run
) -> None:
    proxy = proxied(["hang"] * 100)
    ran = command("run", "-m", "reference", "--evals", str(suite), "--to", proxy.url)
    assert ran.returncode == 0, ran.stderr
    assert f"Not yet at {proxy.url}: " in ran.stderr
    assert f"sync --to {proxy.url}` sends them" in ran.stderr
    assert set(proxy.fates) == {"hang"}, "nothing was ever answered"
    with ScoresStore.open(tmp_path / "scores" / "scores.db") as runner:
        assert runner.runs()[0].is_complete
    status = command("status", "--evals", str(suite)).stdout
    assert f"Not yet at {proxy.url}: " in status
