"""Runs recorded before version 0005 keep what their logs tell."""

from pathlib import Path
from typing import Any

import pytest
from tests.scores.old_database import RECORDED, RUN, attempt_id, write_old_database

from convex_evals.core.steps import StepResult
from convex_evals.scores import ScoresStore, migrate_data

# The first diagnostic of each recorded step: name, place, fingerprint.
FOUND: list[tuple[str | None, str, str]] = [
    ("path-refused", "", "filesystem:path-refused"),
    ("package-not-found", "", "install:package-not-found"),
    (
        "bundle",
        "convex/index.ts:2",
        'deploy:bundle No matching export in "FILE" for import "paginationOptsValidator"',
    ),
    (None, "convex/schema.ts:25", "deploy:refused Uncaught TypeError: _.map is not a function"),
    ("IndexFieldsContainCreationTime", "", "deploy:IndexFieldsContainCreationTime"),
    (
        "TS2740",
        "convex/index.ts:16",
        "type:TS2740 Type '…' is missing the following properties from type '…': size, type, arrayBuffer, bytes, and N "
        "more.",
    ),
    (
        "@typescript-eslint/no-floating-promises",
        "src/App.tsx:32",
        "lint:@typescript-eslint/no-floating-promises",
    ),
    ("test_does_not_wait_once_per_user", "grader.py:42", "test:test_does_not_wait_once_per_user"),
    ("test_reads_only_the_messages_it_returns", "grader.py:54", "test:test_reads_only_the_messages_it_returns"),
    ("test_reads_at_most_one_visit_per_country", "grader.py:56", "test:test_reads_at_most_one_visit_per_country"),
    ("declarations > functions", "index.ts:79", "test:declarations > functions"),
]


@pytest.fixture
def steps(server: Any, tmp_path: Path) -> list[StepResult]:
    """The steps of an old database, read by the code of today."""
    where = server.empty()
    write_old_database(where, tmp_path / "until")
    migrate_data(where)
    with ScoresStore.open(where) as store:
        details = {each.attempt.id: each for each in store.details(RUN)}
    return [details[attempt_id(number)].steps[0] for number in range(len(RECORDED))]


def test_every_step_that_failed_says_why_and_those_that_passed_do_not(steps: list[StepResult]) -> None:
    assert [bool(step.diagnostics) for step in steps] == [each["status"] == "failed" for each in RECORDED]
    assert all(found.fingerprint for step in steps for found in step.diagnostics)


def test_every_test_that_ran_is_there_with_its_result(steps: list[StepResult]) -> None:
    counted = [[sum(test.status == "passed" for test in step.test_results), len(step.test_results)] for step in steps]
    expected = [each["tests"] if each["name"] == "tests" else [0, 0] for each in RECORDED]
    assert counted == expected


@pytest.mark.both_engines
def test_what_was_found_is_what_the_logs_say(steps: list[StepResult]) -> None:
    first = [step.diagnostics[0] for step in steps if step.diagnostics]
    assert [(each.name, each.place, each.fingerprint) for each in first] == FOUND


def test_what_was_compared_is_read_from_the_logs_of_both_kinds_of_graders(steps: list[StepResult]) -> None:
    python, vitest = steps[8].diagnostics[0], steps[10].diagnostics[1]
    assert (python.expected, python.received) == ("<= 3", "30")
    assert (vitest.expected, vitest.received) == ("[ 'a', 'second' ]", "[ 'second', 'a' ]")
