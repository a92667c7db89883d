"""Deadlines of graders: on a busy machine they are later, until a test has failed."""

from pathlib import Path

import pytest

from convex_evals.pipeline.grading.kit import patience
from convex_evals.pipeline.grading.kit.patience import Patience


class Machine:
    """Its clock, and how long its tasks have waited for a processor."""

    def __init__(self, file: Path) -> None:
        self.file, self.seconds, self.stalled = file, 100.0, 0.0
        self.pass_time(0.0, stalled=0.0)

    def pass_time(self, seconds: float, *, stalled: float) -> None:
        self.seconds += seconds
        self.stalled += stalled
        percent = 100 * stalled / seconds if seconds else 0.0
        figures = f"avg10={percent:.2f} avg60=0.00 avg300=0.00 total={round(self.stalled * 1e6)}"
        self.file.write_text(f"some {figures}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine(tmp_path / "pressure")
    monkeypatch.setattr(patience.time, "monotonic", lambda: machine.seconds)
    return machine


def test_seconds_in_which_tasks_wait_for_a_processor_count_a_quarter(machine: Machine) -> None:
    patient = Patience(machine.file)
    start = patient.now()
    machine.pass_time(10, stalled=0)
    assert patient.now() - start == pytest.approx(10)
    machine.pass_time(10, stalled=8)
    assert patient.now() - start == pytest.approx(10 + 2 + 8 / 4)


def test_once_a_test_has_failed_every_second_counts(machine: Machine) -> None:
    patient = Patience(machine.file)
    machine.pass_time(10, stalled=10)
    patient.end()
    start = patient.now()
    machine.pass_time(10, stalled=10)
    assert (patient.now() - start, patient.stretched(5)) == (pytest.approx(10), 5)


def test_a_wait_whose_end_is_fixed_is_longer_on_a_busy_machine(machine: Machine) -> None:
    patient = Patience(machine.file)
    assert patient.stretched(5) == 5
    machine.pass_time(10, stalled=9)
    assert patient.stretched(5) == 20


@pytest.mark.parametrize(("load", "counted"), [(0.1, 10.0), (1000.0, 2.5)])
def test_without_a_measure_of_the_kernel_the_load_decides(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, load: float, counted: float
) -> None:
    monkeypatch.setattr(patience.os, "getloadavg", lambda: (load, load, load))
    patient = Patience(machine.file / "missing")
    start = patient.now()
    machine.pass_time(10, stalled=0)
    assert patient.now() - start == pytest.approx(counted)
