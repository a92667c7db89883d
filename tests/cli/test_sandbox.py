"""`--sandbox` on kernels that lack something (see tests/core/machine/weak_kernel.py)."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import PROGRAM
from tests.examples import exhaustively

WEAK_KERNEL = Path(__file__).parents[1] / "core" / "machine" / "weak_kernel.py"
MakeSuite = Callable[..., Path]
OnWeakKernel = Callable[..., subprocess.CompletedProcess[str]]
NO_NETWORK = "This machine cannot confine answers: no network namespace keeps it from the network."


@pytest.fixture
def on_kernel_without(tmp_path: Path) -> OnWeakKernel:
    """Runs the installed command where the kernel lacks something."""

    def run(lacks: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, WEAK_KERNEL, *lacks.split(), "--", PROGRAM, *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=280)

    return run


@pytest.mark.parametrize(
    "command",
    [
        ["run", "--model", "reference"],
        *exhaustively(["validate"], ["controls"], ["demo"]),
    ],
    ids=["run", "validate", "controls", "demo"],
)
def test_nothing_is_graded_or_recorded_where_answers_cannot_be_locked_in(
    on_kernel_without: OnWeakKernel,
    hello_suite: MakeSuite,
    convex_evals: Callable[..., subprocess.CompletedProcess[str]],
    command: list[str],
) -> None:
    hello_suite(1)
    result = on_kernel_without("network", *command)
    assert result.returncode == 3
    assert NO_NETWORK in result.stderr
    assert "convex-evals doctor`, or accept the risk with --sandbox available." in result.stderr
    assert "passed" not in result.stdout
    recorded = convex_evals("status", "--all", "--json").stdout  # nothing where there are no scores yet
    assert not recorded or json.loads(recorded)["runs"] == []


def test_available_uses_what_there_is_says_so_and_records_it(
    on_kernel_without: OnWeakKernel, hello_suite: MakeSuite
) -> None:
    hello_suite(1)
    result = on_kernel_without("network", "validate", "--sandbox", "available", "--json", "-")
    assert result.returncode == 0, result.stderr
    assert f"{NO_NETWORK} They are graded anyway (--sandbox available)." in result.stderr
    options = json.loads(result.stdout)["run"]["options"]
    assert options["grading"]["sandbox"] == "available"
    assert options["notConfined"] == ["no network namespace keeps it from the network"]


def test_where_nothing_confines_files_only_none_will_do(
    on_kernel_without: OnWeakKernel, hello_suite: MakeSuite
) -> None:
    hello_suite(1)
    refused = on_kernel_without("landlock namespaces", "validate", "--sandbox", "available")
    assert refused.returncode == 3
    assert refused.stderr.rstrip().endswith("accept the risk with --sandbox none.")
    result = on_kernel_without("landlock namespaces", "validate", "--sandbox", "none", "--json", "-")
    assert result.returncode == 0, result.stderr
    assert "Answers run unconfined (--sandbox none)" in result.stderr
    assert json.loads(result.stdout)["run"]["options"]["notConfined"] == ["everything"]


def test_doctor_says_which_promises_do_not_hold_and_why(on_kernel_without: OnWeakKernel) -> None:
    result = on_kernel_without("processes", "doctor", "--offline", "--json")
    assert result.returncode == 1
    facts = {fact["name"]: fact for fact in json.loads(result.stdout)["facts"]}
    for letter in "abc":
        assert facts[f"Sandbox ({letter})"]["status"] == "missing"
        assert "no PID namespace keeps it from other processes" in facts[f"Sandbox ({letter})"]["detail"]
    assert facts["Sandbox: files"]["status"] == "ok"
