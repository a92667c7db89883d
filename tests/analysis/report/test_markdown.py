import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from convex_evals.analysis.classification import Classification
from convex_evals.analysis.evidence import Action
from convex_evals.analysis.report import (
    FailureReport,
    Label,
    PriorReport,
    RepeatFacts,
    Report,
    report_from_json,
    report_json,
    report_markdown,
)

SECTIONS = [
    "# Run Analysis Report: openai/gpt-x",
    "## Run metadata",
    "## Prior reports check",
    "## Failure summary by step type",
    "## Infrastructure failures (not classified)",
    "## Failure classification table",
    "## Per-failure analysis (details)",
    "### 1) 000-fundamentals/003-crons — MODEL_FAULT",
    "## Cross-cutting patterns",
    "## Recommendations",
    "### Eval improvements",
    "### Lint/config and infrastructure",
    "### Model-specific notes (openai/gpt-x)",
    "### No action needed",
    "## Net impact assessment",
    "## Actions taken",
]
EVIL = """\
```
</details><script>alert(1)</script>
# Run Analysis Report: forged
## Actions taken
| a | b |
````
![x](https://evil.example/pixel)"""


def headings(markdown: str) -> list[str]:
    """Outside of code blocks, as a renderer would see them."""
    found, fence = [], ""
    for line in markdown.splitlines():
        mark = re.match(r"\s*(`{3,})", line)
        if fence:
            fence = "" if mark and line.strip() == fence else fence
        elif mark:
            fence = mark[1]
        elif line.startswith("#"):
            found.append(line)
    assert not fence, "a code block is never closed"
    return found


def body(markdown: str, heading: str) -> str:
    return markdown.partition(f"{heading}\n")[2].partition("\n## ")[0]


def test_the_sections_are_those_of_every_report_in_their_order(make_report: Callable[..., Report]) -> None:
    assert headings(report_markdown(make_report())) == SECTIONS


def test_the_metadata_name_run_model_and_pass_rate_with_its_interval(make_report: Callable[..., Report]) -> None:
    found = body(report_markdown(make_report()), "## Run metadata")
    for line in (
        "- **Run ID**: `jn76nmvgpcdwcmpnpkv2rzea8s80y3ef`",
        "- **Run ID prefix**: `jn76nmvg`",
        "- **Date**: `2026-02-11`",
        "- **Provider**: `openai`",
        "- **Model**: `openai/gpt-x` (GPT X)",
        "- **Experiment**: `default`",
        "- **Status**: `completed`",
        "- **Pass rate**: `47/66` (71.2%, 95 % interval 59.4% to 80.7%)",
        "- **Failed evals**: `1`",
    ):
        assert line in found.splitlines()


def test_trials_are_distinguished_from_evals(
    make_report: Callable[..., Report], make_failure: Callable[..., FailureReport]
) -> None:
    once = make_report()
    trials = RepeatFacts(2, 65, 0.8, 0.6, ("000-fundamentals/003-crons",))
    run = replace(once.run, passed=92, failed=38, total=132, pass_rate=0.7, repeats=trials)
    text = report_markdown(replace(once, run=run, failures=(make_failure(), replace(make_failure(), trial=2))))
    assert "- **Pass rate**: `92/130` trials (70.0%, 95 % interval 59.4% to 80.7%; 2 of 132 without verdict)" in text
    assert (
        "- **Trials**: 66 evals × 2 trials; pass@2 80.0%, pass^2 60.0% over the 65 evals with 2 verdicts; "
        "1 flaky: `000-fundamentals/003-crons`"
    ) in text
    assert "- **Failed evals**: `1`, in 2 trials" in text
    assert "(1 of 1, 100%)" in text
    assert "**Trials**" not in report_markdown(once)


def test_a_report_of_before_there_were_trials_is_still_read(make_report: Callable[..., Report]) -> None:
    report = make_report()
    content = report_json(report)
    assert report_from_json(content) == report
    for name in ("evals", "repeats"):
        del content["run"][name]
    assert report_from_json(content) == report


def test_every_failure_has_every_field(make_report: Callable[..., Report]) -> None:
    found = body(report_markdown(make_report()), "## Per-failure analysis (details)")
    fields = re.findall(r"^- \*\*(.+?)\*\*:", found, re.MULTILINE)
    assert fields == [
        "Failed step",
        "Fault",
        "Error",
        "Model snippet",
        "Expected snippet",
        "Cause",
        "Reasoning",
        "Evidence",
        "Decided by",
        "Confidence",
        "History",
    ]


def test_tables_count_steps_and_list_classes(make_report: Callable[..., Report]) -> None:
    markdown = report_markdown(make_report())
    assert "| tests | 1 |\n| **Total** | **1** |" in markdown
    assert "| `000-fundamentals/003-crons` | tests | MODEL_FAULT | It returns 2. |" in markdown
    assert "(1 of 1, 100%)" in body(markdown, "## Cross-cutting patterns")
    assert "- **Genuine model faults**: `1/1`" in body(markdown, "## Net impact assessment")


def test_infrastructure_failures_are_told_apart_and_only_when_there_are_any(make_report: Callable[..., Report]) -> None:
    assert "worker-died" in body(report_markdown(make_report()), "## Infrastructure failures (not classified)")
    assert "Infrastructure failures" not in report_markdown(make_report(infrastructure=()))


def test_nothing_was_done_until_someone_records_it(make_report: Callable[..., Report]) -> None:
    assert report_markdown(make_report()).endswith("## Actions taken\n\nNone\n")
    done = Action("TASK.txt says which order is meant.", "2026-02-13", "Ada", ("000-fundamentals/003-crons",))
    assert report_markdown(make_report(actions=(done,))).endswith(
        "- 2026-02-13 by Ada: TASK.txt says which order is meant. For: `000-fundamentals/003-crons`.\n"
    )


def test_a_human_label_overrides_the_engine(
    make_report: Callable[..., Report], make_failure: Callable[..., FailureReport]
) -> None:
    label = Label(
        "000-fundamentals/003-crons", "OVERLY_STRICT", "The task does not ask for it.", "Ada", "2026-02-13", "r"
    )
    markdown = report_markdown(make_report(make_failure(label=label)))
    assert "### 1) 000-fundamentals/003-crons — OVERLY_STRICT" in markdown
    assert (
        "OVERLY_STRICT by Ada on 2026-02-13: The task does not ask for it. The engine had said MODEL_FAULT." in markdown
    )
    assert "- **Labelled by people**: `1/1`, of which 0 as the engine had it" in markdown


def test_prior_reports_are_listed(make_report: Callable[..., Report]) -> None:
    prior = (
        PriorReport("reports/openai/gpt-x/aaaaaaaa_2026-01-01.md", "a", "2026-01-01", 3),
        PriorReport("reports/openai/gpt-x/bbbbbbbb_2026-01-01.md", "", "", 0, readable=False),
    )
    found = body(report_markdown(make_report(prior=prior)), "## Prior reports check")
    assert "0 of 1 failure had failed with the same cause before." in found
    assert "(2026-01-01): 3 failures; no action taken since." in found
    assert "cannot be read" in found


@pytest.mark.parametrize("field", ["error", "model_snippet", "expected_snippet", "cause_note", "history", "evidence"])
def test_whatever_a_model_wrote_cannot_break_the_report(
    field: str, make_report: Callable[..., Report], make_failure: Callable[..., FailureReport]
) -> None:
    value = (EVIL,) if field == "evidence" else EVIL
    markdown = report_markdown(make_report(make_failure(**{field: value})))
    assert headings(markdown) == SECTIONS
    in_code = field in ("error", "model_snippet", "expected_snippet")
    assert in_code or "<script>" not in markdown.replace("\\<script\\>", "")
    rows = [line for line in markdown.splitlines() if line.startswith("| `000-fundamentals/003-crons`")]
    assert len(rows) == 1


def test_what_an_engine_says_cannot_break_the_report_either(
    make_report: Callable[..., Report], make_failure: Callable[..., FailureReport]
) -> None:
    judged = Classification("KNOWN_GAP", 0.5, EVIL, EVIL, (EVIL,), note=EVIL, engine="llm")
    markdown = report_markdown(make_report(make_failure(classification=judged)))
    assert [line for line in headings(markdown) if "forged" in line] == []
    assert "<script>" not in markdown.replace("\\<script\\>", "")
