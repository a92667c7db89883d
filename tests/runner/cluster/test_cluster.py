"""A real Ray cluster of two nodes on this machine: equal verdicts, a node that is killed, a runner that is resumed."""

import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.runner.conftest import MakeSuite

from convex_evals.core.settings import read_settings
from convex_evals.scores import ScoresStore

pytestmark = [pytest.mark.exhaustive, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[3]
SCRIPTS = Path(sys.executable).parent
HEAD = {"num_cpus": 1, "include_dashboard": False}
Command = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def ray_installed() -> None:
    """A clone does not install Ray; these tests do, from its own lock file."""
    lock = read_settings().cache_folder / "tests"
    lock.mkdir(parents=True, exist_ok=True)
    with (lock / "ray.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if find_spec("ray") is None:
            install = ["pip", "install", "--quiet", "--python", sys.executable, "--require-hashes"]
            subprocess.run([SCRIPTS / "uv", *install, "-r", ROOT / "requirements-ray.lock"], check=True, timeout=400)


@pytest.fixture(scope="module")
def cluster(ray_installed: None) -> Iterator[Any]:
    """Started as people start one, by a program of its own; the tests talk to it through the command line only."""
    text = f"""
import sys
from ray.cluster_utils import Cluster
cluster = Cluster(initialize_head=True, head_node_args={HEAD!r})
nodes = [cluster.add_node(num_cpus=1)]
print(cluster.address, nodes[0].all_processes["raylet"][0].process.pid, flush=True)
sys.stdin.read()
cluster.shutdown()
"""
    environment = {**os.environ, "RAY_raylet_start_wait_time_s": "180", "RAY_USAGE_STATS_ENABLED": "0"}
    process = subprocess.Popen(
        [sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout is not None
    address, pid = process.stdout.readline().split()
    yield {"address": address, "raylet": int(pid)}
    process.communicate("")


@pytest.fixture
def command(tmp_path: Path, cluster: Any) -> Command:
    def command(*arguments: str, scores: str | None = None, code: int = 0) -> dict[str, Any]:
        where = scores or tmp_path / "scores.db"
        result = subprocess.run(
            [SCRIPTS / "convex-evals", "run", *arguments, "--scores", where, "--json", "-"],
            cwd=tmp_path,
            env={**os.environ, "RAY_ADDRESS": cluster["address"]},
            capture_output=True,
            text=True,
            timeout=500,
        )
        assert result.returncode == code, result.stderr
        found: dict[str, Any] = json.loads(result.stdout)
        return found

    return command


def verdicts(result: dict[str, Any]) -> list[Any]:
    def steps(each: dict[str, Any]) -> list[Any]:
        """An excerpt may have a port or a moment in it; a fingerprint has neither."""
        return [
            (step["name"], step["status"], [each["fingerprint"] for each in step["diagnostics"]])
            for step in each["steps"]
        ]

    return [(each["eval"], each["status"], each["failedStep"], each["tests"], steps(each)) for each in result["evals"]]


def test_a_cluster_with_postgresql_comes_to_the_same_verdicts_as_one_machine_with_a_file(
    command: Command, postgresql: Any
) -> None:
    options, scores = ("-m", "sample/apprentice", "-f", "000-fundamentals/00[0-3]"), postgresql.ready()
    local = command(*options)
    remote = command(*options, "--executor", "ray", scores=scores)
    assert verdicts(remote) == verdicts(local)
    assert {each["status"] for each in remote["evals"]} <= {"passed", "failed"}
    with ScoresStore.open(scores) as store:
        run = store.find_run(remote["run"]["id"])
        assert (run.status, run.counts.total) == ("completed", len(local["evals"]))
        assert all(details.logs.keys() == {step.name for step in details.steps} for details in store.details(run.id))


@pytest.fixture
def started(cluster: Any, tmp_path: Path) -> Iterator[Callable[..., "subprocess.Popen[str]"]]:
    """A run on the cluster that has graded its first eval."""
    processes: list[subprocess.Popen[str]] = []

    def start(*arguments: str | Path) -> "subprocess.Popen[str]":
        options = ("-m", "reference", "--executor", "ray", "--scores", tmp_path / "scores.db")
        process = subprocess.Popen(
            [SCRIPTS / "convex-evals", "run", *options, *arguments],
            cwd=tmp_path,
            env={**os.environ, "RAY_ADDRESS": cluster["address"]},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        processes.append(process)
        assert process.stdout is not None
        said = ""
        while "\n1/" not in said:
            line = process.stdout.readline()
            assert line, f"the run ended early: {said}"
            said += line
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def test_what_a_killed_node_was_grading_is_graded_again_elsewhere(
    started: Callable[..., "subprocess.Popen[str]"], cluster: Any, make_suite: MakeSuite, tmp_path: Path
) -> None:
    out = tmp_path / "out.json"
    process = started("--jobs", "2", "--evals", make_suite(6, seconds=3).root, "--json", out)
    raylet = psutil.Process(cluster["raylet"])
    for each in [*raylet.children(recursive=True), raylet]:
        each.send_signal(signal.SIGKILL)
    output, _ = process.communicate(timeout=500)
    assert process.returncode == 0, output
    assert [each["status"] for each in json.loads(out.read_text())["evals"]] == ["passed"] * 6


def test_a_runner_that_is_killed_is_resumed(
    started: Callable[..., "subprocess.Popen[str]"], command: Command, make_suite: MakeSuite
) -> None:
    suite = make_suite(3, seconds=3)
    started("--jobs", "1", "--evals", suite.root).kill()
    found = command("--resume", "latest", "--executor", "ray", "--evals", str(suite.root))
    assert [each["status"] for each in found["evals"]] == ["passed"] * 3


def test_without_a_cluster_there_is_one_sentence(ray_installed: None, tmp_path: Path, make_suite: MakeSuite) -> None:
    result = subprocess.run(
        [SCRIPTS / "convex-evals", "run", "-m", "reference", "--executor", "ray", "--evals", make_suite(1).root],
        cwd=tmp_path,
        env={**os.environ, "RAY_ADDRESS": "127.0.0.1:9"},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert result.returncode == 2
    assert "There is no Ray cluster 127.0.0.1:9" in result.stderr.splitlines()[-1]


def test_overhead_and_throughput_are_measured(ray_installed: None, tmp_path: Path, make_suite: MakeSuite) -> None:
    options = ("--answers", "2", "--rounds", "2", "--workers", "3", "--evals", make_suite(3).root, "--json", "-")
    result = subprocess.run(
        [SCRIPTS / "convex-evals", "bench", "cluster", *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert len(found["overhead"]["local"]) == len(found["overhead"]["ray"]) == 2
    assert all(each["cpuMs"] > 0 and each["wallMs"] > 0 for each in found["overhead"]["ray"])
    assert [(each["workers"], each["answers"]) for each in found["throughput"]] == [(1, 4), (3, 12)]
    assert all(0 < each["efficiency"] <= 1 for each in found["throughput"])
