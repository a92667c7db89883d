"""`convex-evals serve` as a process: it opens its page, and runs on the same scores say where they can be followed."""

import asyncio
import re
import signal
import subprocess
from collections.abc import Callable, Coroutine
from pathlib import Path

import httpx2
import pytest
from tests.web.served_site import serving

from convex_evals.core.settings import read_settings
from convex_evals.scores import ScoresStore
from convex_evals.web import Site, announced, find_run_page

Command = Callable[..., subprocess.CompletedProcess[str]]
Start = Callable[..., subprocess.Popen[str]]
NOTICE = "scores/scores.db.serving"


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What programs that open addresses were asked to open."""
    program, asked = tmp_path / "bin" / "xdg-open", tmp_path / "opened.txt"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$1" >{asked}\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    return asked


def test_a_run_says_where_it_can_be_followed_while_a_server_is_up(
    convex_evals: Command,
    started: Start,
    hello_suite: Callable[..., Path],
    opened: Path,
    until: Callable[..., Coroutine[None, None, None]],
    tmp_path: Path,
) -> None:
    hello_suite(1)
    server = started("serve", "--port", "0", "--open")
    assert server.stdout is not None
    line = server.stdout.readline()
    found = re.search(r"http://localhost:\d+", line)
    assert found is not None, line
    url = found[0]
    asyncio.run(until(opened.is_file))
    assert opened.read_text().strip() == url
    assert httpx2.get(f"{url}/health", timeout=60).text == "ok\n"
    assert httpx2.get(url, timeout=60).status_code == 200  # as whoever opened the page asks for it
    done = convex_evals("run", "-m", "reference")
    said = re.search(rf"^Follow reference at ({url}/experiment/default/run/\w+)$", done.stderr, re.MULTILINE)
    assert said is not None, done.stderr
    assert "completed" in httpx2.get(said[1], timeout=60).text
    server.send_signal(signal.SIGTERM)
    assert server.wait(60) == 0
    assert not (tmp_path / NOTICE).exists()


def test_a_server_that_is_gone_or_serves_other_scores_is_not_named(
    record_run: Callable[..., str], tmp_path: Path
) -> None:
    run_id = record_run({"000-a": "passed"})
    settings = read_settings()
    with ScoresStore.open(tmp_path / "scores" / "scores.db") as store:
        assert find_run_page(store, settings, run_id) is None
        with announced(store, settings, "http://127.0.0.1:9"):
            assert (tmp_path / NOTICE).is_file()
            assert find_run_page(store, settings, run_id) is None
        assert not (tmp_path / NOTICE).exists()
        other = ScoresStore.open(tmp_path / "other.db")
        with other, serving(Site(other)) as url, announced(store, settings, url):
            assert find_run_page(store, settings, run_id) is None
        with serving(Site(store)) as url, announced(store, settings, url):
            assert find_run_page(store, settings, run_id) == f"{url}/experiment/default/run/{run_id}"


def test_a_server_that_ends_leaves_the_notice_of_a_later_one(record_run: Callable[..., str], tmp_path: Path) -> None:
    record_run({"000-a": "passed"})
    settings = read_settings()
    with ScoresStore.open(tmp_path / "scores" / "scores.db") as store:
        with announced(store, settings, "http://localhost:1"):
            (tmp_path / NOTICE).write_text("http://localhost:2")
        assert (tmp_path / NOTICE).read_text() == "http://localhost:2"
