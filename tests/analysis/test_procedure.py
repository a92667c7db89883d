import json
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path

from convex_evals.analysis import Request, analyse
from convex_evals.analysis.classification import RulesEngine
from convex_evals.analysis.evidence import Action
from convex_evals.analysis.investigation import CHANGED, Investigated
from convex_evals.analysis.isolation.isolate import OFF
from convex_evals.analysis.report import Report, record_action
from convex_evals.core.settings import Settings
from convex_evals.core.verdicts import FailureClass
from convex_evals.scores import LabelRecord, ScoresStore

Record = Callable[..., str]
CLASSES: tuple[FailureClass, ...] = ("KNOWN_GAP", "AMBIGUOUS_TASK")
FIRST, SECOND = "000-basics/000-hello", "000-basics/001-hello"


class Analysing:
    """Analyses runs of the temporary folder, one after the other."""

    def __init__(self, store: ScoresStore, settings: Settings, folder: Path) -> None:
        self.store, self.settings, self.reports = store, settings, folder / "reports"
        self.seen: list[Investigated] = []

    def request(self, run: str, day: int = 1, probe_seconds: float = 0.0) -> Request:
        today = date(2026, 2, day)
        return Request(self.store.find_run(run), RulesEngine(), self.reports, today, probe_seconds=probe_seconds)

    async def __call__(self, run: str, day: int = 1, probe_seconds: float = 0.0) -> Report:
        request = self.request(run, day, probe_seconds)
        return await analyse(self.store, self.settings, request, self.seen.append)


async def test_every_failure_is_investigated_and_the_report_is_written(
    store: ScoresStore, settings: Settings, record: Record, tmp_path: Path
) -> None:
    analysing = Analysing(store, settings, tmp_path)
    run = record("failed", "passed", "infrastructure")
    report = await analysing(run)
    assert [failure.eval for failure in report.failures] == [FIRST]
    assert [each.kind for each in report.infrastructure] == ["grader-crashed"]
    assert (report.run.passed, report.run.failed, report.run.total) == (1, 1, 3)
    assert [each.report.eval for each in analysing.seen] == [FIRST]
    paths = analysing.request(run).paths
    assert paths.markdown.relative_to(tmp_path).as_posix() == f"reports/maker/one/{run[:8]}_2026-02-01.md"
    assert json.loads(paths.json.read_text())["run"]["id"] == run


async def test_a_run_without_failures_has_a_report_too(
    store: ScoresStore, settings: Settings, record: Record, tmp_path: Path
) -> None:
    report = await Analysing(store, settings, tmp_path)(record("passed", "passed", "passed"))
    assert report.failures == ()
    assert report.overall == "Nothing failed, so there is nothing to weigh."


async def test_the_evidence_has_what_the_scores_and_the_suite_have(
    store: ScoresStore, settings: Settings, record: Record, tmp_path: Path
) -> None:
    analysing = Analysing(store, settings, tmp_path)
    record("failed", "passed", "passed", model="maker/two", to="nobody else")
    await analysing(record("passed", "failed", "passed"))
    (found,) = analysing.seen
    evidence = found.evidence
    assert (evidence.eval, evidence.failed_step, evidence.task) == (SECOND, "tests", "Say hello to the world.\n")
    assert evidence.files["to.txt"] == "nobody\n"
    assert evidence.answer["to.txt"] == "world\n"
    assert [each.name for each in evidence.diagnostics] == ["test_says_it_to_the_right_one"]
    assert (evidence.diagnostics[0].expected, evidence.diagnostics[0].received) == ("'world'", "'nobody'")
    assert evidence.gaps.startswith("Whether `nobody`")
    assert evidence.tests is not None
    assert [other.model for other in evidence.counterfactuals.other_models] == ["maker/two"]
    assert evidence.cause.note.startswith(OFF)


async def test_a_probe_isolates_the_cause_with_the_real_pipeline(
    store: ScoresStore, settings: Settings, record: Record, tmp_path: Path
) -> None:
    report = await Analysing(store, settings, tmp_path)(record("failed", "passed", "passed"), probe_seconds=60)
    (failure,) = report.failures
    assert (failure.found, failure.model_snippet) == ("isolated", "// to.txt:1\nnobody")
    assert failure.expected_snippet == "// to.txt\nworld"


async def test_a_cause_that_was_found_is_known_without_probes_too(
    store: ScoresStore, settings: Settings, record: Record, tmp_path: Path
) -> None:
    analysing, run = Analysing(store, settings, tmp_path), record("failed", "passed", "passed")
    (before,) = (await analysing(run)).failures
    (found,) = (await analysing(run, probe_seconds=60)).failures
    (after,) = (await analysing(run)).failures
    assert (before.found, found.found) == ("located", "isolated")
    assert (after.found, after.model_snippet) == (found.found, found.model_snippet)


async def test_an_eval_that_has_changed_since_is_not_probed(
    store: ScoresStore, settings: Settings, record: Record, tmp_path: Path
) -> None:
    run = record("failed", "passed", "passed")
    (tmp_path / "evals" / FIRST / "TASK.txt").write_text("Say something else.\n")
    report = await Analysing(store, settings, tmp_path)(run, probe_seconds=60)
    assert report.failures[0].cause_note.startswith(CHANGED)


async def test_the_next_report_knows_the_last_one(
    store: ScoresStore, settings: Settings, record: Record, tmp_path: Path
) -> None:
    analysing = Analysing(store, settings, tmp_path)
    first = record("failed", "failed", "passed")
    await analysing(first)
    record_action(
        analysing.request(first).paths.markdown, Action("The task says it now.", "2026-02-02", "Ada", (FIRST,))
    )
    report = await analysing(record("failed", "passed", "failed"), day=3)
    again, new = report.failures
    assert [prior.failed for prior in report.prior] == [2]
    assert again.repeat
    assert again.history.startswith("Repeat: the same cause is in reports/maker/one/")
    assert "“The task says it now.” (2026-02-02)" in again.cure
    assert not new.repeat
    assert new.history.startswith("New: no earlier report")
    assert any(pattern.title == "Recurring failures" for pattern in report.patterns)


async def test_a_label_appears_in_the_report_of_its_run(
    store: ScoresStore, settings: Settings, record: Record, tmp_path: Path
) -> None:
    analysing = Analysing(store, settings, tmp_path)
    run = record("failed", "failed", "passed")
    for day, failure_class in enumerate(CLASSES, 1):
        made_at = datetime(2026, 2, day, 12, tzinfo=UTC)
        store.labels.add(LabelRecord(run, FIRST, 1, failure_class, "Whom to greet is not said.", "Ada", made_at))
    report = await analysing(run)
    assert report.failures[0].failure_class == "AMBIGUOUS_TASK"
    assert report.count("AMBIGUOUS_TASK") == 1
    assert len(report.labels) == 1


async def test_a_run_whose_suite_is_gone_is_analysed_from_what_was_recorded(
    store: ScoresStore, settings: Settings, record: Record, tmp_path: Path
) -> None:
    run = record("failed", "passed", "passed")
    (tmp_path / "evals").rename(tmp_path / "elsewhere")
    report = await Analysing(store, settings, tmp_path)(run, probe_seconds=60)
    assert "the suite no longer has this eval" in report.failures[0].cause_note
