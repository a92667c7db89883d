"""`serve` as a command: where it listens, who may connect, and what it says when that cannot be."""

import re
import socket
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest

from convex_evals.web import Listener

Command = Callable[..., subprocess.CompletedProcess[str]]


def test_the_page_is_opened_in_the_browser(
    started: Callable[..., subprocess.Popen[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, program = tmp_path / "opened", tmp_path / "bin" / "xdg-open"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nprintf %s "$1" > {opened}.part && mv {opened}.part {opened}\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    process = started("serve", "--port", "0", "--open", PATH=f"{program.parent}:/usr/bin:/bin")
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.search(r"http://localhost:\d+", line)
    assert found is not None, line
    assert httpx2.get(f"{found[0]}/health", timeout=60).text == "ok\n"
    process.terminate()
    process.wait(60)
    assert process.returncode == 0
    assert opened.read_text() == found[0]


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
def test_who_may_read_must_be_decided_before_others_can_connect(convex_evals: Command, host: str) -> None:
    refused = convex_evals("serve", "--host", host)
    assert refused.returncode == 2
    assert f"With --host {host}, others can connect: choose who may read with --read open" in refused.stderr
    assert not (Path.cwd() / "scores").exists()
