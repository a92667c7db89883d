"""`bench web` and `bench service`, small: all is measured, what is not generated is refused, what is lost is named."""

import json
from pathlib import Path
from typing import Any

import pytest

from convex_evals.cli import main
from convex_evals.core.errors import UsageError
from convex_evals.scores import GENERATED, ScoresStore
from convex_evals.web.bench import served
from convex_evals.web.bench.recorders import Recorded
from convex_evals.web.bench.run import addresses, measure_web
from convex_evals.web.bench.service import compare


def test_a_generated_history_is_labelled_and_reads_like_any_other(store: ScoresStore) -> None:
    store.fill_with_generated_runs(["000-a/000-b", "000-a/001-c"], 13)
    runs = store.runs()
    assert len(runs) == 13
    assert all(GENERATED in run.labels and run.provider == GENERATED for run in runs)
    assert [run.status for run in runs].count("running") == 1
    assert [each.name for each in store.benchmarks()] == ["v2", "v1"]
    assert "/matrix" in addresses(store)


async def test_runs_that_are_not_generated_are_left_alone(record: Any, tmp_path: Path) -> None:
    record.run()
    with pytest.raises(UsageError, match="has runs that are not generated"):
        await measure_web(str(tmp_path / "scores.db"), 2, print)


@pytest.mark.exhaustive
def test_what_runners_record_while_others_look_is_all_there(capsys: pytest.CaptureFixture[str]) -> None:
    """Small, but with everything: a real `serve`, runners that send, readers, and both sides compared."""
    sizes = ("--runners", "1", "--evals", "2", "--readers", "2", "--pause", "0.2", "--history", "2")
    assert main.run(["bench", "service", *sizes, "--json", "-"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert (figures["lost"], figures["failures"], figures["ok"]) == ([], 0, True)
    assert figures["records"] > 20 and figures["artifacts"] > 10
    requests = {each["kind"]: each for each in figures["requests"]}
    assert {"record", "send an artifact", "leaderboard", "page of a run"} <= requests.keys()
    assert all(each["p50"] <= each["p95"] <= each["max"] for each in requests.values())


def test_several_servers_need_postgresql(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["bench", "service", "--servers", "2"]) == 2
    assert "Several servers need PostgreSQL" in capsys.readouterr().err


def test_what_is_lost_is_named(store: ScoresStore, record: Any, tmp_path: Path) -> None:
    run_id = record.run()
    recorded = Recorded(run_id, str(tmp_path / "scores.db"), 1.0, 0, [])
    with ScoresStore.open(tmp_path / "service.db") as service:
        lost = compare(service, recorded).lost
    assert f"records of run {run_id[:8]}" in lost
    assert len(lost) > 5  # its artifacts, too
    assert compare(store, recorded).lost == ()


@pytest.mark.exhaustive
@pytest.mark.parametrize("engine", ["files", "postgresql"])
async def test_every_page_is_measured(
    engine: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"TIMES": 2, "OPEN_PAGES": 5, "SETTLE_SECONDS": 1.0, "IDLE_SECONDS": 1.0}.items():
        monkeypatch.setattr(served, name, value)
    figures = await measure_web(request.getfixturevalue(engine).ready(), 14, print)
    assert {"/leaderboard", "/matrix", "/graders"} <= {each.page for each in figures.pages}
    assert all(0 < each.statements < 40 and each.bytes > 500 for each in figures.pages)
    assert all(each.p50 <= each.p95 for each in figures.pages)
    first, again = figures.publishing
    assert first.files == again.files > 100
    assert 0 <= figures.idle_share < 1
