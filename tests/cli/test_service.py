"""Commands that read, on a machine that has nothing but the address of a service."""

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.web.served_site import serving

from convex_evals.scores import Benchmark, LabelRecord, ScoresStore
from convex_evals.suite import load_suite
from convex_evals.web import Site

Command = Callable[..., subprocess.CompletedProcess[str]]
SECOND = "000-basics/001-hello"


@dataclass
class Elsewhere:
    """A folder without scores and suite. `url` is the service, `scores` the database behind it."""

    url: str
    scores: Path
    folder: Path
    runs: Sequence[str]
    command: Command

    def __call__(self, *arguments: str, code: int = 0, **variables: str) -> str:
        done = self.command(*arguments, cwd=self.folder, **variables)
        assert done.returncode == code, done.stderr
        return done.stdout if code == 0 else done.stderr


@pytest.fixture
def elsewhere(
    request: pytest.FixtureRequest,
    convex_evals: Command,
    hello_suite: Callable[..., Path],
    record_run: Callable[..., str],
    tmp_path: Path,
) -> Iterator[Elsewhere]:
    """Two runs of two evals, one of which fails, that were made and are served on another machine.

    Its reference answer is as wrong, unless the parameter names others.
    """
    wrong = getattr(request, "param", (1,))
    suite, scores, folder = hello_suite(2, wrong=wrong), tmp_path / "scores" / "scores.db", tmp_path / "elsewhere"
    (suite / SECOND / "GAPS.txt").write_text("Nobody is told apart.\n")
    for _ in range(2):
        record_run({"000-hello": "passed", "001-hello": "failed"}, suite=suite)
    folder.mkdir()
    with ScoresStore.open(scores) as store:
        runs = [run.id for run in store.runs()]
        _mint(store)
        loaded = load_suite(suite.rename(tmp_path / "served"))
        with serving(Site(store, suite=loaded)) as url:
            yield Elsewhere(url, scores, folder, runs, convex_evals)


def _mint(store: ScoresStore) -> None:
    run = store.runs()[0]
    prints = run.fingerprints
    prompts = {"default": prints.prompt or ""}
    planned = store.planned(run.id)
    store.mint_benchmark(
        Benchmark("v1", planned, prompts, prints.pipeline or "", prints.toolchain or "", run.started_at)
    )


QUESTIONS = (
    ("status",),
    ("status", "--json"),
    ("status", "--failed"),
    ("show",),
    ("show", "latest", "--json"),
    ("show", "latest", "001-hello", "--json"),
    ("show", "latest~1", "001-hello", "--prompt", "--response", "--files", "--log", "tests"),
    ("compare",),
    ("leaderboard",),
    ("leaderboard", "--json"),
    ("benchmark", "show", "v1"),
    ("analyze", "health", "--all"),
)


def test_a_service_says_what_its_database_says(elsewhere: Elsewhere) -> None:
    for asked in QUESTIONS:
        said = elsewhere(*asked, "--scores", elsewhere.url)
        assert said and said == elsewhere(*asked, "--scores", str(elsewhere.scores))


def test_the_schedule_is_read_from_a_service(elsewhere: Elsewhere) -> None:
    agenda = json.loads(elsewhere("schedule", "--json", "--scores", elsewhere.url))
    assert {turn["state"] for turn in agenda["turns"]} >= {"due"}
    assert "runs in 30 days" in elsewhere("schedule", "simulate", "--days", "30", "--scores", elsewhere.url)


def test_a_reference_answer_comes_from_the_service(elsewhere: Elsewhere) -> None:
    shown = elsewhere("show", "latest", "001-hello", "--reference", "--scores", elsewhere.url)
    assert "==> to.txt <==\nnobody\n" in shown


def test_a_run_is_analysed_from_the_address_of_its_page(elsewhere: Elsewhere) -> None:
    page = f"{elsewhere.url}/experiment/default/run/{elsewhere.runs[0]}"
    said = elsewhere("analyze", page, "--no-probe", "--engine", "rules", "--json", "analysis.json")
    [failure] = json.loads((elsewhere.folder / "analysis.json").read_text())["failures"]
    assert failure["eval"] == SECOND
    assert f"analyze eval {elsewhere.runs[0][:8]} 001-hello --scores {elsewhere.url}" in said
    shown = elsewhere("analyze", "eval", page, "001-hello", "--no-probe", "--engine", "rules")
    assert "Nobody is told apart." in shown  # GAPS.txt
    assert "Say hello." in shown  # the task
    assert not (elsewhere.folder / "scores").exists()


@pytest.mark.parametrize("elsewhere", [()], indirect=True)
def test_probes_grade_here_what_was_answered_there(elsewhere: Elsewhere) -> None:
    """The grader, the reference answer and the files of the answer all come from the service."""
    page = f"{elsewhere.url}/experiment/default/run/{elsewhere.runs[0]}"
    elsewhere("analyze", page, "--engine", "rules", "--jobs", "1", "--json", "analysis.json")
    [failure] = json.loads((elsewhere.folder / "analysis.json").read_text())["failures"]
    assert failure["found"] == "isolated", failure
    assert not (elsewhere.folder / "scores").exists()


def test_a_recommendation_on_a_run_at_a_service_changes_the_eval_of_this_machine(
    elsewhere: Elsewhere, tmp_path: Path, hello_suite: Callable[..., Path]
) -> None:
    with ScoresStore.open(elsewhere.scores) as store:
        label = LabelRecord(elsewhere.runs[0], SECOND, 1, "OVERLY_STRICT", "Nobody said so.", "Ada", datetime.now(UTC))
        store.labels.add(label)
    said = elsewhere("analyze", elsewhere.runs[0], "--no-probe", "--engine", "rules", "--scores", elsewhere.url)
    report = next((elsewhere.folder / "reports").rglob("*.md"))
    hint = f"analyze apply {report.relative_to(elsewhere.folder)} R1 --scores {elsewhere.url}"
    assert hint in said
    hello_suite(2).rename(elsewhere.folder / "evals")  # with a reference answer that has been corrected
    arguments = hint.replace("R1", "R2").split()
    done = elsewhere.command(*arguments, "--yes", "--jobs", "1", cwd=elsewhere.folder)
    assert done.returncode == 0, done.stderr
    assert (elsewhere.folder / "evals" / SECOND / "GAPS.txt").read_text().startswith("- [check]")
    assert f"are at {elsewhere.url}; grade them again where it was made" in done.stderr


def test_evals_of_this_machine_are_used_where_they_are_the_same(elsewhere: Elsewhere, tmp_path: Path) -> None:
    shutil.copytree(tmp_path / "served", elsewhere.folder / "evals")
    (elsewhere.folder / "evals" / SECOND / "GAPS.txt").write_text("Our own note.\n")
    page = f"{elsewhere.url}/experiment/default/run/{elsewhere.runs[0]}"
    shown = elsewhere("analyze", "eval", page, "001-hello", "--no-probe", "--engine", "rules")
    assert "Our own note." in shown  # not part of what is graded
    (elsewhere.folder / "evals" / SECOND / "TASK.txt").write_text("Say something else.\n")
    shown = elsewhere("analyze", "eval", page, "001-hello", "--no-probe", "--engine", "rules")
    assert "Nobody is told apart." in shown and "Say hello." in shown


def test_what_records_is_refused(elsewhere: Elsewhere) -> None:
    refused = elsewhere("runs", "hide", "latest", "--why", "So.", "--scores", elsewhere.url, code=2)
    assert "can only be read; name a database with --scores" in refused
