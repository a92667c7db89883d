"""What the measurements of `bench cluster` mean; the command itself is tested with a real cluster."""

import subprocess
import sys

import pytest

from convex_evals.runner.bench.cluster import Cost, Meter, Overhead, Throughput

BUSY = "import time\nwhile time.process_time() < 0.3: pass\nprint(flush=True)\ninput()"


def test_each_round_is_compared_with_its_neighbour() -> None:
    local = [Cost(1.0, 2.0), Cost(2.0, 9.0), Cost(1.0, 2.0)]
    ray = [Cost(1.1, 2.2), Cost(2.2, 9.9), Cost(5.0, 2.0)]
    found = Overhead(8, local, ray, idle=0.03)
    assert (found.cpu, found.wall, found.seconds) == pytest.approx((0.1, 0.1, 2.0))


def test_efficiency_is_the_share_of_the_time_in_which_workers_grade() -> None:
    assert Throughput(10, 40, wall=10.0, runner=0.01, sleep=2.0).efficiency == pytest.approx(0.8)


def test_processor_time_of_the_cluster_is_counted_apart() -> None:
    command = [sys.executable, "-c", BUSY]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdin is not None
        meter = Meter(frozenset({process.pid}))
        process.stdout.readline()
        assert 0.25 <= meter.cluster() < 3.0
        before = meter.here()
        assert Meter(frozenset()).here() >= before + 0.25
        process.stdin.write(b"\n")
