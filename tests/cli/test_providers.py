"""Runs of models that a server on this machine serves, with the installed command."""

import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from convex_evals.scores import Generation, Outcome, PlannedEval, RunPlan, ScoresStore, Usage

Command = Callable[..., subprocess.CompletedProcess[str]]
KEY = "sk-secret-0123456789"
HELLO = """\
# Files

## hello.txt

```
hello
```

## to.txt

```
world
```
"""


def run(convex_evals: Command, server: Any, *options: str) -> subprocess.CompletedProcess[str]:
    arguments = ("run", "-m", "local/tiny", "--base-url", server.url, "--no-cache", *options)
    return convex_evals(*arguments, LOCAL_API_KEY=KEY)


def test_a_local_model_is_asked_and_graded(
    convex_evals: Command, provider_server: Any, hello_suite: Callable[..., Path], tmp_path: Path
) -> None:
    provider_server.answer = lambda asked: HELLO
    provider_server.script(provider_server.says("# Files\n\n## hello.txt\n\n```\nhel", "length"))
    result = run(convex_evals, provider_server, "--evals", str(hello_suite(2)), "--jobs", "1")
    assert "1 of 2 passed, 1 failed" in result.stdout, result.stderr
    assert all(asked.headers["authorization"] == f"Bearer {KEY}" for asked in provider_server.requests)
    assert "Say hello." in provider_server.requests[0].prompt
    with ScoresStore.open(tmp_path / "scores" / "scores.db") as store:
        (record,) = store.runs()
        generations = [details.generation for details in store.details(record.id) if details.generation]
        assert sorted(each.truncated for each in generations) == [False, True]
        assert {each.usage.output_tokens for each in generations if each.usage} == {7}


def test_a_refused_key_is_one_sentence_and_the_run_can_be_resumed(
    convex_evals: Command, provider_server: Any, hello_suite: Callable[..., Path], tmp_path: Path
) -> None:
    provider_server.answer = lambda asked: HELLO
    provider_server.script(provider_server.echoes(401))
    result = run(convex_evals, provider_server, "--evals", str(hello_suite(3)), "--jobs", "1")
    sentence = f"local/tiny: {provider_server.url} refuses the key in LOCAL_API_KEY (401); check it."
    assert result.returncode == 3
    assert f"{sentence} Nothing more is asked of local/tiny" in result.stderr
    assert "Traceback" not in result.stderr
    assert KEY not in result.stdout + result.stderr
    assert len(provider_server.requests) == 1
    with ScoresStore.open(tmp_path / "scores" / "scores.db") as store:
        (record,) = store.runs()
    assert (record.status, record.reason, record.counts.passed, record.counts.failed) == ("failed", sentence, 0, 0)
    assert not any(KEY.encode() in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())

    resumed = convex_evals("run", "--resume", record.id, LOCAL_API_KEY=KEY)
    assert resumed.returncode == 0, resumed.stderr
    assert "3 of 3 passed" in resumed.stdout


def test_a_provider_that_is_down_ends_the_run_soon_and_it_can_be_resumed(
    convex_evals: Command, provider_server: Any, hello_suite: Callable[..., Path], tmp_path: Path
) -> None:
    provider_server.answer = lambda asked: HELLO
    provider_server.script(*[provider_server.refuses(503, "Loading")] * 500)
    evals = str(hello_suite(12))
    began = time.monotonic()
    result = run(convex_evals, provider_server, "--evals", evals, "--jobs", "1")
    assert time.monotonic() - began < 120
    assert result.returncode == 3
    assert len(provider_server.requests) <= 8 * 5  # those in flight, five times each
    url = provider_server.url
    sentence = f"local/tiny: {url} is overloaded or limits our rate (503): Loading. It was asked 5 times."
    assert result.stderr.count(f"{sentence} Nothing more is asked of local/tiny") == 1
    with ScoresStore.open(tmp_path / "scores" / "scores.db") as store:
        (record,) = store.runs()
    assert (record.status, record.reason) == ("failed", sentence)
    assert record.counts.remaining >= 4

    provider_server.forget()
    resumed = convex_evals("run", "--resume", record.id, LOCAL_API_KEY=KEY)
    assert resumed.returncode == 0, resumed.stderr
    assert "12 of 12 passed" in resumed.stdout


def test_a_server_that_is_not_there_ends_the_run_soon(
    convex_evals: Command, hello_suite: Callable[..., Path], tmp_path: Path
) -> None:
    with socket.socket() as taken:  # a port that nobody listens on
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        arguments = ("--base-url", url, "--evals", str(hello_suite(20)), "--jobs", "1")
        result = convex_evals("run", "-m", "local/tiny", *arguments)
    assert result.returncode == 3
    assert f"local/tiny: {url} cannot be reached, or the connection was lost" in result.stderr
    assert result.stderr.count("Nothing more is asked of local/tiny; the rest of its run can be resumed.") == 1
    with ScoresStore.open(tmp_path / "scores" / "scores.db") as store:
        (record,) = store.runs()
    assert (record.status, record.counts.remaining >= 12) == ("failed", True)


def test_show_says_how_an_answer_came_to_its_end(convex_evals: Command, tmp_path: Path) -> None:
    with ScoresStore.open(tmp_path / "scores" / "scores.db") as store:
        recorded = store.create_run(RunPlan("m", "p", "default", (PlannedEval("000-a/000-b"),)))
        attempt = store.begin_attempt(recorded, "000-a/000-b")
        usage = Usage(first_token_ms=1500, finish_reason="length", upstream="Fireworks")
        notes = ("Answered by m-2.",)
        store.record_generation(attempt.id, Generation("", "", {}, usage, truncated=True, notes=notes))
        store.finish_attempt(attempt.id, Outcome("failed"))
    shown = convex_evals("show", recorded, "000-a/000-b").stdout
    assert [line for line in shown.splitlines() if line.startswith("answer: ")] == [
        "answer: cut off at the output limit, answered by Fireworks, first token after 1.5 s",
        "answer: Answered by m-2.",
    ]
