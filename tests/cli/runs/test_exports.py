import csv
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

Command = Callable[..., subprocess.CompletedProcess[str]]
Record = Callable[..., str]


def test_a_run_can_be_opened_by_a_spreadsheet(convex_evals: Command, record_run: Record) -> None:
    run = record_run({"000-first": "passed", "001-second": "failed"})
    first, second = csv.DictReader(convex_evals("show", "--csv").stdout.splitlines())
    assert (first["run"], first["eval"], first["status"], first["reason"]) == (
        run[:8],
        "000-basics/000-first",
        "passed",
        "",
    )
    assert (second["failed_step"], second["tests_passed"], second["tests_total"]) == ("tests", "1", "2")
    assert (second["seconds"], second["input_tokens"], second["cost_usd"]) == ("1.50", "10", "0.5")


def test_a_run_can_be_put_on_a_page_without_becoming_markup(convex_evals: Command, record_run: Record) -> None:
    record_run({"001-second": "failed"})
    lines = convex_evals("show", "--markdown").stdout.splitlines()
    assert lines[2:4] == ["| eval | trial | status | why |", "| --- | --- | --- | --- |"]
    assert r"tests 1/2: ✗ test\_order · expected \[1, 2\], received \[2, 1\]" in lines[4]


def test_runs_can_be_opened_by_a_spreadsheet_and_put_on_a_page(
    convex_evals: Command, hello_suite: Callable[..., Path]
) -> None:
    hello_suite(2, wrong=(1,))
    assert convex_evals("run", "-m", "reference").returncode == 0
    [row] = csv.DictReader(convex_evals("status", "--csv").stdout.splitlines())
    assert (row["model"], row["status"], row["passed"], row["failed"]) == ("reference", "completed", "1", "1")
    assert (row["evals"], row["trials"], row["score"], row["cost_usd"]) == ("2", "2", "0.5", "")
    heading, _, line = convex_evals("status", "--markdown").stdout.splitlines()
    assert heading.startswith("| run | model | experiment | status | passed | failed |")
    assert line.startswith(f"| {row['run']} | reference | default | completed | 1 | 1 | 0 | 2 | 50.0% (")


def test_failures_can_be_opened_by_a_spreadsheet(convex_evals: Command, hello_suite: Callable[..., Path]) -> None:
    hello_suite(2, wrong=(1,))
    assert convex_evals("run", "-m", "reference").returncode == 0
    [row] = csv.DictReader(convex_evals("status", "--failed", "--csv").stdout.splitlines())
    assert (row["eval"], row["why"][:10]) == ("000-basics/001-hello", "tests 1/2:")
    assert r"001-hello | 1 | tests 1/2:" in convex_evals("status", "--failed", "--markdown").stdout


@pytest.mark.parametrize("command", ["status", "show", "compare", "leaderboard"])
def test_only_one_form_can_be_asked_for(convex_evals: Command, command: str) -> None:
    refused = convex_evals(command, "--csv", "--markdown")
    assert refused.returncode == 2
    assert "Choose one of --json, --csv" in refused.stderr


def test_ci_services_see_failures_and_what_has_no_verdict(convex_evals: Command, record_run: Record) -> None:
    record_run({"000-first": "passed", "001-second": "failed", "002-third": "infrastructure"})
    [suite] = ElementTree.fromstring(convex_evals("show", "--junit").stdout)
    assert {name: suite.attrib[name] for name in ("tests", "failures", "errors")} == {
        "tests": "3",
        "failures": "1",
        "errors": "1",
    }
    assert [[found.tag for found in case] for case in suite] == [[], ["failure"], ["error"]]
    assert suite[1].attrib["classname"] == "000-basics"
    assert suite[1][0].attrib["type"] == "tests-failed"
    assert "expected [1, 2], received [2, 1]" in (suite[1][0].text or "")


def test_a_pass_rate_can_be_demanded(convex_evals: Command, hello_suite: Callable[..., Path], tmp_path: Path) -> None:
    hello_suite(2, wrong=(1,))
    below = convex_evals("run", "-m", "reference", "--fail-under", "0.8", "--junit", "results.xml")
    assert below.returncode == 1
    assert "50.0% of what has a verdict passed, less than --fail-under 0.8." in below.stderr
    assert ElementTree.parse(tmp_path / "results.xml").getroot()[0].attrib["failures"] == "1"
    assert convex_evals("run", "-m", "reference", "--fail-under", "0.5").returncode == 0


def test_what_has_no_verdict_is_not_held_against_the_pass_rate_that_is_demanded(asked: Any) -> None:
    asked.server.script(asked.server.says("I would rather not."), asked.server.refuses(401, "Who are you?"))
    stopped = asked.start("--fail-under", "0.8")
    assert stopped.returncode == 3, stopped.stderr
    assert "1 failed" in stopped.stdout and "--fail-under" not in stopped.stderr
    finished = asked("run", "--resume", "latest", "--fail-under", "0.8")
    assert finished.returncode == 1
    assert "66.7% of what has a verdict passed, less than --fail-under 0.8." in finished.stderr


@pytest.mark.parametrize("option", ["--json", "--junit", "--events"])
def test_a_file_that_cannot_be_written_is_noticed_before_anything_is_graded(
    convex_evals: Command, hello_suite: Callable[..., Path], option: str, tmp_path: Path
) -> None:
    hello_suite(1)
    result = convex_evals("run", "-m", "reference", option, "no/such/file")
    assert result.returncode == 2
    assert "no/such/file cannot be written, because there is no folder no/such." in result.stderr
    assert not (tmp_path / "scores").exists()
    assert "is a folder" in convex_evals("run", "-m", "reference", option, ".").stderr


def test_events_have_standard_output_to_themselves(convex_evals: Command, hello_suite: Callable[..., Path]) -> None:
    hello_suite(1)
    result = convex_evals("run", "-m", "reference", "--events", "-")
    assert [json.loads(line)["event"] for line in result.stdout.splitlines()][-1] == "finished"
    assert "1 of 1 passed" in result.stderr
    assert "cannot both be" in convex_evals("run", "-m", "reference", "--events", "-", "--json").stderr
