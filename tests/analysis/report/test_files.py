import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from convex_evals.analysis.evidence import Action
from convex_evals.analysis.report import (
    Report,
    keep_report,
    record_action,
    report_folder,
    report_from_json,
    report_json,
    report_paths,
)
from convex_evals.core.errors import UsageError

ROOT = Path("reports")


@pytest.mark.parametrize(
    ("provider", "model", "folder"),
    [
        ("openai", "openai/gpt-5.2-codex", "openai/gpt-5.2-codex"),
        ("openai", "gpt-5.2-codex", "openai/gpt-5.2-codex"),
        ("sample", "sample/apprentice", "sample/apprentice"),
        ("built-in", "reference", "built-in/reference"),
    ],
)
def test_a_report_is_in_the_folder_of_its_provider_and_model(provider: str, model: str, folder: str) -> None:
    assert report_folder(ROOT, provider, model).as_posix() == f"reports/{folder}"


@pytest.mark.parametrize("model", ["replay:/home/ada/answers", "../../etc/passwd", "..", "a" * 300, "meta/llama:free"])
def test_no_name_of_a_model_leads_out_of_the_folder(model: str) -> None:
    folder = report_folder(ROOT, "built-in", model)
    assert len(folder.parts) == 3
    assert ".." not in folder.parts
    assert len(folder.name) < 100


def test_names_that_look_alike_have_folders_of_their_own() -> None:
    assert report_folder(ROOT, "built-in", "replay:/a/b") != report_folder(ROOT, "built-in", "replay:-a-b")


def test_a_report_is_named_after_run_and_day() -> None:
    paths = report_paths(ROOT, "openai", "gpt-x", "jn76nmvgpcdwcmpnpkv2rzea8s80y3ef", "2026-02-11")
    assert paths.markdown.as_posix() == "reports/openai/gpt-x/jn76nmvg_2026-02-11.md"
    assert paths.json.as_posix() == "reports/openai/gpt-x/jn76nmvg_2026-02-11.json"


ACTION = Action("The grader was relaxed.", "2026-02-13", "Ada", ("003-crons",))


def test_the_json_twin_is_the_same_report(make_report: Callable[..., Report]) -> None:
    report = make_report()
    content = json.loads(json.dumps(report_json(report)))
    assert report_from_json(content) == report
    assert content["failures"][0]["failedStep"] == "tests"
    assert content["failures"][0]["class"] == "MODEL_FAULT"
    assert content["summary"] == {
        "byStep": {"tests": 1},
        "byClass": {"MODEL_FAULT": 1, "OVERLY_STRICT": 0, "AMBIGUOUS_TASK": 0, "KNOWN_GAP": 0},
        "labelled": 0,
        "unsure": 0,
        "actionable": 0,
    }


def test_a_report_of_the_same_run_and_day_is_updated_and_keeps_what_was_recorded(
    make_report: Callable[..., Report], tmp_path: Path
) -> None:
    report = make_report()
    paths = report_paths(tmp_path, "openai", "openai/gpt-x", report.run.id, report.date)
    keep_report(report, paths)
    record_action(paths.markdown, ACTION)
    kept = keep_report(replace(report, overall="Seen again."), paths)
    assert [action.text for action in kept.actions] == ["The grader was relaxed."]
    assert kept.actions[0].evals == ("000-fundamentals/003-crons",)
    assert "Seen again." in paths.markdown.read_text()
    assert "The grader was relaxed." in paths.markdown.read_text()
    assert sorted(path.name for path in paths.markdown.parent.iterdir()) == [
        "jn76nmvg_2026-02-12.json",
        "jn76nmvg_2026-02-12.md",
    ]


def test_actions_are_for_failures_of_the_report(make_report: Callable[..., Report], tmp_path: Path) -> None:
    report = make_report()
    paths = report_paths(tmp_path, "openai", "openai/gpt-x", report.run.id, report.date)
    keep_report(report, paths)
    with pytest.raises(UsageError, match="is not a failure of jn76nmvg"):
        record_action(paths.json, replace(ACTION, evals=("004-other",)))


@pytest.mark.parametrize("name", ["nothing.md", "nothing", "notes.txt"])
def test_an_action_needs_a_report(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="There is no report"):
        record_action(tmp_path / name, ACTION)


def test_a_file_that_is_not_a_report_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"format": 99}')
    with pytest.raises(UsageError, match="is not a report of this program"):
        record_action(tmp_path / "a.md", ACTION)
