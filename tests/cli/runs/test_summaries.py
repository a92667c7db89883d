from datetime import UTC, datetime

import pytest

from convex_evals.cli.runs.summaries import cost_text, spending_json, spending_line
from convex_evals.runner import Spending
from convex_evals.scores import GenerationRecord, Usage

FULL = Usage(1000, 400, 200, 50, cost_usd=0.5, cost_source="provider")
ESTIMATED = Usage(100, None, 20, None, cost_usd=0.25, cost_source="estimated")
UNPRICED = Usage(100, 0, 20, 0)
SILENT = Usage()


def record(usage: Usage | None, *, from_cache: bool = False, reused_from: str | None = None) -> GenerationRecord:
    return GenerationRecord(
        attempt_id="a",
        prompt="p",
        response="r",
        files="f",
        from_cache=from_cache,
        truncated=False,
        notes=(),
        reused_from=reused_from,
        usage=usage,
        recorded_at=datetime.now(UTC),
    )


@pytest.mark.parametrize(
    ("records", "line"),
    [
        ([record(None), record(None)], None),
        ([], None),
        ([record(FULL)], "1,000 tokens in (400 cached), 200 out (50 reasoning) · cost $0.50 (provider)"),
        ([record(FULL), record(FULL, reused_from="b")], "1,000 tokens in (400 cached), 200 out (50 reasoning) · cost"),
        ([record(ESTIMATED), record(ESTIMATED)], "200 tokens in, 40 out · cost $0.50 (estimated)"),
        (
            [record(ESTIMATED), record(FULL)],
            "1,100 tokens in (at least 400 cached), 220 out (at least 50 reasoning) · ",
        ),
        ([record(UNPRICED)], "100 tokens in, 20 out · cost unknown"),
        ([record(SILENT)], "unknown tokens in, unknown out · cost unknown"),
        (
            [record(ESTIMATED), record(SILENT)],
            "at least 100 tokens in, at least 20 out · cost at least $0.25 (estimated; ",
        ),
        ([record(SILENT, from_cache=True)], "nothing was asked · 1 answer from the cache, not paid for again"),
        (
            [record(FULL), record(SILENT, from_cache=True)],
            "1,000 tokens in (400 cached), 200 out (50 reasoning) · cost",
        ),
    ],
)
def test_what_a_run_took_is_one_line_that_says_what_is_not_known(
    records: list[GenerationRecord], line: str | None
) -> None:
    said = spending_line(Spending.of(records))
    assert said is None if line is None else said is not None and said.startswith(line)


@pytest.mark.parametrize(
    ("records", "text"),
    [
        ([], ""),
        ([record(SILENT, from_cache=True)], ""),
        ([record(UNPRICED)], "unknown"),
        ([record(FULL), record(ESTIMATED)], "$0.75 (estimated and provider)"),
        ([record(FULL), record(UNPRICED), record(UNPRICED)], "at least $0.50 (provider; 2 of 3 unknown)"),
    ],
)
def test_a_cost_has_a_source_and_a_part_of_it_is_called_a_part(records: list[GenerationRecord], text: str) -> None:
    assert cost_text(Spending.of(records)) == text


def test_as_json_what_is_not_known_is_null() -> None:
    assert spending_json(Spending.of([record(ESTIMATED), record(SILENT), record(SILENT, from_cache=True)])) == {
        "usage": {
            "asked": 2,
            "fromCache": 1,
            "inputTokens": 100,
            "cachedTokens": None,
            "outputTokens": 20,
            "reasoningTokens": None,
            "unknown": 1,
        },
        "cost": 0.25,
        "costSource": "estimated",
        "costUnknown": 1,
    }
