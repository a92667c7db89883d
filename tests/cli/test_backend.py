import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from convex_evals.backend.admin_keys import LOCAL_ADMIN_KEY, LOCAL_NAME, LOCAL_SECRET

Command = Callable[..., subprocess.CompletedProcess[str]]
OPTIONS = ["--port", "0", "--site-proxy-port", "0"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> subprocess.Popen[str]:
        program = Path(sys.executable).parent / "convex-evals"
        command = [program, "backend", *OPTIONS, *arguments]
        process = subprocess.Popen(
            command, cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=1
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def test_a_deployment_answers_until_it_is_stopped(start: Callable[..., subprocess.Popen[str]]) -> None:
    process = start("--instance-name", "happy-otter-1")
    found = re.fullmatch(r"Deployment happy-otter-1 is running at (http://127\.0\.0\.1:\d+)\n", first_line(process))
    assert found is not None
    with urllib.request.urlopen(f"{found[1]}/instance_name", timeout=60) as response:
        assert response.read() == b"happy-otter-1"
    process.send_signal(signal.SIGTERM)
    _, stderr = process.communicate(timeout=60)
    assert (process.returncode, stderr) == (0, "")


def printed_key(process: subprocess.Popen[str]) -> str:
    """The last of the three lines that a deployment prints when it starts."""
    assert process.stdout is not None
    return [process.stdout.readline() for _ in range(3)][2].split()[-1]


def test_a_local_convex_backends_options_are_taken_and_its_name_and_secret_yield_its_key(
    start: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    process = start(
        *("--instance-name", LOCAL_NAME, "--instance-secret", LOCAL_SECRET),
        *("--local-storage", "files", "--convex-origin", "http://cloud.example"),
        *("--convex-site", "http://site.example", "--interface", "0.0.0.0", "--disable-beacon", "--do-not-require-ssl"),
        *("--redact-logs-to-client", "--beacon-tag", "tag", "data.sqlite3"),
    )
    assert printed_key(process) == LOCAL_ADMIN_KEY
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 0
    assert stderr == "Listening on 127.0.0.1 instead of 0.0.0.0: only this machine can connect.\n"
    assert (tmp_path / "data.sqlite3").exists()


def stop(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)


def test_the_key_of_a_database_stays_and_no_other_has_it(
    start: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    keys = []
    for arguments in (["data.db"], ["data.db"], ["other.db"], [], []):
        process = start(*arguments)
        keys.append(printed_key(process))
        stop(process)
    assert keys[0] == keys[1]
    assert len(set(keys)) == 4
    assert sorted(path.name for path in tmp_path.glob("*.secret")) == ["data.db.secret", "other.db.secret"]
    assert not [path for path in tmp_path.iterdir() if path.stat().st_mode & 0o077]


def test_a_secret_that_others_can_read_is_refused_in_one_sentence(convex_evals: Command, tmp_path: Path) -> None:
    kept = tmp_path / "data.db.secret"
    kept.write_text("0" * 64)
    kept.chmod(0o644)
    result = convex_evals("backend", *OPTIONS, str(tmp_path / "data.db"))
    assert result.returncode == 2
    assert "must be readable by you alone (mode 600), but has mode 644" in result.stderr
    assert result.stderr.count("\n") == 1
    assert "0" * 64 not in result.stderr


def test_only_its_own_files_are_private(convex_evals: Command, tmp_path: Path) -> None:
    """Not those of whoever calls it in a process of theirs, as the tests of commands do."""
    (tmp_path / "data.db.secret").write_text("0" * 64)
    before = os.umask(0o022)
    try:
        convex_evals("backend", *OPTIONS, str(tmp_path / "data.db"))
    finally:
        after = os.umask(before)
    assert after == 0o022


@pytest.mark.parametrize(
    ("option", "value", "sentence"),
    [
        (
            "--allow-origin",
            "app.example",
            "Expected an origin such as https://app.example:8443, but got 'app.example'.",
        ),
        ("--allow-host", "a/b", "Expected the name of a host such as convex.example, but got 'a/b'."),
    ],
)
def test_an_invalid_address_is_bad_usage(convex_evals: Command, option: str, value: str, sentence: str) -> None:
    result = convex_evals("backend", *OPTIONS, option, value)
    assert (result.returncode, result.stderr) == (2, f"convex-evals: {sentence}\n")


def test_hosts_and_origins_can_be_allowed(start: Callable[..., subprocess.Popen[str]]) -> None:
    process = start("--allow-host", "convex.example", "--allow-origin", "https://app.example")
    url = first_line(process).split()[-1]
    headers = {"Host": "convex.example", "Origin": "https://app.example"}
    with urllib.request.urlopen(urllib.request.Request(f"{url}/version", headers=headers), timeout=60) as response:
        assert response.headers["access-control-allow-origin"] == "https://app.example"
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(urllib.request.Request(f"{url}/version", headers={"Host": "evil.example"}), timeout=60)


def test_a_taken_port_is_reported_in_one_sentence(convex_evals: Command) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = convex_evals("backend", "--port", str(port), "--site-proxy-port", "0")
    assert result.returncode == 3
    assert result.stderr == (
        f"convex-evals: Port {port} or 0 is taken; choose others with --port and --site-proxy-port (0: any).\n"
    )


@pytest.mark.parametrize("port", ["-1", "65536", "http"])
def test_an_invalid_port_is_bad_usage(convex_evals: Command, port: str) -> None:
    result = convex_evals("backend", "--port", port)
    assert result.returncode == 2
    assert result.stderr.startswith("convex-evals: --port must be a whole number from 0 to 65535")
    assert f", but it is {port!r}. `" in result.stderr and "backend --help`" in result.stderr
    assert result.stderr.count("\n") == 1
