"""The images of the service and of grading workers are built and run as the documentation says."""

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

ROOT = Path(__file__).parents[2]
BASE = "docker.io/library/debian:bookworm-slim"
PATIENCE = 120.0

pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(shutil.which("podman") is None, reason="podman is not installed here"),
]


def podman(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["podman", *arguments], capture_output=True, text=True, timeout=1700)


def built(target: str) -> str:
    if podman("image", "exists", BASE).returncode and podman("pull", "--quiet", BASE).returncode:
        pytest.skip(f"{BASE} is not here, and no registry has it")
    name = f"localhost/convex-evals-{target}:tested"
    result = podman("build", "--target", target, "--tag", name, ROOT)
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-2000:]
    return name


@pytest.fixture
def service() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    options = ("serve", "--host", "0.0.0.0", "--read", "open", "--port", str(port), "--scores", "/scores/scores.db")
    started = podman("run", "--detach", "--rm", "--network", "host", built("serve"), *options)
    assert started.returncode == 0, started.stderr
    yield f"http://127.0.0.1:{port}"
    podman("stop", "--time", "10", started.stdout.strip())


def test_the_service_shows_its_pages_from_a_container(service: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            page = httpx2.get(service, timeout=60)
            break
        except httpx2.TransportError:
            assert time.monotonic() < deadline, "nothing listens"
            time.sleep(0.5)
    assert page.status_code == 200 and "<title>Home" in page.text


def test_a_worker_grades_in_a_container_and_in_its_sandbox() -> None:
    command = ("validate", "--filter", "empty_functions", "--scores", "/tmp/scores.db")
    result = podman("run", "--rm", "--network", "host", "--entrypoint", "convex-evals", built("worker"), *command)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "1 of 1 passed" in result.stdout
