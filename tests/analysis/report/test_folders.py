from pathlib import Path

import pytest

from convex_evals.analysis.report import report_folder, report_paths

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
