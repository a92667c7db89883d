"""What travels to a node and back, and which nodes are refused: all of it without a cluster."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.runner.conftest import MakeSuite

from convex_evals import __version__
from convex_evals.core.errors import InfrastructureError, SandboxError, UsageError
from convex_evals.core.machine import SandboxSupport
from convex_evals.core.settings import Settings
from convex_evals.core.steps import StepResult
from convex_evals.core.toolchain import prepare_toolchain
from convex_evals.pipeline import Assignment, Grade, GradingOptions
from convex_evals.runner.cluster.cluster import Cluster, _check, _report
from convex_evals.runner.cluster.node import NodeReport, NodeWorker, RemoteGrade, Tools, prepare_node
from convex_evals.suite import SuiteParcel, root_of

COMPLETE = SandboxSupport(6, True, True, True, True, True, True)
TOOLS = Tools(__version__, "24.1.0", "a" * 64)
NODE = NodeReport(TOOLS, COMPLETE)


def test_a_grade_comes_back_with_its_logs(tmp_path: Path) -> None:
    there, here = tmp_path / "there", tmp_path / "here"
    for folder in (there, here):
        folder.mkdir()
    (there / "x.log").write_bytes(b"\xff all of it\n")
    steps = (StepResult("filesystem", "passed", 1, 1), StepResult("tests", "failed", 2, 1, log=there / "x.log"))
    sent = RemoteGrade.of(Grade("a/b", "failed", steps))
    (there / "x.log").unlink()
    home = sent.written(here)
    assert [step.log for step in home.steps] == [None, here / "tests.log"]
    assert (here / "tests.log").read_bytes() == b"\xff all of it\n"
    assert replace(home, steps=()) == replace(sent.grade, steps=())


async def test_a_worker_grades_an_eval_that_came_as_a_value(make_suite: MakeSuite, tmp_path: Path) -> None:
    each = make_suite(1).evals[0]
    parcel = SuiteParcel.of(root_of(each))
    gone = replace(each, path=tmp_path / "nowhere" / each.category / each.name)
    worker = NodeWorker()
    try:
        files = {"hello.txt": "hello\n"}
        answered = await worker.grade(Assignment(gone, files, GradingOptions(), tmp_path / "unused"), parcel)
        assert worker._folder is not None and not (worker._folder / "1").exists()
    finally:
        await worker._stack.aclose()
    assert (answered.grade.eval, answered.grade.status) == (each.id, "passed")
    assert b"1 passed" in answered.logs["tests"] and not (tmp_path / "unused").exists()


def other(**difference: Any) -> NodeReport:
    return replace(NODE, tools=replace(TOOLS, **difference))


async def test_a_node_reports_the_tools_that_a_run_on_this_machine_would_record(settings: Settings) -> None:
    report = await prepare_node()
    assert report.tools.fingerprint == (await prepare_toolchain(settings)).fingerprint
    _check({"here": report}, await Tools.of(settings))


@pytest.mark.parametrize(
    ("nodes", "error", "sentence"),
    [
        ({}, InfrastructureError, "no node with a processor"),
        ({"a": other(version="0.0.1")}, UsageError, "The node a has convex-evals 0.0.1, this machine"),
        ({"a": NODE, "b": other(node="22.3.0")}, UsageError, r"The node b has Node.js 22.3.0, this machine 24.1.0"),
        (
            {"a": other(blind="the extra [browser] is not installed")},
            UsageError,
            r"The node a cannot look at pages \(the extra \[browser\] is not installed\), this machine can; install",
        ),
        ({"a": other(fingerprint="b" * 64)}, UsageError, r"other JavaScript tools \(bbbbbbbbbbbb\) than this machine"),
    ],
)
def test_nodes_that_would_grade_differently_are_refused(
    nodes: dict[str, NodeReport], error: type[Exception], sentence: str
) -> None:
    with pytest.raises(error, match=sentence):
        _check(nodes, TOOLS)


def test_a_node_that_cannot_lock_answers_in_is_refused_unless_the_risk_is_accepted() -> None:
    weak = replace(COMPLETE, network_namespaces=False)
    cluster = Cluster(None, {"strong": NODE, "weak": replace(NODE, sandbox=weak)}, 2)
    with pytest.raises(SandboxError, match=r"The node weak cannot confine answers.*--sandbox available"):
        cluster.missing("required")
    assert cluster.missing("available") == weak.missing
    without_files = replace(weak, landlock=0, mounts=False)
    with pytest.raises(SandboxError, match="--sandbox none"):
        Cluster(None, {"bare": replace(NODE, sandbox=without_files)}, 1).missing("available")


class LostError(Exception):
    pass


class Ray:
    """Two nodes that looked alive; the second has died since, or only fails. A real cluster notices it too late."""

    def __init__(self, *alive: str) -> None:
        self.exceptions = SimpleNamespace(RayError=LostError)
        self._alive = alive

    def nodes(self) -> list[dict[str, object]]:
        return [{"NodeID": name, "Alive": name in self._alive} for name in ("a", "b")]


async def test_a_node_that_dies_while_it_is_prepared_is_left_out() -> None:
    async def lost() -> NodeReport:
        raise LostError("gone")

    node = {"NodeID": "b", "NodeManagerAddress": "host", "NodeManagerPort": 7}
    assert await _report(Ray("a"), node, lost()) is None
    with pytest.raises(InfrastructureError, match="The node host:7 cannot be prepared: LostError: gone"):
        await _report(Ray("a", "b"), node, lost())
