"""`serve` as a command: where it listens, who may connect, and what it says when that cannot be."""

import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from convex_evals.web import Listener

Command = Callable[..., subprocess.CompletedProcess[str]]
Start = Callable[..., subprocess.Popen[str]]


def test_a_port_that_is_taken_is_one_sentence(convex_evals: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = convex_evals("serve", "--port", str(port))
    assert refused.returncode == 3
    assert refused.stderr == f"convex-evals: Port {port} is taken; choose another one with --port (0: any).\n"


def test_another_port_is_taken_when_the_usual_one_is_not_free(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        usual = taken.getsockname()[1]
        monkeypatch.setattr("convex_evals.web.server.DEFAULT_PORT", usual)
        listener = Listener.open("127.0.0.1", None)
    with listener.socket:
        assert listener.moved == usual
        assert listener.url == f"http://localhost:{listener.socket.getsockname()[1]}"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7"])
def test_who_may_read_must_be_decided_before_others_can_connect(
    convex_evals: Command, tmp_path: Path, host: str
) -> None:
    refused = convex_evals("serve", "--host", host)
    assert refused.returncode == 2
    assert f"With --host {host}, others can connect: choose who may read with --read open" in refused.stderr
    assert not [*tmp_path.iterdir()]


def test_publishing_that_is_interrupted_says_how_to_go_on(
    started: Start,
    convex_evals: Command,
    hello_suite: Callable[..., Path],
    record_run: Callable[..., str],
    tmp_path: Path,
) -> None:
    hello_suite(60)  # takes long enough to be interrupted
    record_run({"000-first": "passed", "001-second": "failed"})
    publishing = started("publish", "site")
    while not (tmp_path / "site" / "publication.json").exists():
        assert publishing.poll() is None
        time.sleep(0.01)
    publishing.send_signal(signal.SIGINT)
    _, said = publishing.communicate(timeout=60)
    assert publishing.returncode == 130
    assert said == "Interrupted: site is not complete. The same command goes on with it.\n"
    assert convex_evals("publish", "site").returncode == 0


def test_a_folder_that_cannot_be_made_is_said_without_the_name_of_an_exception(
    convex_evals: Command, tmp_path: Path
) -> None:
    (tmp_path / "README.md").write_text("mine")
    refused = convex_evals("publish", "README.md/x")
    assert refused.returncode == 3
    assert refused.stderr == "convex-evals: the system refused README.md/x: not a directory.\n"


def test_publishing_shows_on_a_terminal_how_far_it_is(
    convex_evals: Command, hello_suite: Callable[..., Path], record_run: Callable[..., str]
) -> None:
    hello_suite(3)
    record_run({"000-first": "passed"})
    published = convex_evals("publish", "site", TTY_COMPATIBLE="1", TERM="xterm", COLUMNS="80")
    total = int(published.stdout.split()[0])
    assert published.stderr.count("files ") and f"{total - 1}/{total - 1}" in published.stderr
    assert convex_evals("publish", "again").stderr == ""
